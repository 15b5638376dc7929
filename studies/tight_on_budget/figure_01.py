"""Figure 1: what delta(epsilon) is, for a cut Gaussian."""

from __future__ import annotations

import math

from studies.asking import deltas, grid
from studies.figure import DELTA, FACTOR, Figure, Panel, Shape
from tightrope.mechanisms.truncated import TruncatedGaussian

SIGMA, CUT, EPSILON = 1.0, 2.5, 0.6


def figure() -> Figure:
    """The curve of one use, and the area that one point of it is."""
    mechanism = TruncatedGaussian(sigma=SIGMA, bounds=(-CUT, CUT))
    curve = deltas("cut Gaussian, one use", mechanism, grid(1.0, 30.0, 117), accuracy=1e-6)
    x = grid(-CUT - 0.5, CUT + 1.5, 601)
    shifted = [_density(each - 1.0) for each in x]
    scaled = [math.exp(EPSILON) * _density(each) for each in x]
    above = [max(high, low) for high, low in zip(shifted, scaled, strict=True)]
    return Figure(
        "figure-01",
        "What delta is",
        f"Left: delta of one use of Gaussian noise (sigma {SIGMA:g}, sensitivity 1) cut at {CUT:g} on both sides, "
        "over e^epsilon. The curve does not fall to 0: outputs that only one of the two laws can produce give the "
        f"record away at any epsilon, and their mass is where it levels out. Right: delta at epsilon {EPSILON:g} is "
        "the hatched area, where the shifted law exceeds e^epsilon times the other one, which is no longer a "
        "probability law. The paper prints no parameters here; these were chosen so that every part is seen.",
        [
            Panel("delta of one use", FACTOR, DELTA, lines=[curve]),
            Panel(
                f"one point of it, at epsilon {EPSILON:g}",
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
