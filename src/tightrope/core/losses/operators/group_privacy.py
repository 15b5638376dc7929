"""Chains of neighbours: groups of records, and one record that is replaced by another.

P and Q are several neighbours apart. With g the power of the best test of a pair by its size, each step of the chain is
one g, and the power of the whole is their composition, the g of the first step outermost; its pair dominates.
Where the steps are shifts of one noise, the chain is a longer shift (operators.shifted_pair); finite laws are chained
exactly (operators.chained_pair). Of any other chain the profile is known in balls (group_bracket.py), its
law between two finite ones: every step is bracketed by polygons, which are composed in whole numbers (chain.py).
Guarantee: exact where a family answers, else upper and lower. Proof: docs/proofs/group.md.
Reference: Dong, Roth, Su 2022, Thm 2.14.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn

from flint import arb, ctx

from ...numerics.balls import BITS_START, upper_float, working_precision
from ...values.errors import Refusal, UnsupportedMechanism
from ...values.question import Direction
from ..capabilities import Moments
from ..cgf import cumulant_above
from ..pair import LossRange, Pair
from ..participation_law import ParticipationLaw
from .registered import chained_pair, dominated_pairs, finite_law, has_bracket_only, remake, shift_mixture, shifted_pair

if TYPE_CHECKING:
    from ..capabilities import Resolution


Link = tuple[Pair, int]


def group_pair(pair: Pair, size: int) -> Pair:
    """So many steps of one pair."""
    return group_privacy_pair([(pair, size)])


def replaced_pair(remove: Pair, add: Pair) -> Pair:
    """One record out, another in: the pair of removing one, and that of adding one."""
    return group_privacy_pair([(remove, 1), (add, 1)])


def group_privacy_pair(links: Iterable[Link]) -> Pair:
    """The chain of (pair, count) steps, from the data set of P to that of Q, as the simplest pair that it is."""
    joined: list[Link] = []
    for pair, count in _flat(links):
        if joined and joined[-1][0] == pair:
            joined[-1] = pair, joined[-1][1] + count
        elif not _same(pair):
            joined.append((pair, count))
    if len(joined) == 1:
        one = shifted_pair(joined[0][0], joined[0][1])
        if one is not None:
            return one
    if not joined:
        return next(iter(_flat(links)))[0]
    return chained_pair(joined[0][0], joined) or GroupPrivacyPair(tuple(joined))


def _flat(links: Iterable[Link]) -> Iterable[Link]:
    for pair, count in links:
        if isinstance(pair, GroupPrivacyPair):
            yield from pair.links * count
        else:
            yield pair, count


@dataclass(frozen=True)
class GroupPrivacyPair(Pair):
    """links: (pair, count), the first of them outermost."""

    links: tuple[Link, ...]

    def bases(self) -> tuple[Pair, ...]:
        return tuple(pair for pair, _ in self.links)

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair]:
        from .group_bracket import bracket_group_privacy

        return bracket_group_privacy(self.links, fine)

    def _no_tails(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism("the law of this chain is known between two finite ones; engine='joint' has it")

    tails = ball_tails = _no_tails

    def hockey_stick(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism("its profile is known in balls only", Refusal.NEEDS_BALLS)

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        from .group_bracket import group_privacy_hockey_stick

        return group_privacy_hockey_stick(self, epsilon)

    def reversed(self) -> Pair:
        return GroupPrivacyPair(tuple((pair.reversed(), count) for pair, count in reversed(self.links)))

    def infinite_mass(self) -> arb:
        """g of each step at what the step before it has."""
        from .group_bracket import power

        kept: dict[int, arb] = self.__dict__.setdefault("_masses", {})
        if ctx.prec not in kept:
            mass, none = arb(0), all(pair.infinite_mass().is_zero() for pair, _ in self.links)
            for pair in () if none else (pair for pair, count in reversed(self.links) for _ in range(count)):
                try:
                    mass = pair.infinite_mass() if mass.is_zero() else power(pair, mass)
                except UnsupportedMechanism:  # no tails: g is at least what it is given, and at most 1
                    mass = mass.union(arb(1))
                    break
            kept[ctx.prec] = mass
        return kept[ctx.prec]

    def loss_range(self) -> LossRange:
        """Sums of the ends; where some loss is infinite, the others may not reach that far."""
        lowest, highest = arb(0), arb(0)
        for pair, count in self.links:
            ends = pair.loss_range()
            lowest, highest = lowest + count * ends.lowest, highest + count * ends.highest
        if not all(pair.infinite_mass().is_zero() for pair, _ in self.links):
            highest = lowest.union(highest)
        if not all(pair.reversed().infinite_mass().is_zero() for pair, _ in self.links):
            lowest = lowest.union(highest)
        return LossRange(lowest, highest)

    def moments(self) -> GroupPrivacyMoments:
        return GroupPrivacyMoments(self)


@remake.register(GroupPrivacyPair)
def _(pair: GroupPrivacyPair, bases: tuple[Pair, ...]) -> Pair:
    return group_privacy_pair([(base, count) for base, (_, count) in zip(bases, pair.links, strict=True)])


class GroupPrivacyMoments(Moments[GroupPrivacyPair]):
    def gdp_mu(self) -> arb | None:
        """The sum: a chain of shifts is one shift."""
        found = [(pair.moments().gdp_mu(), count) for pair, count in self.pair.links]
        known = [count * mu for mu, count in found if mu is not None]
        return sum(known, arb(0)) if len(known) == len(found) else None

    def gdp_mu_lower(self, direction: Direction) -> arb | None:
        """The largest of the links, each of which the chain dominates."""
        known = [value for pair, _ in self.pair.links if (value := pair.moments().gdp_mu_lower(direction)) is not None]
        return reduce(arb.max, known) if known else None

    def log_moment_above(self, order: float) -> arb | None:
        """K(c) <= (1/k) sum of K_j(k c + s_j - 1) over the k steps, s_j = k, ..., 1: Hoelder's inequality.

        K rises, so equal steps are taken at the largest. Proof: docs/proofs/renyi.md, section 4.
        """
        left = steps = sum(count for _, count in self.pair.links)
        total = arb(0)
        for pair, count in self.pair.links:
            if not pair.infinite_mass().is_zero():
                return None
            at = upper_float(steps * arb(order) + (left - 1))
            total, left = total + count * arb(cumulant_above(pair, at)), left - count
        return total / steps


@dominated_pairs.register(GroupPrivacyPair)
def _(pair: GroupPrivacyPair) -> tuple[Pair, ...]:
    """Each step: a chain tells no less than one of them."""
    return pair.bases()


@has_bracket_only.register(GroupPrivacyPair)
def _(pair: GroupPrivacyPair) -> bool:
    return True


def _same(pair: Pair) -> bool:
    """Whether both laws of a pair are one and the same for certain."""
    law = finite_law(pair)
    if law is None:
        return False
    with working_precision(BITS_START):
        lowest, highest = law.loss_range()
        return bool(
            law.infinite_mass().is_zero() and law.lost_mass().is_zero() and lowest.is_zero() and highest.is_zero()
        )


# Groups of records in a sample: as many steps of a chain as records are in it.
#
# Each of the group's records is in the sample or not; j of them are with probability w_j. For every event the sampled
# mechanism has the power sum w_j g^(j)(x) at most, g^(j) the chain of j steps of the base, and shifted log-concave
# noise
# has it: one event is the best for all j. The pair of this power is (sum w_j M_j, M_0), M_j the noise at j shifts.
# Where a family knows its mixture (operators.shift_mixture) that is the pair; else it is known between two finite ones.
# Guarantee: upper and lower. Proof: docs/proofs/group.md, section 6.
# Reference: Ganesh 2024, Tight group-level DP guarantees for DP-SGD with sampling via mixture of Gaussians mechanisms.


def group_participation_pair(remove: Pair, hits: ParticipationLaw, direction: Direction) -> Pair:
    """The pair of a group in a sample; `remove` is that of removing one record from the base."""
    return shift_mixture(remove, hits, direction) or GroupParticipationPair(remove, hits, direction)


@dataclass(frozen=True)
class GroupParticipationPair(Pair):
    """base: of removing one record, whatever the direction."""

    base: Pair
    hits: ParticipationLaw
    direction: Direction

    def bases(self) -> tuple[Pair, ...]:
        return (self.base,)

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair]:
        from .group_bracket import bracket_mixture

        below, above = bracket_mixture(self.base, self.hits, fine)
        return (below, above) if self.direction is Direction.REMOVE else (below.reversed(), above.reversed())

    def _not_known(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism("the law of this group is known between two finite ones; engine='joint' has it")

    tails = ball_tails = hockey_stick = ball_hockey_stick = _not_known

    def reversed(self) -> Pair:
        return GroupParticipationPair(self.base, self.hits, self.direction.opposite)

    def infinite_mass(self) -> arb:

        if self.direction is Direction.ADD:  # one law is a mixture with the other in it
            return arb(0)
        masses = [group_pair(self.base, j).infinite_mass() for j in range(1, self.hits.most + 1)]
        return sum((weight * mass for weight, mass in zip(self.hits.weights()[1:], masses, strict=True)), arb(0))

    def loss_range(self) -> LossRange:
        """Slopes are sums of w_j e^l, l a loss of j steps."""

        low = high = self.hits.weights()[0]
        for j, weight in enumerate(self.hits.weights()[1:], 1):
            ends = group_pair(self.base, j).loss_range()
            low, high = low + weight * ends.lowest.exp(), high + weight * ends.highest.exp()
        lost = not self.base.reversed().infinite_mass().is_zero()
        lowest = (self.hits.weights()[0].union(low) if lost else low).log()
        highest = high.log() if self.base.infinite_mass().is_zero() else lowest.union(high.log())
        return LossRange(lowest, highest) if self.direction is Direction.REMOVE else LossRange(-highest, -lowest)

    def moments(self) -> GroupParticipationMoments:
        return GroupParticipationMoments(self)


@remake.register(GroupParticipationPair)
def _(pair: GroupParticipationPair, bases: tuple[Pair, ...]) -> Pair:
    return group_participation_pair(bases[0], pair.hits, pair.direction)


class GroupParticipationMoments(Moments[GroupParticipationPair]):
    def log_moment_above(self, order: float) -> arb | None:
        """e^K <= sum of w_j e^K_j, K_j of j steps: a divergence is convex in each of its laws.

        Proof: docs/proofs/renyi.md, section 4.
        """

        base = self.pair.base if self.pair.direction is Direction.REMOVE else self.pair.base.reversed()
        if not base.infinite_mass().is_zero():
            return None
        none, *weights = self.pair.hits.weights()
        moments = [arb(cumulant_above(group_pair(base, j), order)).exp() for j in range(1, self.pair.hits.most + 1)]
        return sum((weight * moment for weight, moment in zip(weights, moments, strict=True)), none).log()


@has_bracket_only.register(GroupParticipationPair)
def _(pair: GroupParticipationPair) -> bool:
    return True
