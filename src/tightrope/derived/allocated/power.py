"""The law of the sum of t independent copies by squaring, above and below, and the pairs of its mean."""

from __future__ import annotations

import math
from typing import TypeVar

from ...facets.between import Fineness
from ...pair import Pair
from ...relation import Direction
from . import ends
from .grid import Fine
from .laws import Light, SumLaw
from .start import Step

POINTS_PER_DEVIATION, NEAR_LEAST = 1 / 24, 8.0  # of the points that are wanted
FAR_PER_NEAR = 4.0
LIGHT_SHARE, LOW_MOST = 1 / 32, 1e-20

L = TypeVar("L", bound=SumLaw)


def mean_pairs(step: Pair, steps: int, direction: Direction, fine: Fineness) -> tuple[Pair, Pair]:
    """A pair below and one above; step is (P, Q), of which one of so many copies of Q becomes P."""
    near = max(fine.points * POINTS_PER_DEVIATION, NEAR_LEAST)
    reach = math.sqrt(-2.0 * math.log(fine.tail))
    grid = Fine(near, FAR_PER_NEAR * near, reach)
    deep, shallow = LIGHT_SHARE * fine.tail, LIGHT_SHARE * min(fine.tail, LOW_MOST)
    remove = direction is Direction.REMOVE
    light = Light((shallow if remove else deep) / steps, deep if remove else shallow)
    merged, spread = Step(step, direction).start(grid, light)
    lower = ends.below(power(merged, steps, grid, light), steps, step.infinite_mass(), direction)
    return lower, ends.above(power(spread, steps, grid, light), steps, direction)


def power(law: L, steps: int, grid: Fine, light: Light) -> L:
    """So many copies, by squaring."""
    result: L | None = None
    while True:
        if steps & 1:
            result = law if result is None else result.plus(law, grid, light)
        steps >>= 1
        if not steps:
            assert result is not None
            return result
        law = law.plus(law, grid, light)
