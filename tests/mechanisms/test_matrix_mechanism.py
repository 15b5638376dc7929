from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tightrope as tr
from tightrope.core.numerics import columns as squares
from tightrope.core.numerics.columns import as_squares, square_sum

GRID = np.linspace(-14.0, 15.0, 600)


def norm(matrix: list[list[float]], column: int) -> Fraction:
    """The square of the norm, by definition."""
    return sum((Fraction(row[column]) ** 2 for row in matrix), Fraction(0))


def shift(mechanism: tr.Mechanism) -> Fraction:
    """The square of the shift that the pair stands for, sigma being 1."""
    return sum((Fraction(d) ** 2 * count for _, d, count in mechanism.pair(tr.Direction.ADD).shifts), Fraction(0))  # type: ignore[attr-defined]


def drawn(rows: int, columns: int, seed: int) -> list[list[float]]:
    draw = random.Random(seed)
    return [
        [draw.choice((0.0, 1.0, draw.gauss(0, 1), draw.gauss(0, 1e-9))) for _ in range(columns)] for _ in range(rows)
    ]


@pytest.mark.parametrize("seed", range(10))
def test_the_shift_is_the_largest_column_norm_exactly(seed: int) -> None:
    matrix = drawn(2 + seed, 1 + seed % 4, seed)
    matrix[0][0] = 1.0 / 3.0
    found = shift(tr.MatrixMechanism(sigma=1.0, matrix=matrix))
    assert found == max(norm(matrix, column) for column in range(len(matrix[0])))
    assert shift(tr.MatrixMechanism(sigma=1.0, matrix=np.array(matrix), sensitivity=0.3)) == found * Fraction(0.3) ** 2


@pytest.mark.parametrize(
    "values", [(5e-324,), (1e-300, 1e300), (1.7e308,), (0.1,) * 7, (3.0, 4.0), (0.0,), (1e-160, 1.0)]
)
def test_squares_of_doubles_sum_to_squares_of_doubles(values: tuple[float, ...]) -> None:
    total = square_sum(values)
    assert total == sum(Fraction(value) ** 2 for value in values)
    terms = as_squares(total)
    assert terms is not None
    assert sum((Fraction(term) ** 2 for term in terms), Fraction(0)) == total
    assert all(one >= two > 0.0 for one, two in pairwise(terms))
    assert as_squares(Fraction(2) ** 2050) is None
    assert as_squares(Fraction(2) ** -2150) is None


@pytest.mark.parametrize("scale", [1.0, 1e-320, 1e300, 5e-324])
def test_columns_that_floats_cannot_tell_apart(scale: float) -> None:
    """Norms that agree in every digit of a double, the largest of them anywhere; and columns far below."""
    up = 1.0 + 2.0**-52
    columns = [(1.0, 1.0, 0.0), (1.0, up, 0.0), (1.0, 1.0, 2.0**-27), (1.0, 1.0, 2.0**-26), (0.5, 0.0, 0.0)]
    scaled = [tuple(scale * entry for entry in column) for column in columns]
    for turn in range(len(scaled)):
        turned = scaled[turn:] + scaled[:turn]
        largest = max(sum(Fraction(entry) ** 2 for entry in column) for column in turned)
        assert squares.largest_square_sum(turned) == largest


def test_one_epoch_is_one_gaussian() -> None:
    run = tr.MatrixMechanism(sigma=10.0, matrix=[[3.0, 0.0], [4.0, 1.0]], sensitivity=2.0)
    assert run.relation is None
    assert run.epsilon(1e-6) == tr.Gaussian(sigma=10.0, sensitivity=10.0).epsilon(1e-6)
    tree = [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]]
    bound, other = (each.delta(1.0) for each in (tr.MatrixMechanism(2, tree), tr.TreeAggregation(sigma=2.0, steps=4)))
    assert bound.lower <= other.upper <= bound.upper * (1 + 1e-12)


BANDED = [[1.0, 0.0, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.25, 1.0]]


def test_sampled_groups_are_sampled_gaussians() -> None:
    run = tr.MatrixMechanism(sigma=2.0, matrix=BANDED, rate=0.25, groups=2)
    assert run.relation is tr.Relation.ADD_REMOVE
    assert run.tight
    # Group 1 has the columns 1 and 3, of norms sqrt(1.25) and 1, group 0 those of norms sqrt(1.25) and sqrt(0.3125).
    noise = tr.Gaussian(sigma=2.0) + tr.Gaussian(sigma=2.0, sensitivity=0.5)
    parts = noise.poisson(rate=0.25) + tr.Gaussian(sigma=2.0).poisson(rate=0.25)
    for epsilon in (0.0, 0.3, 1.0):
        one, two = run.delta(epsilon), parts.delta(epsilon)
        assert one.lower <= two.upper
        assert two.lower <= one.upper
        assert one.upper - two.lower <= 1e-6 * one.upper
    with pytest.raises(tr.InvalidParameter, match="replacing"):
        run.without_replacement(batch=1, records=2)


def test_the_ends_of_the_rate() -> None:
    none = tr.MatrixMechanism(sigma=2.0, matrix=BANDED, rate=0.0, groups=2)
    assert none.delta(0.0).upper == 0.0
    whole = tr.MatrixMechanism(sigma=2.0, matrix=BANDED, rate=1.0, groups=2)
    assert whole.epsilon(1e-6) == (tr.Gaussian(sigma=2.0) * 2 + tr.Gaussian(sigma=2.0, sensitivity=0.5)).epsilon(1e-6)


