"""Figure 2: one point of the curve says little about many uses."""

from __future__ import annotations

import math
from collections.abc import Sequence

from studies.asking import exponential, factors, grid
from studies.figure import FACTOR, Figure, Line, Panel, Shape
from studies.tight_on_budget.kov import points_of
from studies.tight_on_budget.noise import COUNT, CUT, SAME_VARIANCE, cut_gauss
from tightrope import ApproximateDP

DELTA = 1e-4
COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, COUNT)
FAR = 300.0  # the sensitivity of the panel of the two laws (ours)
SEEN, LEAK = 1.0, 0.1  # epsilon and delta of the response that is drawn (ours)


def figure() -> Figure:
    """e^epsilon over the count for the noise itself, for one point of its curve, and for the best point; the laws."""
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
    lines = [known, blind, Line("leaky response, best point per count", COUNTS, best_factors)]
    return Figure(
        "figure-02",
        "One point is not the mechanism",
        f"Left: e^epsilon at delta {DELTA:g} over the number of uses. The cut Gaussian (sigma 200 sqrt 2, cut at "
        "2500) against leaky randomized response with the same (epsilon, delta) as one use, the worst mechanism that "
        f"has this point; the point is the one at delta {share:.2g}, since with a point at {DELTA:g} itself two uses "
        "already leak more than the budget and epsilon is infinite. With the best point for each count the curves "
        "start together and part at once. Right and below: the two laws A and B of each. The Gaussian's differ a "
        f"little everywhere (drawn for a sensitivity of {FAR:g}, ours, since 1 cannot be seen); the response has four "
        "outputs, two that tell everything and two whose loss is its largest, + or - epsilon (drawn for epsilon "
        f"{SEEN:g} and delta {LEAK:g}, ours). Last: the loss of each output at sensitivity 1, which is why they part.",
        [
            Panel(f"growth at delta {DELTA:g}", "uses", FACTOR, lines=lines, log_x=True, log_y=False),
            _gauss_laws(),
            _response_laws(),
            _losses(loss),
        ],
    )


def _gauss_laws() -> Panel:
    x = grid(CUT[0] - 100.0, CUT[1] + FAR + 100.0, 601)
    laws = (("A: with the record", FAR), ("B: without", 0.0))
    shapes = [Shape(label, x, [_density(each - shift) for each in x]) for label, shift in laws]
    return Panel(f"the cut Gaussian's laws (sensitivity {FAR:g})", "output", "density", shapes=shapes, log_y=False)


def _density(x: float) -> float:
    if not CUT[0] <= x <= CUT[1]:
        return 0.0
    kept = math.erf(CUT[1] / SAME_VARIANCE / math.sqrt(2.0))
    return math.exp(-0.5 * (x / SAME_VARIANCE) ** 2) / (SAME_VARIANCE * math.sqrt(2.0 * math.pi) * kept)


def _response_laws() -> Panel:
    """delta tells, else the truth with e^epsilon to 1."""
    right = (1.0 - LEAK) * math.exp(SEEN) / (1.0 + math.exp(SEEN))
    masses = (LEAK, right, 1.0 - LEAK - right, 0.0)
    shapes = [
        _bars("A: with the record", masses, -0.34),
        _bars("B: without", masses[::-1], 0.02),
    ]
    title = f"the leaky response's laws (epsilon {SEEN:g}, delta {LEAK:g})"
    return Panel(title, "1: it was A   2: likely A   3: likely B   4: it was B", "mass", shapes=shapes, log_y=False)


def _bars(label: str, masses: Sequence[float], start: float) -> Shape:
    """A box for each mass, at 1, 2, ..."""
    x = [at for place in range(1, len(masses) + 1) for at in _ends(place + start)]
    return Shape(label, x, [height for mass in masses for height in (0.0, mass, mass, 0.0, math.nan)])


def _ends(left: float) -> tuple[float, ...]:
    return left, left, left + 0.32, left + 0.32, left + 0.32


def _losses(loss: float) -> Panel:
    x = grid(-900.0, 900.0, 181)
    shapes = [
        Shape("cut Gaussian", x, [each / SAME_VARIANCE**2 for each in x]),
        Shape("leaky response: + or - its epsilon", x, [math.copysign(loss, each) for each in x]),
    ]
    return Panel(
        "log-ratio of the two laws (sensitivity 1)", "output", "loss of this output", shapes=shapes, log_y=False
    )
