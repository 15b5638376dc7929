"""Certified inversion of a decreasing function that is known only through intervals.

Claim: given low(e) <= f(e) <= high(e) with f decreasing, any e with high(e) <= level is at or above the smallest e with
f(e) <= level, and any e with low(e) > level is below it. The search only finds good candidates; the two comparisons
at the end prove the answer.
Pure Python on purpose: proofs use it too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class Interval(Protocol):
    """What a function value must offer."""

    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...
    @property
    def middle(self) -> float: ...


T = TypeVar("T", bound=Interval)


@dataclass(frozen=True, slots=True)
class Inverse(Generic[T]):
    """lower <= the smallest e with f(e) <= level <= upper; the evaluations that prove it, None for a given end."""

    lower: float
    upper: float
    at_lower: T | None
    at_upper: T | None


STEPS_MOST = 200


def invert(function: Callable[[float], T], level: float, ceiling: float, tolerance: float) -> Inverse[T]:
    """Finds the smallest e >= 0 with f(e) <= level, where f(ceiling) <= level is known (ceiling may be inf).

    tolerance is the relative width to aim at; the result is wider where the intervals of f are.
    """
    at_zero = function(0.0)
    if at_zero.upper <= level:
        return Inverse(0.0, 0.0, at_zero, at_zero)
    low, high = 0.0, ceiling
    at_low: T | None = at_zero if at_zero.lower > level else None
    at_high: T | None = None
    points = [(0.0, _log_ratio(at_zero, level))]
    guess = min(1.0, ceiling / 2.0)
    for _ in range(STEPS_MOST):
        value = function(guess)
        points.append((guess, _log_ratio(value, level)))
        if value.lower > level:
            low, at_low = guess, value
        elif value.upper <= level:
            high, at_high = guess, value
        else:
            break
        if (high < math.inf and high - low <= tolerance * high) or math.nextafter(low, math.inf) >= high:
            return Inverse(low, high, at_low, at_high)
        guess = _next_guess(points, low, high, tolerance)
    return _widen(function, level, points[-1][0], value, points, Inverse(low, high, at_low, at_high), tolerance)


def _log_ratio(value: Interval, level: float) -> float:
    if value.middle <= 0.0 or level <= 0.0:
        return -math.inf
    return math.log(value.middle) - math.log(level)


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
        return max(2.0 * low, 1.0) if low < 8e307 else 1.7e308
    if low > 0.0 and high / low > 16.0:
        return math.sqrt(low) * math.sqrt(high)
    middle = low + (high - low) / 2.0
    return middle if low < middle < high else math.nextafter(low, high)


def _widen(
    function: Callable[[float], T],
    level: float,
    centre: float,
    value: T,
    points: list[tuple[float, float]],
    found: Inverse[T],
    tolerance: float,
) -> Inverse[T]:
    """From a point that cannot be decided, steps out on both sides until the comparison holds."""
    step = max(tolerance * centre * 0.25, math.ulp(centre), 5e-324)
    slopes = [abs((y1 - y0) / (x1 - x0)) for (x0, y0), (x1, y1) in itertools.pairwise(points) if x0 != x1]
    noise = (value.upper - value.lower) / (2.0 * level) if level > 0.0 else 0.0
    if slopes and 0.0 < slopes[-1] < math.inf and math.isfinite(noise):
        step = max(step, 1.1 * noise / slopes[-1])
    low, at_low, high, at_high = found.lower, found.at_lower, found.upper, found.at_upper
    distance = step
    while centre - distance > low:
        trial = function(centre - distance)
        if trial.lower > level:
            low, at_low = centre - distance, trial
            break
        distance *= 2.0
    distance = step
    while centre + distance < high and math.isfinite(centre + distance):
        trial = function(centre + distance)
        if trial.upper <= level:
            high, at_high = centre + distance, trial
            break
        distance *= 2.0
    return Inverse(low, high, at_low, at_high)
