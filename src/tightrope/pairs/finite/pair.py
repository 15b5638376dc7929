"""Pairs with finitely many losses.

H(e^eps) = w + sum over l > eps of p (1 - e^(eps - l)), w the mass of infinite loss: a sum of positive terms.
Guarantee: exact; float64 with the radius of kernels.enclosure.
Reference: Meiser, Mohammadi 2018, Def. 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, arb

from ...facets.finite import Atom, Atoms, FiniteLaw, listed_hockey_stick
from ...facets.lattice import Lattice
from ...facets.moments import Moments
from ...kernels.ball import BITS_START, working_precision
from ...kernels.double_double import DoubleDouble
from ...kernels.enclosure import Enclosure, enclosed
from ...operators import (
    allocated_pair_of,
    chained_pair,
    condition_on_finite_loss,
    dominates,
    finite_law,
    sampled_in_family,
    shifted_pair,
    subsampled_fixed_size,
)
from ...pair import BallTails, LossRange, Pair, Tails
from ...relation import Direction
from .laws import FixedSizeSubsampledLaw, ProductLaw, ResponseLaw, SampledLaw, listed_atoms

if TYPE_CHECKING:
    from ...facets.cgf import Cgf

PRODUCT_MAX = 1024  # atoms of a product that is listed: what every engine goes through in no time


@dataclass(frozen=True)
class FinitePair(Pair):
    """The pair of a finite law."""

    law: FiniteLaw

    def tails(self, t: DoubleDouble) -> Tails:
        index = np.searchsorted(self.law.floats.loss.value, t.collapse(), side="right")
        return Tails(*(column[index] for column in self.law.floats.tails))

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        floats = self.law.floats
        return listed_hockey_stick(floats.p, floats.loss, floats.infinite, epsilon)

    def atoms(self) -> Atoms:
        p, loss, infinite, _ = self.law.floats
        with working_precision(BITS_START):
            lost = enclosed([self.law.lost_mass()])[0]
        return Atoms(p, p * (-loss).exp(), loss, infinite, lost)

    def ball_tails(self, t: arb) -> BallTails:
        atoms = self.law.listed()
        # Those that are for certain above (below), and those that may be.
        above = [atom for atom in atoms if atom.loss > t], [atom for atom in atoms if not atom.loss <= t]
        below = [atom for atom in atoms if atom.loss <= t], [atom for atom in atoms if not atom.loss > t]

        def mass(of: tuple[list[Atom], list[Atom]], field: int, start: arb) -> arb:
            sure, possible = (sum((atom[field] for atom in each), start) for each in of)
            return sure.union(possible)

        infinite, lost = self.law.infinite_mass(), self.law.lost_mass()
        return BallTails(mass(above, 0, infinite), mass(above, 1, arb(0)), mass(below, 0, arb(0)), mass(below, 1, lost))

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        known = self.law.hockey_stick(epsilon)
        if known is not None:
            return known
        total = self.law.infinite_mass()
        for p, _, loss in self.law.listed():
            total += p * (-(epsilon - loss).expm1()).max(arb(0))
        return total

    def reversed(self) -> FinitePair:
        return FinitePair(self.law.reversed())

    def lattice(self) -> Lattice | None:
        return self.law.lattice()

    def infinite_mass(self) -> arb:
        return self.law.infinite_mass()

    def loss_range(self) -> LossRange:
        return self.law.loss_range()

    def cgf(self) -> Cgf:
        from .cgf import finite_cgf

        return finite_cgf(self)

    def compose_exact(self, like: Sequence[tuple[Pair, int]]) -> FinitePair | None:
        """All atoms listed, where they are few."""
        factors = [(pair.law, count) for pair, count in like if isinstance(pair, FinitePair)]
        if len(factors) < len(like) or listed_atoms([(law.size(), count) for law, count in factors]) > PRODUCT_MAX:
            return None
        return FinitePair(ProductLaw(tuple(factors)))

    def moments(self) -> FiniteMoments:
        return FiniteMoments(self)


class FiniteMoments(Moments[FinitePair]):
    def log_moment(self, z: acb) -> acb | None:
        from .cgf import finite_log_moment

        return finite_log_moment(self.pair.law, z)


@chained_pair.register(FinitePair)
def _(own: FinitePair, links: Sequence[tuple[Pair, int]]) -> FinitePair | None:
    """Listed, where that can be done."""
    from .group_privacy import group_privacy_law

    laws = [(pair.law, count) for pair, count in links if isinstance(pair, FinitePair)]
    law = group_privacy_law(laws) if len(laws) == len(links) else None
    return None if law is None else FinitePair(law)


@shifted_pair.register(FinitePair)
def _(pair: FinitePair, times: int) -> FinitePair | None:
    law = pair.law if times == 1 else pair.law.shifted(times)
    return None if law is None else FinitePair(law)


@allocated_pair_of.register(FinitePair)
def _(pair: FinitePair, steps: int, direction: Direction) -> FinitePair | None:
    """All atoms listed, where they are few."""
    from .allocated import AllocatedLaw, allocated_atoms

    with working_precision(BITS_START):
        few = allocated_atoms(pair.law, steps, direction) <= PRODUCT_MAX
    return FinitePair(AllocatedLaw(pair.law, steps, direction)) if few else None


@subsampled_fixed_size.register(FinitePair)
def _(pair: FinitePair, rate: float) -> FinitePair:
    return FinitePair(FixedSizeSubsampledLaw(pair.law, rate))


@sampled_in_family.register(FinitePair)
def _(pair: FinitePair, rate: float, direction: Direction) -> FinitePair:
    return FinitePair(SampledLaw(pair.law, rate, direction))


@condition_on_finite_loss.register(FinitePair)
def _(pair: FinitePair) -> Pair | None:
    if pair.infinite_mass().is_zero():
        return pair
    law = pair.law.conditioned_on_finite_loss()
    return None if law is None else FinitePair(law)


@finite_law.register(FinitePair)
def _(pair: FinitePair) -> FiniteLaw:
    return pair.law


@dominates.register(FinitePair)
def _(pair: FinitePair, other: Pair) -> bool:
    """Randomized response by larger odds, more leaks and fewer answers."""
    if isinstance(other, FinitePair) and isinstance(pair.law, ResponseLaw) and isinstance(other.law, ResponseLaw):
        mine, theirs = pair.law, other.law
        more = mine.epsilon >= theirs.epsilon and mine.delta >= theirs.delta
        return more and mine.categories <= theirs.categories
    return dominates.default(pair, other)
