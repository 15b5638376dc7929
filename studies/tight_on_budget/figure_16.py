"""Figure 16: the dialing protocol after 1,024 and 8,192 rounds."""

from __future__ import annotations

from studies.asking import deltas
from studies.figure import Figure, Panel
from studies.tight_on_budget.panels import FACTORS, curves, graph
from studies.tight_on_budget.vuvuzela import (
    DIAL_FEW,
    DIAL_MANY,
    GS_1K6,
    GS_4K1,
    GS_8K,
    GS_20K,
    LP_8K,
    LP_20K,
    Noise,
    cut,
    dialing,
    original_dialing,
)


def figure() -> Figure:
    """Proposed Gaussian noise, recommended Laplace noise, and Gauss of its variance."""
    return Figure(
        "figure-16",
        "Dialing",
        "Dialing protocol: Gaussian noise of a fifth of the mean meets the target (grey); the recommended Laplace "
        "noise, and Gaussian noise of its variance, lie orders below what the original analysis says (dot). If the "
        "noise is cut at 0 instead of clamped, Laplace levels out at the mass of the outputs that tell everything: "
        "this matches the figures that the paper states.",
        [_panel(GS_1K6, LP_8K, GS_8K, DIAL_FEW), _panel(GS_4K1, LP_20K, GS_20K, DIAL_MANY)],
    )


def _panel(new: Noise, old: Noise, same: Noise, rounds: int) -> Panel:
    lines = [
        *curves(dialing, (new, old, same), rounds),
        deltas(f"{old}, cut instead of clamped", cut(old, 2.0) * rounds, FACTORS),
    ]
    return graph(f"{rounds:,} rounds", lines, old, original_dialing(old, rounds), floor=1e-14)
