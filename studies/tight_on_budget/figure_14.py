"""Figure 14: Laplace against Gauss of the same and of half the variance."""

from __future__ import annotations

from studies.asking import deltas, factors, grid
from studies.figure import DELTA, FACTOR, Figure, Panel
from studies.tight_on_budget.noise import COUNT, HALF_VARIANCE, SAME_VARIANCE, cut_gauss, cut_laplace

COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 384, COUNT)
LEVELS = (1e-2, 1e-3, 1e-4)


def figure() -> Figure:
    """Growth of e^epsilon at three deltas, and delta after 512 uses."""
    return Figure(
        "figure-14",
        "Laplace and Gauss",
        "Noise cut at 2500 on both sides, sensitivity 1. Left: Laplace (scale 200) and Gauss of the same variance "
        "(sigma 200 sqrt 2): the Gaussian leaks less. Right: Gauss of half that variance (sigma 200): the curves "
        f"fall together as the count grows. Below: delta after {COUNT} uses. Each curve levels out at the mass that "
        "the cut makes certain to be lost; that of the Gaussian lies many orders lower, because its tail is steeper.",
        [
            _growth("the same variance", SAME_VARIANCE),
            _growth("half the variance", HALF_VARIANCE),
            _after("the same variance", SAME_VARIANCE),
            _after("half the variance", HALF_VARIANCE),
        ],
    )


def _growth(title: str, sigma: float) -> Panel:
    gauss, laplace = cut_gauss(sigma), cut_laplace()
    lines = [
        line
        for level in LEVELS
        for line in (
            factors(f"Laplace, delta {level:g}", lambda count: laplace * count, COUNTS, level),
            factors(f"Gauss, delta {level:g}", lambda count: gauss * count, COUNTS, level),
        )
    ]
    return Panel(f"growth, Gauss of {title}", "uses", FACTOR, lines=lines, log_y=False)


def _after(title: str, sigma: float) -> Panel:
    x = (*grid(1.0, 1.6, 31), *grid(1.7, 3.0, 14))
    lines = [deltas("Laplace", cut_laplace() * COUNT, x), deltas("Gauss", cut_gauss(sigma) * COUNT, x)]
    return Panel(f"{COUNT} uses, Gauss of {title}", FACTOR, DELTA, lines=lines, y_limits=(1e-24, 2.0))
