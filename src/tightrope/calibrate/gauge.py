"""How much a delta is: the Gaussian mechanism that has the same one.

With many uses, or much noise, everything looks like a Gaussian mechanism of some mu = sensitivity / sigma, and log mu
is nearly a straight line in the log of a scale, a rate or a count. log delta is not: it falls like a square.
Guarantee: none is needed; it only tells where to look next. Balle, Wang 2018, Thm 8.
"""

from __future__ import annotations

import math

from scipy.special import erfinv, log_ndtr

LOW, HIGH = -60.0, 60.0  # log mu
STEPS = 60


def equivalent(epsilon: float, delta: float) -> float:
    """log mu of the Gaussian mechanism with this delta at epsilon; nan where there is none within reach."""
    if not 0.0 < delta < 1.0:
        return math.nan
    if epsilon == 0.0:
        return math.log(2.0 * math.sqrt(2.0) * float(erfinv(delta)))
    goal, low, high = math.log(delta), LOW, HIGH
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _log_delta(epsilon, math.exp(middle)) < goal else (low, middle)
    return low if low > LOW and high < HIGH else math.nan


def _log_delta(epsilon: float, mu: float) -> float:
    above, below = float(log_ndtr(mu / 2.0 - epsilon / mu)), float(log_ndtr(-mu / 2.0 - epsilon / mu))
    gap = epsilon + below - above
    return above + math.log(-math.expm1(gap)) if gap < 0.0 else -math.inf
