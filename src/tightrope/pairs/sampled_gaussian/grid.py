"""Where to put the nodes of the trapezoid rule for a sampled normal, and how large its error is at most.

The integrals are D(t) = integral n(x) g(x)^a e^{+-i t log g(x)} dx with n the standard normal density and
g(x) = 1 - rate + rate e^{mu x - mu^2/2}. g has no zero for |Im x| < pi/mu, so for every 0 < y < pi/mu the sum with
step h, at any offset, errs by at most D(0) e^{y^2/2 + t mu y} 2 kappa / (e^{2 pi y/h} - 1), kappa = 1 for a >= 0 and
cos(mu y/2)^a for a < 0. With a window (window) n is n times its weight, y^2/2 becomes lift y^2/2, and t mu y
becomes t mu s y, s = 1 or the share of the shifted component at the hard end if that is below 1/2; the end lies half a
step beyond the last node and adds at most 2 y f(end), f the integrand.
Plain floats and no numpy: both arithmetics use it. The choices cost accuracy only; `modes` are upper bounds.
Guarantee: upper. Proof: docs/proofs/contour.md, section 5.
Reference: Trefethen, Weideman 2014, Thm 5.1 (trapezoid rule in a strip).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import mul

from ...facets.cgf import Cumulants
from ...kernels.directed import MILLIONS, THOUSANDS, round_down, round_up
from ...kernels.plain import dyadic
from .likelihood import Chance, Likelihood, likelihood
from .window import WHOLE, SoftWindow

STRIP_FRACTIONS = (0.3, 0.5, 0.7, 0.85, 0.95)
COARSE = 500.0  # units of work for a point of a sum in plain floats
COARSE_CELLS = 200
END_PLACES = 1024.0
MANY_NODES = 1500  # for so many a hard end is worth its loss of precision in log M
SHARE_TURN, SHARE_LIFT = 0.3, 1.2  # -log(1 - u) <= 1.2 u for u <= 0.3


@dataclass(frozen=True, slots=True)
class Strip:
    """How the integrand grows off the real axis: e^{lift y^2/2 + t mu share y} kappa for y <= highest, all rounded up.

    kappa as above, or 1 where the lift has it already.
    """

    lift: float = 1.0
    share: float = 1.0
    highest: float = math.inf
    has_kappa: bool = False
    most: int = 1

    def log_kappa(self, mu: float, y: float, power: float) -> float:
        """log of cos(mu y/2)^aD for a < 0; through the sine, which keeps its digits where the cosine is nearly 1."""
        if self.has_kappa or power >= 0.0:
            return 0.0
        return 0.5 * power * self.most * math.log1p(-(math.sin(mu * y / 2.0) ** 2))


PLAIN = Strip()


@dataclass(frozen=True, slots=True)
class Grid:
    """Nodes centre + n step for n = -left .. right; centre and step are dyadic, so the nodes are exact."""

    step: float
    centre: float
    left: int
    right: int
    strip: Strip
    end: float = math.inf  # half a step beyond the last node, where the sum has a hard end

    @property
    def size(self) -> int:
        """Number of nodes."""
        return self.left + self.right + 1


def restricted_strip(law: Likelihood, marked: SoftWindow) -> Strip:
    """The growth below the hard end of a window, where arg g(x + iy) <= mu s y; mu must not be below the true one."""
    if marked.end == math.inf:
        return Strip(marked.lift, float(law.most), most=law.most)
    return Strip(marked.lift, law.turning(law.share_above(marked.end)), most=law.most)


def falling_strip(law: Likelihood, mu: float, power: float, end: float) -> Strip | None:
    """For a < 0 below a hard end with a small share s: |g(x + iy)/g(x)|^a <= e^{SHARE_LIFT |a| s (mu y)^2/2}.

    As |g(x + iy)/g(x)|^2 = prod (1 - 4 p (1 - p) sin^2(mu y/2)) >= 1 - s (mu y)^2, for s (mu y)^2 <= SHARE_TURN.
    """
    share = law.share_above(end)
    if not 0.0 < share < 0.5:
        return None
    lift = 1.0 + round_up(SHARE_LIFT * -power * share * mu * mu, MILLIONS)
    return Strip(lift, law.turning(share), round_down(math.sqrt(SHARE_TURN / share) / mu, MILLIONS), True, law.most)


def choose_step(mu: float, power: float, reach: float, log_tolerance: float, strip: Strip = PLAIN) -> float:
    """A dyadic step whose error is about e^-log_tolerance for all |t| <= reach; power is a."""
    heights = [*(fraction * math.pi / mu for fraction in STRIP_FRACTIONS), math.sqrt(2.0 * log_tolerance / strip.lift)]
    inside = [min(y, strip.highest) for y in heights if mu * y <= 0.95 * math.pi]

    def growth(y: float) -> float:
        return strip.lift * y * y / 2.0 + reach * mu * strip.share * y + strip.log_kappa(mu, y, power)

    return dyadic(max(2.0 * math.pi * y / (growth(y) + log_tolerance) for y in inside), 8)


def choose_grid(
    mu: float, rate: Chance, power: float, reach: float, log_tolerance: float, marked: SoftWindow = WHOLE
) -> Grid:
    """A grid with such a step, its ends where the density is about as small, or half a step before the hard end."""
    law = likelihood(mu, rate)
    strip = restricted_strip(law, marked)
    step = choose_step(mu, power, reach, log_tolerance, strip)
    if marked.end < math.inf:
        return _grid_to_end(law, power, log_tolerance, marked, step, strip)
    low, high = window(mu, law, power, math.sqrt(2.0 * (log_tolerance + 4.0)))
    if power < 0.0 and high - low > MANY_NODES * step:
        cut = SoftWindow(end=_falling_end(mu, law, power, log_tolerance + 12.0))
        below = falling_strip(law, mu, power, cut.end)
        if below is not None:
            longer = choose_step(mu, power, reach, log_tolerance, below)
            if longer > step:
                return _grid_to_end(law, power, log_tolerance, cut, longer, below)
    centre = round(middle(law, power, low, high) / step)
    left, right = max(1, centre - math.floor(low / step)), max(1, math.ceil(high / step) - centre)
    return Grid(step, centre * step, left, right, strip)


def _falling_end(mu: float, rate: Chance, power: float, fall: float) -> float:
    """A point right of the mode of n g^a, a < 0, where the density has fallen by this many e-folds."""
    law = likelihood(mu, rate)
    top = law.mode(power)
    low, high, least = top, top + math.sqrt(2.0 * fall), law.log_density(power, top) - fall
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if law.log_density(power, middle) > least else (low, middle)
    return math.ceil(high * END_PLACES) / END_PLACES


def _grid_to_end(
    law: Likelihood, power: float, log_tolerance: float, marked: SoftWindow, step: float, strip: Strip
) -> Grid:
    """All nodes below the hard end on which the marked density is not negligible."""
    least, last = window(law.mu, law, power, math.sqrt(2.0 * (log_tolerance + 4.0)))[0], marked.end - 0.5 * step
    coarse = max(step, (last - least) / COARSE_CELLS)
    nodes = [last - index * coarse for index in range(math.floor((last - least) / coarse) + 1)] or [last]
    logs = [law.log_density(power, x) + marked.log_weight(x) for x in nodes]
    mean, top = _mean(nodes, logs), max(logs)
    first = min((x for x, log in zip(nodes, logs, strict=True) if log > top - log_tolerance - 8.0), default=last)
    first = max(least, min(first - 2.0 * coarse, marked.start)) if marked.start < math.inf else least
    right = max(1, round((last - mean) / step))
    centre = last - right * step
    return Grid(step, centre, max(1, math.ceil((centre - first) / step)), right, strip, marked.end)


def error_modes(mu: float, power: float, step: float, strip: Strip = PLAIN) -> tuple[tuple[float, float], ...]:
    """(constant, slope) such that the relative error at t is at most exp(constant + slope t), for each mode.

    mu must be an upper bound of the true one; constants are rounded up.
    """
    modes = []
    for y in mode_heights(mu, step, strip):
        turns = 2.0 * math.pi * y / step
        bell = strip.lift * y * y / 2.0
        log_kappa = strip.log_kappa(mu, y, power)
        constant = math.log(2.0) + bell + log_kappa - turns - math.log1p(-math.exp(-turns))
        slack = 1e-12 * (1.0 + 2.0 * bell + log_kappa + turns)
        modes.append((constant + slack, round_up(mu * strip.share * y, THOUSANDS)))
    return tuple(modes) or ((math.inf, 0.0),)


def mode_heights(mu: float, step: float, strip: Strip = PLAIN) -> list[float]:
    """Heights y inside the strip that are worth a try."""
    bell = [y / math.sqrt(strip.lift) for y in (5.0, 7.0, 9.0, 10.5, 12.0)]
    heights = [fraction * math.pi / mu for fraction in STRIP_FRACTIONS] + bell
    inside = (min(y, strip.highest) for y in heights if mu * y < 0.96 * math.pi)
    return [y for y in inside if 2.0 * math.pi * y > step]


def window(mu: float, rate: Chance, power: float, width: float) -> tuple[float, float]:
    """Ends that lie `width` beyond everything where n g^a is large."""
    law = likelihood(mu, rate)
    if power >= 0.0:
        return -width, law.highest(power, width)
    centre = law.mode(power)
    return centre - width, centre + width


def middle(law: Likelihood, power: float, low: float, high: float) -> float:
    """The mean of the law with density n g^a, roughly."""
    if power < 0.0:
        return 0.5 * (low + high)
    steps = min(400, max(40, math.ceil((high - low) * max(law.mu, 1.0))))
    nodes = [low + (high - low) * index / steps for index in range(steps + 1)]
    return _mean(nodes, [law.log_density(power, x) for x in nodes])


def _mean(points: list[float], logs: list[float]) -> float:
    """The mean of points with these logs of masses, up to a common factor."""
    top = max(logs)
    masses = [math.exp(log - top) for log in logs]
    total: float = sum(map(mul, masses, points))
    return total / sum(masses)


def log_cumulants(losses: list[float], logs: list[float], unit: float = 1.0) -> Cumulants:
    """K, K' and K'' of losses with the masses unit e^logs, in plain floats."""
    top = max(logs)
    masses = [math.exp(log - top) for log in logs]
    total = sum(masses)
    mean = sum(map(mul, masses, losses)) / total
    variance = sum(map(mul, masses, [(loss - mean) ** 2 for loss in losses])) / total
    return Cumulants(top + math.log(total * unit), mean, variance)
