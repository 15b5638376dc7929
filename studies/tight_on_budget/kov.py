"""The composition theorem of Kairouz, Oh and Viswanath as the paper uses it: the best over the curve of one use.

For every point (e, d) of the curve, r uses lose at most what r leaky randomized responses with that point lose.
Guarantee: upper; every point of the grid gives a valid bound, and the smallest is taken.
Reference: Meiser, Mohammadi 2018, section 5.6 and theorem 3.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

from tightrope import ApproximateDP, Bound, Mechanism

DECADES = (-6.0, 0.3)  # of epsilon, relative to the one where the curve of one use is about to end
POINTS = 64


@dataclass(frozen=True, slots=True)
class Points:
    """Points (epsilon, delta) of the curve of one use, each rounded up."""

    points: Sequence[tuple[float, float]]

    def delta(self, epsilon: float, count: int) -> float:
        """At or above delta of count uses."""
        return min((_delta(point, epsilon, count) for point in self.points), default=1.0)

    def epsilon(self, delta: float, count: int) -> float:
        """At or above epsilon of count uses."""
        return min(
            ((ApproximateDP(e, d) * count).epsilon(delta).upper for e, d in self.points if d <= delta), default=math.inf
        )


def points_of(mechanism: Mechanism, tiny: float = 1e-16) -> Points:
    """A geometric grid of epsilons, and the supremum of the finite losses where it is finite."""
    leaked = mechanism.delta(math.inf).upper
    end = mechanism.epsilon(max(2.0 * leaked, tiny)).upper
    first, last = DECADES
    epsilons = [end * 10.0 ** (first + (last - first) * index / (POINTS - 1)) for index in range(POINTS)]
    supremum = supremum_of(mechanism)
    if supremum < math.inf:
        epsilons = [*(epsilon for epsilon in epsilons if epsilon < supremum), supremum]
    return Points([(epsilon, mechanism.delta(epsilon).upper) for epsilon in epsilons])


def supremum_of(mechanism: Mechanism) -> float:
    """The largest finite loss, rounded up; inf where none is."""
    from flint import arb

    from tightrope.core.numerics.balls import BITS_START, upper_float, working_precision
    from tightrope.core.values.question import Direction

    with working_precision(BITS_START):
        ends = [mechanism.pair(direction).loss_range().highest for direction in Direction]
        return max(upper_float(end) if isinstance(end, arb) else math.inf for end in ends)


def _delta(point: tuple[float, float], epsilon: float, count: int) -> float:
    return (ApproximateDP(*point) * count).delta(epsilon).upper


def best_epsilon(mechanism: Mechanism, delta: float, count: int, accuracy: float = 2e-3) -> Bound:
    """The smallest epsilon that any point of the curve gives, from both sides.

    Between two points of the curve epsilon is at least that of the left one and delta at least that of the right one,
    and the theorem grows with both: a bound from below for all points between them. The interval where it is smallest
    is halved until it meets the best point.
    """

    def value(epsilon: float, leak: float) -> Bound:
        return (ApproximateDP(epsilon, leak) * count).epsilon(delta)

    def interval(left: float, right: float) -> tuple[float, float, float]:
        return value(left, mechanism.delta(right).lower).lower, left, right

    end = mechanism.epsilon(delta / (1e3 * count)).upper
    upper = value(end, mechanism.delta(end).upper).upper
    waiting = [interval(0.0, end), interval(end, math.inf)]
    heapq.heapify(waiting)
    while upper > waiting[0][0] * (1.0 + accuracy):
        _, left, right = heapq.heappop(waiting)
        middle = 2.0 * left if right == math.inf else 0.5 * (left + right)
        upper = min(upper, value(middle, mechanism.delta(middle).upper).upper)
        heapq.heappush(waiting, interval(left, middle))
        heapq.heappush(waiting, interval(middle, right))
    return Bound(waiting[0][0], upper)
