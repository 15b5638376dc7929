"""Answers as values and as JSON, what they rest on in sentences, and why one is wide."""

from __future__ import annotations

from ..core.text.assumptions import notes, spoken_of
from ..core.values.bound import why_wide
from ..result import (
    Result,
    calibration,
    calibration_record,
    comparison_record,
    comparisons,
    conversion,
    read,
    risk,
    write,
)

__all__ = [
    "calibration",
    "calibration_record",
    "comparison_record",
    "comparisons",
    "conversion",
    "notes",
    "read",
    "Result",
    "risk",
    "spoken_of",
    "why_wide",
    "write",
]
