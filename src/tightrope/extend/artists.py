"""What some pictures are made of beside axes; imported late, as it needs matplotlib."""

from __future__ import annotations

from ..plotting.artists import (
    AutoDateLocator,
    ConciseDateFormatter,
    Line2D,
    LogNorm,
    Normalize,
    Patch,
    PercentFormatter,
    Rectangle,
    ScalarMappable,
)

__all__ = [
    "AutoDateLocator",
    "ConciseDateFormatter",
    "Line2D",
    "LogNorm",
    "Normalize",
    "Patch",
    "PercentFormatter",
    "Rectangle",
    "ScalarMappable",
]
