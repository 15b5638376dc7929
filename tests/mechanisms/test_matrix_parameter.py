from __future__ import annotations

from typing import Any

import pytest

import tightrope as tr
from tightrope.errors import ExpressionError, InvalidParameter
from tightrope.mechanisms.parameters import matrix


def test_rows_become_tuples_of_doubles() -> None:
    assert matrix("matrix", [[1, 0], (0.5, -1)]) == ((1.0, 0.0), (0.5, -1.0))


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
    ],
)
def test_what_is_no_matrix_is_refused(given: Any, said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        matrix("matrix", given)


@pytest.mark.parametrize("text", ["Finite(p=[[0.5, 0.5]], q=[0.5, 0.5])", "Gaussian(sigma=[[1]])"])
def test_a_list_of_lists_is_read_only_where_a_matrix_is_wanted(text: str) -> None:
    with pytest.raises(ExpressionError, match="takes no list of lists"):
        tr.parse(text)
