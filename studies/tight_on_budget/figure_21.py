"""Figure 21: the dialing protocol with half of the Laplace noise."""

from __future__ import annotations

from studies.figure import Figure, Panel
from studies.tight_on_budget.panels import curves, graph
from studies.tight_on_budget.vuvuzela import (
    DIAL_FEW,
    DIAL_MANY,
    GS_8K,
    GS_20K,
    LP_4K,
    LP_8K,
    LP_10K,
    LP_20K,
    Noise,
    dialing,
    original_dialing,
)


def figure() -> Figure:
    """Half of the Laplace noise, all of it, and Gauss of the same variance."""
    return Figure(
        "figure-21",
        "Dialing with less Laplace noise",
        "Dialing protocol with half of the recommended mean. The reduced Laplace noise still meets the target "
        "(grey), with two and a half times the range of the Gaussian noise of figure 16 that does.",
        [_panel(LP_4K, LP_8K, GS_8K, DIAL_FEW), _panel(LP_10K, LP_20K, GS_20K, DIAL_MANY)],
    )


def _panel(new: Noise, old: Noise, same: Noise, rounds: int) -> Panel:
    lines = curves(dialing, (new, old, same), rounds)
    return graph(f"{rounds:,} rounds", lines, old, original_dialing(old, rounds), floor=1e-14)
