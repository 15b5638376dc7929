"""Where H(a) + a x is least, if H is that of a Gaussian mechanism whose mu = sensitivity / sigma changes slowly with a.

Every H is that of some mu at each a. With mu(t) through the last few of them, t = log a, the least is where
Phi(-z) - phi(z) mu'(t) = x, z = t/mu + mu/2 (Balle, Wang 2018, Thm 8, differentiated).
Guarantee: none is needed; it only tells where to look next. No numpy: proofs look here too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

GUESS_HALVINGS = 64
LOG_MU = 700.0  # at most, either sign
LITTLE_MU = 1e-5  # below, the first order in mu tells more than a difference
ERFC_MAX = 36.0  # standard deviations: from here on erfc underflows
LOG_ROOT_TWO_PI = 0.9189385332046727


def log_normal(z: float) -> float:
    """log Phi(z)."""
    if z > 0.0:
        return math.log1p(-math.erfc(z * math.sqrt(0.5)) / 2.0)
    if z > -ERFC_MAX:
        return math.log(math.erfc(-z * math.sqrt(0.5)) / 2.0)
    return -z * z / 2.0 - math.log(-z) - LOG_ROOT_TWO_PI + math.log1p(-1.0 / (z * z))


def upper_point(x: float) -> float:
    """z with Phi(-z) = x, for x above 0 and below 1."""
    goal, low, high = math.log(x), -ERFC_MAX, ERFC_MAX
    for _ in range(GUESS_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if log_normal(-middle) > goal else (low, middle)
    return low


def equivalent(t: float, delta: float) -> float:
    """mu of the Gaussian mechanism with this H(e^t), t >= 0; nan where there is none within reach."""
    if not 0.0 < delta < 1.0:
        return math.nan
    goal, low, high = math.log(delta), -LOG_MU, LOG_MU
    for _ in range(GUESS_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if log_hockey_stick(t, math.exp(middle)) < goal else (low, middle)
    return math.exp(low) if low > -LOG_MU and high < LOG_MU else math.nan


def log_hockey_stick(t: float, mu: float) -> float:
    """log H(e^t) of the Gaussian mechanism, t >= 0."""
    if mu < LITTLE_MU:  # mu (phi(u) - u Phi(-u)), u = t/mu
        u = t / mu
        density = -u * u / 2.0 - LOG_ROOT_TWO_PI
        if u > ERFC_MAX:
            return math.log(mu) + density - 2.0 * math.log(u)
        return math.log(mu) + math.log(math.exp(density) - u * math.erfc(u * math.sqrt(0.5)) / 2.0)
    above, below = log_normal(mu / 2.0 - t / mu), log_normal(-mu / 2.0 - t / mu)
    gap = t + below - above
    return above + math.log(-math.expm1(gap)) if gap < 0.0 else -math.inf


def turning_point(known: Sequence[tuple[float, float]], x: float, low: float, high: float) -> float:
    """t between low and high where H(e^t) + e^t x is least, by one, two or three known (t, mu); nan where none is."""

    def falls(t: float) -> bool:
        mu, slope = _parabola(known, t)
        if not mu > 0.0:
            return False
        z = t / mu + mu / 2.0
        return math.erfc(z * math.sqrt(0.5)) / 2.0 - slope * math.exp(-z * z / 2.0 - LOG_ROOT_TWO_PI) > x

    if falls(low) == falls(high):
        return math.nan
    for _ in range(GUESS_HALVINGS):
        middle = low + (high - low) / 2.0
        low, high = (middle, high) if falls(middle) else (low, middle)
    return low


def _parabola(known: Sequence[tuple[float, float]], t: float) -> tuple[float, float]:
    """The value and the slope at t of the polynomial through one to three points, by divided differences."""
    (t0, m0), *others = known
    value, slope, basis, growth = m0, 0.0, 1.0, 0.0
    if others:
        (t1, m1), *rest = others
        first = (m1 - m0) / (t1 - t0)
        growth, basis = basis + growth * (t - t0), basis * (t - t0)
        value, slope = value + first * basis, slope + first * growth
        for t2, m2 in rest:
            second = ((m2 - m1) / (t2 - t1) - first) / (t2 - t0)
            growth, basis = basis + growth * (t - t1), basis * (t - t1)
            value, slope = value + second * basis, slope + second * growth
    return value, slope