def test_groups_that_do_not_compare_lie_below_the_largest_of_both() -> None:
    matrix = np.diag([2.0, 1.5, 1.0, 1.5])
    run = tr.MatrixMechanism(sigma=4.0, matrix=matrix, rate=0.5, groups=2)
    assert not run.tight
    assert run.attained
    singles = [
        (tr.Gaussian(sigma=4.0, sensitivity=one).poisson(0.5) + tr.Gaussian(sigma=4.0, sensitivity=two).poisson(0.5))
        for one, two in ((2.0, 1.0), (1.5, 1.5), (2.0, 1.5))
    ]
    bound, (first, second, both) = run.delta(0.5), [each.delta(0.5) for each in singles]
    assert max(first.lower, second.lower) <= bound.upper <= both.upper * (1 + 1e-9)
    assert bound.lower <= max(first.upper, second.upper)
    assert bound.upper >= both.lower


@pytest.mark.parametrize("remove", [True, False])
def test_steps_of_others_may_look_at_what_was_told(remove: bool) -> None:
    """A record in step 0 of two, sampled; what step 1 adds is any function of row 0: integrated over both rows."""
    rate, c0, c1 = 0.3, 0.75, 0.5
    y0, y1 = np.meshgrid(GRID, GRID, indexing="ij")
    looked = 3.0 * np.sin(2.0 * y0)

    def density(there: float) -> Any:
        return np.exp(-((y0 - c0 * there) ** 2 + (y1 - looked - c1 * there) ** 2) / 2.0) / (2.0 * math.pi)

    with_record, without = (1.0 - rate) * density(0.0) + rate * density(1.0), density(0.0)
    p, q = (with_record, without) if remove else (without, with_record)
    run = tr.MatrixMechanism(sigma=1.0, matrix=[[c0, 0.0], [c1, 1.0]], rate=rate, groups=2)
    single = tr.MatrixMechanism(sigma=1.0, matrix=[[c0, 0.0], [c1, 0.0]], rate=rate, groups=2)
    cell = (GRID[1] - GRID[0]) ** 2
    for epsilon in (0.0, 0.1, 0.2):
        truth = float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum() * cell)
        direction = "remove" if remove else "add"
        assert single.delta(epsilon, direction=direction).upper == pytest.approx(truth, abs=2e-5)
        assert run.delta(epsilon, direction=direction).upper >= truth - 2e-5  # a record of step 1 tells more


@pytest.mark.parametrize("sampled", [{"rate": 0.5, "groups": 2}, {"rate": 0.5}, {"groups": 2}])
def test_what_is_too_large_is_not_sent_to_another_experiment(sampled: Any) -> None:
    """A sampled record takes part in many steps: one Gaussian of the largest column would be too little."""
    with pytest.raises(tr.InvalidParameter, match="at most 1,048,576 entries") as refusal:
        tr.MatrixMechanism(sigma=1.0, matrix=[range(2000)] * 2000, **sampled)
    assert "Gaussian" not in str(refusal.value)


def test_a_matrix_that_is_too_large_is_taken_as_the_coefficients_that_the_refusal_names() -> None:
    """The advice tried on a matrix that is small enough."""
    with pytest.raises(tr.InvalidParameter, match="Toeplitz matrix by its coefficients, as toeplitz="):
        tr.MatrixMechanism(sigma=1.0, matrix=[range(2000)] * 2000)
    whole = tr.MatrixMechanism(sigma=8.0, matrix=[[3.0, 0.0, 0.0], [4.0, 3.0, 0.0], [1.0, 4.0, 3.0]], sensitivity=2.0)
    coefficients = tr.MatrixMechanism(sigma=8.0, toeplitz=[3.0, 4.0, 1.0], steps=3, sensitivity=2.0)
    assert whole.epsilon(1e-5) == coefficients.epsilon(1e-5)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"matrix": [[0.0, 0.0]]}, "an entry that is not 0"),
        ({"matrix": [[1.0]], "rate": 0.5}, "rate and groups"),
        ({"matrix": [[1.0]], "groups": 2}, "rate and groups"),
        ({"matrix": [[1.0, 0.0]], "rate": 0.5, "groups": 1}, "must be square"),
        ({"matrix": [[1.0, 0.0], [0.5, 1.0]], "rate": 0.5, "groups": 1}, r"matrix\[1\]\[0\] must be 0"),
        ({"matrix": [[1.0, 0.5], [0.0, 1.0]], "rate": 0.5, "groups": 5}, r"matrix\[0\]\[1\] must be 0"),
        ({"matrix": [[1e-300]], "sensitivity": 1e-300}, "products that are doubles"),
        ({"matrix": [[1e300]], "sensitivity": 1e300}, "products that are doubles"),
        ({"matrix": [range(2000)] * 2000}, "at most 1,048,576 entries"),
        ({"matrix": "ab"}, "list of rows|not the text"),
    ],
)
def test_what_cannot_be_answered_is_refused(given: Any, said: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=said):
        tr.MatrixMechanism(sigma=1.0, **given)
