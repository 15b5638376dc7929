"""Certified inversion of a decreasing function that is known only through intervals.

Claim: given low(e) <= f(e) <= high(e) with f decreasing, any e with high(e) <= level is at or above the smallest e with
f(e) <= level, and any e with low(e) > level is below it. The search only finds good candidates; the two comparisons
at the end prove the answer.
Pure Python on purpose: proofs use it too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Generic, TypeVar

from flint import arb

from .balls import working_precision
from .rounding import TINIEST, next_up

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Compared(Generic[T]):
    """How a function value compares with the level: what is certain, and where to look next."""

    above: bool  # certainly above the level
    met: bool  # certainly at or below it
    log: float  # about log(value / level), -inf where nothing is known
    noise: float  # about half of the width, relative to the level
    value: T


def compare(lower: float, upper: float, level: float, value: T) -> Compared[T]:
    """An interval of doubles against the level."""
    middle = lower + (upper - lower) / 2.0
    log = math.log(middle) - math.log(level) if middle > 0.0 and level > 0.0 else -math.inf
    noise = (upper - lower) / (2.0 * level) if level > 0.0 else 0.0
    return Compared(lower > level, upper <= level, log, noise, value)


@dataclass(frozen=True, slots=True)
class Inverse(Generic[T]):
    """lower <= the smallest e with f(e) <= level <= upper; the evaluations that prove it, None for a given end."""

    lower: float
    upper: float
    at_lower: T | None
    at_upper: T | None


SEARCH_STEPS_MAX = 200
FAR_OUT = 1e15  # from here on a plateau is left by longer steps: a search must come to an end
WIDE_SIDE = 0.01  # of a point that tells nothing: a share that is left below it where it is worth halving
NEAR_SIDE = 1e-9  # and where halving ends: at 0 it would go on to the smallest double


def invert(
    function: Callable[[float], Compared[T]], ceiling: float, tolerance: float, start: float = 1.0
) -> Inverse[T]:
    """Finds the smallest e >= 0 where f is at or below the level, as it is known to be at ceiling (which may be inf).

    tolerance is the relative width to aim at; the result is wider where the intervals of f are. start is a guess.
    """
    at_zero = function(0.0)
    if at_zero.met:
        return Inverse(0.0, 0.0, at_zero.value, at_zero.value)
    low, high = 0.0, ceiling
    at_low: T | None = at_zero.value if at_zero.above else None
    at_high: T | None = None
    points = [(0.0, at_zero.log)]
    guess = min(start if start > 0.0 else 1.0, ceiling / 2.0)
    for _ in range(SEARCH_STEPS_MAX):
        compared = function(guess)
        points.append((guess, compared.log))
        if compared.above:
            low, at_low = guess, compared.value
        elif compared.met:
            high, at_high = guess, compared.value
        else:
            break
        if (high < math.inf and high - low <= tolerance * high) or next_up(low) >= high:
            return Inverse(low, high, at_low, at_high)
        guess = _next_guess(points, low, high, tolerance)
    return _widen(function, compared.noise, points, Inverse(low, high, at_low, at_high), tolerance)


def _next_guess(points: list[tuple[float, float]], low: float, high: float, tolerance: float) -> float:
    """Secant through the last two points, nudged across the root, or bisection where that does not help."""
    (x0, y0), (x1, y1) = points[-2:]
    if math.isfinite(y0) and math.isfinite(y1) and y0 != y1 and len(points) % 6:
        guess = x1 - y1 * (x1 - x0) / (y1 - y0)
        # Aim a quarter of the tolerance beyond the root, so that both ends come close to it.
        guess += math.copysign(0.25 * tolerance * abs(guess), y1)
        if high == math.inf:
            guess = min(guess, 8.0 * max(low, 1.0))  # a plateau points much too far
        if low < guess < high and math.isfinite(guess):
            return guess
    if high == math.inf:
        return max(2.0 * low, 1.0) if low < FAR_OUT else min(low * low, 1.7e308)
    if low > 0.0 and high / low > 16.0:
        return math.sqrt(low) * math.sqrt(high)
    middle = low + (high - low) / 2.0
    return middle if low < middle < high else next_up(low)


def _widen(
    function: Callable[[float], Compared[T]],
    noise: float,
    points: list[tuple[float, float]],
    inverse: Inverse[T],
    tolerance: float,
) -> Inverse[T]:
    """From a point that cannot be decided, steps out on both sides until the comparison holds."""
    centre = points[-1][0]
    step = max(tolerance * centre * 0.25, math.ulp(centre), TINIEST)
    slopes = [abs((y1 - y0) / (x1 - x0)) for (x0, y0), (x1, y1) in itertools.pairwise(points) if x0 != x1]
    if slopes and 0.0 < slopes[-1] < math.inf and math.isfinite(noise):
        step = max(step, 1.1 * noise / slopes[-1])
    low, at_low, high, at_high = inverse.lower, inverse.at_lower, inverse.upper, inverse.at_upper
    distance = step
    while centre - distance > low:
        trial = function(centre - distance)
        if trial.above:
            low, at_low = centre - distance, trial.value
            break
        distance *= 2.0
    far = centre
    if low == inverse.lower and far - low > WIDE_SIDE * far:  # the steps were too long for this side
        while far - low > max(tolerance, NEAR_SIDE) * centre:
            middle = 0.5 * (low + far)
            trial = function(middle)
            if trial.above:
                low, at_low = middle, trial.value
                continue
            far = middle
            if trial.met:
                high, at_high = middle, trial.value
    distance = step
    while centre + distance < high and math.isfinite(centre + distance):
        trial = function(centre + distance)
        if trial.met:
            high, at_high = centre + distance, trial.value
            break
        distance *= 2.0 if distance < FAR_OUT else FAR_OUT
    return Inverse(low, high, at_low, at_high)


# The double nearest to the exact value of a function at exact arguments.
#
# Claim: a ball around the value is narrowed until both of its ends round to the same double; rounding to nearest is
# monotone, so the value rounds to it too. Where the value lies in the middle of two doubles it has finitely many
# digits,
# and the ball becomes a point.
# Guarantee: correctly rounded, ties to even; ValueError where there is no value, OverflowError beyond all doubles.

BITS_START, NEAREST_BITS_MAX = 128, 1 << 15
EXP_MAX = 710.0  # e to it is above every double
EXP_MIN = -746.0  # e to it is below half of the least one


def nearest_sqrt(x: float) -> float:
    """sqrt(x)."""
    if not 0 <= x < math.inf:
        raise ValueError("no real value")
    return _nearest(lambda: arb(x).sqrt())


def nearest_exp(x: float) -> float:
    """e to the power x."""
    if not x < EXP_MAX:
        raise OverflowError
    return 0.0 if x < EXP_MIN else _nearest(lambda: arb(x).exp())


def nearest_log(x: float) -> float:
    """The natural logarithm of x."""
    if not 0 < x < math.inf:
        raise ValueError("no real value")
    return _nearest(lambda: arb(x).log())


def nearest_power(x: float, y: float) -> float:
    """x to the power y; ZeroDivisionError for 0 to a negative power."""
    if x == 0 and y < 0:
        raise ZeroDivisionError
    if not (math.isfinite(x) and math.isfinite(y)) or (x < 0 and y != int(y)):
        raise ValueError("no real value")
    if x == 0 or y == 0:
        return 1.0 if y == 0 else 0.0
    with working_precision(BITS_START):
        size = arb(y) * abs(arb(x)).log()
    if not size < EXP_MAX:
        raise OverflowError
    if size < EXP_MIN:
        return 0.0
    return _nearest(lambda: arb(x) ** arb(y))


FUNCTIONS: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {"sqrt": nearest_sqrt, "exp": nearest_exp, "log": nearest_log}
)


def _nearest(formula: Callable[[], arb]) -> float:
    bits = BITS_START
    while bits <= NEAREST_BITS_MAX:
        with working_precision(bits):
            ball = formula()
            low, high = _rounded(ball.lower()), _rounded(ball.upper())
        if low == high:
            return low
        bits *= 2
    raise ValueError("too close to the middle of two doubles")


def _rounded(point: arb) -> float:
    """The double nearest to an exact ball: division of whole numbers rounds to nearest."""
    mantissa, exponent = point.man_exp()
    return float(Fraction(int(mantissa)) * Fraction(2) ** int(exponent))
