"""The pair of the largest of several profiles.

H(alpha) = max_i H_i(alpha) is convex and falls, so it is a profile; its pair dominates whatever one of the pairs
dominates, each use another one. Its trade-off is the concave hull of theirs, and its mirror the maximum of the mirrors.
One use has this profile exactly. Where two of them cross, the loss has an atom whose place is not known exactly, so
that several uses stand between two finite pairs (derived.around), of which the maximum is exact.
Guarantee: exact; `bracket` is lower and upper. Proof: docs/proofs/points.md, section 5.
Reference: Zhu, Dong, Wang 2021, Lemma 9 (profiles).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NoReturn

import numpy as np
from flint import arb, fmpz

from ...numerics.balls import working_precision
from ...numerics.enclosures import Enclosure, enclosing
from ...values.errors import UnsupportedMechanism
from ...values.question import Direction
from ..capabilities import Moments, Resolution
from ..cgf import cumulant_above
from ..pair import BallTails, LossRange, Pair
from .dyadic import DyadicPair
from .poisson import poisson_pair
from .polygon import SPARE_BITS, above, around, highest
from .registered import (
    alternatives_of,
    dominated_pairs,
    dominates,
    has_bracket_only,
    is_opaque,
    remake,
    sampled_in_family,
)


@dataclass(frozen=True, slots=True)
class MaximumPair(Pair):
    """The largest profile of two or more pairs; made by `maximum_pair`."""

    pairs: tuple[Pair, ...]

    def tails(self, *at: Any) -> NoReturn:
        raise UnsupportedMechanism("the largest of several profiles has no tails by itself; engine='joint' composes it")

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        found = [pair.hockey_stick(epsilon) for pair in self.pairs]
        lower, upper = (reduce(np.maximum, ends) for ends in zip(*((e.lower, e.upper) for e in found), strict=True))
        return enclosing(lower, upper)

    def ball_tails(self, t: arb) -> BallTails:
        """Those of the pair whose profile is the largest there; the hull of all that may have it."""
        profiles = [pair.ball_hockey_stick(t) for pair in self.pairs]
        most = reduce(arb.max, profiles)
        found = [pair.ball_tails(t) for pair, one in zip(self.pairs, profiles, strict=True) if not one < most]
        return BallTails(*(reduce(arb.union, column) for column in zip(*found, strict=True)))

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        return reduce(arb.max, (pair.ball_hockey_stick(epsilon) for pair in self.pairs))

    def reversed(self) -> Pair:
        return maximum_pair(pair.reversed() for pair in self.pairs)

    def infinite_mass(self) -> arb:
        return reduce(arb.max, (pair.infinite_mass() for pair in self.pairs))

    def loss_range(self) -> LossRange:
        ends = [pair.loss_range() for pair in self.pairs]
        highest_loss = _supremum(
            [(pair.infinite_mass(), end.highest) for pair, end in zip(self.pairs, ends, strict=True)]
        )
        lost = [pair.reversed().infinite_mass() for pair in self.pairs]
        return LossRange(-_supremum([(mass, -end.lowest) for mass, end in zip(lost, ends, strict=True)]), highest_loss)

    def hockey_stick_cost(self) -> int:
        return sum(pair.hockey_stick_cost() for pair in self.pairs)

    def bases(self) -> tuple[Pair, ...]:
        return self.pairs

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair]:
        found = [around(pair, fine) for pair in self.pairs]
        return highest([lower for lower, _ in found]), highest([upper for _, upper in found])

    def moments(self) -> MaximumMoments:
        return MaximumMoments(self)


@remake.register(MaximumPair)
def _(pair: MaximumPair, bases: tuple[Pair, ...]) -> Pair:
    return maximum_pair(bases)


class MaximumMoments(Moments[MaximumPair]):
    def gdp_mu(self) -> arb | None:
        """The largest."""
        values = [pair.moments().gdp_mu() for pair in self.pair.pairs]
        known = [value for value in values if value is not None]
        return reduce(arb.max, known) if len(known) == len(values) else None

    def gdp_mu_lower(self, direction: Direction) -> arb | None:
        """The largest that is known."""
        known = [value for pair in self.pair.pairs if (value := pair.moments().gdp_mu_lower(direction)) is not None]
        return reduce(arb.max, known) if known else None

    def log_moment_above(self, order: float) -> arb:
        """e^K - 1 <= sum of e^K_i - 1. Proof: docs/proofs/renyi.md, section 4."""
        return sum((arb(cumulant_above(pair, order)).expm1() for pair in self.pair.pairs), arb(0)).log1p()


@is_opaque.register(MaximumPair)
def _(own: MaximumPair) -> bool:
    return any(is_opaque(pair) for pair in own.pairs)


@has_bracket_only.register(MaximumPair)
def _(pair: MaximumPair) -> bool:
    return True


@dominated_pairs.register(MaximumPair)
def _(pair: MaximumPair) -> tuple[Pair, ...]:
    return pair.pairs


@alternatives_of.register(MaximumPair)
def _(pair: MaximumPair) -> tuple[Pair, ...]:
    return pair.pairs


@sampled_in_family.register(MaximumPair)
def _(own: MaximumPair, rate: float, direction: Direction) -> Pair:
    """Sampling maps profiles point by point, so the largest stays so."""
    return maximum_pair(poisson_pair(pair, rate, direction) for pair in own.pairs)


def maximum_pair(pairs: Iterable[Pair]) -> Pair:
    """The pair of the largest profile, as the simplest that it is; of one pair that dominates the others, that pair."""
    found = undominated(each for pair in pairs for each in alternatives_of(pair) or (pair,))
    if len(found) == 1:
        return found[0]
    whole = [pair for pair in found if isinstance(pair, DyadicPair)]
    return highest(whole) if len(whole) == len(found) else MaximumPair(found)


def undominated(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Those that no other one is known to dominate, each once: they have the same largest profile."""
    found: list[Pair] = []
    for pair in dict.fromkeys(pairs):
        if not any(dominates(other, pair) for other in found):
            found = [*(other for other in found if not dominates(pair, other)), pair]
    return tuple(found)


def _supremum(ends: Sequence[tuple[arb, arb]]) -> arb:
    """Of the finite losses, from (infinite mass, supremum): where the last profile falls to the largest mass.

    Those with that mass end as late as they do by themselves, the others where they fall below it.
    """
    most, last = reduce(arb.max, (mass for mass, _ in ends)), reduce(arb.max, (end for _, end in ends))
    if all(mass.is_zero() for mass, _ in ends):
        return last
    return reduce(arb.min, (end for mass, end in ends if not mass < most)).union(last)


# The pair of the least of several profiles, each of which bounds one law from above.
#
# H <= H_i at every alpha, H convex: H lies on or below the lower hull of all corners of all H_i, which is a profile.
# Guarantee: dominates whatever each of the pairs dominates; `over` finite pairs it is the finite pair of that hull.
# Proof: docs/proofs/points.md, section 1 (chords of points that lie on or above a profile).


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
