"""What libraries report: their orders, steps and formulas, in certified arithmetic.

Each number is what its library computes, but for its rounding and what it cuts off. Orders and formulas were read in
the sources of the versions named; tests/reference/accountants.json holds what the libraries themselves say.
Opacus 1.6.0: DEFAULT_ALPHAS of its RDPAccountant and get_privacy_spent; one asks for it with accountant="rdp".
TensorFlow Privacy 0.9.0: compute_dp_sgd_privacy_statement, whose default is the RdpAccountant of dp-accounting 0.4.3
(DEFAULT_RDP_ORDERS, compute_epsilon). dp-accounting 0.6.0: PLDAccountant, whose default value_discretization_interval
is 1e-4, with connect-the-dots.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from flint import arb

from ..conversions.classical import at_or_above
from ..conversions.renyi_accountant import LogMoment, delta_exponent, epsilon_bound, leaked_above, total_moment
from ..engines.lattice.grid import chords_at
from ..engines.selection import Evaluator, Term
from ..mechanisms.base import Mechanism
from ..mechanisms.composition import terms_of
from ..values.question import Direction
from .methods import Method

# The loss on one even grid, by chords, as libraries of privacy loss distributions report it.
#
# The profile of each use is replaced by its chords between the multiples of a step, and the uses are convolved: what
# the
# step costs grows with the count. Nothing is cut off that a digit would show.
# Guarantee: upper, in the worse direction. Proof: docs/proofs/lattice.md.
# Reference: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, Alg. 1 (connect the dots).

CHORD_HALVINGS = 60  # of an interval around epsilon
CHORD_CLOSE = 1e-10  # relative: where they end
EPSILON_BEYOND = 1e4  # where nothing met delta until there, nothing is said


@dataclass(frozen=True, slots=True)
class ChordGrid:
    """An accountant by its step of the loss."""

    step: float

    def epsilon(self, run: Mechanism, delta: float) -> float:
        """At delta, in the worse direction; inf where nothing is said."""
        return max(_epsilon(terms, self.step, delta) for terms in _sides(run))

    def delta(self, run: Mechanism, epsilon: float) -> float:
        """At epsilon, likewise."""
        return max(min(chords_at(terms, self.step, epsilon, None).delta(epsilon).upper, 1.0) for terms in _sides(run))


def _sides(run: Mechanism) -> list[Sequence[Term]]:
    """Of both directions, where they differ."""
    first, other = (terms_of(run.nameless, direction) for direction in (Direction.REMOVE, Direction.ADD))
    return [first] if first == other else [first, other]


def _epsilon(terms: Sequence[Term], step: float, delta: float) -> float:
    """The least epsilon found whose delta is at most the one given."""
    if delta >= 1.0:
        return 0.0
    evaluator: Evaluator = chords_at(terms, step, None, delta)
    if evaluator.delta(0.0).upper <= delta:
        return 0.0
    low, high = 0.0, 1.0
    while evaluator.delta(high).upper > delta:
        low, high = high, 2.0 * high
        if high > EPSILON_BEYOND:
            return math.inf
    for _ in range(CHORD_HALVINGS):
        middle = low + (high - low) / 2.0
        low, high = (middle, high) if evaluator.delta(middle).upper > delta else (low, middle)
        if high - low <= CHORD_CLOSE * high:
            break
    return high


# Renyi accounting at a fixed list of orders, as libraries report it.
#
# epsilon = min over the listed a of D_a + log((a - 1)/a) - (log delta + log a)/(a - 1), the best conversion that
# depends
# on the order alone (conversions/renyi_accountant.py with c = a - 1). With variation, an order with sqrt(1 - e^-D_a)
# < delta says 0:
# the
# total variation is at most sqrt(1 - e^-KL), and KL at most D_a.
# Guarantee: upper, rounded outward, in the worse direction.
# Reference: Balle, Barthe, Gaboardi, Hsu, Sato 2020, Thm 21; Canonne, Kamath, Steinke 2020, Prop. 12; Bretagnolle,
# Huber
# 1979 (the total variation).


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


TENTHS = tuple(1.0 + tenth / 10.0 for tenth in range(1, 100))
OPACUS_ORDERS = (*TENTHS, *map(float, range(12, 64)))
TF_PRIVACY_ORDERS = (*TENTHS, *map(float, range(11, 64)), 128.0, 256.0, 512.0, 1024.0)
GOOGLE_STEP = 1e-4

_OPACUS = ListedOrders(OPACUS_ORDERS)
_TF_PRIVACY = ListedOrders(TF_PRIVACY_ORDERS, variation=True)
_GOOGLE = ChordGrid(GOOGLE_STEP)

ACCOUNTANTS = (
    Method(
        "RDP, Opacus 1.6.0",
        "the moments at 151 orders up to 63, and one exponential for a tail (accountant rdp; its default is prv)",
        _OPACUS.epsilon,
        _OPACUS.delta,
    ),
    Method(
        "RDP, TF-Privacy 0.9.0",
        "the moments at 156 orders up to 1024, and one exponential in place of a tail",
        _TF_PRIVACY.epsilon,
        _TF_PRIVACY.delta,
    ),
    Method(
        "PLD, Google dp-accounting 0.6.0",
        "the loss on a grid of step 1e-4 by chords, whose cost grows with the count; it cuts off some 1e-15 besides",
        _GOOGLE.epsilon,
        _GOOGLE.delta,
    ),
)
