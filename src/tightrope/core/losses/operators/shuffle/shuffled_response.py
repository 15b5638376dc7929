"""Shuffled randomized response where all others hold the first user's value, and one sees how many report it.

P = Bin(n, s), Q = Bin(n - 1, s) + Bern(s'), s > s' the chances to report a value where it is held and where it is not;
the reverse counts those who do not report it. dP/dQ rises with the count, so events are counts from some k on: with T
the upper tail and c the mass of Bin(n - 1, s), P(E) = T(k) + s c(k - 1) and Q(E) = T(k) + s' c(k - 1).
Guarantee: exact, in balls; float64 is read off them. Proof: docs/proofs/shuffle.md, section 2.
Reference: Balle, Bell, Gascon, Nissim 2019 (k-ary response).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from flint import arb

from ....numerics.balls import BITS_START, enclose, floors, working_precision
from ....numerics.double_double import DoubleDouble
from ....numerics.enclosures import Enclosure, enclosing
from ....values import compute_budget
from ...atoms import LatticeStep
from ...capabilities import Resolution
from ...pair import BallTails, LossRange, Pair, Tails
from ..registered import has_bracket_only
from .report_law import BINOMIAL_TERM, at_least, geometric, log_mass, mass
from .shuffled import BELOW_TAIL, DeltaEnds, Place, ball_tails_as_floats, finite_pairs, hull, mirrored

EVENTS_COST = 10_000  # of cost, about: a few milliseconds


class _Counted(NamedTuple):
    """Chance of what the others are counted for, that of the first user under P and Q, and dP/dQ by the count.

    dP/dQ at a share x of all is low + (high - low) x, or 1 over 1/low + (1/high - 1/low) x where `inverse`.
    """

    chance: arb
    p: arb
    q: arb
    low: arb
    high: arb
    inverse: bool

    def ratio(self, share: arb) -> arb:
        """dP/dQ."""
        if self.inverse:
            return 1 / (1 / self.low + (1 / self.high - 1 / self.low) * share)
        return self.low + (self.high - self.low) * share

    def share(self, ratio: arb) -> arb:
        """Where dP/dQ has this value."""
        if self.inverse:
            return (1 / self.low - 1 / ratio) / (1 / self.low - 1 / self.high)
        return (ratio - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class ShuffledRandomizedResponsePair(Pair):
    """k-ary response; shy: the truth is the least likely report, and others are counted. turned: the reverse."""

    epsilon: LatticeStep
    users: int
    categories: int = 2
    shy: bool = False
    turned: bool = False

    def tails(self, t: DoubleDouble) -> Tails:
        return ball_tails_as_floats(self, t)

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        def delta(point: float) -> tuple[float, float]:
            return (0.0, 0.0) if point == np.inf else enclose(lambda: self.ball_hockey_stick(arb(point)))

        ends = [(delta(float(high)), delta(float(low))) for low, high in zip(*_ends(epsilon), strict=True)]
        low = np.array([max(least[0], 0.0) for least, _ in ends]).reshape(epsilon.value.shape)
        high = np.array([min(most[1], 1.0) for _, most in ends]).reshape(epsilon.value.shape)
        return enclosing(low, high)

    def ball_tails(self, t: arb) -> BallTails:
        if not t.is_exact():
            return hull(self.ball_tails(t.lower()), self.ball_tails(t.upper()))
        if not t.is_finite():
            above, below = (arb(0), arb(1)) if t > 0 else (arb(1), arb(0))
            return BallTails(above, above, below, below)
        found = (self if t >= 0 else self.reversed())._events(abs(t))
        p, q = found[0]
        for more_p, more_q in found[1:]:
            p, q = p.union(more_p), q.union(more_q)
        return BallTails(p, q, 1 - p, 1 - q) if t >= 0 else BallTails(1 - q, 1 - p, q, p)

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        if not epsilon.is_exact():  # it falls
            return self.ball_hockey_stick(epsilon.lower()).union(self.ball_hockey_stick(epsilon.upper()))
        if epsilon < 0:
            return arb(1) if not epsilon.is_finite() else mirrored(self.reversed().ball_hockey_stick(-epsilon), epsilon)
        best = arb(0)
        for p, q in self._events(epsilon):
            best = best.max(p - epsilon.exp() * q)
        return best

    def reversed(self) -> ShuffledRandomizedResponsePair:
        return ShuffledRandomizedResponsePair(self.epsilon, self.users, self.categories, self.shy, not self.turned)

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        counted = self._counted()
        return LossRange(counted.low.log(), counted.high.log())

    def hockey_stick_cost(self) -> int:
        return EVENTS_COST

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair]:
        with working_precision(2 * BITS_START):
            return finite_pairs(self._places(fine), self.reversed()._places(fine))

    def _counted(self) -> _Counted:
        p, k = self.epsilon.ball().exp(), self.categories
        if self.shy:
            most = (k - 1) * p
            held, not_held, least, top = most / (1 + most), (most + 1 - p) / (1 + most), 1 / p, most / (most + 1 - p)
        else:
            held, not_held, least, top = p / (p + (k - 1)), 1 / (p + (k - 1)), (k - 1) / (p + (k - 2)), p
        if self.turned:
            return _Counted(1 - held, 1 - not_held, 1 - held, 1 / top, 1 / least, False)
        return _Counted(held, held, not_held, least, top, True)

    def _events(self, epsilon: arb) -> list[tuple[arb, arb]]:
        """P(E), Q(E) of dP > alpha dQ, for each count that may be its edge; at an exact epsilon >= 0."""
        counted, others = self._counted(), self.users - 1
        found = []
        for k in floors(self.users * counted.share(epsilon.exp())):
            tail = at_least(others, k + 1, counted.chance, 1 - counted.chance)
            at = mass(others, k, counted.chance, 1 - counted.chance)
            found.append((tail + counted.p * at, tail + counted.q * at))
        unknown = arb(0).union(arb(1))
        return found or [(unknown, unknown)]

    def _places(self, fine: Resolution) -> list[Place]:
        """The events of counts from k on, at the loss of k - 1: from where it is above 0 to where the tail begins."""
        counted, n = self._counted(), self.users
        least = math.ceil(n * float(counted.share(arb(1))))
        last = _last(n - 1, counted.chance, max(least, 1), BELOW_TAIL * fine.tail)
        first, every = max(least, 1), max((last - least) // max(fine.points // 2, 1), 1)
        compute_budget.spend(BINOMIAL_TERM * (last - first + 1))
        at = mass(n - 1, last - 1, counted.chance, 1 - counted.chance)
        odds = (1 - counted.chance) / counted.chance
        beyond = arb(n - last) / last / odds
        tail, found = arb(0).union(geometric(at, beyond)) if last < n else arb(0), []
        for k in range(last, first - 1, -1):
            if (k - first) % every == 0 or k == last:
                p, q = tail + counted.p * at, tail + counted.q * at
                alpha = counted.ratio(arb(k - 1) / n)
                delta = (p - alpha * q).max(arb(0))
                found.append(Place(alpha, *(DeltaEnds(delta, delta, p, p),) * 2))
            tail += at
            at *= odds * (k - 1) / (n - k + 1)
        return [Place(counted.high, *(DeltaEnds(arb(0), arb(0), arb(0), arb(0)),) * 2), *found]


@has_bracket_only.register(ShuffledRandomizedResponsePair)
def _(pair: ShuffledRandomizedResponsePair) -> bool:
    return True


def _last(n: int, chance: arb, least: int, tail: float) -> int:
    """A count from which on there is about so much mass."""
    logs, low, high = (float(chance.log()), float((1 - chance).log())), least, n + 1
    while low < high:
        middle = (low + high) // 2
        rare = middle > n * math.exp(logs[0]) and log_mass(n, min(middle, n), *logs) < math.log(tail)
        low, high = (low, middle) if rare else (middle + 1, high)
    return low


def _ends(epsilon: Enclosure) -> tuple[list[float], list[float]]:
    return epsilon.lower.ravel().tolist(), epsilon.upper.ravel().tolist()
