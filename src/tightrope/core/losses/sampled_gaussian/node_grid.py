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

from ...numerics.rounding import MILLIONS, THOUSANDS, dyadic, round_down, round_up
from ...values import compute_budget
from ..cgf import Cumulants
from .likelihood import WHOLE, Chance, Likelihood, SoftWindow, likelihood, log_phi

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


# Where to cut the line for the decay bound of decay: few cells, fine where they must be.
#
# A cell must be short where the share of the shifted component, the weight of a window or the density change and there
# is mass; U is then known to a few per cent. Where the density is low, all may be coarser; where even e^U cannot make
# up
# for that, nothing matters. So the number of cells stays below CELLS_MAX for every shift, rate and power.
# Plain floats: every list of rising edges gives a valid bound, the choice costs sharpness only.

CELL_RISE = 0.06  # change of the log odds over a cell
CELL_WIDTH = 0.125
CELLS_MAX = 3000  # more take longer than any other engine
EVEN_MAX = 600  # up to so many, cells of two widths are as good as any
PLAIN_MAX = 1500  # the same without a window: their edges take no time
CELL_TOLERANCE = 45.0  # mass beyond the cells, about e^-45
EDGE_REACH, EDGE_CELLS = 14.0, 2.0  # in widths of an edge: where its cells are fine, and how fine
SATURATED = 12.0  # log odds from which on the share is nearly one
UNSEEN = -700.0  # log odds below which the share is nothing
DEEP, DEEPER, STEEP_EDGE = -45.0, 32.0, 2.0  # log odds from where on a steep share may change more, the lower the more
FINENESS = 15.0  # in e-folds of missing mass: how fast cells may grow
SHARE_RISE_MAX = 0.3  # U stays negative with such cells
LIFT_MAX = 600.0
EDGE_WORK, SPENT_AT_ONCE = 1e4, 256  # units of work for a cell
PEAK_STEP, PEAKS_MAX = 0.5, 400  # of mu x: where a highest density is looked for
STEADY_MAX = 8.0  # times as long cells, where the hits are many and known
SHORTEST = 1e-12  # of the whole range: no cell is shorter


def cell_edges(mu: float, rate: Chance, power: float, marked: SoftWindow = WHOLE) -> list[float]:
    """Ends of the cells, rising; fewer than two where they would be too many."""
    law = likelihood(mu, rate)
    low, high = window(mu, law, power, math.sqrt(2.0 * CELL_TOLERANCE))
    saturated = law.place_of_odds(SATURATED)
    # For a < 0 the bound of U is poor on a cell with all shares in it, so no such cell is left to the right.
    high = max(high, saturated) if power < 0.0 else high
    low = max([low, *(min(edge.at - EDGE_REACH * edge.width, marked.start) for edge in marked.edges if edge.side > 0)])
    high = marked.end if marked.end < math.inf else high
    if not (math.isfinite(low) and math.isfinite(high)):
        return []
    if law.many:
        return _walked(law, power, marked, low, high)
    fine = min(CELL_WIDTH, CELL_RISE / mu)
    even = max(0.0, min(high, saturated) - low) / fine + max(0.0, high - max(low, saturated)) / CELL_WIDTH
    if even <= PLAIN_MAX and not marked.edges and marked.end == math.inf:
        return _plain(low, high, fine, saturated)

    def even_width(x: float) -> float:
        return min(fine if x < saturated else CELL_WIDTH, _near_edges(marked, x))

    width = even_width if even <= EVEN_MAX else _Graded(law, power, marked).width
    edges = [low]
    while edges[-1] < high and len(edges) <= CELLS_MAX:
        if len(edges) % SPENT_AT_ONCE == 0:
            compute_budget.spend(EDGE_WORK * SPENT_AT_ONCE)
        following = edges[-1] + max(width(edges[-1]), SHORTEST * (abs(low) + abs(high)))
        edges.append(following)
    if len(edges) > CELLS_MAX:
        return []
    if marked.end < math.inf:
        edges[-1] = marked.end
    return edges


