"""Sums of c e^r with rational c and r: what points of a profile are made of, and their exact sign.

Exponentials of distinct rationals are independent over the rationals, so that a sum is zero only where every collected
coefficient is; else enough digits tell its sign.
Guarantee: exact. Reference: Baker 1975, Transcendental number theory, Thm 1.4 (Lindemann, Weierstrass).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from ...facets.lattice import ratio_ball
from ...kernels.ball import BITS_MAX, BITS_START, working_precision


@dataclass(frozen=True, slots=True)
class Exponentials:
    """The sum of c e^r over its terms (r, c), by rising r, no c being 0."""

    terms: tuple[tuple[Fraction, Fraction], ...]

    def __add__(self, other: Exponentials) -> Exponentials:
        return _gathered((*self.terms, *other.terms))

    def __neg__(self) -> Exponentials:
        return Exponentials(tuple((r, -c) for r, c in self.terms))

    def __sub__(self, other: Exponentials) -> Exponentials:
        return self + -other

    def __mul__(self, other: Exponentials) -> Exponentials:
        return _gathered((r + s, c * d) for r, c in self.terms for s, d in other.terms)

    def ball(self) -> arb:
        """At the working precision; exactly zero where it is."""
        return sum((ratio_ball(c) * ratio_ball(r).exp() if r else ratio_ball(c) for r, c in self.terms), arb(0))

    def sign(self) -> int | None:
        """-1, 0 or 1; None where BITS_MAX are too few to tell, and it is not zero."""
        if not self.terms:
            return 0
        bits = BITS_START
        while bits <= BITS_MAX:
            with working_precision(bits):
                ball = self.ball()
            if ball > 0 or ball < 0:
                return 1 if ball > 0 else -1
            bits *= 2
        return None


def exponential(exponent: Fraction, factor: Fraction = Fraction(1)) -> Exponentials:
    """factor e^exponent; with the exponent 0, a number."""
    return Exponentials(((exponent, factor),) if factor else ())


def _gathered(terms: Iterable[tuple[Fraction, Fraction]]) -> Exponentials:
    found: dict[Fraction, Fraction] = {}
    for r, c in terms:
        found[r] = found.get(r, Fraction(0)) + c
    return Exponentials(tuple((r, c) for r, c in sorted(found.items()) if c))
