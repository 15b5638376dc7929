"""The largest norm that a record gives to C U, by its definition: every pattern, in fractions.

C is a list of rows. A record may take part in the steps of a pattern, with a vector of norm at most 1 in each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np

Rows = Sequence[Sequence[Fraction]]


def rows(values: Sequence[Sequence[float]]) -> list[list[Fraction]]:
    """A matrix of doubles, exactly."""
    return [[Fraction(entry) for entry in row] for row in values]


def toeplitz(coefficients: Sequence[float], steps: int, block: int | None = None) -> list[list[Fraction]]:
    """Entry (i, j) is coefficients[i - j], in blocks of so many steps that begin anew."""
    block = steps if block is None else block
    known = [Fraction(entry) for entry in coefficients] + [Fraction(0)] * steps
    return [
        [known[i - j] if i >= j and i // block == j // block else Fraction(0) for j in range(steps)]
        for i in range(steps)
    ]


def inverse(coefficients: Sequence[float], steps: int) -> list[list[Fraction]]:
    """The inverse of a lower triangular Toeplitz matrix, by forward substitution of each column."""
    banded = toeplitz(coefficients, steps)
    columns = []
    for j in range(steps):
        column = [Fraction(0)] * steps
        for i in range(j, steps):
            known = sum((banded[i][m] * column[m] for m in range(j, i)), Fraction(0))
            column[i] = (Fraction(i == j) - known) / banded[i][i]
        columns.append(column)
    return [list(row) for row in zip(*columns, strict=True)]


def tree(steps: int, block: int | None = None) -> list[list[Fraction]]:
    """A row for each interval (j 2^i, (j + 1) 2^i] of steps that ends within its block."""
    found = []
    block = steps if block is None else block
    for start in range(0, steps, block):
        leaves = min(block, steps - start)
        for level in range(leaves.bit_length()):
            for node in range(leaves >> level):
                covered = range(start + (node << level), start + (node + 1 << level))
                found.append([Fraction(step in covered) for step in range(steps)])
    return found


def apart(steps: int, count: int, gap: int) -> Iterator[tuple[int, ...]]:
    """All patterns of at most so many steps, any two at least so far apart."""
    for size in range(1, count + 1):
        for pattern in combinations(range(steps), size):
            if all(two - one >= gap for one, two in pairwise(pattern)):
                yield pattern


def in_order(steps: int, epochs: int) -> Iterator[tuple[int, ...]]:
    """Step t of each epoch."""
    for first in range(steps // epochs):
        yield tuple(range(first, steps, steps // epochs))


def along_a_line(matrix: Rows, pattern: Sequence[int]) -> Fraction:
    """The largest square of the norm with numbers 1 and -1 in the steps of the pattern."""
    best = Fraction(0)
    for turned in range(1 << (len(pattern) - 1)):
        signs = [-1 if turned >> a & 1 else 1 for a in range(len(pattern))]
        sums = [sum((sign * row[t] for sign, t in zip(signs, pattern, strict=True)), Fraction(0)) for row in matrix]
        best = max(best, sum((each * each for each in sums), Fraction(0)))
    return best


def all_equal(matrix: Rows, pattern: Sequence[int]) -> Fraction:
    """The square of the norm with the same vector in all steps of the pattern: the largest where C >= 0."""
    return sum((sum((row[t] for t in pattern), Fraction(0)) ** 2 for row in matrix), Fraction(0))


def vectors(matrix: Rows, pattern: Sequence[int]) -> tuple[float, float]:
    """Around the largest square of the norm with vectors in any dimension, in floats.

    Below: unit vectors u <- A u normalised, which never lowers the sum, from many starts. Above: for any numbers l_i,
    the sum is at most sum l_i - k min(0, least eigenvalue of Diag(l) - A).
    """
    known: Any = np.array([[float(row[t]) for t in pattern] for row in matrix])
    gram = known.T @ known
    lower, upper = 0.0, float(np.abs(gram).sum())
    for seed in range(3):
        found = np.random.default_rng(100 + seed).normal(size=(len(pattern), len(pattern)))
        found /= np.linalg.norm(found, axis=1)[:, None]
        for _ in range(1000):
            pulled = gram @ found
            lengths = np.linalg.norm(pulled, axis=1)[:, None]
            after = np.where(lengths > 0.0, pulled / np.where(lengths > 0.0, lengths, 1.0), found)
            if float(np.abs(after - found).max()) < 1e-14:
                break
            found = after
        lower = max(lower, float(np.sum(gram * (found @ found.T))))
        charges = np.linalg.norm(gram @ found, axis=1)
        least = float(np.linalg.eigvalsh(np.diag(charges) - gram)[0])
        upper = min(upper, float(charges.sum()) + len(pattern) * max(0.0, -least))
    return lower, upper


def root(square: Fraction) -> float:
    """The square root, to the last digits of a double."""
    places = 1 << 120
    return math.isqrt(math.floor(square * places * places)) / places
