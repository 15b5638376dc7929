"""Pairs with finitely many losses.

A law lists its atoms in balls; float64 arrays are read off those balls, so that there is one formula per law.
H(e^eps) = w + sum over l > eps of p (1 - e^(eps - l)), w the mass of infinite loss: a sum of positive terms.
Guarantee: exact; float64 with the radius of kernels.enclosure.
Reference: Meiser, Mohammadi 2018, Def. 2; Kairouz, Oh, Viswanath 2017, Thm 3.2 (response laws).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from flint import arb, ctx

from ...facets.atoms import Atoms
from ...facets.lattice import Lattice, LatticeStep, ratio_ball, ratio_lattice
from ...kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ...kernels.enclosure import Enclosure, FloatArray, around, enclosing
from ...kernels.twofold import Twofold
from ...pair import BallTails, LossRange, Pair, Tails


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


class FiniteLaw(ABC):
    """The atoms of a finite pair, at whatever precision is current."""

    @abstractmethod
    def atoms(self) -> list[Atom]:
        """All atoms of finite loss."""

    @abstractmethod
    def size(self) -> int:
        """How many atoms of finite loss there are."""

    @abstractmethod
    def loss_range(self) -> LossRange:
        """The least and the greatest finite loss; 0 where there is none."""

    @abstractmethod
    def floats(self) -> FloatAtoms:
        """The atoms in float64."""

    @abstractmethod
    def profile(self, epsilon: arb) -> arb | None:
        """H(e^epsilon) by a formula; None where only the list of atoms tells."""

    @abstractmethod
    def infinite_mass(self) -> arb:
        """P-mass where Q = 0."""

    @abstractmethod
    def lost_mass(self) -> arb:
        """Q-mass where P = 0."""

    @abstractmethod
    def reversed(self) -> FiniteLaw:
        """The law with P and Q exchanged."""

    @abstractmethod
    def lattice(self) -> Lattice | None:
        """The lattice of its finite losses, where one is known."""


class ListedLaw(FiniteLaw):
    """A law of which the list of its atoms is all that is known."""

    def size(self) -> int:
        return len(self.atoms())

    def loss_range(self) -> LossRange:
        atoms = self.atoms()
        if not atoms:
            return LossRange(arb(0), arb(0))
        lowest, highest = atoms[0].loss, atoms[0].loss
        for atom in atoms[1:]:
            lowest, highest = lowest.min(atom.loss), highest.max(atom.loss)
        return LossRange(lowest, highest)

    def floats(self) -> FloatAtoms:
        return floats_of(self)

    def profile(self, epsilon: arb) -> arb | None:
        return None


@dataclass(frozen=True, slots=True)
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
        return RationalLaw(self.q, self.p)

    def lattice(self) -> Lattice | None:
        return ratio_lattice(p / q for p, q in zip(self.p, self.q, strict=True) if p and q)


def response_law(p: float, categories: int) -> FiniteLaw:
    """Randomized response that tells the truth with probability p; the other categories share the rest."""
    truth = Fraction(p)
    other = (1 - truth) / (categories - 1)
    rest = other * (categories - 2)
    return RationalLaw((truth, other, rest), (other, truth, rest))


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class SampledRemoveLaw(FiniteLaw):
    """((1 - rate) Q + rate P, Q): the Q-mass where P = 0 becomes an atom at log(1 - rate)."""

    base: FiniteLaw
    rate: float

    def atoms(self) -> list[Atom]:
        rate, kept = arb(self.rate), 1 - arb(self.rate)
        atoms = [Atom(kept * q + rate * p, q, sampled_loss(loss, rate)) for p, q, loss in self.base.atoms()]
        lost = self.base.lost_mass()
        return atoms if lost.is_zero() else [*atoms, Atom(kept * lost, lost, (-rate).log1p())]

    def size(self) -> int:
        return self.base.size() + (not self.base.lost_mass().is_zero())

    def loss_range(self) -> LossRange:
        rate, base = arb(self.rate), self.base.loss_range()
        least = (-rate).log1p()
        if not self.base.size():
            return LossRange(least, least)
        lowest = sampled_loss(base.lowest, rate) if self.base.lost_mass().is_zero() else least
        return LossRange(lowest, sampled_loss(base.highest, rate))

    def floats(self) -> FloatAtoms:
        return floats_of(self)

    def profile(self, epsilon: arb) -> arb | None:
        return None

    def infinite_mass(self) -> arb:
        return arb(self.rate) * self.base.infinite_mass()

    def lost_mass(self) -> arb:
        return arb(0)

    def reversed(self) -> FiniteLaw:
        return SampledAddLaw(self.base.reversed(), self.rate)

    def lattice(self) -> Lattice | None:
        return None


@dataclass(frozen=True, slots=True)
class SampledAddLaw(FiniteLaw):
    """(P, (1 - rate) P + rate Q): infinite losses become an atom at -log(1 - rate)."""

    base: FiniteLaw
    rate: float

    def atoms(self) -> list[Atom]:
        rate, kept = arb(self.rate), 1 - arb(self.rate)
        atoms = [Atom(p, kept * p + rate * q, -sampled_loss(-loss, rate)) for p, q, loss in self.base.atoms()]
        leaked = self.base.infinite_mass()
        return atoms if leaked.is_zero() else [*atoms, Atom(leaked, kept * leaked, -(-rate).log1p())]

    def size(self) -> int:
        return self.base.size() + (not self.base.infinite_mass().is_zero())

    def loss_range(self) -> LossRange:
        mirrored = SampledRemoveLaw(self.base.reversed(), self.rate).loss_range()
        return LossRange(-mirrored.highest, -mirrored.lowest)

    def floats(self) -> FloatAtoms:
        return floats_of(self)

    def profile(self, epsilon: arb) -> arb | None:
        return None

    def infinite_mass(self) -> arb:
        return arb(0)

    def lost_mass(self) -> arb:
        return arb(self.rate) * self.base.lost_mass()

    def reversed(self) -> FiniteLaw:
        return SampledRemoveLaw(self.base.reversed(), self.rate)

    def lattice(self) -> Lattice | None:
        return None


def sampled_loss(loss: arb, rate: arb) -> arb:
    """log(1 + r (e^l - 1)), without e^l where that is large."""
    if loss > 1:
        return loss + rate.log() + ((1 - rate) / rate * (-loss).exp()).log1p()
    return (rate * loss.expm1()).log1p()


@dataclass(frozen=True)
class FinitePair(Pair):
    """The pair of a finite law."""

    law: FiniteLaw

    def tails(self, t: Twofold) -> Tails:
        index = np.searchsorted(self.floats.loss.value, t.collapse(), side="right")
        return Tails(*(column[index] for column in self.floats.tails))

    def profile(self, epsilon: Enclosure) -> Enclosure:
        floats = self.floats
        shape = epsilon.value.shape
        totals = []
        for value, radius in zip(epsilon.value.ravel(), epsilon.radius.ravel(), strict=True):
            gains = (-(around(value, radius) - floats.loss).expm1()).clip_below(0.0)
            totals.append((floats.p * gains).sum() + floats.infinite)
        return Enclosure(
            np.array([float(total.value) for total in totals]).reshape(shape),
            np.array([float(total.radius) for total in totals]).reshape(shape),
        )

    def atoms(self) -> Atoms:
        p, loss, infinite, _ = self.floats
        with working_precision(BITS_START):
            lost = read([self.law.lost_mass()])[0]
        return Atoms(p, p * (-loss).exp(), loss, infinite, lost)

    def ball_atoms(self) -> list[Atom]:
        """The atoms at the working precision, listed once for each."""
        listed: dict[int, list[Atom]] = self.__dict__.setdefault("_atoms_by_precision", {})
        if ctx.prec not in listed:
            listed[ctx.prec] = self.law.atoms()
        return listed[ctx.prec]

    def ball_tails(self, t: arb) -> BallTails:
        atoms = self.ball_atoms()
        infinite, lost = self.law.infinite_mass(), self.law.lost_mass()
        above, below = ([atom for atom in atoms if not atom.loss <= t], [atom for atom in atoms if not atom.loss > t])
        surely_above, surely_below = (
            [atom for atom in atoms if atom.loss > t],
            [atom for atom in atoms if atom.loss <= t],
        )

        def between(sure: list[Atom], possible: list[Atom], field: int, start: arb) -> arb:
            return _sum(sure, field, start).union(_sum(possible, field, start))

        return BallTails(
            between(surely_above, above, 0, infinite),
            between(surely_above, above, 1, arb(0)),
            between(surely_below, below, 0, arb(0)),
            between(surely_below, below, 1, lost),
        )

    def ball_profile(self, epsilon: arb) -> arb:
        known = self.law.profile(epsilon)
        if known is not None:
            return known
        total = self.law.infinite_mass()
        for p, _, loss in self.ball_atoms():
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

    @property
    def has_formula(self) -> bool:
        """Whether its profile needs no list of atoms."""
        with working_precision(BITS_START):
            return self.law.profile(arb(1)) is not None

    @cached_property
    def size(self) -> int:
        """How many atoms of finite loss there are."""
        with working_precision(BITS_START):
            return self.law.size()

    @cached_property
    def floats(self) -> FloatAtoms:
        """Atoms and tails in float64."""
        return self.law.floats()


def floats_of(law: FiniteLaw) -> FloatAtoms:
    """Atoms and tails read off the balls."""
    with working_precision(BITS_START):
        atoms = sorted(law.atoms(), key=lambda atom: float(atom.loss.mid()))
        infinite, lost = law.infinite_mass(), law.lost_mass()
        p_below, q_below = _running([atom.p for atom in atoms], arb(0)), _running([atom.q for atom in atoms], lost)
        p_above = _running([atom.p for atom in reversed(atoms)], infinite)[::-1]
        q_above = _running([atom.q for atom in reversed(atoms)], arb(0))[::-1]
        return FloatAtoms(
            p=read([atom.p for atom in atoms]),
            loss=read([atom.loss for atom in atoms]),
            infinite=read([infinite])[0],
            tails=Tails(*(read(column).value for column in (p_above, q_above, p_below, q_below))),
        )


def read(balls: list[arb]) -> Enclosure:
    """float64 with a radius around each ball."""
    low: FloatArray = np.array([lower_float(ball) for ball in balls])
    high: FloatArray = np.array([upper_float(ball) for ball in balls])
    return enclosing(low, high)


def _running(masses: list[arb], start: arb) -> list[arb]:
    totals = [start]
    for mass in masses:
        totals.append(totals[-1] + mass)
    return totals


def _sum(atoms: list[Atom], field: int, start: arb) -> arb:
    return sum((atom[field] for atom in atoms), start)
