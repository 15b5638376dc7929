"""Lines of a figure from questions to a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from studies.figure import Line
from tightrope import Bound, Mechanism

ACCURACY = 1e-2  # a third of a line's thickness on a scale of ten decades
SECONDS = 120.0  # for a question: a page is made on busy machines too

Counted = Callable[[int], Mechanism]


def grid(start: float, stop: float, points: int) -> tuple[float, ...]:
    """Equally spaced, both ends included."""
    return tuple(start + (stop - start) * index / (points - 1) for index in range(points))


def deltas(label: str, run: Mechanism, factors: Sequence[float], accuracy: float = ACCURACY) -> Line:
    """delta over e^epsilon, certified."""
    return certified(
        label, factors, run.delta([math.log(factor) for factor in factors], accuracy=accuracy, seconds=SECONDS)
    )


def factors(label: str, runs: Counted, counts: Sequence[int], delta: float, accuracy: float = ACCURACY) -> Line:
    """e^epsilon over the count, certified; the ends of epsilon are narrow enough for the exponential's rounding."""
    bounds = [runs(count).epsilon(delta, accuracy=accuracy, seconds=SECONDS) for count in counts]
    return Line(
        label,
        counts,
        [_exp(bound.upper, up=True) for bound in bounds],
        [_exp(bound.lower, up=False) for bound in bounds],
    )


def certified(label: str, x: Sequence[float], bounds: Sequence[Bound]) -> Line:
    """Both ends of each bound."""
    return Line(label, x, [bound.upper for bound in bounds], [bound.lower for bound in bounds])


def upper(label: str, x: Sequence[float], value: Callable[[float], float]) -> Line:
    """An upper bound of another theory, point by point."""
    return Line(label, x, [value(each) for each in x])


def upper_factors(label: str, counts: Sequence[int], epsilon: Callable[[int], float]) -> Line:
    """e^epsilon of an upper bound, over the number of uses."""
    return Line(label, counts, [exponential(epsilon(count)) for count in counts])


def exponential(value: float) -> float:
    """At or above e^value: four ulps cover exp of every libm in use."""
    return _exp(value, up=True)


def _exp(value: float, up: bool) -> float:
    if value > 700.0:
        return math.inf
    return math.exp(value) * (1.0 + 1e-15 if up else 1.0 - 1e-15)
