"""Comparisons of several runs, as text and as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..compare.comparison import growth
from ..compare.drawing import draw_growth
from ..compare.report import lines as comparison_lines
from ..compare.report import text as comparison_text

if TYPE_CHECKING:
    from ..mechanisms.matrix_mechanism import MatrixMechanism

__all__ = [
    "comparison_lines",
    "comparison_text",
    "draw_growth",
    "growth",
    "jax_privacy_monte_carlo",
]


def jax_privacy_monte_carlo(run: MatrixMechanism, delta: float) -> Any:
    """What jax-privacy estimates of balls in bins, where it is installed; else ImportError, which says what to do."""
    from ..interop.jax_privacy import monte_carlo

    return monte_carlo(run, delta)
