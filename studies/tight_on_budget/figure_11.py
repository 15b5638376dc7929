"""Figure 11: randomized response, and what other theories say of it."""

from __future__ import annotations

import math

from studies.asking import deltas, factors, grid, upper, upper_factors
from studies.figure import DELTA, FACTOR, Figure, Panel
from studies.tight_on_budget.kov import points_of
from studies.tight_on_budget.noise import COUNT, response
from tightrope.core.conversions import concentrated
from tightrope.core.conversions import renyi_accountant as renyi

COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, COUNT)
LEVEL = 1e-4


def figure() -> Figure:
    """delta over e^epsilon after 512 uses, and growth at delta 1e-4."""
    mechanism, run, points = response(), response() * COUNT, points_of(response())
    x = grid(1.0, 40.0, 40)
    return Figure(
        "figure-11",
        "Randomized response",
        f"Randomized response with p = 0.51. Left: delta after {COUNT} uses. Right: e^epsilon at delta {LEVEL:g}. The "
        "theorem of Kairouz, Oh and Viswanath (KOV) is exact here, since this is the mechanism it is made from: its "
        "marks lie on the certified curve. Concentrated and Renyi privacy know only exponential moments and end far "
        "above; the older conversion of the moments accountant lies highest.",
        [
            Panel(
                f"after {COUNT} uses",
                FACTOR,
                DELTA,
                lines=[
                    deltas("certified", run, x),
                    upper("KOV", x, lambda f: points.delta(math.log(f), COUNT)),
                    upper("Renyi, Markov (moments accountant)", x, lambda f: renyi.markov_delta(run, math.log(f))),
                    upper("Renyi, best conversion", x, lambda f: renyi.renyi_delta(run, math.log(f))),
                    upper("concentrated (subgaussian)", x, lambda f: concentrated.fitted_delta(run, math.log(f))),
                ],
            ),
            Panel(
                f"growth at delta {LEVEL:g}",
                "uses",
                FACTOR,
                lines=[
                    factors("certified", lambda count: mechanism * count, COUNTS, LEVEL),
                    upper_factors("KOV", COUNTS, lambda count: points.epsilon(LEVEL, count)),
                    upper_factors(
                        "Renyi, Markov (moments accountant)",
                        COUNTS,
                        lambda count: renyi.markov_epsilon(mechanism * count, LEVEL),
                    ),
                    upper_factors(
                        "Renyi, best conversion", COUNTS, lambda count: renyi.renyi_epsilon(mechanism * count, LEVEL)
                    ),
                    upper_factors(
                        "concentrated (subgaussian)",
                        COUNTS,
                        lambda count: concentrated.fitted_epsilon(mechanism * count, LEVEL),
                    ),
                ],
                log_x=True,
            ),
        ],
    )
