"""Moments of the loss at real orders, and the least of what they say."""

from __future__ import annotations

from ..convert.outward import minimise
from ..facets.cumulant import cumulant_above

__all__ = [
    "cumulant_above",
    "minimise",
]
