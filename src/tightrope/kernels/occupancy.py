"""Balls in boxes: how they are divided, and the sum of the squares of how many lie in each box, in exact fractions.

A division of k balls into parts, m_j of them of j balls, r in all, is that of k! b!/((b - r)! prod j!^m_j m_j!) of the
b^k ways to throw them into b boxes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction


def divisions_law(balls: int, boxes: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """How many balls lie in the boxes that have some, falling, and P[that]; each lies in any box, independently."""
    for parts in _divisions(balls, balls, boxes):
        value = math.factorial(balls) * math.perm(boxes, len(parts))
        for size in set(parts):
            alike = parts.count(size)
            value //= math.factorial(size) ** alike * math.factorial(alike)
        yield parts, Fraction(value, boxes**balls)


def squares_law(balls: int, boxes: int) -> dict[int, Fraction]:
    """P[sum of squares = s] for each s that has some, rising; each ball lies in any box, independently."""
    law: dict[int, Fraction] = {}
    for parts, share in divisions_law(balls, boxes):
        square = sum(size * size for size in parts)
        law[square] = law.get(square, Fraction(0)) + share
    return dict(sorted(law.items()))


def _divisions(total: int, most: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a number as a sum of at most so many falling numbers, none above the most."""
    if total == 0:
        yield ()
    elif parts:
        for first in range(min(total, most), 0, -1):
            for rest in _divisions(total - first, first, parts - 1):
                yield (first, *rest)
