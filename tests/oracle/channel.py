"""Channels: the largest profile of all ordered pairs of rows, by its definition, and by all events of few reports."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations

from .finite import Histogram
from .precision import Number

Row = Sequence[Number]


def exact(row: Row) -> list[Fraction]:
    """The masses, divided by their sum."""
    whole = sum(map(Fraction, row), Fraction(0))
    return [Fraction(mass) / whole for mass in row]


def profile(rows: Sequence[Row], alpha: Fraction) -> Fraction:
    """sup over ordered pairs of rows of sum (P - alpha Q)_+."""
    return max(
        sum((max(p - alpha * q, Fraction(0)) for p, q in zip(one, two, strict=True)), Fraction(0))
        for one, two in permutations(map(exact, rows), 2)
    )


def hull(rows: Sequence[Row]) -> Histogram:
    """The pair of the largest profile, from all events of all pairs, not only from those that could matter."""
    points = {(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))}
    for one, two in permutations([exact(row) for row in rows], 2):
        for size in range(len(one) + 1):
            for event in combinations(range(len(one)), size):
                points.add((sum((two[j] for j in event), Fraction(0)), sum((one[j] for j in event), Fraction(0))))
    line: list[tuple[Fraction, Fraction]] = []
    for x, y in sorted(points):
        if line and line[-1][0] == x:
            line.pop()
        while len(line) > 1 and _slope(line[-2], line[-1]) <= _slope(line[-1], (x, y)):
            line.pop()
        line.append((x, y))
    steps = [(line[0][1], Fraction(0)), *((y - y0, x - x0) for (x0, y0), (x, y) in pairwise(line))]
    return Histogram(tuple(p for p, _ in steps), tuple(q for _, q in steps))


def _slope(one: tuple[Fraction, Fraction], two: tuple[Fraction, Fraction]) -> Fraction:
    return (two[1] - one[1]) / (two[0] - one[0])
