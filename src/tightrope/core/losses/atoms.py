"""Losses with atoms only: the law of finitely many, and lists of them in float64.

A law lists its atoms in balls at whatever precision is current; float64 arrays are read off those balls, so that there
is one formula per law.
Guarantee: all numbers with their radii; outcomes are listed, or of infinite loss, or lost, or among those left out.
Reference: Meiser, Mohammadi 2018, Def. 2.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from flint import arb, ctx, fmpq

from ..numerics.balls import spreads
from ..numerics.enclosures import Enclosure, around
from ..numerics.rounding import next_up

if TYPE_CHECKING:
    from .pair import LossRange, Tails


MARGIN = 1e-12  # of a loss: far above its rounding


class Atom(NamedTuple):
    """One finite loss = log(p / q) and its masses, both above zero."""

    p: arb
    q: arb
    loss: arb


class FloatAtoms(NamedTuple):
    """The atoms in float64, by rising loss, and the tails after 0, 1, ... of them."""

    p: Enclosure
    loss: Enclosure
    infinite: Enclosure
    tails: Tails


class Atoms(NamedTuple):
    """The atoms of a pair, each an outcome or several of one loss, by rising loss up to the rounding of the losses."""

    p: Enclosure
    q: Enclosure
    loss: Enclosure
    infinite: Enclosure  # P-mass where Q = 0
    lost: Enclosure  # Q-mass where P = 0
    left_out: float = 0.0  # bounds the P-mass, and the Q-mass, of outcomes that are nowhere above

    def reversed(self) -> Atoms:
        """Those of the pair (Q, P)."""
        return Atoms(self.q[::-1], self.p[::-1], -self.loss[::-1], self.lost, self.infinite, self.left_out)

    def infinite_ends(self) -> tuple[float, float]:
        """Doubles around the P-mass of infinite loss; the upper one counts what is left out as such."""
        low, high = max(float(self.infinite.lower), 0.0), float(self.infinite.upper)
        return low, next_up(high + self.left_out) if self.left_out else high


class FiniteLaw(ABC):
    """The atoms of a finite pair. Instances are frozen values; what was listed once is kept."""

    @abstractmethod
    def atoms(self) -> list[Atom]:
        """All atoms of finite loss."""

    def listed(self) -> list[Atom]:
        """The atoms at the working precision, listed once for each."""
        kept: dict[int, list[Atom]] = self.__dict__.setdefault("_listed", {})
        if ctx.prec not in kept:
            kept[ctx.prec] = self.atoms()
        return kept[ctx.prec]

    @abstractmethod
    def size(self) -> int:
        """How many atoms of finite loss there are."""

    @abstractmethod
    def loss_range(self) -> LossRange:
        """The least and the greatest finite loss; 0 where there is none."""

    @property
    @abstractmethod
    def floats(self) -> FloatAtoms:
        """The atoms in float64."""

    def hockey_stick(self, epsilon: arb) -> arb | None:
        """H(e^epsilon) by a formula; None where only the list of atoms tells."""
        return None

    @abstractmethod
    def infinite_mass(self) -> arb:
        """P-mass where Q = 0."""

    @abstractmethod
    def lost_mass(self) -> arb:
        """Q-mass where P = 0."""

    @abstractmethod
    def reversed(self) -> FiniteLaw:
        """The law with P and Q exchanged."""

    def lattice(self) -> Lattice | None:
        """The lattice of its finite losses, where one is known."""
        return None

    def shifted(self, times: int) -> FiniteLaw | None:
        """operators.shifted_pair, for more than one time."""
        return None

    def conditioned_on_finite_loss(self) -> FiniteLaw | None:
        """The law of the outcomes that both sides have, renormalised; None unless both give them the same mass."""
        return None


def listed_hockey_stick(p: Enclosure, loss: Enclosure, infinite: Enclosure, epsilon: Enclosure) -> Enclosure:
    """H(e^eps) = w + the sum of p (1 - e^(eps - l)) over the losses above, which rise: nothing cancels."""
    import numpy as np

    shape, totals = epsilon.value.shape, []
    for value, radius in zip(epsilon.value.ravel(), epsilon.radius.ravel(), strict=True):
        # Losses are sorted up to their rounding; what lies below by more adds nothing, unless eps is not known.
        start = value - radius - MARGIN * (1.0 + abs(value))
        first = int(np.searchsorted(loss.value, start)) if np.isfinite(start) else 0
        gains = (-(around(value, radius) - loss[first:]).expm1()).clip_below(0.0)
        totals.append((p[first:] * gains).sum() + infinite)
    return Enclosure(
        np.array([float(total.value) for total in totals]).reshape(shape),
        np.array([float(total.radius) for total in totals]).reshape(shape),
    )


def power(atoms: Sequence[Atom], count: int) -> list[Atom]:
    """count uses: every way to spread them over the atoms, with multinomial masses."""
    if count == 1:
        return list(atoms)
    if len(atoms) < 2:
        return [Atom(p**count, q**count, count * loss) for p, q, loss in atoms]
    factorials = [arb(1)]
    for n in range(1, count + 1):
        factorials.append(factorials[-1] * n)
    powers = [
        [(p**n / factorials[n], q**n / factorials[n], n * loss) for n in range(count + 1)] for p, q, loss in atoms
    ]
    found = []
    for row in spreads(count, len(atoms)):
        p = q = factorials[count]
        total = arb(0)
        for uses, known in zip(row, powers, strict=True):
            p, q, total = p * known[uses][0], q * known[uses][1], total + known[uses][2]
        found.append(Atom(p, q, total))
    return found


def product(lists: Iterable[Sequence[Atom]]) -> list[Atom]:
    """One atom of each list, in every way: masses multiply, losses add up."""
    found = [Atom(arb(1), arb(1), arb(0))]
    for atoms in lists:
        found = [Atom(a.p * b.p, a.q * b.q, a.loss + b.loss) for a in found for b in atoms]
    return found


# Losses on a lattice: the exact step of a pair, and the one that several pairs share.
#
# All finite losses of a pair are shift + log factor + n step, n a whole number; steps are rational numbers or
# logarithms
# of such. Sums of losses then lie on one lattice whenever the steps are multiples of one step, which is decided in
# rationals: a ratio of two doubles says nothing.
# Guarantee: exact.
# Reference: Canonne, Kamath, Steinke 2020, Thm 7 (discrete Gaussian); Kairouz, Oh, Viswanath 2017, Thm 3.2 (responses).


class LatticeStep(NamedTuple):
    """A step: the number itself, or its logarithm; 0, or log 1, where there is one loss only."""

    number: Fraction
    logarithm: bool

    @property
    def trivial(self) -> bool:
        """Whether there is one loss only."""
        return self.number == int(self.logarithm)

    def ball(self) -> arb:
        """The step at the working precision."""
        ball = ratio_ball(self.number)
        return ball.log() if self.logarithm else ball


class Lattice(NamedTuple):
    """shift + log factor + n step."""

    step: LatticeStep
    shift: Fraction = Fraction(0)
    factor: Fraction = Fraction(1)


class SumLattice(NamedTuple):
    """shift + sum over factors of count log factor + n step: where the total losses of a composition lie."""

    step: LatticeStep
    shift: Fraction
    factors: tuple[tuple[Fraction, int], ...]

    def base(self) -> arb:
        """The point n = 0 at the working precision."""
        return sum((count * ratio_ball(factor).log() for factor, count in self.factors), ratio_ball(self.shift))


def sum_lattice(lattices: Sequence[tuple[Lattice | None, int]]) -> SumLattice | None:
    """The lattice of a composition, where it has one with more than one point."""
    found = [(lattice, count) for lattice, count in lattices if lattice is not None]
    step = common_step(lattice.step for lattice, _ in found) if len(found) == len(lattices) else None
    if step is None or step.trivial:
        return None
    shift = sum((count * lattice.shift for lattice, count in found), Fraction(0))
    return SumLattice(step, shift, tuple((lattice.factor, count) for lattice, count in found if lattice.factor != 1))


def common_step(steps: Iterable[LatticeStep]) -> LatticeStep | None:
    """The largest step that all are multiples of; None where there is none, or it is not known."""
    found: LatticeStep | None = None
    for step in steps:
        if found is None or found.trivial:
            found = step
        elif not step.trivial:
            if step.logarithm != found.logarithm:
                return None
            shared = _common_root(step.number, found.number) if step.logarithm else _gcd(step.number, found.number)
            if shared is None:
                return None
            found = LatticeStep(shared, step.logarithm)
    return found


def ratio_lattice(ratios: Iterable[Fraction]) -> Lattice | None:
    """The lattice of the logarithms of these ratios."""
    ordered = sorted(set(ratios))
    if not ordered:
        return None
    step = common_step(LatticeStep(ratio / ordered[0], True) for ratio in ordered)
    return None if step is None else Lattice(step, factor=ordered[0])


def ratio_ball(number: Fraction) -> arb:
    """A rational number at the working precision."""
    return arb(fmpq(number.numerator, number.denominator))


def _gcd(one: Fraction, other: Fraction) -> Fraction:
    top = math.gcd(one.numerator * other.denominator, other.numerator * one.denominator)
    return Fraction(top, one.denominator * other.denominator)


def _common_root(one: Fraction, other: Fraction) -> Fraction | None:
    """The largest g with one = g^m and other = g^n, both above 1, by Euclid's algorithm on the exponents.

    Powers of one g only get shorter on the way, so whatever gets longer has no g.
    """
    longest = max(_length(one), _length(other))
    while other != 1:
        while one >= other:
            one = one / other
            if _length(one) > longest:
                return None
        one, other = other, one
    return one


def _length(number: Fraction) -> int:
    return number.numerator.bit_length() + number.denominator.bit_length()
