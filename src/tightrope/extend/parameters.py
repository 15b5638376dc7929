"""Checks of parameters: each gives the value as it is kept, or refuses it by its name."""

from __future__ import annotations

from ..core.mechanisms.parameters import (
    WHOLE_MAX,
    finite,
    in_order,
    nonnegative,
    one_line,
    positive,
    probability,
    real,
    whole,
)

__all__ = [
    "finite",
    "in_order",
    "nonnegative",
    "one_line",
    "positive",
    "probability",
    "real",
    "whole",
    "WHOLE_MAX",
]
