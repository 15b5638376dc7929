"""Balls whose precision grows until they are narrow enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction

from flint import arb, ctx, fmpq

START = 256
MOST = 1 << 15
INVISIBLE = arb(2) ** -1500  # so far below every double that no more digits are needed


@dataclass(frozen=True)
class Real:
    """A number that is not rational, by a formula that gives it at the precision in force.

    Adds and multiplies like a fraction. Compared with a rational number until a sign is seen: there are no ties.
    """

    formula: Callable[[], arb]
    known: dict[int, arb] = field(default_factory=dict, compare=False, repr=False)  # by precision

    def ball(self) -> arb:
        """At the precision in force, worked out once."""
        if ctx.prec not in self.known:
            self.known[ctx.prec] = self.formula()
        return self.known[ctx.prec]

    def __add__(self, other: Weight) -> Real:
        return Real(lambda: ball(self) + ball(other))

    def __mul__(self, other: Weight) -> Real | Fraction:
        return Real(lambda: ball(self) * ball(other)) if isinstance(other, Real) or other else Fraction(0)

    def __pow__(self, count: int) -> Real:
        return Real(lambda: ball(self) ** count)

    def __neg__(self) -> Real:
        return Real(lambda: -ball(self))

    def __rsub__(self, other: Weight) -> Real:
        return -self + other

    def __lt__(self, other: Weight) -> bool:
        return bool(refined(lambda: ball(self) - ball(other), 2) < 0)

    def __gt__(self, other: Weight) -> bool:
        return not self < other

    __radd__ = __add__
    __rmul__ = __mul__

    def __float__(self) -> float:
        return float(refined(self.ball))


Number = float | int | Fraction
Weight = Number | Real


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Balls are rounded to this many bits inside."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def ball(number: Weight | arb) -> arb:
    """The number itself, rounded only if it has no finite binary expansion."""
    if isinstance(number, Real):
        return number.ball()
    if isinstance(number, Fraction):
        return arb(fmpq(number.numerator, number.denominator))
    return arb(number)


def refined(formula: Callable[[], arb], bits_wanted: int = 100, floor: arb | int = 0) -> arb:
    """The value of a formula with at least bits_wanted correct bits, or known to be below floor in magnitude.

    Guarantee: the ball contains the exact value; a formula that stays wide is an error, not a guess.
    """
    return refined_all(lambda: (formula(),), bits_wanted, floor)[0]


def refined_all(
    formula: Callable[[], tuple[arb, ...]], bits_wanted: int = 100, floor: arb | int = 0
) -> tuple[arb, ...]:
    """The same for several values at once."""
    bits = START
    while bits <= MOST:
        with precision(bits):
            values = formula()
            if all(abs(value) <= floor or value.rel_accuracy_bits() >= bits_wanted for value in values):
                return values
        bits *= 2
    raise ArithmeticError(f"no {bits_wanted} correct bits with {MOST} bits of precision: {values}")
