"""Pairs of one's own, by formulas for the tails of the loss in balls.

What a formula says in balls is all that is needed: H = P[l > eps] - e^eps Q[l > eps], with as many digits as cancel,
and float64 reads the same numbers entry by entry. The loss must have no atoms, apart from infinite losses: then the
reversed pair has the tails Q[l <= -t] and P[l <= -t].
Guarantee: as the formulas; float64 with the radius of kernels.enclosure.
Reference: Zhu, Dong, Wang 2021, Def. 7 (dominating pairs).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from flint import arb

from ..numerics.balls import BITS_START, enclose, lower_float, upper_float, working_precision
from ..numerics.double_double import DoubleDouble
from ..numerics.enclosures import Enclosure, FloatArray, falling
from ..values.errors import UnsupportedMechanism
from .pair import TAIL_ERROR, BallTails, LossRange, Pair, Tails

LEAST_TAIL = 1e-313  # absolute
BITS_NARROW = 56  # of a ball that is a double to its last digit


class TailPair(Pair):
    """A pair whose loss has no atoms, by its tails: subclass it as a frozen dataclass, and write above and below.

    Both get a ball t (flint.arb) and return two balls; they are asked at any real t and at several precisions, so every
    number in them must be a ball, or exact.
    """

    @abstractmethod
    def above(self, t: arb) -> tuple[arb, arb]:
        """P[l > t] and Q[l > t], infinite losses included."""

    @abstractmethod
    def below(self, t: arb) -> tuple[arb, arb]:
        """P[l <= t] and Q[l <= t], what Q has where P has nothing included."""

    def ends(self) -> tuple[arb, arb]:
        """The infimum and the supremum of the finite losses; -inf and inf by default."""
        return arb.neg_inf(), arb.pos_inf()

    def loss_range(self) -> LossRange:
        return LossRange(*self.ends())

    def infinite_mass(self) -> arb:
        """P where Q has nothing; 0 by default."""
        return arb(0)

    def lost_mass(self) -> arb:
        """Q where P has nothing; 0 by default."""
        return arb(0)

    def reversed(self) -> Pair:
        """(Q, P); a pair that is its own reverse may say so."""
        return ReversedTails(self)

    def ball_tails(self, t: arb) -> BallTails:
        p, q = self.above(t)
        p_below, q_below = self.below(t)
        return BallTails(p, q, p_below, q_below)

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        p, q = self.above(epsilon)
        return (p - epsilon.exp() * q).max(arb(0)).min(arb(1))

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        def ends(points: FloatArray) -> tuple[FloatArray, FloatArray]:
            places = [float(point) for point in points]
            with working_precision(BITS_START):
                balls = [self.ball_hockey_stick(arb(place)) for place in places]
            found = [
                _ends(ball) or enclose(partial(self.ball_hockey_stick, arb(place)))
                for place, ball in zip(places, balls, strict=True)
            ]
            return np.array([low for low, _ in found]), np.array([high for _, high in found])

        return falling(ends, epsilon)

    def tails(self, t: DoubleDouble) -> Tails:
        places = list(zip(t.hi.ravel().tolist(), t.lo.ravel().tolist(), strict=True))
        with working_precision(BITS_START):
            balls = [None if math.isinf(hi) else self.ball_tails(arb(hi) + arb(lo)) for hi, lo in places]
        rows = [
            self._at_end(hi > 0.0)
            if known is None
            else [_read(partial(self._tail, hi, lo, i), known[i]) for i in range(4)]
            for (hi, lo), known in zip(places, balls, strict=True)
        ]
        columns = zip(*rows, strict=True)
        return Tails(*(np.array(column, dtype=np.float64).reshape(t.hi.shape) for column in columns))

    def _at_end(self, top: bool) -> list[float]:
        """The four tails at +-inf."""
        with working_precision(BITS_START):
            w, v = (_read(mass, mass()) for mass in (self.infinite_mass, self.lost_mass))
        return [w, 0.0, 1.0 - w, 1.0] if top else [1.0, 1.0 - v, 0.0, v]

    def _tail(self, hi: float, lo: float, place: int) -> arb:
        return self.ball_tails(arb(hi) + arb(lo))[place]


def _ends(ball: arb) -> tuple[float, float] | None:
    """Doubles around a ball that is narrow enough; None where more bits are needed."""
    good = ball.is_exact() or ball.rel_accuracy_bits() >= BITS_NARROW
    return (lower_float(ball), upper_float(ball)) if good else None


def _read(formula: Callable[[], arb], known: arb) -> float:
    """A tail to TAIL_ERROR, from its ball at BITS_START, or at more."""
    low, high = _ends(known) or enclose(formula)
    low, high = max(low, 0.0), min(high, 1.0)
    if not high - low <= TAIL_ERROR / 2 * high + LEAST_TAIL:
        raise UnsupportedMechanism(
            f"a tail is only known to lie between {low!r} and {high!r}; its formula must get narrower with more bits, "
            "so every number in it must be a ball"
        )
    return high


@dataclass(frozen=True, slots=True)
class ReversedTails(TailPair):
    """(Q, P) of such a pair: the loss has the other sign."""

    base: TailPair

    def above(self, t: arb) -> tuple[arb, arb]:
        p, q = self.base.below(-t)
        return q, p

    def below(self, t: arb) -> tuple[arb, arb]:
        p, q = self.base.above(-t)
        return q, p

    def ends(self) -> tuple[arb, arb]:
        lowest, highest = self.base.ends()
        return -highest, -lowest

    def infinite_mass(self) -> arb:
        return self.base.lost_mass()

    def lost_mass(self) -> arb:
        return self.base.infinite_mass()

    def reversed(self) -> Pair:
        return self.base
