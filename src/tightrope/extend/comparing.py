"""Comparisons of several runs, as text and as pictures."""

from __future__ import annotations

from ..core.planning.comparison import growth
from ..core.planning.methods import lines as comparison_lines
from ..core.planning.methods import text as comparison_text
from ..core.planning.pictures import draw_growth

__all__ = [
    "comparison_lines",
    "comparison_text",
    "draw_growth",
    "growth",
]
