"""Where to put the nodes of the trapezoid rule for a sampled normal, and how large its error is at most.

The integrals are D(t) = integral n(x) g(x)^a e^{+-i t log g(x)} dx with n the standard normal density and
g(x) = 1 - rate + rate e^{mu x - mu^2/2}. g has no zero for |Im x| < pi/mu, so for every 0 < y < pi/mu the sum with
step h, at any offset, errs by at most D(0) e^{y^2/2 + t mu y} 2 kappa / (e^{2 pi y/h} - 1), kappa = 1 for a >= 0 and
cos(mu y/2)^a for a < 0.
Plain floats and no numpy: both arithmetics use it. The choices cost accuracy only; `modes` are upper bounds.
Guarantee: upper. Proof: docs/proofs/contour.md, section 5.
Reference: Trefethen, Weideman 2014, Thm 5.1 (trapezoid rule in a strip).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

STRIP_FRACTIONS = (0.3, 0.5, 0.7, 0.85, 0.95)


@dataclass(frozen=True, slots=True)
class Grid:
    """Nodes centre + n step for n = -left .. right; centre and step are dyadic, so the nodes are exact."""

    step: float
    centre: float
    left: int
    right: int

    @property
    def size(self) -> int:
        """Number of nodes."""
        return self.left + self.right + 1


def log_odds(mu: float, rate: float) -> float:
    """b such that the odds of the shifted component at x are e^{mu x + b}, approximately."""
    return math.log(rate) - math.log1p(-rate) - 0.5 * mu * mu


def softplus(w: float) -> float:
    """log(1 + e^w)."""
    return w + math.log1p(math.exp(-w)) if w > 0.0 else math.log1p(math.exp(w))


def logistic(w: float) -> float:
    """e^w / (1 + e^w)."""
    return 1.0 / (1.0 + math.exp(-w)) if w > -700.0 else 0.0


def dyadic(value: float, bits: int) -> float:
    """value rounded down to this many significant bits."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.floor(math.ldexp(mantissa, bits)), exponent - bits)


def choose_step(mu: float, power: float, reach: float, log_tolerance: float) -> float:
    """A dyadic step whose error is about e^-log_tolerance for all |t| <= reach; power is a."""
    heights = [fraction * math.pi / mu for fraction in STRIP_FRACTIONS]
    best = math.sqrt(2.0 * log_tolerance)
    heights += [best] if mu * best < 0.95 * math.pi else []
    step = max(
        2.0 * math.pi * y / (y * y / 2.0 + reach * mu * y + _log_kappa(mu, y, power) + log_tolerance) for y in heights
    )
    return dyadic(step, 8)


def choose_grid(mu: float, rate: float, power: float, reach: float, log_tolerance: float) -> Grid:
    """A grid with such a step, its ends where the density is about as small."""
    step = choose_step(mu, power, reach, log_tolerance)
    low, high = window(mu, rate, power, math.sqrt(2.0 * (log_tolerance + 4.0)))
    centre = round(middle(mu, rate, power, low, high) / step)
    return Grid(step, centre * step, max(1, centre - math.floor(low / step)), max(1, math.ceil(high / step) - centre))


def error_modes(mu: float, power: float, step: float) -> tuple[tuple[float, float], ...]:
    """(constant, slope) such that the relative error at t is at most exp(constant + slope t), for each mode.

    mu must be an upper bound of the true one; constants are rounded up.
    """
    modes = []
    for y in mode_heights(mu, step):
        turns = 2.0 * math.pi * y / step
        constant = math.log(2.0) + y * y / 2.0 + _log_kappa(mu, y, power) - turns - math.log1p(-math.exp(-turns))
        slack = 1e-12 * (1.0 + y * y + _log_kappa(mu, y, power) + turns)
        modes.append((constant + slack, mu * y * (1.0 + 1e-12)))
    return tuple(modes)


def mode_heights(mu: float, step: float) -> list[float]:
    """Heights y inside the strip that are worth a try."""
    heights = [fraction * math.pi / mu for fraction in STRIP_FRACTIONS] + [5.0, 7.0, 9.0, 10.5, 12.0]
    return [y for y in heights if mu * y < 0.96 * math.pi and 2.0 * math.pi * y > step]


def _log_kappa(mu: float, y: float, power: float) -> float:
    return 0.0 if power >= 0.0 else power * math.log(math.cos(mu * y / 2.0))


def window(mu: float, rate: float, power: float, width: float) -> tuple[float, float]:
    """Ends that lie `width` beyond everything where n g^a is large."""
    if power >= 0.0:
        return -width, power * mu + width
    centre = mode(mu, rate, power)
    return centre - width, centre + width


def mode(mu: float, rate: float, power: float) -> float:
    """The mode of n g^a for a < 0, where the log density is concave with curvature at least 1."""
    odds, low, high = log_odds(mu, rate), power * mu, 0.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if middle > power * mu * logistic(mu * middle + odds) else (middle, high)
    return 0.5 * (low + high)


def middle(mu: float, rate: float, power: float, low: float, high: float) -> float:
    """The mean of the law with density n g^a, roughly."""
    if power < 0.0:
        return 0.5 * (low + high)
    odds = log_odds(mu, rate)
    steps = min(400, max(40, math.ceil((high - low) * max(mu, 1.0))))
    nodes = [low + (high - low) * index / steps for index in range(steps + 1)]
    logs = [power * softplus(mu * x + odds) - x * x / 2.0 for x in nodes]
    top = max(logs)
    masses = [math.exp(log - top) for log in logs]
    return sum(mass * x for mass, x in zip(masses, nodes, strict=True)) / sum(masses)
