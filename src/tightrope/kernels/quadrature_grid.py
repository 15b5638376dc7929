"""Where to put the nodes of the trapezoid rule for a sampled normal, and how large its error is at most.

The integrals are D(t) = integral n(x) g(x)^a e^{+-i t log g(x)} dx with n the standard normal density and
g(x) = 1 - rate + rate e^{mu x - mu^2/2}. g has no zero for |Im x| < pi/mu, so for every 0 < y < pi/mu the sum with
step h, at any offset, errs by at most D(0) e^{y^2/2 + t mu y} 2 kappa / (e^{2 pi y/h} - 1), kappa = 1 for a >= 0 and
cos(mu y/2)^a for a < 0. With a window (kernels.window) n is n times its weight, y^2/2 becomes lift y^2/2, and t mu y
becomes t mu s y, s = 1 or the share of the shifted component at the hard end if that is below 1/2; the end lies half a
step beyond the last node and adds at most 2 y f(end), f the integrand.
Plain floats and no numpy: both arithmetics use it. The choices cost accuracy only; `modes` are upper bounds.
Guarantee: upper. Proof: docs/proofs/contour.md, section 5.
Reference: Trefethen, Weideman 2014, Thm 5.1 (trapezoid rule in a strip).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .window import WHOLE, Window

STRIP_FRACTIONS = (0.3, 0.5, 0.7, 0.85, 0.95)
COARSE_CELLS = 600


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


@dataclass(frozen=True, slots=True)
class Strip:
    """How the integrand grows off the real axis: e^{lift y^2/2 + t mu share y}, both rounded up."""

    lift: float = 1.0
    share: float = 1.0


PLAIN = Strip()


def marked_strip(mu: float, rate: float, marked: Window) -> Strip:
    """The growth below the hard end of a window, where arg g(x + iy) <= mu s y; mu must not be below the true one."""
    if marked.end == math.inf:
        return Strip(marked.lift)
    # The log odds at the end rise with mu there (end > mu), and the slack covers their rounding.
    odds = mu * marked.end + log_odds(mu, rate)
    share = logistic(odds) * (1.0 + 1e-9) if marked.end > mu else 1.0
    return Strip(marked.lift, share if share < 0.5 else 1.0)


def choose_step(mu: float, power: float, reach: float, log_tolerance: float, strip: Strip = PLAIN) -> float:
    """A dyadic step whose error is about e^-log_tolerance for all |t| <= reach; power is a."""
    heights = [fraction * math.pi / mu for fraction in STRIP_FRACTIONS]
    best = math.sqrt(2.0 * log_tolerance / strip.lift)
    heights += [best] if mu * best < 0.95 * math.pi else []
    step = max(
        2.0
        * math.pi
        * y
        / (strip.lift * y * y / 2.0 + reach * mu * strip.share * y + _log_kappa(mu, y, power) + log_tolerance)
        for y in heights
    )
    return dyadic(step, 8)


def choose_grid(
    mu: float, rate: float, power: float, reach: float, log_tolerance: float, marked: Window = WHOLE
) -> Grid:
    """A grid with such a step, its ends where the density is about as small, or half a step before the hard end."""
    step = choose_step(mu, power, reach, log_tolerance, marked_strip(mu, rate, marked))
    if marked.end < math.inf:
        return _grid_to_end(mu, rate, power, log_tolerance, marked, step)
    low, high = window(mu, rate, power, math.sqrt(2.0 * (log_tolerance + 4.0)))
    centre = round(middle(mu, rate, power, low, high) / step)
    return Grid(step, centre * step, max(1, centre - math.floor(low / step)), max(1, math.ceil(high / step) - centre))


def _grid_to_end(mu: float, rate: float, power: float, log_tolerance: float, marked: Window, step: float) -> Grid:
    """All nodes below the hard end on which the marked density is not negligible."""
    least, last = -math.sqrt(2.0 * (log_tolerance + 4.0)), marked.end - 0.5 * step
    coarse = max(step, (last - least) / COARSE_CELLS)
    odds = log_odds(mu, rate)
    nodes = [last - index * coarse for index in range(math.floor((last - least) / coarse) + 1)] or [last]
    logs = [power * softplus(mu * x + odds) - x * x / 2.0 + marked.log_weight(x) for x in nodes]
    top = max(logs)
    masses = [math.exp(log - top) for log in logs]
    mean = sum(mass * x for mass, x in zip(masses, nodes, strict=True)) / sum(masses)
    first = min((x for x, log in zip(nodes, logs, strict=True) if log > top - log_tolerance - 8.0), default=last)
    first = max(least, min(first - 2.0 * coarse, marked.start)) if marked.start < math.inf else least
    right = max(1, round((last - mean) / step))
    centre = last - right * step
    return Grid(step, centre, max(1, math.ceil((centre - first) / step)), right)


def error_modes(mu: float, power: float, step: float, strip: Strip = PLAIN) -> tuple[tuple[float, float], ...]:
    """(constant, slope) such that the relative error at t is at most exp(constant + slope t), for each mode.

    mu must be an upper bound of the true one; constants are rounded up.
    """
    modes = []
    for y in mode_heights(mu, step, strip.lift):
        turns = 2.0 * math.pi * y / step
        bell = strip.lift * y * y / 2.0
        constant = math.log(2.0) + bell + _log_kappa(mu, y, power) - turns - math.log1p(-math.exp(-turns))
        slack = 1e-12 * (1.0 + 2.0 * bell + _log_kappa(mu, y, power) + turns)
        modes.append((constant + slack, mu * strip.share * y * (1.0 + 1e-12)))
    return tuple(modes)


def mode_heights(mu: float, step: float, lift: float = 1.0) -> list[float]:
    """Heights y inside the strip that are worth a try."""
    bell = [y / math.sqrt(lift) for y in (5.0, 7.0, 9.0, 10.5, 12.0)]
    heights = [fraction * math.pi / mu for fraction in STRIP_FRACTIONS] + bell
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
