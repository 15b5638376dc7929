"""Figure 22: the moments accountant, from buckets and from the cgf."""

from __future__ import annotations

import math

from studies.asking import deltas, grid, upper
from studies.figure import DELTA, FACTOR, Figure, Panel
from studies.tight_on_budget.noise import GRADIENT_STEPS, gradient_step
from tightrope.core.conversions import renyi_accountant as renyi
from tightrope.core.engines.buckets.engine import prepare
from tightrope.core.engines.buckets.read import renyi as bucket_renyi
from tightrope.core.values.question import Direction

ORDERS = tuple(range(1, 33))  # those of the first moments accountant
N = 2**15


def figure() -> Figure:
    """delta of the moments accountant for noisy gradient descent, twice, above the certified truth."""
    x = grid(1.0, 20.0, 20)
    run = gradient_step() * GRADIENT_STEPS
    moments = bucket_moments()
    return Figure(
        "figure-22",
        "The moments accountant, twice",
        f"Noisy gradient descent (sigma 4, rate 0.01, {GRADIENT_STEPS:,} steps): the moments accountant with "
        f"divergences read from {2 * N + 1:,} privacy buckets, as the paper does it (whole orders up to {ORDERS[-1]}; "
        "the bucket at infinity left out, so that this line is no bound), and with those of the certified cgf (any "
        "real order), which is one. The two coincide, and both lie one to two orders of magnitude above the certified "
        "delta: what is lost is lost in the conversion, not in the moments.",
        [
            Panel(
                f"{GRADIENT_STEPS:,} steps",
                FACTOR,
                DELTA,
                lines=[
                    deltas("certified", run, grid(1.0, 20.0, 39)),
                    upper("moments accountant from buckets (no bound)", x, lambda f: markov(moments, math.log(f))),
                    upper("moments accountant from the cgf", x, lambda f: renyi.markov_delta(run, math.log(f))),
                ],
                y_limits=(1e-6, 2.0),
            )
        ],
    )


def bucket_moments() -> dict[int, float]:
    """order -> log E[e^(order loss)] of one step over the finite buckets, rounded down."""
    found = dict.fromkeys(ORDERS, 0.0)
    for direction in Direction:
        evaluator = prepare([(gradient_step().pair(direction), 1)], delta=1e-9, n=N)
        for order in ORDERS:
            found[order] = max(found[order], order * bucket_renyi(evaluator.buckets(float(order)), order + 1.0).lower)
    return found


def markov(moments: dict[int, float], epsilon: float) -> float:
    """The smallest e^(K - order epsilon) over the orders, and at most 1."""
    return min(math.exp(min(GRADIENT_STEPS * moment - order * epsilon, 0.0)) for order, moment in moments.items())
