"""Transformations against tiny data sets with all their neighbours: the truth is at or below the upper end.

Where `tight` is claimed both are equal; where lower ends are said to be attained they are at or below the truth.
Several uses are those of an observer who chooses neighbours anew after every answer.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import tightrope as tr
from tests.mechanisms.enumerated import Tiny, table
from tests.oracle.adaptive import ERROR, Neighbours, adaptive
from tests.search import FULL

EPSILONS = np.linspace(-2.96875, 3.03125, 9) if FULL else np.array([-0.90625, 0.34375])
EQUAL, NARROW = 1e-9, 1e-6  # where ends meet, where an engine stops
BLUR = 1e-12  # of two cells, whose noise is cut
COUNTS = (1, 2, 3)
ROWS = table()


def quick(index: int, row: Tiny, count: int) -> bool:
    """One use of most rows, several of a few: neither endless laws nor chains of steps, which take seconds."""
    chained = ".group(" in row.expression or "replace'" in row.expression
    if "DiscreteGaussian" in row.expression:
        return count == 1 and not chained and "* 2" not in row.expression
    sampled = "truncated" in row.expression or "with_" in row.expression
    return not (chained and sampled) and (count == 1 or (not sampled and (index + count) % 15 == 0))


ASKED = [(row, count) for index, row in enumerate(ROWS) for count in COUNTS if FULL or quick(index, row, count)]


@functools.cache
def real(row: Tiny, direction: str | None) -> list[Neighbours]:
    return row.real(direction)


@pytest.mark.parametrize(("row", "count"), ASKED, ids=lambda value: getattr(value, "expression", value))
def test_the_truth_is_inside(row: Tiny, count: int) -> None:
    run = tr.parse(row.expression) * count
    for direction in row.directions:
        truth = adaptive([real(row, direction)] * count, np.exp(EPSILONS.astype(np.longdouble)))
        for exact, bound in zip(truth, run.delta(EPSILONS.tolist(), direction=direction), strict=True):
            assert exact <= bound.upper + ERROR, (direction, bound, exact)
            if row.whole and run.tight:
                assert bound.upper <= exact + max(EQUAL, bound.width), (direction, bound, exact)
                assert bound.width <= NARROW, (direction, bound)
            if row.whole and run.attained:
                assert bound.lower <= exact + BLUR, (direction, bound, exact)
