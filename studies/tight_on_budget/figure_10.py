"""Figure 10: the algorithm, watched while it works."""

from __future__ import annotations

import math
from collections.abc import Callable

from studies.figure import DELTA, Figure, Line, Panel, Shape
from tightrope import BucketList, Buckets, Gaussian

SIGMA = 200.0 * math.sqrt(2.0)
N = 2000
SPREADS = 5.0  # the last bucket of one use, in standard deviations of its loss
FACTOR = math.exp(SPREADS / SIGMA / N)
DOUBLINGS = 12
LEVELS = 1.5  # epsilon, in standard deviations of the loss of all uses
FREE = 1e-4


def figure() -> Figure:
    """B(infinity), the factor, u and delta over the doublings."""
    knobs = Buckets(factor=FACTOR, buckets=N)
    rule = _doubled(knobs.leaf(Gaussian(sigma=SIGMA)), lambda found: found * 2)
    waits = _doubled(
        Buckets(factor=FACTOR, buckets=N, free_infinity=FREE).leaf(Gaussian(sigma=SIGMA)), lambda found: found * 2
    )
    never = _doubled(knobs.leaf(Gaussian(sigma=SIGMA)), lambda found: found.compose(found))
    ways = {"rule of figure 10": rule, f"free budget {FREE:g}": waits, "never squared": never}
    folds = [found.uses for found in rule]
    return Figure(
        "figure-10",
        "Repeated squaring at work",
        f"Gaussian noise, sigma 200 sqrt 2, composed with itself again and again; factor {FACTOR:.8f}, n = {N:,}. "
        "Before each composition the list is squared if B(infinity) would grow by more than 2.2. Without squaring the "
        "list runs over: what leaves it counts in full. Each squaring doubles log f, halves u and adds one to it, so "
        "that u log f, the width of the losses that are not corrected, grows with the number of uses in the long run. "
        f"A free budget waits with squaring until B(infinity) reaches it. delta is read at an epsilon of {LEVELS:g} "
        "standard deviations of the loss. The printed loop, from 0 to t, makes 2^(t+1) uses of what it says are 2^t. "
        f"The tree at the end: {rule[-1].tree}.",
        [
            Panel(
                "what ran over: B(infinity)",
                "uses",
                "$B_T(\\infty)$",
                lines=[
                    Line(label, folds, [e.infinity.upper for e in lists], [e.infinity.lower for e in lists])
                    for label, lists in ways.items()
                ],
                log_x=True,
            ),
            Panel(
                "factor",
                "uses",
                "$\\log f_T$",
                shapes=[Shape(label, folds, [math.log(e.factor) for e in lists]) for label, lists in ways.items()],
                log_x=True,
            ),
            Panel(
                "buckets that are not corrected",
                "uses",
                "$u_T$",
                shapes=[Shape(label, folds, [float(e.u) for e in lists]) for label, lists in ways.items()],
                log_x=True,
            ),
            Panel(
                "delta, from both sides",
                "uses",
                DELTA,
                lines=[_read(label, lists) for label, lists in ways.items()],
                log_x=True,
            ),
        ],
    )


def _doubled(found: BucketList, double: Callable[[BucketList], BucketList]) -> list[BucketList]:
    lists = [found]
    for _ in range(DOUBLINGS):
        lists.append(double(lists[-1]))
    return lists


def _read(label: str, lists: list[BucketList]) -> Line:
    bounds = [found.delta(LEVELS * math.sqrt(found.uses) / SIGMA) for found in lists]
    return Line(label, [found.uses for found in lists], [b.upper for b in bounds], [b.lower for b in bounds])
