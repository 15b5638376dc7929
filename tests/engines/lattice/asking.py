"""How the tests ask the lattice engine: an expression, a direction, and a certified search of their own needs."""

from __future__ import annotations

import math

from tightrope.core.engines.lattice import engine as lattice
from tightrope.core.engines.selection import Evaluator, Term
from tightrope.core.text.expressions import parse
from tightrope.core.values.question import Direction


def terms_of(expression: str, direction: str) -> list[Term]:
    """The (pair, count) terms of a mechanism in one direction."""
    return [(part.pair(Direction(direction)), count) for part, count in parse(expression).terms]


def epsilon_ends(evaluator: Evaluator, delta: float, guess: float, accuracy: float) -> tuple[float, float]:
    """Bisects each end on its own: delta_low > delta proves a lower end, delta_up <= delta an upper one."""
    low, high = 0.0, guess * 2.0 + 1.0
    while evaluator.delta(high).upper > delta:
        high *= 2.0
    upper = high
    while upper - low > 0.02 * accuracy * upper:
        middle = (low + upper) / 2.0
        low, upper = (low, middle) if evaluator.delta(middle).upper <= delta else (middle, upper)
    lower, top = 0.0, upper
    while top - lower > 0.02 * accuracy * top and top > 0.0:
        middle = (lower + top) / 2.0
        lower, top = (middle, top) if evaluator.delta(middle).lower > delta else (lower, middle)
    return lower, upper


def epsilon_interval(expression: str, direction: str, delta: float, accuracy: float) -> tuple[float, float, Evaluator]:
    """epsilon at delta by the lattice engine."""
    evaluator = lattice.prepare(terms_of(expression, direction), delta=delta, accuracy=accuracy)
    lower, upper = epsilon_ends(evaluator, delta, 4.0, accuracy)
    assert math.isfinite(upper)
    return lower, upper, evaluator
