"""The pair of the least of several profiles, each of which bounds one law from above.

H <= H_i at every alpha, H convex: H lies on or below the lower hull of all corners of all H_i, which is a profile.
Guarantee: dominates whatever each of the pairs dominates; `over` finite pairs it is the finite pair of that hull.
Proof: docs/proofs/points.md, section 1 (chords of points that lie on or above a profile).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, NoReturn

from flint import arb, fmpz

from ..errors import UnsupportedMechanism
from ..kernels.ball import working_precision
from ..operators import has_bracket_only, remake
from ..pair import LossRange, Pair
from .dyadic import DyadicPair
from .polygon import SPARE_BITS, above


@dataclass(frozen=True, slots=True)
class LeastPair(Pair):
    """The least profile of two or more pairs."""

    pairs: tuple[Pair, ...]

    def _not_known(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism("the least of several profiles is known between finite pairs; engine='joint'")

    tails = hockey_stick = ball_tails = ball_hockey_stick = _not_known

    def reversed(self) -> LeastPair:
        return LeastPair(tuple(pair.reversed() for pair in self.pairs))

    def infinite_mass(self) -> arb:
        return reduce(arb.min, (pair.infinite_mass() for pair in self.pairs))

    def loss_range(self) -> LossRange:
        """Wide enough for each."""
        ends = [pair.loss_range() for pair in self.pairs]
        return LossRange(reduce(arb.min, (end.lowest for end in ends)), reduce(arb.max, (end.highest for end in ends)))

    def bases(self) -> tuple[Pair, ...]:
        return self.pairs


@remake.register(LeastPair)
def _(own: LeastPair, bases: tuple[Pair, ...]) -> Pair:
    whole = [pair for pair in bases if isinstance(pair, DyadicPair)]
    return least(whole) if len(whole) == len(bases) else LeastPair(bases)


@has_bracket_only.register(LeastPair)
def _(pair: LeastPair) -> bool:
    return True


def least(pairs: list[DyadicPair]) -> DyadicPair:
    """The finite pair of the lower hull of all corners, rounded up."""
    with working_precision(max(pair.bits for pair in pairs) + SPARE_BITS):
        return above([point for pair in pairs for point in _corners(pair)])


def _corners(pair: DyadicPair) -> Iterator[tuple[arb, arb]]:
    """(p/q, H(p/q)) for each finite ratio."""
    unit, above_p, above_q = arb(2) ** -pair.bits, 0, 0
    for p, q in pair.rows:
        if p and q:
            alpha = arb(fmpz(p)) / arb(fmpz(q))
            yield alpha, (arb(fmpz(above_p)) - alpha * arb(fmpz(above_q))) * unit
        above_p, above_q = above_p + p, above_q + q
