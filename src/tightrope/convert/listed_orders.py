"""Renyi accounting at a fixed list of orders, as libraries report it.

epsilon = min over the listed a of D_a + log((a - 1)/a) - (log delta + log a)/(a - 1), the best conversion that depends
on the order alone (convert/renyi.py with c = a - 1). With variation, an order with sqrt(1 - e^-D_a) < delta says 0: the
total variation is at most sqrt(1 - e^-KL), and KL at most D_a.
Guarantee: upper, rounded outward, in the worse direction.
Reference: Balle, Barthe, Gaboardi, Hsu, Sato 2020, Thm 21; Canonne, Kamath, Steinke 2020, Prop. 12; Bretagnolle, Huber
1979 (the total variation).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from flint import arb

from ..mechanisms.base import Mechanism
from ..relation import Direction
from ..transforms.terms import terms_of
from .outward import at_or_above
from .renyi import LogMoment, delta_exponent, epsilon_bound, leaked_above, total_moment


@dataclass(frozen=True, slots=True)
class ListedOrders:
    """An accountant by its orders, rising from above 1; variation: whether it looks at the total variation too."""

    orders: tuple[float, ...]
    variation: bool = False

    def epsilon(self, run: Mechanism, delta: float) -> float:
        """At delta, in the worse direction; inf where nothing is said."""
        return max(self._epsilon(run, direction, delta) for direction in Direction)

    def delta(self, run: Mechanism, epsilon: float) -> float:
        """At epsilon, likewise; at most 1."""
        return max(self._delta(run, direction, epsilon) for direction in Direction)

    def _epsilon(self, run: Mechanism, direction: Direction, delta: float) -> float:
        terms = terms_of(run.nameless, direction)
        leaked, moment = leaked_above(terms), total_moment(terms)
        if delta <= leaked:
            return math.inf if delta < 1.0 else 0.0
        if self._variation(leaked, moment) < delta:
            return 0.0
        return max(self._least(epsilon_bound(moment, leaked, delta, sharp=True)), 0.0)

    def _delta(self, run: Mechanism, direction: Direction, epsilon: float) -> float:
        terms = terms_of(run.nameless, direction)
        leaked, moment = leaked_above(terms), total_moment(terms)
        exponent = self._least(delta_exponent(moment, epsilon, sharp=True))
        value = 1.0 if exponent >= 0.0 else at_or_above(lambda: leaked + arb(exponent).exp())
        return min(value, self._variation(leaked, moment), 1.0)

    def _least(self, bound: LogMoment) -> float:
        """The least value at an order: there is one valley, for K and log kappa are convex (over c: quasi-convex)."""
        bound, low, high = cache(bound), 0, len(self.orders) - 1
        while low < high:
            middle = (low + high) // 2
            # Where both are infinite the valley lies below: large orders overflow first.
            if bound(self.orders[middle] - 1.0) <= bound(self.orders[middle + 1] - 1.0):
                high = middle
            else:
                low = middle + 1
        return bound(self.orders[low] - 1.0)

    def _variation(self, leaked: float, moment: LogMoment) -> float:
        """sqrt(1 - e^-D) at or above, at the first order, since D rises with it; an infinite loss makes KL infinite."""
        c = self.orders[0] - 1.0
        value = moment(c) if self.variation and leaked == 0.0 else math.inf
        return 1.0 if value == math.inf else at_or_above(lambda: (-(-arb(value) / arb(c)).expm1()).sqrt())
