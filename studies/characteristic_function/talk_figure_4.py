"""Figure 4 of the source: which direction is the worse depends on alpha."""

from __future__ import annotations

import math

from studies.asking import certified, grid
from studies.figure import Figure, Line, Panel
from tightrope import Direction, Gaussian, Mechanism

ALPHAS, ZOOM = grid(0.21, 3.01, 57), grid(0.8, 1.2, 41)
NAMES = {Direction.REMOVE: "record removed", Direction.ADD: "record added"}


def sampled() -> Mechanism:
    """Gaussian noise of sigma 1 on a sample that takes each record with probability 1/2."""
    return Gaussian(sigma=1.0).poisson(rate=0.5)


def figure() -> Figure:
    """The hockey-stick divergence over alpha, below and above 1, in both directions."""
    return Figure(
        "talk-figure-4",
        "Two directions, neither of which dominates",
        "The hockey-stick divergence of a Poisson-sampled Gaussian (sigma 1, rate 1/2) at every alpha. Where alpha is "
        "above 1, removing a record is the worse; below 1, adding one is: the curves cross at 1, as the right panel "
        "shows. So no single one of the two pairs stands for both, a composition is asked in each direction, and the "
        "larger answer is the one to report. Below 1 is epsilon < 0, which a composition needs and a single answer "
        "does not show.",
        [
            Panel("all of it", "$\\alpha$", "$H_\\alpha$", lines=_lines(ALPHAS)),
            Panel("around 1", "$\\alpha$", "$H_\\alpha$", lines=_lines(ZOOM), log_y=False),
        ],
    )


def _lines(alphas: tuple[float, ...]) -> list[Line]:
    epsilons = [math.log(alpha) for alpha in alphas]
    return [certified(name, alphas, sampled().delta(epsilons, direction=each)) for each, name in NAMES.items()]
