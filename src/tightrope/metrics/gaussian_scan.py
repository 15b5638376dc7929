"""The largest mu of a profile: a certified maximum over epsilon, by branch and bound.

mu(t) is the shift whose Gaussian pair has H_mu(e^t) = H(e^t). On a cell H lies below its chord in a = e^t, and H_mu is
convex in a: the smallest mu above the chord is that of an end, or, where H_mu touches the chord inside, that of the
whole line, Phi^-1(b) - Phi^-1(s). So the excess over the truth is of second order in the cell, and only cells that may
hold the maximum are split. Below, every point is a bound.
Guarantee: both ends, whatever the points. Proof: docs/proofs/gdp.md, sections 3 and 4.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import NamedTuple

from flint import arb

from .. import compute_budget
from ..bound import Bound
from ..derived.product import product_pair
from ..engines.evaluation import Term
from ..errors import UnsupportedMechanism, WorkExhausted
from ..kernels.ball import BITS_START, working_precision
from ..kernels.normal_shift import (
    Level,
    level,
    normal_above,
    quantile_above,
    shift_above,
    shift_above_line,
    shift_below,
)
from .law import AIM_SHARE, Law

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
