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
from dataclasses import dataclass, field
from typing import NamedTuple

from flint import arb

from .. import work
from ..bound import Bound
from ..kernels.ball import BITS_START, working_precision
from ..kernels.normal_shift import Level, level, normal_above, quantile_above, shift_above_line, shift_at
from .law import AIM_SHARE, Law

SHIFT_CELLS_MOST = 2000
SPLIT_SHARE = 0.25  # of a cell: so far from an end it is split at least
FINEST = 1e-15  # relative width of an H that is asked for
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
    places: dict[float, ShiftPoint] = field(default_factory=dict)

    def at(self, t: float) -> ShiftPoint:
        """The place at t, worked out once."""
        if t not in self.places:
            near = min(self.places.values(), key=lambda each: abs(each.t - t), default=None)
            guess = near.least if near is not None and near.t <= t else 0.0
            self.places[t] = self._place(t, guess)
        return self.places[t]

    def _place(self, t: float, guess: float) -> ShiftPoint:
        delta = self.law.one_sided(self.sign * t)
        if delta.upper > 0.5:  # what is left to 1 counts
            fine = AIM_SHARE * self.law.aim * (1.0 - delta.upper)
            delta = self.law.one_sided(self.sign * t, max(fine, FINEST))
        with work.uncounted():  # far less than what H took
            high = level(delta.upper)
            least, most = shift_at(t, level(delta.lower), guess)[0], shift_at(t, high, guess)[1]
        return ShiftPoint(t, high, least, most, delta)


def cell_most(first: ShiftPoint, last: ShiftPoint) -> tuple[float, float]:
    """At or above mu(t) on a cell, and where H_mu touches the chord: nan where an end has the largest mu."""
    ends = max(first.most, last.most)
    if not ends < math.inf:
        return math.inf, math.nan
    with working_precision(CELL_BITS + _more(ends)):
        start, stop, mu = arb(first.t), arb(last.t), arb(ends)
        high, end = first.high, last.high if last.high.value < first.high.value else first.high
        alpha = start.exp()
        slope = (high.value - end.value) / (alpha * (stop - start).expm1())
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
    return shift_at(last.t, first.high)[1], (first.t + last.t) / 2.0


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
    """Cells of all sides in one heap."""

    aim: float
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
        with work.uncounted():
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
        good = max(self.lower, self.tail) * (1.0 + self.aim / 2.0)
        return most <= max(good, self.at_points * (1.0 + self.aim / 4.0)) or self.made > SHIFT_CELLS_MOST

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
