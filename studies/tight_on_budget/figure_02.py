"""Figure 2: one point of the curve says little about many uses."""

from __future__ import annotations

import math

from studies.asking import exponential, factors, grid
from studies.figure import FACTOR, Figure, Line, Panel, Shape
from studies.tight_on_budget.kov import points_of
from studies.tight_on_budget.noise import COUNT, SAME_VARIANCE, cut_gauss
from tightrope import ApproximateDP

DELTA = 1e-4
COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, COUNT)


def figure() -> Figure:
    """e^epsilon over the count for the noise itself, for one point of its curve, and for the best point."""
    gauss = cut_gauss()
    share = DELTA / (2 * COUNT)
    loss = gauss.epsilon(share, accuracy=1e-6).upper
    point = ApproximateDP(loss, share)
    points = points_of(gauss)
    known = factors("cut Gaussian", lambda count: gauss * count, COUNTS, DELTA)
    blind = factors("leaky response, one point of the curve", lambda count: point * count, COUNTS, DELTA)
    start = gauss.epsilon(DELTA, accuracy=1e-6).upper
    best = [min(points.epsilon(DELTA, count), start if count == 1 else math.inf) for count in COUNTS]
    best_factors = [min(exponential(epsilon), one) for epsilon, one in zip(best, blind.upper, strict=True)]
    x = grid(-900.0, 900.0, 181)
    return Figure(
        "figure-02",
        "One point is not the mechanism",
        f"Left: e^epsilon at delta {DELTA:g} over the number of uses. The cut Gaussian (sigma 200 sqrt 2, cut at "
        "2500) against leaky randomized response with the same (epsilon, delta) as one use, the worst mechanism that "
        f"has this point; the point is the one at delta {share:.2g}, since with a point at {DELTA:g} itself two uses "
        "already leak more than the budget and epsilon is infinite. With the best point for each count the curves "
        "start together and part at once. Right: why. The Gaussian's two laws differ a little everywhere, the "
        "response puts all of its mass on its largest loss.",
        [
            Panel(
                f"growth at delta {DELTA:g}",
                "uses",
                FACTOR,
                lines=[known, blind, Line("leaky response, best point per count", COUNTS, best_factors)],
                log_x=True,
                log_y=False,
            ),
            Panel(
                "log-ratio of the two laws (sensitivity 1)",
                "output",
                "loss of this output",
                shapes=[
                    Shape("cut Gaussian", x, [each / SAME_VARIANCE**2 for each in x]),
                    Shape("leaky response: + or - its epsilon", x, [math.copysign(loss, each) for each in x]),
                ],
                log_y=False,
            ),
        ],
    )
