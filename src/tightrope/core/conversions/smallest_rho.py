"""The smallest rho with D_o <= rho o at every order 1 < o <= most: the supremum of D_o/o, by branch and bound.

With c = o - 1 and K(c) = c D_o, D_o/o = K(c)/(c (c + 1)). K is convex and K(0) = 0, so that between two orders it lies
below its chord A + B c, of which (A + B c)/(c (c + 1)) has its maximum at an end or at the root c of B c^2 + 2 A c + A
= 0, with the value B/(2c + 1) there. The first cell starts at K(0) = 0, the last may reach to infinity: there the loss
of a part is at most its supremum. Everywhere K(c) <= c (c + 1) rho where a part knows one (Moments.zcdp_rho), and the
power divergence (e^K - 1)/(c (c + 1)) of one use is convex too, hence at most the larger of its ends: for small losses
it is D_o/o but for little. Each part has in each cell the best of these.
From below: D_o/o at the orders looked at, D_1, and the limit at large orders where a part knows one.
Guarantee: lower <= supremum <= upper. Proof: docs/proofs/zcdp.md, section 4.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from flint import arb

from ..engines.selection import Term
from ..losses.pair import Pair
from ..numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ..numerics.rounding import next_up
from ..values import compute_budget
from ..values.errors import UnsupportedMechanism, WorkExhausted, agreed
from ..values.question import Direction
from .divergence import ORDER_MAX

Ends = tuple[float, float]
OfPair = Callable[[Pair, float], Ends]  # ends of the divergence of a pair at an order from 1 on

LOOKS_MAX = 4000  # orders that are looked at
TOWARDS_ONE, TOWARDS_INFINITY = 1 / 64, 16.0  # of the distance to order 1: where the outermost cells are cut
FIRST = 2.0  # the first order that is looked at where there is no largest
SMALLEST_STEP = 2.0**-50
SHARE = 0.5  # of the width that is wanted: bounds may be so much above
LOOK_UNITS = 2e4  # of work, for each order


class SmallestRho(NamedTuple):
    """Ends of the supremum; where the lower one was found: an order, 1 or inf for the limits there."""

    lower: float
    upper: float
    order: float
    orders: int
    refused: bool = False  # whether a divergence was not known at some order

    def narrowed(self, other: SmallestRho) -> SmallestRho:
        """What both say, in the words of the one with the larger lower end."""
        best = other if other.lower >= self.lower else self
        _, upper = agreed(best.lower, min(self.upper, other.upper))
        return best._replace(upper=upper, orders=self.orders + other.orders, refused=other.refused)


@dataclass
class Part:
    """What is known of so many uses of a pair: of one, rho and the supremum of the loss, and D at some orders."""

    pair: Pair
    count: int
    rho: float
    top: float
    limit: float  # at or below lim D_o/o
    lines: tuple[tuple[float, float], ...] = ()  # (s, rho): D_o <= s + rho o
    known: dict[float, Ends] = field(default_factory=dict)

    @staticmethod
    def of(pair: Pair, count: int) -> Part:
        with suppress(WorkExhausted), compute_budget.grace(), working_precision(BITS_START):
            moments = pair.moments()
            mu, far = moments.gdp_mu(), moments.gdp_mu_lower(Direction.REMOVE)
            known = [value for value in (moments.zcdp_rho(), None if mu is None else mu * mu / 2) if value is not None]
            rho = max(min(map(upper_float, known), default=math.inf), 0.0)
            sure = pair.infinite_mass().is_zero()
            top = max(upper_float(pair.loss_range().highest), 0.0) if sure else math.inf
            limit = lower_float(far * far / 2) if far is not None and far.is_finite() else 0.0
            lines = tuple((upper_float(s), upper_float(slope)) for s, slope in pair.moments().approximate_zcdp())
            return Part(pair, count, rho, top, min(limit, rho), lines)
        return Part(pair, count, math.inf, math.inf, 0.0)

    def at(self, order: float, of_pair: OfPair) -> Ends:
        """D, and no more than what its rho and its largest loss allow."""
        if order not in self.known:
            lower, upper = of_pair(self.pair, order)
            self.known[order] = agreed(lower, min(upper, next_up(self.rho * order), self.top))
        return self.known[order]

    def power(self, left: float, right: float) -> arb:
        """At or above D_o/o between two orders, by the power divergences there; at the working precision."""
        start = arb(left) - 1
        most = self._power(left).max(self._power(right))
        return (most * start * left).log1p() / (start * left) if left > 1.0 else most

    def _power(self, order: float) -> arb:
        """At or above (e^K - 1)/(c (c + 1)), which is D_1 at order 1."""
        c, most = arb(order) - 1, arb(self.known[order][1])
        return (c * most).expm1() / (c * order) if order > 1.0 else most

    def beyond(self, order: float) -> float:
        """At or above D_o/o from this order on."""
        lines = [next_up(next_up(s / order) + slope) for s, slope in self.lines]
        return min(self.rho, next_up(self.top / order), *lines)


def smallest_rho(terms: Sequence[Term], most: float, aim: float, of_pair: OfPair, enough: float = 0.0) -> SmallestRho:
    """Of (pair, count) terms, up to an order that is at most 2**53, or inf; about so wide relatively.

    enough: a rho that is needed anyway; what is proven to lie below is not looked at more closely.
    Raises UnsupportedMechanism where nothing is known.
    """
    return Ascent([Part.of(pair, count) for pair, count in terms], most, aim, of_pair, enough).run()


@dataclass
class Ascent:
    """One search: what it found so far, and the cells by their bounds."""

    parts: list[Part]
    most: float
    aim: float
    of_pair: OfPair
    enough: float
    lower: float = 0.0
    reached: float = 0.0  # the largest upper end of D_o/o at an order looked at: no cut gets below
    order: float = 1.0
    orders: int = 0
    cells: list[tuple[float, float, float]] = field(default_factory=list)
    refused: UnsupportedMechanism | None = None

    def run(self) -> SmallestRho:
        if self.most == math.inf:
            self._raise_to(self._total([(part.limit, part.count) for part in self.parts], 1.0)[0], math.inf)
        at_once = self._beyond(1.0)
        with suppress(WorkExhausted):
            self._climb(at_once)
        _, upper = agreed(self.lower, min([at_once, *(-bound for bound, _, _ in self.cells[:1])]))
        if self.refused is not None and self.lower == 0.0 and upper == math.inf:
            raise self.refused
        return SmallestRho(self.lower, upper, self.order, self.orders, self.refused is not None)

    def _climb(self, at_once: float) -> None:
        """Cuts cells until no bound is far above what some order has; all orders together have at_once at most."""
        if self._open(at_once):
            self._look(1.0)
        if self._open(at_once):
            if self.most < math.inf:
                self._look(self.most)
            self._push(1.0, self.most)
            while self._open(-self.cells[0][0]) and self._split():
                pass

    def _beyond(self, order: float) -> float:
        """At or above D_o/o from an order on."""
        return self._total([(part.beyond(order), part.count) for part in self.parts], 1.0)[1]

    def _open(self, bound: float) -> bool:
        """Whether a bound is not yet close to what some order has, or cannot be told not to have."""
        close = next_up(max(self.lower, self.reached) * (1.0 + SHARE * self.aim))
        return bound > self.enough and bound > close and self.lower < math.inf

    def _split(self) -> bool:
        """Cuts the cell with the largest bound; False where that cannot be done."""
        _, left, right = self.cells[0]
        middle = between(left, right)
        if middle is None or self.orders >= LOOKS_MAX or not self._look(middle):
            return False
        heapq.heappop(self.cells)
        self._push(left, middle)
        self._push(middle, right)
        return True

    def _look(self, order: float) -> bool:
        """D at an order; False where it is not known to be finite, and not to be infinite."""
        compute_budget.spend(LOOK_UNITS)
        ends: list[tuple[Ends, int]] = []
        for part in self.parts:
            try:
                ends.append((part.at(order, self.of_pair), part.count))
            except UnsupportedMechanism as refused:
                self.refused = refused
                part.known[order] = 0.0, min(next_up(part.rho * order), part.top)
                ends.append((part.known[order], part.count))
        self.orders += 1
        low = self._total([(each[0], count) for each, count in ends], order)[0]
        high = self._total([(each[1], count) for each, count in ends], order)[1]
        self._raise_to(low, order)
        self.reached = max(self.reached, high)
        return low == math.inf or high < math.inf

    def _raise_to(self, lower: float, order: float) -> None:
        if lower > self.lower:
            self.lower, self.order = lower, order

    def _total(self, values: Sequence[tuple[float, int]], order: float) -> Ends:
        """The sum of value times count, over the order."""
        with compute_budget.uncounted(), working_precision(BITS_START):
            found = sum((count * arb(value) for value, count in values), arb(0)) / arb(order)
            return lower_float(found), upper_float(found)

    def _push(self, left: float, right: float) -> None:
        heapq.heappush(self.cells, (-self._above(left, right), left, right))

    def _above(self, left: float, right: float) -> float:
        """At or above D_o/o for every order of a cell."""
        if right == math.inf:
            return self._beyond(left)
        with compute_budget.uncounted(), working_precision(BITS_START):
            start, stop, level = arb(left) - 1, arb(right) - 1, arb(0)
            low, high = arb(0), arb(0)
            for part in self.parts:
                at_start, at_stop = start * part.known[left][1], stop * part.known[right][1]
                flat = min(part.beyond(left), upper_float(part.power(left, right)))
                if flat <= highest(start, at_start, stop, at_stop):
                    level += part.count * arb(flat)
                else:
                    low, high = low + part.count * at_start, high + part.count * at_stop
            return upper_float(level + highest(start, low, stop, high))


def between(left: float, right: float) -> float | None:
    """An order inside the cell; None where there is none that tells more."""
    if right == math.inf:
        middle = min(1.0 + max((left - 1.0) * TOWARDS_INFINITY, FIRST - 1.0), ORDER_MAX)
    elif left == 1.0:
        middle = max(1.0 + (right - 1.0) * TOWARDS_ONE, 1.0 + SMALLEST_STEP)
    else:  # half-way in the unit in which a chord is equally far off everywhere
        half = (math.asinh(math.sqrt(left - 1.0)) + math.asinh(math.sqrt(right - 1.0))) / 2.0
        middle = 1.0 + math.sinh(half) ** 2
    return middle if left < middle < right else None


def highest(start: arb, at_start: arb, stop: arb, at_stop: arb) -> arb:
    """The maximum of (A + B c)/(c (c + 1)) for start <= c <= stop, A + B c the chord; its supremum from start 0 on."""
    slope = (at_stop - at_start) / (stop - start)
    if start.is_zero():
        return slope
    ends = (at_start / (start * (start + 1))).max(at_stop / (stop * (stop + 1)))
    fallen = (slope * start - at_start).max(arb(0))  # -A
    if not slope > 0 or fallen.is_zero():
        return ends
    place = (fallen + (fallen * (fallen + slope)).sqrt()) / slope
    return ends if place <= start or place >= stop else ends.max(slope / (2 * place + 1))
