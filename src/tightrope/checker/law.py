"""What the checker may ask of a law: one use of a mechanism, in one direction, every number a ball.

(P, Q) are the laws of the output under the two hypotheses, l = log dP/dQ is the loss. Parameters are kept exact
(doubles are), and every answer is computed anew at the precision of the moment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb, ctx, fmpq


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Arb computes with so many bits inside."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


class NotCheckable(Exception):
    """Why the checker has nothing to say."""


def exact(number: Fraction) -> arb:
    """The ball around a rational number, at the precision of the moment."""
    return arb(fmpq(number.numerator, number.denominator))


@dataclass(frozen=True)
class CheckedLaw:
    """A law that knows nothing but its name; each of its own says what it can, and None is an answer."""

    def infinite(self) -> arb:
        """P[l = +inf]."""
        return arb(0)

    def tails(self, x: arb) -> tuple[arb, arb] | None:
        """P and Q of {x < l < +inf}: for a ball x, balls that hold those of every point of it."""
        return None

    def reversed(self) -> CheckedLaw | None:
        """The law of (Q, P)."""
        return None

    def moments(self, tilt: arb, step: arb, count: int) -> list[acb] | None:
        """E_P[e^{zl}; l < inf] at z = tilt + i j step, j = 0, ..., count - 1."""
        return None

    def decay(self, tilt: arb, reach: arb) -> arb:
        """At least |M(tilt + it)|/M(tilt) for every t >= reach, M being the moment above."""
        return arb(1)

    def atoms(self) -> list[tuple[arb, arb]] | None:
        """P and Q of every output, where there are finitely many; those of infinite loss (q = 0) included."""
        return None

    def lattice(self) -> tuple[arb, arb] | None:
        """base and step > 0, where every finite loss is base + n step for an integer n."""
        return None

    def shifted(self, size: int) -> CheckedLaw | None:
        """The law of a group of `size` records: as often the shift, or what a chain of such laws comes to."""
        return self if size == 1 else None

    def bound(self) -> CheckedLaw:
        """The law that dominates; itself for most."""
        return self

    def shown_once(self) -> bool:
        """Whether one use of it is shown at each epsilon, by neighbours that depend on it."""
        return False

    def zcdp(self) -> Fraction | None:
        """rho with K(c) <= c (c + 1) rho for every c > 0, both ways, where that says more than the law."""
        return None

    def witnesses(self) -> tuple[CheckedLaw, ...]:
        """Laws that real neighbours show, each at every use; itself where they show this one."""
        return (self,)


Term = tuple[CheckedLaw, int]  # a law, and how often it is used


def infinite(terms: Sequence[Term]) -> arb:
    """The chance that some use of a composition has an infinite loss."""
    finite = arb(1)
    for law, count in terms:
        finite *= power(1 - law.infinite(), count)
    return 1 - finite


def power(base: arb, count: int) -> arb:
    """base^count for base in [0, 1], where count is 1 or more; a ball that may be 0 stays one between 0 and base."""
    return (base.log() * count).exp() if base > 0 else base.upper().max(arb(0)).union(arb(0))


def reverse(terms: Sequence[Term]) -> tuple[Term, ...]:
    """The composition in the other direction."""
    found = [(law.reversed(), uses) for law, uses in terms]
    if any(law is None for law, _ in found):
        raise NotCheckable("a law is not known in the other direction")
    return tuple((law, uses) for law, uses in found if law is not None)


def cgf(terms: Sequence[Term], tilt: arb) -> arb:
    """K(tilt) = log of the moment of the sum of all finite losses."""
    total = arb(0)
    for law, uses in terms:
        moments = law.moments(tilt, arb(0), 1)
        total += moments[0].real.log() * uses if moments else arb("inf")
    return total


def ceiling(x: arb) -> int:
    """The least whole number at or above all of a ball."""
    value = x.upper().ceil().unique_fmpz()
    if value is None:
        raise NotCheckable("a number of steps is too large")
    return int(value)
