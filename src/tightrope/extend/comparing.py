"""Comparisons of several runs, as text and as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.planning.comparison import growth
from ..core.planning.methods import lines as comparison_lines
from ..core.planning.methods import text as comparison_text
from ..core.planning.pictures import draw_growth

if TYPE_CHECKING:
    from ..core.mechanisms.matrix_mechanism import MatrixMechanism

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
