from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tightrope as tr
from tightrope.core.mechanisms.parameters import matrix
from tightrope.core.values.errors import ExpressionError, InvalidParameter


def test_rows_become_tuples_of_doubles() -> None:
    wanted = ((1.0, 0.0), (0.5, -1.0))
    rows = [[1, 0], (0.5, -1)]
    for given in (
        rows,
        np.array(rows),
        [np.array(row) for row in rows],
        [[Fraction(each) for each in r] for r in rows],
    ):
        assert matrix("matrix", given) == wanted  # type: ignore[arg-type]
    assert repr(matrix("matrix", [[-0.0], [np.float32(-0.0)]])) == "((0.0,), (0.0,))"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "at least one row"),
        ([[]], "at least one row"),
        (3, "list of rows"),
        ([1.0, 2.0], "list of rows"),
        ([[1.0], [1.0, 2.0]], r"matrix\[1\] 2"),
        ([[float("nan")]], r"matrix\[0\]\[0\] must be a finite number"),
        ([["1"]], "not the text"),
        ([[1.0, True]], r"matrix\[0\]\[1\] must be a number"),
        ([[1.0], [10**400]], r"matrix\[1\]\[0\] must be a number"),
        ([[1.0], {0: 1.0}], r"matrix\[1\] must be a list or an array, not a dict"),
    ],
)
def test_what_is_no_matrix_is_refused(given: Any, said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        matrix("matrix", given)


class Table(list[str]):
    """Like a data frame: iterated by the names of its columns."""

    columns = ("0", "1")


@pytest.mark.parametrize("keys", [{0: 0.5, 1: 0.5}, Counter({0: 1, 1: 2}), {0, 1}, Table([0, 1])])
@pytest.mark.parametrize(
    "make",
    [
        lambda keys: tr.Finite(p=keys, q=[0.5, 0.5]),
        lambda keys: tr.GaussianMixture(sigma=2, shifts=[0, 1], weights=keys),
        lambda keys: tr.Histograms(a=keys, b=[1, 2]),
        lambda keys: tr.Histograms(a=keys, b=[1, 2], samples=True, bins=[0, 1, 2]),
        lambda keys: tr.TradeoffCurve(fprs=keys, fnrs=[1, 0]),
        lambda keys: tr.PrivacyCurve(epsilons=keys, deltas=[0.2, 0.1]),
        lambda keys: tr.RenyiCurve(orders=[2, 3], divergences=keys),
        lambda keys: tr.MatrixMechanism(sigma=1, matrix=keys),
        lambda keys: tr.RandomizedResponse(channel=keys),
    ],
)
def test_keys_are_not_taken_for_numbers(make: Callable[[Any], tr.Mechanism], keys: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"must be a list or an array, not a \w+: give the numbers"):
        make(keys)


@pytest.mark.parametrize("text", ["Finite(p=[[0.5, 0.5]], q=[0.5, 0.5])", "Gaussian(sigma=[[1]])"])
def test_a_list_of_lists_is_read_only_where_a_matrix_is_wanted(text: str) -> None:
    with pytest.raises(ExpressionError, match="takes no list of lists"):
        tr.parse(text)
