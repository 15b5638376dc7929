"""Comparisons of several runs, as text and as pictures."""

from __future__ import annotations

from ..compare.comparison import growth
from ..compare.drawing import draw_growth
from ..compare.report import lines as comparison_lines
from ..compare.report import text as comparison_text

__all__ = [
    "comparison_lines",
    "comparison_text",
    "draw_growth",
    "growth",
]