def _walked(law: Likelihood, power: float, marked: SoftWindow, low: float, high: float) -> list[float]:
    """Of many hits: cells on which their mean changes by CELL_RISE of itself, longer where there is no mass."""
    coarse = max(min(PEAK_STEP / law.mu, 1.0), (high - low) / PEAKS_MAX)
    places = [coarse * index for index in range(math.floor(low / coarse), math.ceil(high / coarse) + 1)]
    top = max(law.log_density(power, x) + marked.log_weight(x) for x in places)
    edges = [low]
    while edges[-1] < high and len(edges) <= CELLS_MAX:
        if len(edges) % SPENT_AT_ONCE == 0:
            compute_budget.spend(EDGE_WORK * SPENT_AT_ONCE)
        x = edges[-1]
        log, share, variance = law.plain_point(x)
        missing = top - (power * log - 0.5 * x * x + marked.log_weight(x))
        ease = 1.0 + max(0.0, missing) / FINENESS
        rise = CELL_RISE * ease * max(1.0, min(share / max(variance, 1e-9), STEADY_MAX))
        width = min(CELL_WIDTH * ease, max(rise, CELL_RISE) / law.mu, _near_edges(marked, x))
        edges.append(x + max(width, SHORTEST * (abs(low) + abs(high))))
    if len(edges) > CELLS_MAX:
        return []
    if marked.end < math.inf:
        edges[-1] = marked.end
    return edges


def _plain(low: float, high: float, fine: float, saturated: float) -> list[float]:
    """Even cells up to where the share is nearly one, and beyond, until the end is reached."""
    first = math.ceil(max(min(high, saturated) - low, 0.0) / fine)
    edges = [low + fine * index for index in range(first + 1)]
    more = math.ceil(max(high - edges[-1], 0.0) / CELL_WIDTH)
    return edges + [edges[-1] + CELL_WIDTH * index for index in range(1, more + 1)]


class _Graded:
    """Cells as long as their mass allows, found by doubling and halving."""

    def __init__(self, law: Likelihood, power: float, marked: SoftWindow) -> None:
        mu = law.mu
        self.mu, self.law, self.power, self.marked = mu, law, power, marked
        self.lift = min(LIFT_MAX, 60.0 + 0.6 / mu / mu + 40.0 * len(marked.edges))
        self.last = CELL_WIDTH
        if power < 0.0:
            peaks = [law.mode(power), 0.0]
        else:
            # The iteration x -> a mu pi(x) falls to the upper mode, and rises to the lower one.
            peaks = [power * mu * law.most, 0.0]
            for _ in range(60):
                peaks = [power * mu * law.share(x) for x in peaks]
        peaks += [edge.at + 2.0 * edge.side * edge.width for edge in marked.edges]
        # The largest value of the log density, or one that is not far below.
        self.top = max(self.log_density(min(x, marked.end)) for x in peaks)

    def log_density(self, x: float) -> float:
        """log of n g^a and the weight."""
        return self.law.log_density(self.power, x) + self.marked.log_weight(x)

    def width(self, x: float) -> float:
        """A length of the cell from x on."""
        wide = 4.0 * self.last
        for _ in range(60):
            if wide <= self.allowed(x, wide):
                break
            wide *= 0.5
        self.last = wide
        return wide

    def allowed(self, x: float, wide: float) -> float:
        """How long a cell from x on may be that is as heavy as the one of this length."""
        missing = self.top - self.log_mass(x, x + wide)
        if missing > CELL_TOLERANCE + self.lift and self.power >= 0.0:
            return math.inf
        ease = 1.0 + max(0.0, missing) / FINENESS
        width = min(CELL_WIDTH * ease, _near_edges(self.marked, x), _near_edges(self.marked, x + wide))
        first, last = self.law.log_odds(x), self.law.log_odds(x + wide)
        if first > SATURATED or last < UNSEEN:
            return width
        rise = min(CELL_RISE * ease, SHARE_RISE_MAX)
        if last < DEEP:
            steep = 4.0 if missing > 2.0 * CELL_TOLERANCE else min(max(self.mu - STEEP_EDGE, 0.0), 4.0)
            rise += (DEEP - last) / DEEPER * steep
        return min(width, rise / self.mu)

    def log_mass(self, left: float, right: float) -> float:
        """log of about the largest mass of a cell, as decay bounds it."""
        wide, pull = right - left, self.power * self.mu
        first, last = self.law.share(left), self.law.share(right)
        least, most = (first, last) if self.power >= 0.0 else (last, first)
        lowest, highest = least * pull - right, most * pull - left
        weight = sum(max(log_phi(edge.distance(left)), log_phi(edge.distance(right))) for edge in self.marked.edges)
        from_left = self.law.log_density(self.power, left) + max(highest, 0.0) * wide
        from_right = self.law.log_density(self.power, right) - min(lowest, 0.0) * wide
        return min(from_left, from_right) + weight


def _near_edges(marked: SoftWindow, x: float) -> float:
    """How long a cell at x may be for the edges of a window; before one, up to where its cells are fine."""
    width = math.inf
    for edge in marked.edges:
        away = abs(edge.distance(x)) - EDGE_REACH
        if away < 0.0:
            width = min(width, edge.width / EDGE_CELLS)
        elif x < edge.at:
            width = min(width, edge.width * (away + 1.0 / EDGE_CELLS))
    return width
