"""Inner products of bins, against matrices written out in fractions."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from tightrope.core.numerics.columns import bin_gram, positive_definite
from tightrope.core.values.errors import InvalidParameter

CASES = [
    ((1.0, 0.5, 0.25, 0.125), 100, 100, 10),
    ((3.0, 2.0, 1.0), 17, 5, 4),
    ((1.0, 0.5), 30, 7, 3),
    ((1.0, 0.5, 0.25, 2.0), 23, 23, 2),
    ((1.0, 0.75, 0.5, 0.25, 0.25, 0.125, 0.0, 3.0), 9, 9, 5),
    ((1.0,), 12, 12, 4),
    ((0.0, 1.0), 8, 8, 8),
    ((1.0, 0.5), 40, 3, 6),
]


def written_out(coefficients: tuple[float, ...], steps: int, block: int) -> list[list[Fraction]]:
    return [
        [
            Fraction(coefficients[i - j])
            if i >= j and i - j < len(coefficients) and i // block == j // block
            else Fraction(0)
            for j in range(steps)
        ]
        for i in range(steps)
    ]


def gram_of(rows: list[list[Fraction]], bins: int) -> list[list[Fraction]]:
    sums = [[sum(row[start::bins], Fraction(0)) for row in rows] for start in range(bins)]
    return [[sum((x * y for x, y in zip(one, two, strict=True)), Fraction(0)) for two in sums] for one in sums]


@pytest.mark.parametrize(("coefficients", "steps", "block", "bins"), CASES)
def test_coefficients_and_rows_agree_with_the_matrix(
    coefficients: tuple[float, ...], steps: int, block: int, bins: int
) -> None:
    rows = written_out(coefficients, steps, block)
    truth = gram_of(rows, bins)
    for gram in (
        bin_gram("toeplitz", coefficients, steps, block, bins),
        bin_gram("matrix", tuple(tuple(map(float, row)) for row in rows), steps, steps, bins),
    ):
        assert [[entry * gram.unit for entry in row] for row in gram.entries] == truth
        assert gram.slack == 0


@pytest.mark.parametrize("seed", range(20))
def test_random_coefficients(seed: int) -> None:
    rng = random.Random(seed)
    steps = rng.randint(2, 40)
    block, bins = rng.randint(1, steps), rng.randint(1, steps)
    coefficients = (*(float(rng.randint(0, 9)) for _ in range(rng.randint(1, steps))), 1.0)
    gram = bin_gram("toeplitz", coefficients, steps, block, bins)
    truth = gram_of(written_out(coefficients, steps, block), bins)
    assert [[entry * gram.unit for entry in row] for row in gram.entries] == truth


def test_an_inverse_is_within_its_slack() -> None:
    given, steps, bins = (1.0, -0.5, -0.125), 12, 5
    c: list[Fraction] = []
    for m in range(steps):
        known = sum((Fraction(given[j]) * c[m - j] for j in range(1, min(m, 2) + 1)), Fraction(0))
        c.append(Fraction(int(m == 0)) - known)
    rows = [[c[i - j] if i >= j else Fraction(0) for j in range(steps)] for i in range(steps)]
    gram, truth = bin_gram("inverse", given, steps, steps, bins), gram_of(rows, bins)
    for mine, row in zip(gram.entries, truth, strict=True):
        for entry, value in zip(mine, row, strict=True):
            assert abs(entry * gram.unit - value) <= gram.slack * gram.unit
    assert gram.shared > 0


@pytest.mark.parametrize(("coefficients", "steps", "block", "bins"), CASES[:4])
def test_the_shared_part_is_the_largest(coefficients: tuple[float, ...], steps: int, block: int, bins: int) -> None:
    """What is left is positive semidefinite, with the value 0 at the weights: a larger part would not be."""
    gram = bin_gram("toeplitz", coefficients, steps, block, bins)
    assert gram.weights is not None
    assert sum(gram.weights) == 1
    assert min(gram.weights) >= 0
    for row in gram.entries:
        assert sum((w * entry for w, entry in zip(gram.weights, row, strict=True)), Fraction(0)) == gram.shared
    assert positive_definite(gram.entries, gram.shared * (1 - Fraction(1, 2**40)), 0)
    assert not positive_definite(gram.entries, gram.shared * (1 + Fraction(1, 2**40)), 0)


def test_bins_that_depend_on_each_other_share_nothing() -> None:
    """A column of zeros, and two bins that are the same."""
    assert bin_gram("matrix", ((1.0, 0.0), (0.0, 0.0)), 2, 2, 2).shared == 0
    same = bin_gram("matrix", ((0.0, 0.0), (1.0, 1.0)), 2, 2, 2)
    assert same.shared == 0
    assert same.alike


def test_millions_of_steps_cost_as_much_as_there_are_coefficients() -> None:
    few, many = (bin_gram("toeplitz", (1.0, 0.5), steps, steps, 10) for steps in (10_000, 10_000_000))
    assert many.entries[3][3] > 900 * few.entries[3][3]
    with pytest.raises(InvalidParameter, match="bins times coefficients"):
        bin_gram("toeplitz", (1.0,) * 1_000_000, 1_000_000, 1_000_000, 64)
