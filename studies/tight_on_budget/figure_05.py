"""Figure 5: the buckets of both directions."""

from __future__ import annotations

from studies.figure import Figure, Panel
from studies.tight_on_budget.lists import FACTOR, SAID, N, bars, panel, small
from tightrope import Direction, Gaussian

RATE = 0.5
CORNERS = (-N, float("inf"))


def figure() -> Figure:
    """A list of A against B, and one of B against A."""
    return Figure(
        "figure-05",
        "Buckets of both directions",
        f"Gaussian noise of sigma 1, run with probability {RATE:g}, in buckets of factor {FACTOR:g}, n = {N}: one list "
        "for A against B (a record removed) and one for B against A (added). Bucket i holds the losses above "
        "(i - 1) log f, up to i log f; the corner buckets hold what lies beyond: -n all that is lower, infinity all "
        f"that is higher. {SAID}",
        [_panel("A against B", Direction.REMOVE), _panel("B against A", Direction.ADD)],
    )


def _panel(title: str, direction: Direction) -> Panel:
    found = small(Gaussian(sigma=1.0).poisson(rate=RATE), direction)
    return panel(
        title,
        bars("$B(i)$", found, chosen=lambda index: index not in CORNERS),
        bars("corner buckets", found, chosen=lambda index: index in CORNERS),
        y_limits=(0.0, 0.45),
    )
