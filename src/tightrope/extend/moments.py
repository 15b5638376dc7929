"""Moments of the loss at real orders, and the least of what they say."""

from __future__ import annotations

from ..core.conversions.classical import minimise
from ..core.losses.cgf import cumulant_above

__all__ = [
    "cumulant_above",
    "minimise",
]
