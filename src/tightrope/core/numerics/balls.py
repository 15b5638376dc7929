"""Ball arithmetic: every rounding enclosed by construction (Arb through python-flint).

The working precision of python-flint is one value for the whole process, so every ball computation runs inside
`working_precision`, which holds one lock and puts the precision back.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import reduce

from flint import acb, arb, ctx

from ..values import compute_budget
from .rounding import next_down, next_up

_LOCK = threading.RLock()

BITS_START = 128
BALLS = 1e4  # units of work: what a formula in balls takes at least
BITS_MAX = 1 << 14
INTEGER_BITS = 1 << 20
LEAST_NORMAL = 2.0**-1022


class working_precision:  # noqa: N801  # it reads as what holds inside
    """Arb works with this many bits inside, and as before outside."""

    __slots__ = ("_before", "_bits")

    def __init__(self, bits: int) -> None:
        self._bits = bits

    def __enter__(self) -> None:
        compute_budget.spend(BALLS)
        _LOCK.acquire()
        self._before: int = ctx.prec
        try:
            ctx.prec = self._bits
        except BaseException:
            _LOCK.release()
            raise

    def __exit__(self, *raised: object) -> None:
        ctx.prec = self._before
        _LOCK.release()


def enclose(formula: Callable[[], arb], bits_wanted: int = 56) -> tuple[float, float]:
    """Doubles around the exact value of a formula, outward.

    The precision doubles until the ball has bits_wanted correct bits or lies below every double; a formula that stays
    wide is returned as wide as it is at the last precision.
    """
    bits = BITS_START
    while True:
        with working_precision(bits):
            ball = formula()
            good = ball.is_finite() and (
                ball.is_exact() or ball.rel_accuracy_bits() >= bits_wanted or ball.abs_upper() < arb(2) ** -1080
            )
            if good or bits >= BITS_MAX:
                return lower_float(ball), upper_float(ball)
        bits *= 2


def refine(formula: Callable[[], arb], bits_wanted: int) -> arb:
    """A ball whose radius is at most 2**-bits_wanted, or as narrow as more precision makes it."""
    bits, before = bits_wanted + 32, arb.pos_inf()
    while True:
        with working_precision(bits):
            ball = formula()
            if ball.is_finite():
                radius = ball.rad()
                if radius < arb(2) ** -bits_wanted or not radius < before / 2:
                    return ball
                before = radius
            if bits >= BITS_MAX:
                return ball
        bits *= 2


def erfc(x: arb) -> arb:
    """erfc at the middle, plus what the radius can do: Arb spreads a radius at a large argument far too much.

    |erfc(x) - erfc(m)| <= (2 / sqrt pi) r e^(-y^2), y the point of the ball nearest to 0.
    """
    if x.is_exact() or not x.is_finite():
        return x.erfc()
    middle, radius = x.mid(), x.rad()
    nearest = (abs(middle) - radius).max(arb(0))
    return middle.erfc() + arb(0, 1) * (radius * 2 / arb.pi().sqrt() * (-nearest * nearest).exp())


def complex_log(value: acb) -> acb:
    """A logarithm, its cut away from the value."""
    return (-value).log() + acb(0, arb.pi()) if value.real < 0 else value.log()


def gradual_underflow(least: float = LEAST_NORMAL) -> bool:
    """Whether this thread has doubles below the normal ones: made by a product, and taken for what they are."""
    half = least * 0.5
    return half > 0.0 and half * 2.0 == least


def lower_float(ball: arb) -> float:
    """The largest convenient double at or below the ball; -inf if nothing is known."""
    if ball.is_nan():
        return -math.inf
    guess = float(ball.lower())
    if abs(guess) < LEAST_NORMAL and not gradual_underflow():
        return 0.0 if ball >= 0 else -LEAST_NORMAL
    return guess if arb(guess) <= ball else next_down(guess)


def upper_float(ball: arb) -> float:
    """The smallest convenient double at or above the ball; inf if nothing is known."""
    if ball.is_nan():
        return math.inf
    guess = float(ball.upper())
    if abs(guess) < LEAST_NORMAL and not gradual_underflow():
        return 0.0 if ball <= 0 else LEAST_NORMAL
    return guess if arb(guess) >= ball else next_up(guess)


def integer(ball: arb) -> int | None:
    """The only integer in the ball; None where there is none or another, or where it is too long to be written down.

    Arb ends the process where an integer has more bits than memory, so its size is looked at first.
    """
    if not ball.abs_upper() < arb(2) ** INTEGER_BITS:
        return None
    value = ball.unique_fmpz()
    return None if value is None else int(value)


def floors(number: arb) -> range:
    """All that the floor may be; nothing where that is more than a few."""
    low, high = integer(number.lower().floor()), integer(number.upper().floor())
    return range(0) if low is None or high is None or high - low > 2 else range(low, high + 1)


def hull(lower: arb, upper: arb) -> arb:
    """A ball around both."""
    return lower.union(upper)


def least_known(*balls: arb | None) -> arb | None:
    """The least of those bounds from above that are known; None where none is."""
    known = [ball for ball in balls if ball is not None]
    return reduce(arb.min, known) if known else None


def some(masses: Sequence[tuple[arb, int]]) -> arb:
    """1 - prod (1 - w)^k over (w, k), exactly zero where every w is."""
    if any(mass >= 1 for mass, _ in masses):
        return arb(1)
    return -sum((count * (-mass).log1p() for mass, count in masses), arb(0)).expm1()


def spreads(count: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write count as an ordered sum of so many whole numbers from 0 on; none where there is no part."""
    for bars in itertools.combinations(range(count + parts - 1), parts - 1) if parts else ():
        ends = (-1, *bars, count + parts - 1)
        yield tuple(after - before - 1 for before, after in itertools.pairwise(ends))
