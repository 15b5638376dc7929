"""Balls in boxes: the law of the sum of the squares of how many balls lie in each box, in exact fractions.

A division of k balls into parts, m_j of them of j balls, r in all, is that of k! b!/((b - r)! prod j!^m_j m_j!) of the
b^k ways to throw them into b boxes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction


def squares_law(balls: int, boxes: int) -> dict[int, Fraction]:
    """P[sum of squares = s] for each s that has some, rising; each ball lies in any box, independently."""
    ways: dict[int, int] = {}
    for parts in _divisions(balls, balls, boxes):
        found = math.factorial(balls) * math.perm(boxes, len(parts))
        for size in set(parts):
            alike = parts.count(size)
            found //= math.factorial(size) ** alike * math.factorial(alike)
        square = sum(size * size for size in parts)
        ways[square] = ways.get(square, 0) + found
    return {square: Fraction(ways[square], boxes**balls) for square in sorted(ways)}


def _divisions(total: int, most: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a number as a sum of at most so many falling numbers, none above the most."""
    if total == 0:
        yield ()
    elif parts:
        for first in range(min(total, most), 0, -1):
            for rest in _divisions(total - first, first, parts - 1):
                yield (first, *rest)
