"""Laws with finitely many losses.

Leaky randomized response, two probability vectors, and samples and products of any of these.
Guarantee: exact; float64 with the radius of kernels.enclosure.
Reference: Meiser, Mohammadi 2018, Def. 2; Kairouz, Oh, Viswanath 2017, Thm 3.2 (response laws), Thm 3.3 (products).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from flint import arb

from ...numerics.balls import BITS_START, some, working_precision
from ...numerics.enclosures import enclosed
from ...numerics.mixture import mixed
from ...values.question import Direction
from ..atoms import Atom, FiniteLaw, FloatAtoms, Lattice, LatticeStep, power, product, ratio_ball, ratio_lattice
from ..pair import LossRange, Tails

TOO_MANY = 1 << 40


class ListedLaw(FiniteLaw):
    """A law of which the list of its atoms is all that is known."""

    def size(self) -> int:
        with working_precision(BITS_START):
            return len(self.listed())

    def loss_range(self) -> LossRange:
        atoms = self.listed()
        if not atoms:
            return LossRange(arb(0), arb(0))
        lowest, highest = atoms[0].loss, atoms[0].loss
        for atom in atoms[1:]:
            lowest, highest = lowest.min(atom.loss), highest.max(atom.loss)
        return LossRange(lowest, highest)

    @cached_property
    def floats(self) -> FloatAtoms:
        return floats_of(self)


@dataclass(frozen=True)
class RationalLaw(ListedLaw):
    """Two probability vectors in exact fractions; outcomes of equal ratio are one atom."""

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]

    def atoms(self) -> list[Atom]:
        merged: dict[Fraction, tuple[Fraction, Fraction]] = {}
        for p, q in zip(self.p, self.q, strict=True):
            if p and q:
                before = merged.get(p / q, (Fraction(0), Fraction(0)))
                merged[p / q] = (before[0] + p, before[1] + q)
        return [Atom(ratio_ball(p), ratio_ball(q), ratio_ball(ratio).log()) for ratio, (p, q) in merged.items()]

    def infinite_mass(self) -> arb:
        return ratio_ball(sum((p for p, q in zip(self.p, self.q, strict=True) if not q), Fraction(0)))

    def lost_mass(self) -> arb:
        return ratio_ball(sum((q for p, q in zip(self.p, self.q, strict=True) if not p), Fraction(0)))

    def reversed(self) -> FiniteLaw:
        """Itself where the outcomes are the same with P and Q exchanged."""
        outcomes = list(zip(self.p, self.q, strict=True))
        mirrored = [(q, p) for p, q in outcomes]
        return self if sorted(outcomes) == sorted(mirrored) else RationalLaw(self.q, self.p)

    def lattice(self) -> Lattice | None:
        return ratio_lattice(p / q for p, q in zip(self.p, self.q, strict=True) if p and q)

    def conditioned_on_finite_loss(self) -> FiniteLaw | None:
        shared = [(p, q) for p, q in zip(self.p, self.q, strict=True) if p and q]
        first, second = sum(p for p, _ in shared), sum(q for _, q in shared)
        if not first or first != second:
            return None
        return RationalLaw(tuple(p / first for p, _ in shared), tuple(q / second for _, q in shared))


def response_law(p: float, categories: int) -> FiniteLaw:
    """Randomized response that tells the truth with probability p; the other categories share the rest."""
    truth = Fraction(p)
    other = (1 - truth) / (categories - 1)
    rest = other * (categories - 2)
    return RationalLaw((truth, other, rest), (other, truth, rest))


@dataclass(frozen=True)
class ResponseLaw(ListedLaw):
    """Leaky randomized response: infinite loss with probability delta, else odds e^epsilon for the truth."""

    epsilon: float
    delta: float
    categories: int

    def atoms(self) -> list[Atom]:
        if self.delta == 1.0:
            return []
        kept, odds = 1 - arb(self.delta), (-arb(self.epsilon)).exp()
        truth = kept / (1 + (self.categories - 1) * odds)
        other = truth * odds
        atoms = [Atom(truth, other, arb(self.epsilon)), Atom(other, truth, -arb(self.epsilon))]
        if self.categories > 2:
            rest = other * (self.categories - 2)
            atoms.append(Atom(rest, rest, arb(0)))
        return atoms

    def infinite_mass(self) -> arb:
        return arb(self.delta)

    def lost_mass(self) -> arb:
        return arb(self.delta)

    def reversed(self) -> FiniteLaw:
        return self

    def lattice(self) -> Lattice | None:
        edge = Fraction(self.epsilon)
        if self.delta == 1.0:
            return None
        return (
            Lattice(LatticeStep(2 * edge, False), -edge) if self.categories == 2 else Lattice(LatticeStep(edge, False))
        )

    def conditioned_on_finite_loss(self) -> FiniteLaw | None:
        return ResponseLaw(self.epsilon, 0.0, self.categories) if self.delta < 1.0 else None


@dataclass(frozen=True)
class SampledLaw(ListedLaw):
    """((1 - rate) Q + rate P, Q) for REMOVE, (P, (1 - rate) P + rate Q) for ADD.

    What only the side that stays alone has, Q or P, becomes an atom at log(1 - rate) or -log(1 - rate).
    """

    base: FiniteLaw
    rate: float
    direction: Direction

    def atoms(self) -> list[Atom]:
        rate, kept, alone = arb(self.rate), 1 - arb(self.rate), self._alone()
        if self.direction is Direction.REMOVE:
            atoms = [Atom(kept * q + rate * p, q, mixed(loss, rate)) for p, q, loss in self.base.atoms()]
            last = Atom(kept * alone, alone, (-rate).log1p())
        else:
            atoms = [Atom(p, kept * p + rate * q, -mixed(-loss, rate)) for p, q, loss in self.base.atoms()]
            last = Atom(alone, kept * alone, -(-rate).log1p())
        return atoms if alone.is_zero() else [*atoms, last]

    def _alone(self) -> arb:
        """The mass that the side that is no mixture has where the other has none."""
        return self.base.lost_mass() if self.direction is Direction.REMOVE else self.base.infinite_mass()

    def size(self) -> int:
        return self.base.size() + (not self._alone().is_zero())

    def loss_range(self) -> LossRange:
        rate, (lowest, highest) = arb(self.rate), self.base.loss_range()
        sign = 1 if self.direction is Direction.REMOVE else -1
        near, far = (lowest, highest) if sign > 0 else (-highest, -lowest)
        least = (-rate).log1p()
        bottom = mixed(near, rate) if self.base.size() and self._alone().is_zero() else least
        top = mixed(far, rate) if self.base.size() else least
        return LossRange(bottom, top) if sign > 0 else LossRange(-top, -bottom)

    def infinite_mass(self) -> arb:
        return arb(self.rate) * self.base.infinite_mass() if self.direction is Direction.REMOVE else arb(0)

    def lost_mass(self) -> arb:
        return arb(0) if self.direction is Direction.REMOVE else arb(self.rate) * self.base.lost_mass()

    def reversed(self) -> FiniteLaw:
        return SampledLaw(self.base.reversed(), self.rate, self.direction.opposite)


@dataclass(frozen=True)
class FixedSizeSubsampledLaw(ListedLaw):
    """((1 - rate) Q + rate P, Q) above the loss 0, its mirror image below, the rest at 0, of a law that is symmetric.

    The rest is P[l = 0] + (1 - rate) (P[l > 0] - Q[l > 0]), infinite losses among those above 0: nothing cancels.
    """

    base: FiniteLaw
    rate: float

    def atoms(self) -> list[Atom]:
        rate, kept = arb(self.rate), 1 - arb(self.rate)
        atoms, place, rest = [], arb(0), kept * self.base.infinite_mass()
        for p, q, loss in self.base.listed():
            if loss > 0:
                more, above = kept * q + rate * p, mixed(loss, rate)
                atoms += [Atom(more, q, above), Atom(q, more, -above)]
                rest -= kept * p * (-loss).expm1()
            elif not loss < 0:
                rest += p
                place = place.union(loss)  # of losses not told from 0, which come with their mirror images
        return atoms if rest.is_zero() else [*atoms, Atom(rest, rest, place)]

    def infinite_mass(self) -> arb:
        return arb(self.rate) * self.base.infinite_mass()

    def lost_mass(self) -> arb:
        return self.infinite_mass()

    def reversed(self) -> FiniteLaw:
        return self


@dataclass(frozen=True)
class ProductLaw(ListedLaw):
    """The product of (law, count) factors, with all atoms listed.

    A law with atoms (p_i, q_i, l_i) used k times has the atoms sum n_i l_i with multinomial masses; laws multiply.
    """

    factors: tuple[tuple[FiniteLaw, int], ...]

    def atoms(self) -> list[Atom]:
        return product(power(law.listed(), count) for law, count in self.factors)

    def infinite_mass(self) -> arb:
        return some([(law.infinite_mass(), count) for law, count in self.factors])

    def lost_mass(self) -> arb:
        return some([(law.lost_mass(), count) for law, count in self.factors])

    def reversed(self) -> FiniteLaw:
        return ProductLaw(tuple((law.reversed(), count) for law, count in self.factors))


def listed_atoms(factors: Sequence[tuple[int, int]]) -> int:
    """Atoms of a product of laws with so many atoms, each used count times; TOO_MANY where there are more."""
    total = 1
    for atoms, count in factors:
        if min(atoms, count) > 64:
            return TOO_MANY
        total *= math.comb(count + atoms - 1, atoms - 1) if atoms else 1
        if total > TOO_MANY:
            return TOO_MANY
    return total


def floats_of(law: FiniteLaw) -> FloatAtoms:
    """Atoms and tails read off the balls."""
    with working_precision(BITS_START):
        atoms = sorted(law.atoms(), key=lambda atom: float(atom.loss.mid()))
        infinite, lost = law.infinite_mass(), law.lost_mass()
        p_below = list(accumulate((atom.p for atom in atoms), initial=arb(0)))
        q_below = list(accumulate((atom.q for atom in atoms), initial=lost))
        p_above = list(accumulate((atom.p for atom in reversed(atoms)), initial=infinite))[::-1]
        q_above = list(accumulate((atom.q for atom in reversed(atoms)), initial=arb(0)))[::-1]
        return FloatAtoms(
            p=enclosed([atom.p for atom in atoms]),
            loss=enclosed([atom.loss for atom in atoms]),
            infinite=enclosed([infinite])[0],
            tails=Tails(*(enclosed(column).value for column in (p_above, q_above, p_below, q_below))),
        )


# Laws with the losses +epsilon, -epsilon and 0, the same with P and Q exchanged: randomized response that may say
# nothing.
#
# P[-epsilon] = e^-epsilon P[+epsilon], so that P[+epsilon] and P[0] say all.
# Guarantee: exact, in balls; nothing cancels.


@dataclass(frozen=True)
class ThreeLossLaw(ListedLaw):
    """Yours gives the two masses."""

    epsilon: float

    @abstractmethod
    def masses(self) -> tuple[arb, arb]:
        """P[+epsilon] and P[0]; the latter is exactly zero where there is none."""

    def atoms(self) -> list[Atom]:
        epsilon, (more, same) = arb(self.epsilon), self.masses()
        less = (-epsilon).exp() * more
        told = [Atom(more, less, epsilon), Atom(less, more, -epsilon)]
        return told if same.is_zero() else [*told, Atom(same, same, arb(0))]

    def infinite_mass(self) -> arb:
        return arb(0)

    def lost_mass(self) -> arb:
        return arb(0)

    def reversed(self) -> FiniteLaw:
        return self

    def lattice(self) -> Lattice | None:
        edge = Fraction(self.epsilon)
        if self.masses()[1].is_zero():
            return Lattice(LatticeStep(2 * edge, False), -edge)
        return Lattice(LatticeStep(edge, False))


@dataclass(frozen=True)
class StaircaseLaw(ThreeLossLaw):
    """Noise X whose density falls by e^-epsilon at gamma, 1 + gamma, ... on both sides of 0, at 0 and at 1.

    P[+epsilon] (1 - e^-epsilon) = P[|X| <= 1/2]; 1 - h/2 with h = e^(-epsilon/2) for the gamma that is meant by None.
    """

    gamma: float | None

    def masses(self) -> tuple[arb, arb]:
        epsilon = arb(self.epsilon)
        fall, gap = (-epsilon).exp(), -(-epsilon).expm1()
        if self.gamma is None:
            half = (-epsilon / 2).exp()
            return 1 - half / 2, half * (-epsilon / 2).expm1() ** 2 / 2
        if self.gamma == 0.0:
            return arb(0.5), gap / 2
        # The masses above 0 and between 0 and 1/2, over the density at 0; on the same step seen from both is |1 - 2g|.
        gamma = arb(self.gamma)
        side, apart = gamma + fall * (1 - gamma), abs(1 - 2 * gamma)
        if self.gamma > 0.5:
            return 1 / (2 * side), gap * apart / (2 * side)
        return (gamma + fall * apart / 2) / side, gap * apart * fall / (2 * side)


@dataclass(frozen=True)
class SubsetLaw(ThreeLossLaw):
    """A set of `size` out of so many categories, e^epsilon times as likely where it holds the true one.

    With k categories, d = size, a = e^-epsilon: it holds the true one by the chance d / (d + (k - d) a), and the others
    in it, or in the rest, are any.
    """

    categories: int
    size_of_set: int

    def masses(self) -> tuple[arb, arb]:
        inside, outside, others = self.size_of_set, self.categories - self.size_of_set, self.categories - 1
        odds = (-arb(self.epsilon)).exp()
        total = others * (inside + outside * odds)
        same = inside * (inside - 1) + outside * (outside - 1) * odds
        return inside * outside / total, same / total if self.categories > 2 else arb(0)


# The law of a leak: with the record an output that shows it has the mass w, without it none; nothing else is told.
#
# H(a) = w + (1 - w - a)_+ where P leaks, (1 - a (1 - w))_+ where Q does.
# Guarantee: exact. Proof: docs/proofs/stability.md, section 3.


@dataclass(frozen=True)
class Leak:
    """One count, 1 + Lap(1/epsilon), above the threshold, where without the record there is none."""

    epsilon: float
    threshold: float

    def mass(self) -> arb:
        """w."""
        return self._ends()[0]

    def kept(self) -> arb:
        """1 - w."""
        return self._ends()[1]

    def move(self) -> arb:
        """m = log(1 - w), by whichever form cancels nothing."""
        small, other = self._ends()
        return (-small).log1p() if self.threshold >= 1.0 else other.log()

    def _ends(self) -> tuple[arb, arb]:
        beyond = arb(self.threshold) - 1
        small = (-abs(arb(self.epsilon) * beyond)).exp() / 2
        return (small, 1 - small) if self.threshold >= 1.0 else (1 - small, small)


@dataclass(frozen=True)
class LeakLaw(ListedLaw):
    """P leaks or, flipped, Q."""

    leak: Leak
    flipped: bool = False

    def atoms(self) -> list[Atom]:
        kept, move = self.leak.kept(), self.leak.move()
        return [Atom(arb(1), kept, -move) if self.flipped else Atom(kept, arb(1), move)]

    def infinite_mass(self) -> arb:
        return arb(0) if self.flipped else self.leak.mass()

    def lost_mass(self) -> arb:
        return self.leak.mass() if self.flipped else arb(0)

    def reversed(self) -> FiniteLaw:
        return LeakLaw(self.leak, not self.flipped)
