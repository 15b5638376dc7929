"""Coefficients of the matrices that a run names, beside their definitions in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb

import pytest

import tightrope as tr
from tests.oracle import participation as oracle
from tightrope.core.mechanisms.encoders import encoder_of


def given(word: str, steps: int) -> list[Fraction]:
    """What the mechanism of such a run has."""
    run = encoder_of(word, None, None).run(1.0, steps, epochs=1)
    assert isinstance(run, tr.MatrixMechanism)
    return [Fraction(value) for value in run.toeplitz or run.inverse or ()]


def test_the_square_root_of_running_sums() -> None:
    """Its square is the matrix of ones, and its inverse times itself that of nothing else than ones on the diagonal."""
    root, back = given("sqrt", 40), given("bisr:40", 40)
    for m in range(40):
        square = sum(root[i] * root[m - i] for i in range(m + 1))
        product = sum(root[i] * back[m - i] for i in range(m + 1))
        assert abs(square - 1) < Fraction(1, 10**12)
        assert abs(product - (m == 0)) < Fraction(1, 10**12)
        assert abs(root[m] - Fraction(comb(2 * m, m), 4**m)) <= Fraction(2 * m, 2**53)


@pytest.mark.parametrize("bands", [1, 2, 7])
def test_bands_are_the_first_of_them(bands: int) -> None:
    assert given(f"banded:{bands}", 40) == given("sqrt", 40)[:bands]
    assert given(f"bisr:{bands}", 40) == given("bisr:40", 40)[:bands]


def test_a_long_square_root_falls() -> None:
    root = given("sqrt", 5000)
    assert all(one > two > 0 for one, two in pairwise(root))


@pytest.mark.parametrize("sampling", ["in_order", "any_order"])
@pytest.mark.parametrize("matrix", ["identity", "banded:3", "sqrt", "bisr:2", "tree"])
def test_a_run_has_the_largest_norm_of_its_patterns(matrix: str, sampling: str) -> None:
    """By brute force over the patterns that the loader allows."""
    run = tr.training(records=12, batch=3, epochs=3, sigma=1, matrix=matrix, sampling=sampling).expanded
    steps, word = 12, matrix.split(":")[0]
    coefficients = [float(Fraction(comb(2 * m, m), 4**m)) for m in range(steps)]
    rows = (
        oracle.tree(steps, steps)
        if word == "tree"
        else oracle.inverse((1.0, -0.5), steps)
        if word == "bisr"
        else oracle.toeplitz(coefficients[: {"identity": 1, "banded": 3}.get(word, steps)], steps, steps)
    )
    patterns = oracle.in_order(steps, 3) if sampling == "in_order" else oracle.apart(steps, 3, 1)
    truth = max(oracle.all_equal(rows, pattern) for pattern in patterns)
    found = run.total_sensitivity  # type: ignore[attr-defined]
    assert found.lower**2 * (1 - 1e-12) <= truth <= found.upper**2 * (1 + 1e-12)
    assert found.upper <= found.lower * (1 + 1e-12)
