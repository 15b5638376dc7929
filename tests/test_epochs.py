"""Epsilon after each epoch: rows that rise, are those of the run up to there, and print, pickle and plot."""

from __future__ import annotations

import json
import math
import pickle
import re
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import tightrope as tr
from tightrope import result
from tightrope.core.answers import epochs

SCHEMA = json.loads((Path(tr.__file__).parent / "schema" / "result.json").read_text("utf-8"))
RUN = tr.training(records=1000, batch=30, epochs=4, sigma=1.5)


def test_a_row_is_the_run_up_to_there() -> None:
    found = RUN.by_epoch(1e-5)
    assert [row.epoch for row in found.rows] == [1, 2, 3, 4]
    assert [row.steps for row in found.rows] == [math.ceil(Fraction(k * 1000, 30)) for k in (1, 2, 3, 4)]
    for k, row, part in zip((1, 2, 3, 4), found.rows, found.runs, strict=True):
        assert part == tr.training(records=1000, batch=30, epochs=k, sigma=1.5)
        alone = part.epsilon(1e-5)
        assert row.epsilon.lower <= alone.upper
        assert row.epsilon.upper >= alone.lower
        assert row.epsilon.width < 1e-4
    assert list(found)[1] == found[1] == (2.0, found.bounds[1])
    assert found[1:3].steps == found.steps[1:3]


@pytest.mark.parametrize(
    "given, rows, told",
    [
        ({"batch": 30, "steps": 80, "sigma": 1.5}, 50, [(1.0, 34), (2.0, 67), (2.4, 80)]),
        ({"batch": 30, "epochs": 2.5, "sigma": 1.5}, 50, [(1.0, 34), (2.0, 67), (2.5, 84)]),
        ({"batch": 30, "epochs": 0.5, "sigma": 1.5}, 50, [(0.5, 17)]),
        ({"batch": 30, "epochs": 0, "sigma": 1.5}, 50, [(0.0, 0)]),
        ({"batch": 30, "epochs": 10**6, "sigma": 1.5}, 2, [(500000.0, 16666667), (1e6, 33333334)]),
        ({"batch": 30, "epochs": 9, "sigma": 1.5}, 1, [(9.0, 300)]),
        ({"schedule": [(10, 1, 30), (5, 2, 150), (10, 3, 100)]}, 50, [(1.0, 15), (2.05, 25)]),
        ({"schedule": [(10, 1, 30), (8, 2, 150)]}, 50, [(1.0, 15), (1.5, 18)]),
    ],
)
def test_which_rows_there_are(given: dict[str, Any], rows: int, told: list[tuple[float, int]]) -> None:
    run = tr.training(records=1000, **given)
    found = run.by_epoch(1e-5, rows=rows)
    assert [(row.epoch, row.steps) for row in found.rows] == told
    assert [part.total_steps for part in found.runs] == list(found.steps)  # type: ignore[attr-defined]
    assert found.runs[-1] == run


def test_ends_rise_also_where_answers_do_not() -> None:
    """A later part bounds an earlier one from above, an earlier one a later one from below."""
    bounds = [tr.Bound(0.0, 3.0), tr.Bound(1.5, 2.0), tr.Bound(1.0, 5.0), tr.Bound(1.0, 4.0)]
    assert epochs.rising(bounds) == [tr.Bound(0, 2), tr.Bound(1.5, 2), tr.Bound(1.5, 4), tr.Bound(1.5, 4)]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 50])
def test_every_place_is_asked_once_the_ends_first(count: int) -> None:
    order = list(epochs.halved(count))
    assert sorted(order) == list(range(count))
    assert order[:2] == [count - 1, 0][: min(count, 2)]


def test_where_time_runs_out_there_are_fewer_rows_and_a_line() -> None:
    run = tr.training(records=10**6, batch=100, epochs=30, sigma=0.7, sampling="fixed")
    found = run.by_epoch(1e-7, seconds=0.01)
    assert 1 <= len(found) < found.wanted == 30
    assert f"{len(found)} of 30 rows: time ran out" in str(found)
    assert found.runs[-1] == run


def test_it_prints_pickles_and_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    run = RUN.named("MNIST")
    found = run.by_epoch(1e-5)
    assert str(found).splitlines()[:2] == ["epsilon at delta 1e-05 of MNIST", "epoch  steps  epsilon"]
    assert repr(found) == "<Epochs: 4 rows of epsilon at delta 1e-05 of MNIST>"
    assert "<td>134</td>" in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)) == found
    lines = found.to_csv().splitlines()
    assert lines[0] == "epoch,steps,lower,upper"
    assert lines[-1] == f"4.0,134,{found.bounds[-1].lower!r},{found.bounds[-1].upper!r}"
    stand_in = ModuleType("pandas")
    stand_in.DataFrame = dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", stand_in)
    assert list(found.to_frame()["steps"]) == list(found.steps)
    document = json.loads(result.epochs(found, 1.0))
    Draft202012Validator(SCHEMA).validate(document)
    assert document["steps"] == list(found.steps)
    assert [each.bound for each in result.read(json.dumps(document))] == list(found.bounds)
    assert tr.parse(document["results"][-1]["expression"]) == run


def test_a_picture_names_its_axes(tmp_path: Path) -> None:
    found = RUN.by_epoch(1e-5)
    (axes,) = found.plot(tmp_path / "epochs.png").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("epoch", "epsilon at delta 1e-05")
    assert axes.get_title("left") == repr(RUN)
    assert list(axes.lines[0].get_ydata()) == [bound.upper for bound in found.bounds]
    endless = tr.Epochs(1e-5, (1.0,), (3,), (RUN,), (tr.Bound(0.0, math.inf),))
    with pytest.raises(tr.InvalidParameter, match="more seconds"):
        endless.plot()


def test_a_delta_above_one_in_so_many_is_remarked_on() -> None:
    told = r"delta 0.01 is above 1/records, 0.001, .* commonly delta is at most 1/\(10 records\), 0.0001"
    for bound in (RUN.epsilon(0.01), RUN.epsilon([1e-5, 0.01])[1], RUN.by_epoch(0.01).bounds[-1]):
        certificate = bound.certificate
        assert certificate is not None
        assert re.search(told, str(certificate.parameters["remark"]))
        assert str(certificate.parameters["remark"]) in str(certificate)
    assert "note: delta 0.01 is above" in str(RUN.by_epoch(0.01))
    for bound in (RUN.epsilon(0.001), RUN.delta(1.0), RUN.expanded.epsilon(0.01)):
        assert "remark" not in bound.certificate.parameters  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "options, told",
    [({"rows": 0}, "rows must be"), ({"delta": 2.0}, "delta must"), ({"seconds": -1}, "seconds")],
)
def test_odd_questions_are_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=told):
        RUN.by_epoch(**{"delta": 1e-5, **options})
    with pytest.raises(tr.InvalidParameter, match="rows must be at most"):
        tr.training(records=10, batch=1, epochs=10**9, sigma=1).by_epoch(1e-5, rows=10**9)
    with pytest.raises(TypeError, match="did you mean delta"):
        RUN.by_epoch(dleta=1e-5)
