"""Tiny data sets in random order, cut into batches, with Gaussian noise on the sum of each: all orders, on a grid.

The profile is the sum over a grid of (p - alpha q)_+ times its cell. What it is off by falls with the square of the
step; OFF is far above it, for the steps and deviations that are used here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations, permutations, product

import numpy as np

OFF = 2e-4
REACH = 6.5  # deviations
STEP = {1: 0.01, 2: 0.05, 3: 0.16}  # of the grid, in deviations, by the number of batches

Sums = tuple[Fraction, ...]


def sums(records: Sequence[Fraction | int], sizes: Sequence[int]) -> dict[Sums, Fraction]:
    """The law of the sums of the batches, over all orders."""
    found: Counter[Sums] = Counter()
    orders = list(permutations(range(len(records))))
    for order in orders:
        left, batches = list(order), []
        for size in sizes:
            batches.append(Fraction(sum(records[i] for i in left[:size])))
            left = left[size:]
        found[tuple(batches)] += 1
    return {each: Fraction(count, len(orders)) for each, count in found.items()}


def profile(
    one: dict[Sums, Fraction], other: dict[Sums, Fraction], sigma: float, alphas: Sequence[float]
) -> list[float]:
    """H at each alpha."""
    steps = len(next(iter(one)))
    values = [float(each) for law in (one, other) for key in law for each in key]
    step = STEP[steps] * sigma
    axis = np.arange(min(values) - REACH * sigma, max(values) + REACH * sigma, step)
    p, q = (_density(law, sigma, axis) for law in (one, other))
    return [float(np.maximum(p - alpha * q, 0.0).sum() * step**steps) for alpha in alphas]


def _density(law: dict[Sums, Fraction], sigma: float, axis: np.ndarray) -> np.ndarray:
    total: np.ndarray | float = 0.0
    for centres, share in law.items():
        bells = [np.exp(-(((axis - float(c)) / sigma) ** 2) / 2) / (sigma * np.sqrt(2 * np.pi)) for c in centres]
        total = total + float(share) * reduce(np.multiply.outer, bells)
    return np.asarray(total)


def squares(balls: int, boxes: int) -> dict[int, Fraction]:
    """The law of the sum of squares of so many balls in boxes, by all ways to throw them."""
    found: Counter[int] = Counter()
    for thrown in product(range(boxes), repeat=balls):
        found[sum(count**2 for count in Counter(thrown).values())] += 1
    return {each: Fraction(count, boxes**balls) for each, count in sorted(found.items())}


def squares_in_batches(records: int, sizes: Sequence[int]) -> dict[int, Fraction]:
    """The same of so many records at random places of batches of these sizes, by all choices of places."""
    places = [batch for batch, size in enumerate(sizes) for _ in range(size)]
    chosen = list(combinations(places, records))
    found = Counter(sum(count**2 for count in Counter(each).values()) for each in chosen)
    return {each: Fraction(count, len(chosen)) for each, count in sorted(found.items())}
