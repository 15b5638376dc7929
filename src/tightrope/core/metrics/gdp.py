"""Gaussian differential privacy: the smallest mu whose Gaussian pair dominates a run.

mu = sup over both orders of the two laws and t >= 0 of mu(t), H_{mu(t)}(e^t) = H(e^t); with delta_least only over the t
with H(e^t) >= delta_least, so that the Gaussian has at least the epsilon of the run at every delta from there on.
None: H stays above its mass of infinite loss, and H_mu falls to 0. By formulas: a Gaussian that dominates every part
(Moments.gdp_mu, mu^2 add up), and one that H follows in the limit (Moments.gdp_mu_lower); where they agree that is it.
Else a certified maximum over cells (gaussian_scan), with what lies beyond the last point (gaussian_tail).
Guarantee: both ends. Proof: docs/proofs/gdp.md.
Reference: Dong, Roth, Su 2022, Gaussian differential privacy, Def. 2.6 and Cor. 3.3.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

from flint import arb

from ..engines.loss_extremes import chance, leaked, loss_extremes
from ..engines.selection import Term
from ..losses.operators.product import product_pair
from ..losses.operators.registered import sampling_of
from ..losses.pair import Pair
from ..mechanisms.composition import fixed_choices
from ..numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ..numerics.normal import (
    Level,
    hockey_stick,
    level,
    normal_above,
    quantile_above,
    shift_above,
    shift_above_line,
    shift_below,
)
from ..numerics.rounding import next_up
from ..numerics.search import Compared, compare, invert
from ..values import compute_budget
from ..values.bound import Bound, ErrorBreakdown, error_lines
from ..values.errors import UnsupportedMechanism, WorkExhausted
from ..values.question import Direction
from .law import AIM_SHARE, Law, Told
from .zcdp import zcdp

# The largest mu of a profile: a certified maximum over epsilon, by branch and bound.
#
# mu(t) is the shift whose Gaussian pair has H_mu(e^t) = H(e^t). On a cell H lies below its chord in a = e^t, and H_mu
# is
# convex in a: the smallest mu above the chord is that of an end, or, where H_mu touches the chord inside, that of the
# whole line, Phi^-1(b) - Phi^-1(s). So the excess over the truth is of second order in the cell, and only cells that
# may
# hold the maximum are split. Below, every point is a bound.
# Guarantee: both ends, whatever the points. Proof: docs/proofs/gdp.md, sections 3 and 4.

SHIFT_CELLS_MAX = 2000
SPLIT_SHARE = 0.25  # of a cell: so far from an end it is split at least
FINEST = 1e-15  # relative width of an H that is asked for
NEXT_TO_ONE = 1.0 - 1e-9  # from here on doubles tell too little of what is left to 1
REST_BITS = (256, 1024, 4096)
CELL_BITS = 2 * BITS_START


class ShiftPoint(NamedTuple):
    """A point of one side: the upper end of H there, and ends of its mu."""

    t: float
    high: Level
    least: float
    most: float
    delta: Bound


@dataclass(order=True)
class ShiftCell:
    """Between two points, t_1 < t_2; sorted by what its mu is at most, the largest first."""

    rank: float
    order: int
    first: ShiftPoint = field(compare=False)
    last: ShiftPoint = field(compare=False)
    side: LawOrder = field(compare=False)
    split: float = field(compare=False)  # where to split it, nan where that helps no more

    @property
    def most(self) -> float:
        """At or above mu(t) for every t of the cell."""
        return -self.rank


@dataclass
class LawOrder:
    """One order of the two laws, t >= 0."""

    law: Law
    sign: float
    runs: tuple[tuple[Term, ...], ...]
    witnesses: tuple[tuple[Term, ...], ...]  # what lower ends speak of
    places: dict[float, ShiftPoint] = field(default_factory=dict)

    def at(self, t: float) -> ShiftPoint:
        """The place at t, worked out once."""
        if t not in self.places:
            near = min(self.places.values(), key=lambda each: abs(each.t - t), default=None)
            self.places[t] = self._place(t, 0.0 if near is None else near.least)
        return self.places[t]

    def _place(self, t: float, guess: float) -> ShiftPoint:
        with compute_budget.part(compute_budget.POINT_SHARE):  # a point that takes long leaves time for others
            delta = self.law.one_sided(self.sign * t)
            if delta.upper > 0.5:  # what is left to 1 counts
                fine = AIM_SHARE * self.law.aim * (1.0 - delta.upper)
                delta = self.law.one_sided(self.sign * t, max(fine, FINEST))
        low, high = level(delta.lower), level(delta.upper)
        if delta.upper > NEXT_TO_ONE:
            known = rest_of(self.runs, t)
            high = high if known is None else Level(1 - known.lower(), known.lower())
            known = rest_of(self.witnesses, t)
            low = low if known is None else Level(1 - known.upper(), known.upper())
        with compute_budget.uncounted():  # far less than what H took
            least = shift_below(t, low, guess)
            most = shift_above(t, high, least)
        return ShiftPoint(t, high, least, most, delta)


def rest_of(runs: Sequence[Sequence[Term]], t: float) -> arb | None:
    """A narrow ball around the least 1 - H(e^t) of these, where each is one pair that knows its profile in balls."""
    try:
        pairs = [product_pair(run) for run in runs]
        for bits in REST_BITS:
            with working_precision(bits):
                rest = reduce(arb.min, (1 - pair.ball_hockey_stick(arb(t)) for pair in pairs))
                if rest > 0 and rest.rel_accuracy_bits() > BITS_START // 2:
                    return rest
    except (UnsupportedMechanism, WorkExhausted):
        return None
    return None


def cell_most(first: ShiftPoint, last: ShiftPoint) -> tuple[float, float]:
    """At or above mu(t) on a cell, and where H_mu touches the chord: nan where an end has the largest mu."""
    ends = max(first.most, last.most)
    if not ends < math.inf:
        return math.inf, math.nan
    with working_precision(CELL_BITS + _more(ends)):
        start, stop, mu = arb(first.t), arb(last.t), arb(ends)
        high, end = first.high, last.high if last.high.value < first.high.value else first.high
        alpha = start.exp()
        fall = high.value - end.value if high.value < 0.5 else end.rest - high.rest
        slope = fall / (alpha * (stop - start).expm1())
        if mu > 0 and slope > 0:
            if slope >= normal_above(start / mu + mu / 2) or slope <= normal_above(stop / mu + mu / 2):
                return ends, math.nan
            intercept = Level(high.value + slope * alpha, high.rest - slope * alpha)
            most = shift_above_line(intercept, slope, ends)
            if most < math.inf:
                place = float(quantile_above(slope).mid())
                return max(most, ends), most * place - most * most / 2.0
        elif not mu > 0 and high.value <= 0:
            return 0.0, math.nan
    return shift_above(last.t, first.high), (first.t + last.t) / 2.0


def _more(size: float) -> int:
    """Bits that cancel where mu is small."""
    return 0 if size >= 1.0 or size == 0.0 else -2 * math.frexp(size)[1]


class Largest(NamedTuple):
    """What a search found: ends of the largest mu, the largest upper end of a point, and the place that has it."""

    lower: float
    upper: float
    at_points: float
    place: ShiftPoint | None
    tail: float  # what is proven beyond the last points


@dataclass
class ShiftSearch:
    """Cells of all orders in one heap; ceiling is an upper end that is known beforehand."""

    aim: float
    ceiling: float = math.inf
    lower: float = 0.0
    at_points: float = 0.0
    tail: float = 0.0
    place: ShiftPoint | None = None
    cells: list[ShiftCell] = field(default_factory=list)
    made: int = 0

    def see(self, place: ShiftPoint, counts: bool = True) -> None:
        """A point that bounds from below where it counts for certain."""
        if place.most > self.at_points or self.place is None:
            self.at_points, self.place = max(place.most, self.at_points), place
        if counts:
            self.lower = max(self.lower, place.least)

    def add(self, side: LawOrder, first: ShiftPoint, last: ShiftPoint) -> None:
        """A cell between two places."""
        with compute_budget.uncounted():
            most, touch = cell_most(first, last)
        width = last.t - first.t
        low, high = first.t + SPLIT_SHARE * width, last.t - SPLIT_SHARE * width
        split = min(max(touch, low), high) if math.isfinite(touch) else (low + high) / 2.0
        self.made += 1
        heapq.heappush(self.cells, ShiftCell(-most, self.made, first, last, side, split))

    def done(self) -> bool:
        """Whether no cell may hold much more than the points."""
        if not self.cells:
            return True
        most = self.cells[0].most
        if self.lower >= self.ceiling * (1.0 - self.aim / 2.0):
            return True
        good = max(self.lower, self.tail) * (1.0 + self.aim / 2.0)
        return most <= max(good, self.at_points * (1.0 + self.aim / 4.0)) or self.made > SHIFT_CELLS_MAX

    def refine(self, law: Law, counts: float) -> None:
        """Splits the cell that may hold the most, until that is no more than what is known."""
        while not self.done() and not law.over:
            cell = self.cells[0]
            if not cell.first.t < cell.split < cell.last.t:
                break
            place = cell.side.at(cell.split)
            heapq.heappop(self.cells)
            self.see(place, place.delta.lower >= counts)
            self.add(cell.side, cell.first, place)
            self.add(cell.side, place, cell.last)

    def found(self) -> Largest:
        """Both ends."""
        upper = max(self.cells[0].most if self.cells else 0.0, self.at_points, self.tail)
        return Largest(self.lower, upper, self.at_points, self.place, self.tail)


# How far out a Gaussian pair is above a composition for ever: what finitely many points leave open.
#
# Unbounded parts have K(c) <= c (c + 1) rho (Moments.zcdp_rho), bounded ones K(c) <= c s, s their largest loss.
# Together,
# with v = 2 rho, H(e^t) <= e^(-(t - s - v/2)^2/(2 v)) c^c/(c + 1)^(c + 1), c = (t - s - v/2)/v > 0. For a mu with mu^2
# >
# v let r(t) be the log of H_mu(e^t) over that. With x = t/mu - mu/2 > 0, y = x + mu,
# r'(t) >= t (1/v - 1/mu^2) - s/v - k/t, k = 1 + (x/y + y/x)/2 + 1/(x y) - min(1, t/(t - s + v/2)), which falls with t,
# so
# that k at the start will do. The integral of the right side is least at its only zero: r >= 0 there proves it for all
# t
# from the start on.
# Guarantee: proven in balls. Proof: docs/proofs/gdp.md, section 5.
# Reference: Bun, Steinke 2016, Prop. 1.3; Canonne, Kamath, Steinke 2020, Prop. 12.

TAIL_BITS = 3 * BITS_START  # H_mu cancels where mu is small
SHIFT_HALVINGS = 45  # halvings of an interval of mu


class Line(NamedTuple):
    """K(c) <= c s + c (c + 1) v/2 for every c > 0, of all parts together."""

    s: arb
    v: arb


def lines(terms: Sequence[Term]) -> tuple[Line, ...]:
    """By zCDP for all parts, and by what each has for its large losses; none where a part has neither."""
    with working_precision(TAIL_BITS):
        known = [(_of_pair(pair), count) for pair, count in terms]
        found = []
        for place in range(max((len(each) for each, _ in known), default=1)):
            parts = [(each[min(place, len(each) - 1)], count) for each, count in known]
            s, rho = (sum((count * line[end] for line, count in parts), arb(0)) for end in (0, 1))
            found.append(Line(s, 2 * rho))
        return tuple(line for line in found if line.s.is_finite() and line.v.is_finite())


def _of_pair(pair: Pair) -> tuple[tuple[arb, arb], ...]:
    """(s, rho) with K(c) <= c s + c (c + 1) rho, of one use, from its own rho to what it has for its large losses."""
    rho, highest = pair.moments().zcdp_rho(), pair.loss_range().highest
    top = ((highest.max(arb(0)), arb(0)),) if highest.is_finite() else ()
    return (arb(0), arb.pos_inf() if rho is None else rho), *pair.moments().approximate_zcdp(), *top


def stays_above(mu: float, start: float, known: Sequence[Line]) -> bool:
    """Whether H_mu(e^t) is proven to be at or above H(e^t) for every t >= start."""
    with working_precision(TAIL_BITS):
        return any(_stays_above(arb(mu), arb(start), line) for line in known)


def _stays_above(mu: arb, start: arb, line: Line) -> bool:
    s, v = line
    if v.is_zero():
        return bool(start >= s)
    if not (v > 0 and v < mu * mu and start > s + v / 2 and start > mu * mu / 2):
        return False
    x, y = start / mu - mu / 2, start / mu + mu / 2
    kappa = 1 + (x / y + y / x) / 2 + 1 / (x * y) - (start / (start - s + v / 2)).min(arb(1))
    pull, drop = 1 / v - 1 / (mu * mu), s / v
    lowest = ((drop + (drop * drop + 4 * pull * kappa).sqrt()) / (2 * pull)).max(start)
    fall = pull * (lowest * lowest - start * start) / 2 - drop * (lowest - start) - kappa * (lowest / start).log()
    gap = start - s - v / 2
    c = gap / v
    peak = c * (1 / c).log1p() + c.log1p()  # -log of c^c/(c + 1)^(c + 1)
    return bool(hockey_stick(mu, start).log() + gap * gap / (2 * v) + peak + fall >= 0)


def least_above(start: float, known: Sequence[Line], least: float) -> float:
    """About the smallest mu >= least for which that is proven; inf where none is."""
    low, high = least, math.sqrt(2.0 * start)
    with working_precision(TAIL_BITS):
        roots = [upper_float(line.v.sqrt()) for line in known]
    low = max(low, min(roots, default=math.inf))
    if stays_above(least, start, known):
        return least
    step, trial = 1e-9, low
    while trial < high:
        trial = low * (1.0 + step)
        if stays_above(trial, start, known):
            break
        step *= 2.0
    else:
        return math.inf
    low = max(low, low * (1.0 + step / 2.0))
    for _ in range(SHIFT_HALVINGS):
        middle = (low + trial) / 2.0
        if not low < middle < trial or trial - low < 1e-12 * trial:
            break
        low, trial = (low, middle) if stays_above(middle, start, known) else (middle, trial)
    return trial


FIRST_STEP, STEP_GROWTH = 0.5, 1.6  # of t in standard deviations of the loss
SMALL_STEP = 0.01  # of t, at least
DEVIATIONS_MAX = 36.0  # such deviations: H is about 1e-290 there
SHARED_MIN = 0.9  # what the ends of a mu have to share, so that a point tells something


class _Order(NamedTuple):
    """One order of the two laws: its pairs in each direction, and the real ones that lower ends speak of."""

    sign: float
    runs: tuple[tuple[Term, ...], ...]
    witnesses: tuple[tuple[Term, ...], ...]


def gdp(law: Law, delta_least: float) -> Bound:
    """The smallest mu; inf where there is none."""
    orders = _orders(law)
    leak, sure, (low, high) = compute_budget.in_any_case(lambda: _at_once(orders))
    if sure > 0 and sure >= delta_least:
        return law.bound(math.inf, math.inf, Told(_why_none(sure), engine="closed_form"))
    if delta_least == 0.0 and low == math.inf:
        why = f"{law.none}: far out the loss falls slower than that of every Gaussian"
        return law.bound(math.inf, math.inf, Told(f"{why}; delta_least= asks for less", engine="closed_form"))
    open_end = not (leak.is_zero() or leak < delta_least)
    if delta_least == 0.0 and low >= high * (1.0 - law.aim / 2.0):
        return _by_formula(law, orders, low, high)
    low = low if delta_least == 0.0 else 0.0  # a limit is beyond every delta
    search = ShiftSearch(law.aim, high)
    try:
        for order in orders:
            _look(law, order, search, delta_least, open_end)
    except WorkExhausted:
        search.tail = math.inf
    with suppress(WorkExhausted):
        search.refine(law, delta_least)
    found = search.found()
    if (
        min(found.upper, high) == math.inf
        and delta_least == 0.0
        and all(each.runs == each.witnesses for each in orders)
    ):
        with suppress(WorkExhausted, UnsupportedMechanism):
            if zcdp(law, math.inf).lower == math.inf:
                why = f"{law.none}: a Renyi divergence of some order is infinite, and of a Gaussian none is"
                return law.bound(math.inf, math.inf, Told(f"{why}; delta_least= asks for less", engine="closed_form"))
    with compute_budget.uncounted():
        return _told(law, found, delta_least, (low, high))


def _orders(law: Law) -> list[_Order]:
    """Both orders of the laws; one where both directions are asked, which are each other's reverse, or each its own.

    The pair that dominates a direction need not be the reverse of the other's: a measured one holds at a >= 1 alone.
    """
    runs = [law.terms(direction) for direction in law.directions]
    floors = [run for direction in law.directions for run in fixed_choices(law.choices(direction))]
    back = [_reversed(run) for run in runs]
    forward = _Order(1.0, tuple(dict.fromkeys(runs)), tuple(dict.fromkeys(floors)))
    if len(law.directions) > 1 or set(back) <= set(runs):
        return [forward]
    return [forward, _Order(-1.0, tuple(dict.fromkeys(back)), tuple(_reversed(run) for run in forward.witnesses))]


def _at_once(orders: Sequence[_Order]) -> tuple[arb, arb, tuple[float, float]]:
    """The infinite mass of the dominating pairs, that of the real ones, and what formulas say."""
    with working_precision(BITS_START):
        leak = _most(leaked(run) for order in orders for run in order.runs)
        sure = _most(leaked(run) for order in orders for run in order.witnesses)
        return leak, sure, _formulas(orders)


def _reversed(run: Sequence[Term]) -> tuple[Term, ...]:
    return tuple((pair.reversed(), count) for pair, count in run)


def _most(balls: Iterable[arb]) -> arb:
    value = arb(0)
    for ball in balls:
        value = value.max(ball)
    return value


def _formulas(orders: Sequence[_Order]) -> tuple[float, float]:
    """mu of the limits of the real pairs, and of Gaussians that dominate; 0 and inf where none is known."""
    above = [_square((pair.moments().gdp_mu(), count) for pair, count in run) for order in orders for run in order.runs]
    limits = [
        _square((pair.moments().gdp_mu_lower(way) or arb(0), count) for pair, count in run)
        for order in orders
        for run in order.witnesses
        for way in Direction
    ]
    known = [value for value in above if value is not None]
    upper = upper_float(_most(known).sqrt()) if len(known) == len(above) else math.inf
    return lower_float(_most(limit for limit in limits if limit is not None).sqrt()), upper


def _square(parts: Iterable[tuple[arb | None, int]]) -> arb | None:
    total = arb(0)
    for mu, count in parts:
        if mu is None:
            return None
        total += count * mu * mu
    return total


def _look(law: Law, order: _Order, search: ShiftSearch, delta_least: float, open_end: bool) -> None:
    """First points of one order, as far as they matter, and the cells between."""
    side, last = LawOrder(law, *order), math.inf
    try:
        if side.at(0.0).high.value < delta_least:
            last = -math.inf
        elif delta_least > 0.0 and not open_end:
            last = _until(side, _supremum(order), delta_least)
        else:
            last = _march(side, order, search, delta_least, open_end)
    finally:  # also where time is up
        search.tail = search.tail if last < math.inf else math.inf
        places = sorted(level for level in side.places.values() if level.t <= last)
        for place in places:
            search.see(place, place.delta.lower >= delta_least)
    for first, second in pairwise(places):
        search.add(side, first, second)


def _supremum(order: _Order) -> float:
    """At or above every loss; inf where they have no end that is known."""
    value = _most(loss_extremes(run).supremum for run in order.runs)
    return upper_float(value) if value.is_finite() else math.inf


def _until(side: LawOrder, supremum: float, delta_least: float) -> float:
    """A t from which on H is at most delta_least, as small as can be told; inf where none was found."""

    def beside(t: float) -> Compared[None]:
        delta = side.at(t).delta
        return compare(delta.lower, delta.upper, delta_least, None)

    mu = side.at(0.0).least
    with working_precision(BITS_START):
        deviations = max(float(quantile_above(arb(delta_least)).mid()), FIRST_STEP) if delta_least < 0.5 else FIRST_STEP
    inverse = invert(beside, supremum, AIM_SHARE * side.law.aim, mu * (deviations + mu / 2.0))
    if inverse.upper < math.inf:
        side.at(inverse.upper)
    return inverse.upper


def _march(side: LawOrder, order: _Order, search: ShiftSearch, delta_least: float, open_end: bool) -> float:
    """Points further and further out, until a Gaussian stays above for ever; the last of them.

    What is known beyond goes to the tail of the search.
    """
    supremum = _supremum(order)
    known = [] if open_end else [lines(run) for run in order.runs]
    place, deviations = side.at(0.0), FIRST_STEP
    while not side.law.over:
        mu = place.least if place.least > 0.0 else place.most
        t = mu * (deviations + mu / 2.0)
        if mu == 0.0:
            return place.t  # H is 0 from there on
        if t >= supremum < math.inf:
            search.tail = math.inf if open_end else search.tail  # H may stay above 0 beyond the finite losses
            return side.at(supremum).t
        if t == math.inf:
            break
        reached = side.at(max(t, place.t * (1.0 + SMALL_STEP)))
        if not reached.least > SHARED_MIN * reached.most:
            break
        place = reached
        best = max(search.lower, *(level.least for level in side.places.values()))
        for mu in (best, best * (1.0 + search.aim / 4.0)):
            if known and all(stays_above(mu, place.t, line) for line in known):
                search.tail = max(search.tail, mu)  # beyond the last point no more is proven
                return place.t
        if place.high.value < delta_least or deviations == DEVIATIONS_MAX:
            break
        deviations = min(deviations * STEP_GROWTH + FIRST_STEP, DEVIATIONS_MAX)
    best = max(search.lower, *(level.least for level in side.places.values()))
    search.tail = max(search.tail, max((least_above(place.t, line, best) for line in known), default=math.inf))
    return place.t


def _told(law: Law, found: Largest, delta_least: float, formulas: tuple[float, float]) -> Bound:
    """The narrower of what points and formulas say, and what decided it."""
    lower, upper = max(found.lower, formulas[0]), min(found.upper, formulas[1])
    place = found.place
    at = 0.0 if place is None else place.t
    if delta_least > 0.0:
        where = f"wherever delta is at least {delta_least!r}"
    elif found.tail > found.at_points:
        where = "what no point tells counts by moments"
    else:
        where = "at every epsilon, and by moments beyond the last point"
    reason = f"the largest mu of a Gaussian with the same delta, near epsilon {at:.4g}; {where}"
    if upper == formulas[1]:
        reason = "the Gaussians that dominate each part, together; the lower end is that of single epsilons"
    if upper == math.inf:
        reason = "no bound on the loss far out is known; delta_least= asks for less"
    if upper == math.inf and found.at_points == math.inf:
        reason = "delta is next to 1 at some epsilon, and how close is not known"
    cells, tail = max(min(found.upper, upper) - found.at_points, 0.0), 0.0
    if found.tail > found.at_points:
        cells, tail = 0.0, cells
    told = place is not None and place.most < math.inf and upper < math.inf
    budget = _budget(cells, tail, place, lower) if told and place is not None else ErrorBreakdown()
    of = None if place is None else place.delta
    return law.bound(lower, upper, Told(reason, budget=budget, parameters={"epsilon": at}), of=of)


def _budget(cells: float, tail: float, place: ShiftPoint, lower: float) -> ErrorBreakdown:
    """In mu: what cells and the tail added, and what the delta that decided left open, shared as in its own budget."""
    above = {"discretisation": cells, "truncation": tail}
    below = {"discretisation": max(place.least - lower, 0.0)}  # where it is not sure that this point counts
    certificate, spread = place.delta.certificate, max(place.most - place.least, 0.0)
    own = ErrorBreakdown() if certificate is None else certificate.budget
    whole = sum(own.upper.values()) + sum(own.lower.values())
    for side, mine in ((own.upper, above), (own.lower, below)):
        for name, line in side.items():
            share = line / whole if 0.0 < whole < math.inf else float(name == "rounding")
            if share > 0.0:
                mine[name] = next_up(mine.get(name, 0.0) + share * spread)
    return ErrorBreakdown(error_lines(**above), error_lines(**below))


def _by_formula(law: Law, orders: Sequence[_Order], low: float, high: float) -> Bound:
    """Where a Gaussian that dominates is also the limit."""
    sampled = any(sampling_of(pair) is not None for order in orders for run in order.runs for pair, _ in run)
    reason = "the squares of mu add up"
    if sampled:
        reason += (
            "; sampling does not help here, since far out a sampled law follows its base: delta_least= asks for the mu "
            "that holds wherever delta is at least so large, where sampling does"
        )
    lines = error_lines(rounding=high - low)
    return law.bound(
        low, high, Told(reason, engine="closed_form", arithmetic="ball", budget=ErrorBreakdown(lines, lines))
    )


def _why_none(mass: arb) -> str:
    """Which delta_least has a mu."""
    low, high = chance(mass)
    return (
        f"the loss is infinite with probability {low} at least, so that delta never falls below, as every Gaussian's "
        f"does; delta_least above {high} has a mu"
    )
