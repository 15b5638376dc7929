"""The law of the sum of t independent copies by squaring, above and below, and the pairs of its mean."""

from __future__ import annotations

import math
from typing import TypeVar

from ... import compute_budget
from ...facets.resolution import Resolution
from ...pair import Pair
from ...relation import Direction
from . import ends
from .ends import ENDS_POINT
from .grid import Extent, Fine, blocks
from .laws import SUM_PRODUCT, SUM_ROW, Light, SumLaw
from .start import Step

POINTS_PER_DEVIATION, NEAR_MIN = 1 / 8, 12.0  # of the points that are wanted
FAR_REMOVE, FAR_ADD = 1.5, 0.5  # points per doubling, of those per deviation; for add little depends on them
SUMS_SHARE = 0.6  # of the work that is left
LIGHT_SHARE, OTHER_SIDE = 1 / 32, 1e-15  # of the tail, on the side that counts, and in any case

L = TypeVar("L", bound=SumLaw)


def mean_pairs(step: Pair, steps: int, direction: Direction, fine: Resolution) -> tuple[Pair, Pair]:
    """A pair below and one above; step is (P, Q), of which one of so many copies of Q becomes P."""
    reach = math.sqrt(-2.0 * math.log(fine.tail))
    remove = direction is Direction.REMOVE
    deep = LIGHT_SHARE * fine.tail
    light = Light(OTHER_SIDE / steps, deep) if remove else Light(deep / steps, OTHER_SIDE)
    near = max(fine.points * POINTS_PER_DEVIATION, NEAR_MIN)
    grid = Fine(near, (FAR_REMOVE if remove else FAR_ADD) * near, reach, left=not remove)
    base = Step(step, direction)
    extent = base.extent(grid, light)
    grid = _affordable(extent, grid, steps)
    merged, split = base.start(blocks(extent, grid))
    lower = ends.below(power(merged, steps, grid, light), steps, step.infinite_mass(), direction)
    return lower, ends.above(power(split, steps, grid, light), steps, direction)


def _affordable(extent: Extent, grid: Fine, steps: int) -> Fine:
    """A grid whose sums take a part of the work that is left; what is coarser is valid too."""
    allowed = SUMS_SHARE * compute_budget.left()
    while grid.near > NEAR_MIN:
        places = blocks(extent, grid)
        # About what all sums of a doubling take: rows with themselves, and with what is finer.
        total = sum(SUM_ROW + 3.0 * SUM_PRODUCT * place.size**2 for place in places)
        if 3.0 * total * steps.bit_length() + ENDS_POINT * sum(place.size for place in places) <= allowed:
            return grid
        grid = grid._replace(near=max(0.7 * grid.near, NEAR_MIN), far=0.7 * grid.far)
    return grid


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
