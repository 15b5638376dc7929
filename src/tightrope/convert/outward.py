"""Classic formulas in balls, so that each comes out rounded away from the truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import ParamSpec

from flint import arb

from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision

Arguments = ParamSpec("Arguments")


def at_or_above(formula: Callable[Arguments, arb], *values: Arguments.args, **named: Arguments.kwargs) -> float:
    """A double at or above the formula; inf where nothing is known."""
    with working_precision(BITS_START):
        return upper_float(formula(*values, **named))


def at_or_below(formula: Callable[Arguments, arb], *values: Arguments.args, **named: Arguments.kwargs) -> float:
    """A double at or below the formula."""
    with working_precision(BITS_START):
        return lower_float(formula(*values, **named))


def weighted_sum(values: Iterable[tuple[float, int]]) -> arb:
    """The sum of value times count."""
    return sum((arb(value) * count for value, count in values), arb(0))


def minimise(function: Callable[[float], float], start: float, stop: float, steps: int = 60) -> float:
    """An argument between start and stop, both above 0, where a function of one valley is small.

    It only chooses: whoever calls evaluates the bound there, and every argument gives a valid one.
    """
    low, high = math.log(start), math.log(stop)
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(math.exp(left)), function(math.exp(right))
    for _ in range(steps):
        # Where both are infinite the valley lies below: large arguments overflow first.
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(math.exp(left))
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(math.exp(right))
    return math.exp(left if at_left <= at_right else right)
