"""One run with every loader: its own answer each, its theorem, or why there is none."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import pytest

import tightrope as tr
from tightrope.core.mechanisms.training import LOADERS
from tightrope.core.planning.samplings import SamplingRow, Samplings, by_sampling

NAMES = [name for name in LOADERS if name not in ("any_order", "groups")]  # two that are others under another name
RUN: dict[str, Any] = {"records": 100, "batch": 20, "steps": 1, "sigma": 4.0}


@pytest.fixture(scope="module")
def found() -> Samplings:
    return by_sampling(1e-3, cap=40, seconds=60.0, **RUN)


def test_each_loader_has_a_row_with_its_own_answer(found: Samplings) -> None:
    assert [row.sampling for row in found] == NAMES
    assert found.rows[0].sampling == "poisson"
    for row in found:
        assert row.assumed == LOADERS[row.sampling].assumed
        assert (row.bound is None) == bool(row.refused)
        if row.run is not None:
            own: dict[str, Any] = {"cap": 40} if row.sampling == "truncated" else {}
            assert row.run == tr.training(**RUN, sampling=row.sampling, **own)
            assert row.relation is row.run.relation
            assert row.theorem
    assert sum(row.bound is not None for row in found) >= 4
    assert found.rows[0].bound == tr.training(**RUN).epsilon(1e-3)


def test_the_text_names_theorems_and_neighbours(found: Samplings) -> None:
    text = str(found)
    assert "epsilon at delta 0.001" in text
    assert text.count("theorem: ") + text.count("refused: ") == len(NAMES)
    assert "do not rank the loaders" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100
    rows = list(csv.DictReader(found.to_csv().splitlines()))
    assert [row["sampling"] for row in rows] == NAMES
    uppers = [float(row["upper"]) for row in rows if row["upper"]]
    assert uppers == [row.bound.upper for row in found if row.bound is not None]


def test_what_is_refused_says_why_and_the_others_answer() -> None:
    found = by_sampling(1e-3, seconds=60.0, accuracy=1e-3, **RUN)
    row = next(row for row in found if row.sampling == "truncated")
    assert row.bound is None
    assert "cap" in row.refused
    assert "refused: " in str(found)
    assert any(row.missed for row in found)  # no lower end is so close


def test_a_picture_has_arrows_where_there_is_no_upper_end(found: Samplings, tmp_path: Path) -> None:
    endless = SamplingRow("endless", "", found.rows[0].run, tr.Bound(1.0, math.inf))
    none = SamplingRow("none", "", None, None, "why")
    axes = Samplings(1e-3, (*found.rows, endless, none)).plot(tmp_path / "rows.png").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [*NAMES, "endless", "none"]
    assert ">" in {line.get_marker() for line in axes.lines}
    assert "refused" in {text.get_text() for text in axes.texts}


def test_several_records_of_a_user_are_told_in_each_row() -> None:
    row = SamplingRow("poisson", "", tr.training(**RUN, group=4), tr.Bound(1.0, 2.0))
    assert row.neighbours == "add or remove, up to 4"
    assert "for several records: Dong" in row.theorem
    sheet = Samplings(1e-3, (row,)).to_csv()
    assert "add or remove, up to 4" in sheet
    assert "](" not in sheet  # no links of a page
