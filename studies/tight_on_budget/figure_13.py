"""Figure 13: the Gaussian mechanism under Renyi and concentrated privacy."""

from __future__ import annotations

import math

from studies.asking import deltas, factors, grid, upper, upper_factors
from studies.figure import DELTA, FACTOR, Figure, Panel
from studies.tight_on_budget.kov import points_of
from studies.tight_on_budget.noise import COUNT, whole_gauss
from tightrope.core.conversions import concentrated
from tightrope.core.conversions import renyi_accountant as renyi

COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, COUNT)
LEVEL = 1e-5


def figure() -> Figure:
    """delta over e^epsilon after 512 uses, and growth at delta 1e-5."""
    mechanism, run, points = whole_gauss(), whole_gauss() * COUNT, points_of(whole_gauss())
    x = grid(1.0, 1.6, 31)
    return Figure(
        "figure-13",
        "Gauss under Renyi and concentrated privacy",
        f"Gaussian noise, sigma 200 sqrt 2. Left: delta after {COUNT} uses. Right: e^epsilon at delta {LEVEL:g}. "
        "Concentrated privacy describes this loss exactly, and still loses a factor when it is turned into delta: "
        "with the best conversion it coincides with Renyi privacy. KOV, blind to the shape, drifts away as the count "
        "grows.",
        [
            Panel(
                f"after {COUNT} uses",
                FACTOR,
                DELTA,
                lines=[
                    deltas("certified", run, x),
                    upper("KOV", x, lambda f: points.delta(math.log(f), COUNT)),
                    upper("Renyi, Markov (moments accountant)", x, lambda f: renyi.markov_delta(run, math.log(f))),
                    upper("concentrated, best conversion", x, lambda f: concentrated.zcdp_delta(run, math.log(f))),
                ],
                y_limits=(1e-10, 2.0),
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
                        "concentrated, best conversion",
                        COUNTS,
                        lambda count: concentrated.zcdp_epsilon(mechanism * count, LEVEL),
                    ),
                ],
                log_x=True,
                log_y=False,
            ),
        ],
    )
