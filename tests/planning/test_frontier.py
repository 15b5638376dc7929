"""Frontiers: rows that meet one target, as text, CSV and picture; time and refusals row by row."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tightrope as tr
from tightrope.core.planning.frontier import Frontier, FrontierRow, frontier

ASKED: dict[str, Any] = {"records": 1000, "batch": 20, "epochs": [2, 5, 25]}


def test_every_row_meets_the_target_and_its_neighbour_misses() -> None:
    told: list[str] = []
    found = frontier(2.0, 1e-4, told=told.append, **ASKED)
    assert (found.unknown, found.over, len(found)) == ("sigma", ("epochs",), 3)
    values = []
    for row in found:
        assert row.found is not None
        assert row.found.bound.upper <= 2.0
        assert row.found.missed is not None
        assert row.found.missed.bound.lower > 2.0
        assert row.found.mechanism == tr.training(
            records=1000, batch=20, sigma=row.found.value, epochs=row.given["epochs"]
        )
        values.append(row.found.value)
    assert values == sorted(values)
    assert told[1] == "the least sigma at epochs 5 (2 of 3)"
    lines = str(found).splitlines()
    assert lines[0] == "the least sigma for epsilon 2 at delta 0.0001, records=1000, batch=20"
    assert lines[2].split() == ["epochs", "sigma", "epsilon", "sigma", "that", "misses"]
    rows = list(csv.DictReader(found.to_csv().splitlines()))
    assert [float(row["sigma"]) for row in rows] == values
    assert [float(row["upper"]) for row in rows] == [row.found.bound.upper for row in found if row.found is not None]
    calibration = found.rows[0].found
    assert calibration is not None
    late = FrontierRow({"epochs": 2}, replace(calibration, missed=None, ended="time ran out"), late=True)
    axes = Frontier("sigma", ("epochs",), 2.0, 1e-4, (late, *found.rows[1:])).plot().axes[0]
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
    assert [list(line.get_xdata()) for line in hollow] == [[2]]  # type: ignore[arg-type]


def test_two_numbers_make_a_grid_and_a_curve_each(tmp_path: Path) -> None:
    grid = frontier(3.0, 1e-4, records=1000, epochs=[2, 8], batch=[10, 40])
    assert [dict(row.given) for row in grid] == [
        {"epochs": 2, "batch": 10},
        {"epochs": 2, "batch": 40},
        {"epochs": 8, "batch": 10},
        {"epochs": 8, "batch": 40},
    ]
    axes = grid.plot(tmp_path / "grid.png").axes[0]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["batch 10", "batch 40"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("epochs", "least sigma")
    assert (tmp_path / "grid.png").stat().st_size > 0


def test_a_row_that_cannot_be_met_says_why() -> None:
    found = frontier(0.5, 1e-4, records=1000, sigma=0.8, batch=[1, 500])
    first, last = found.rows
    assert first.found is not None
    assert last.found is None
    assert "epochs = 1 misses it" in last.refused
    assert "note" in str(found).splitlines()[2]
    assert "epochs = 1 misses it" in found.to_csv()


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ({"records": 1000, "batch": 20, "epochs": 5}, "several values"),
        ({"records": 1000, "batch": 20, "epochs": [5], "sigma": 1.0}, "none is left out"),
        ({"records": 1000, "epochs": [1, 2]}, "sigma, batch is left out"),
        ({"records": 1000, "batch": 20, "epochs": [5, 1]}, "must rise"),
        ({"records": 1000, "batch": 20, "epochs": []}, "must rise"),
        ({"records": 1000, "batch": 20, "epochs": list(range(1, 500))}, "at most"),
    ],
)
def test_what_is_no_frontier_is_refused(plan: dict[str, Any], told: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=told):
        frontier(1.0, 1e-4, **plan)
