"""Figure 7: two events compose."""

from __future__ import annotations

from studies.figure import Bars, Figure
from studies.tight_on_budget.lists import SAID, bars, panel, small

FIRST, SECOND = -2, 4


def figure() -> Figure:
    """A pair of events goes to the sum of their indices."""
    found = small()
    both = found.compose(found)
    one, other = found[FIRST].mass, found[SECOND].mass
    pair = one.upper * other.upper
    place = FIRST + SECOND
    return Figure(
        "figure-07",
        "Two events compose",
        f"Gaussian noise of sigma 1, twice. An event of bucket {FIRST} of the first list and one of bucket {SECOND} of "
        f"the second make an event of bucket {place}: ratios multiply, so indices add. All such pairs together are "
        f"{pair / both[place].mass.lower:.1%} of what bucket {place} holds in the end; in the same way they would meet "
        f"with first and second exchanged. {SAID}",
        [
            panel(
                "both lists before",
                bars("$B(i)$", found, chosen=lambda index: index not in (FIRST, SECOND)),
                bars(f"$x_1$ in bucket {FIRST}", found, chosen=lambda index: index == FIRST),
                bars(f"$x_2$ in bucket {SECOND}", found, chosen=lambda index: index == SECOND),
            ),
            panel(
                "the list after",
                bars("$B(i)$ of both uses", both),
                Bars(f"$(x_1, x_2)$ in bucket {place}", [place], [pair]),
            ),
        ],
    )
