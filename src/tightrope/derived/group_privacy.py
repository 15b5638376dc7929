"""Chains of neighbours: groups of records, and one record that is replaced by another.

P and Q are several neighbours apart. With g the power of the best test of a pair by its size, each step of the chain is
one g, and the power of the whole is their composition, the g of the first step outermost; its pair dominates.
Where the steps are shifts of one noise, the chain is a longer shift (operators.shifted_pair); finite laws are chained
exactly (operators.chained_pair). Of any other chain the profile is known in balls (group_privacy_hockey_stick.py), its
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

from ..errors import Refusal, UnsupportedMechanism
from ..facets.cumulant import cumulant_above
from ..facets.moments import Moments
from ..kernels.ball import BITS_START, upper_float, working_precision
from ..operators import chained_pair, dominated_pairs, finite_law, has_bracket_only, remake, shifted_pair
from ..pair import LossRange, Pair
from ..relation import Direction

if TYPE_CHECKING:
    from ..facets.resolution import Resolution

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
        from .group_privacy_bracket import bracket_group_privacy

        return bracket_group_privacy(self.links, fine)

    def _no_tails(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism("the law of this chain is known between two finite ones; engine='joint' has it")

    tails = ball_tails = _no_tails

    def hockey_stick(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism("its profile is known in balls only", Refusal.NEEDS_BALLS)

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        from .group_privacy_hockey_stick import group_privacy_hockey_stick

        return group_privacy_hockey_stick(self, epsilon)

    def reversed(self) -> Pair:
        return GroupPrivacyPair(tuple((pair.reversed(), count) for pair, count in reversed(self.links)))

    def infinite_mass(self) -> arb:
        """g of each step at what the step before it has."""
        from .group_privacy_hockey_stick import power

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
