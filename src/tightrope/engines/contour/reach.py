"""Where the contour may stop: a bound on the product of all |phi| beyond a height, and the height that is enough.

Cutting the sum after t_J costs at most scale rho atan2(c, t_J)/(pi c), rho = sup over t > t_J of prod |phi_i(t)|^{k_i}.
Guarantee: upper. Proof: docs/proofs/contour.md, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .cgf import Decay
from .saddle import SAMPLE, Saddle

FIRST_GUESS = 1.2  # the bound keeps about 70 % of the exponent

LogBounds = tuple[tuple[float, int], ...]  # bounds of log |phi_i|, and counts


def log_truncation(log_bounds: Sequence[tuple[float, int]], tilt: float, height: float) -> float:
    """log of the truncation error after the height, relative to the scale, rounded up."""
    decay = math.fsum(count * bound for bound, count in log_bounds)
    return decay * (1.0 - 1e-15) + math.log(math.atan2(tilt, height) / (math.pi * tilt)) + 1e-12


def find_reach(
    decays: Sequence[tuple[Decay, int]], saddle: Saddle, log_tolerance: float, most: float
) -> tuple[float, LogBounds] | None:
    """A height whose truncation error is below delta e^-log_tolerance, with its bounds; None beyond `most`."""
    c = saddle.tilt
    allowed = saddle.log_delta - log_tolerance - (saddle.cumulants.value - c * saddle.epsilon)
    height = min(most, FIRST_GUESS * math.sqrt(2.0 * log_tolerance / saddle.curvature))
    # Some of many terms stand for all of them until the end.
    stride = max(1, len(decays) // SAMPLE)
    for _ in range(60):
        fixed = math.log(math.atan2(c, height) / (math.pi * c))
        wanted = allowed - fixed
        bounds = tuple((decay.log_bound(height), count) for decay, count in decays[::stride])
        reached = len(decays) / len(bounds) * sum(count * bound for bound, count in bounds)
        if reached <= wanted and stride > 1:
            stride = 1
            continue
        if reached <= wanted:
            return height, bounds
        if height >= most:
            return None
        # |phi| falls like a bell first; where it falls slower, the step grows.
        growth = math.sqrt(wanted / reached) if wanted < 0.0 and reached < 0.0 else 4.0
        height = min(most, height * max(1.05, min(4.0, 1.03 * growth)))
    return None
