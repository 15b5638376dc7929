"""Balls whose precision grows until they are narrow enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction

from flint import arb, ctx, fmpq

START = 256
MOST = 1 << 15
INVISIBLE = arb(2) ** -1500  # so far below every double that no more digits are needed

Number = float | int | Fraction


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Balls are rounded to this many bits inside."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def ball(number: Number | arb) -> arb:
    """The number itself, rounded only if it has no finite binary expansion."""
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
