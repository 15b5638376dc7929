"""Configurations: products, ranges, draws and tables, by their index."""

from __future__ import annotations

import csv
import io
import math
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import tightrope as tr
from tightrope.sweep.grid import GRID_ROWS_MAX, grid_of
from tightrope.sweep.order import shuffled


def test_a_product_has_all_combinations_and_the_last_name_changes_fastest() -> None:
    grid = grid_of({"sigma": [1, 2.5], "word": ["a", "b", "c"], "rate": 0.5})
    assert grid.names == ("sigma", "word", "rate")
    assert [grid[index] for index in range(len(grid))] == [
        {"sigma": sigma, "word": word, "rate": 0.5} for sigma in (1, 2.5) for word in "abc"
    ]


def test_ranges_have_both_ends_and_no_noise_of_rounding() -> None:
    grid = grid_of({"rate": {"from": 1e-4, "to": 0.1, "points": 4, "log": True}})
    assert [each["rate"] for each in grid] == [1e-4, 1e-3, 1e-2, 0.1]
    assert [each["x"] for each in grid_of({"x": {"from": 1, "to": -1, "points": 3}})] == [1.0, 0.0, -1.0]
    assert [each["n"] for each in grid_of({"n": {"from": 1, "to": 4, "points": 9, "whole": True}})] == [1, 2, 3, 4]


def test_draws_depend_on_the_seed_and_their_place_alone() -> None:
    spec = {
        "sigma": {"log_uniform": [0.5, 5]},
        "count": {"log_uniform": [1, 1e5], "whole": True},
        "delta": [1e-6, 1e-5],
    }
    grid = grid_of(spec, draws=50, seed=3)
    assert len(grid) == 100
    assert grid[17] == grid_of(spec, draws=90, seed=3)[17]
    assert grid[17] != grid_of(spec, draws=50, seed=4)[17]
    assert {**grid[17], "delta": 0} == {**grid[67], "delta": 0}, "both lists see the same draws"
    assert all(0.5 <= each["sigma"] <= 5 and isinstance(each["count"], int) for each in grid)  # type: ignore[operator]
    assert math.isclose(sum(math.log(each["sigma"]) for each in grid), 50 * math.log(2.5), rel_tol=0.3)  # type: ignore[arg-type]
    # These are numbers that results were published with: another way to draw would change them.
    assert grid[0] == {"delta": 1e-6, "sigma": 2.16238023208013, "count": 94288}


def test_tables_have_typed_cells(tmp_path: Path) -> None:
    text = "sigma,count,word,flag,gone\n1.5,3,x y,true,\n1e-3,7,'q',False,2\n"
    (tmp_path / "grid.csv").write_text(text, "utf-8")
    rows = [
        {"sigma": 1.5, "count": 3, "word": "x y", "flag": True, "gone": None},
        {"sigma": 1e-3, "count": 7, "word": "'q'", "flag": False, "gone": 2},
    ]
    assert list(grid_of(tmp_path / "grid.csv")) == rows
    assert list(grid_of(csv.DictReader(io.StringIO(text)))) == rows
    assert list(grid_of(rows)) == rows
    assert list(grid_of({"x": np.array([1.5, 2.0]), "n": np.arange(2)})) == [
        {"x": x, "n": n} for x in (1.5, 2.0) for n in (0, 1)
    ]


@pytest.mark.parametrize(
    ("grid", "more", "told"),
    [
        ({"a": range(10**4), "b": {"from": 0, "to": 1, "points": 10**4}, "c": range(10)}, {}, "1,000,000,000 config"),
        ({"a": {"from": 0, "to": 1, "points": 10**7}}, {}, "from 1 to 1,000,000"),
        ({"a": {"uniform": [0, 1]}}, {"draws": GRID_ROWS_MAX + 1}, "from 1 to 100,000,000"),
        ({"a": count()}, {}, "at most 1,000,000 values can be listed"),
        ({"a": []}, {}, "no configurations"),
        ({"a": {"from": 0, "to": 1, "points": 3, "log": True}}, {}, "ends above 0"),
        ({"a": {"form": 0, "to": 1, "points": 3}}, {}, "did you mean from"),
        ({"a": {"log_uniform": [0, 1]}}, {"draws": 3}, "above 0"),
        ({"a": {"log_uniform": [1, 2]}}, {}, "say how often"),
        ({"a": [1]}, {"seed": 3}, "something to draw"),
        ({"a": {"normal": [0, 1]}}, {"draws": 3}, "log_uniform"),
        ({"a b": [1]}, {}, "a word such as sigma"),
        ({"a": [math.nan]}, {}, "numbers, words and lists"),
        ({"a": [lambda: 1]}, {}, "numbers, words and lists"),
        ({"a": [1 << 2000]}, {}, "numbers, words and lists"),
        (3, {}, "a dict of lists"),
        ([3], {}, "a configuration is a dict"),
        ("missing.csv", {}, "No such file"),
    ],
)
def test_what_is_no_grid_is_refused_before_it_is_made(grid: object, more: dict[str, int], told: str) -> None:
    with pytest.raises((tr.TightropeError, OSError), match=told):
        grid_of(grid, **more)


@pytest.mark.parametrize("text", ["a,a\n1,2\n", "a,b\n1\n", "", 'a\n"x\n'])
def test_a_damaged_table_is_refused_with_its_place(text: str, tmp_path: Path) -> None:
    (tmp_path / "grid.csv").write_text(text, "utf-8")
    with pytest.raises(tr.DataError, match=r"grid\.csv"):
        grid_of(tmp_path / "grid.csv")


@pytest.mark.parametrize("count", [1, 2, 3, 5, 17, 256, 1000, 4097])
def test_the_order_is_a_permutation_that_mixes(count: int) -> None:
    found = list(shuffled(count))
    assert sorted(found) == list(range(count))
    assert found == list(shuffled(count))
    if count >= 1000:
        halves = [sum(index >= count // 2 for index in found[start : start + 100]) for start in range(0, 1000, 100)]
        assert all(25 <= half <= 75 for half in halves), "each hundred has both halves of the grid"
