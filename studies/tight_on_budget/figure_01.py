"""Figure 1: what delta(epsilon) is, for a cut Gaussian."""

from __future__ import annotations

import math

from studies.asking import deltas, grid
from studies.figure import DELTA, FACTOR, Figure, Panel, Shape
from studies.tight_on_budget.noise import cut_gauss

SIGMA, CUT, EPSILON = 1.0, 2.5, 0.6  # of the right half: ours
FACTORS = grid(1.0, 1.04, 161)  # the largest finite loss is 0.031


def figure() -> Figure:
    """The curve of one use, and the area that one point of it is."""
    curve = deltas("cut Gaussian, one use", cut_gauss(), FACTORS, accuracy=1e-6)
    x = grid(-CUT - 0.5, CUT + 1.5, 601)
    shifted = [_density(each - 1.0) for each in x]
    scaled = [math.exp(EPSILON) * _density(each) for each in x]
    above = [max(high, low) for high, low in zip(shifted, scaled, strict=True)]
    return Figure(
        "figure-01",
        "What delta is",
        "Left: delta of one use of Gaussian noise (sigma 200 sqrt 2, sensitivity 1) cut at 2500 on both sides, over "
        "e^epsilon: from 1.41e-3 at epsilon 0 down to 1.55e-20. It falls no further: outputs that only one of the two "
        "laws can produce give the record away at any epsilon, and their mass is where the curve levels out. The "
        "figure's caption prints no parameters; those of section 5 fit its axes. Right: delta at "
        f"epsilon {EPSILON:g} is the hatched area, where the shifted law exceeds e^epsilon times the other one, which "
        f"is no longer a probability law; drawn with sigma {SIGMA:g} and a cut at {CUT:g} (ours), since with those "
        "of the left half the two laws cannot be told apart by eye.",
        [
            Panel("delta of one use", FACTOR, DELTA, lines=[curve]),
            Panel(
                f"one point of such a curve, at epsilon {EPSILON:g}",
                "output",
                "density",
                shapes=[
                    Shape("A: with the record", x, shifted),
                    Shape("B: without", x, [_density(each) for each in x]),
                    Shape("$e^\\varepsilon$ B", x, scaled),
                    Shape("delta: the area of A above it", x, above, floor=scaled),
                ],
                log_y=False,
                y_limits=(0.0, None),
            ),
        ],
    )


def _density(x: float) -> float:
    if abs(x) > CUT:
        return 0.0
    kept = math.erf(CUT / SIGMA / math.sqrt(2.0))
    return math.exp(-0.5 * (x / SIGMA) ** 2) / (SIGMA * math.sqrt(2.0 * math.pi) * kept)
