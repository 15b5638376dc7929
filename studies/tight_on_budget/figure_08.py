"""Figure 8: a bucket of a composition."""

from __future__ import annotations

from studies.figure import Bars, Figure, Panel
from studies.tight_on_budget.lists import SAID, N, bars, panel, small

INDEX = 2


def figure() -> Figure:
    """The products that make up bucket 2."""
    found = small()
    both = found.compose(found)
    pairs = [(first, INDEX - first) for first in range(INDEX - N, N + 1)]
    products = [found[first].mass.upper * found[second].mass.upper for first, second in pairs]
    return Figure(
        "figure-08",
        "One bucket of a composition",
        f"Gaussian noise of sigma 1, twice, n = {N}. Left: the {len(pairs)} products B1(j) B2(k) with j + k = {INDEX}. "
        "The buckets -3, -4 and infinity have no part in it: whatever they meet, the sum is another. Right: their sum "
        f"is bucket {INDEX} of the composition, {sum(products):.6f}; the corner buckets take what leaves the list. "
        f"{SAID}",
        [
            Panel(
                f"what bucket {INDEX} is made of",
                "(j, k)",
                "mass",
                bars=[Bars("$B_1(j) \\cdot B_2(k)$", range(len(pairs)), products)],
                ticks=[(place, f"({first}, {second})") for place, (first, second) in enumerate(pairs)],
                log_y=False,
            ),
            panel(
                "the composition",
                bars("$B(i)$", both, chosen=lambda index: index != INDEX),
                bars(f"bucket {INDEX}", both, chosen=lambda index: index == INDEX),
            ),
        ],
    )
