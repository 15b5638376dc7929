"""Losses on a lattice: the exact step of a pair, and the one that several pairs share.

All finite losses of a pair are shift + log factor + n step, n a whole number; steps are rational numbers or logarithms
of such. Sums of losses then lie on one lattice whenever the steps are multiples of one step, which is decided in
rationals: a ratio of two doubles says nothing.
Guarantee: exact.
Reference: Canonne, Kamath, Steinke 2020, Thm 7 (discrete Gaussian); Kairouz, Oh, Viswanath 2017, Thm 3.2 (responses).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from flint import arb, fmpq


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
