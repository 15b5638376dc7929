"""tightrope loss: numbers, JSON and pictures."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import tightrope as tr
from tightrope import result
from tightrope.cli.app import run

RESULT = Draft202012Validator(json.loads(files("tightrope").joinpath("schema/result.json").read_text("utf-8")))


def test_readings_in_the_order_of_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["loss", "RandomizedResponse(p=0.75) * 2", "--pdp", "0", "--quantile", "0.3", "--at=-1"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("  ")]
    assert [line.split(" in ")[0] for line in lines] == ["loss_cdf", "loss_quantile", "pdp"]
    assert lines[0].endswith("at t -1 (replace)")
    assert lines[2].startswith("pdp in [0.5625")


def test_the_median_and_the_last_hundredth_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["loss", "ApproximateDP(epsilon=0.5, delta=0.05) * 3"]) == 0
    out = capsys.readouterr().out
    assert "at p 0.5" in out
    assert "loss_quantile in [inf, inf] at p 0.99" in out
    assert "note: the loss is infinite too often" in out


def test_a_loss_of_a_dominating_pair_is_not_called_an_upper_bound(capsys: pytest.CaptureFixture[str]) -> None:
    # Two candidates with equal scores: P[loss > 0.5] = 1 - e^-0.5/2, above that of the pair, 1 - e^-0.25/2.
    assert run(["loss", "NoisyMax(scale=2)", "--pdp", "0.5"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("pdp in [0.6105")
    assert "may be large more often" in out
    assert "may lose less" not in out + str(tr.NoisyMax(scale=2).pdp(0.5).certificate)


def test_json_holds_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--at=-0.5", "--quantile=0", "--quantile=0.01", "--pdp=-0.25", "--direction", "add", "--json"]
    assert run(["loss", "Laplace(scale=1) * 2", *asked]) == 0
    text = capsys.readouterr().out
    RESULT.validate(json.loads(text))
    found = result.read(text)
    assert [each.quantity for each in found] == ["loss_cdf", "loss_quantile", "loss_quantile", "pdp"]
    assert found[1].bound.upper == float("-inf")
    assert found[2].bound.upper < 0.0


def test_a_wide_picture_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    asked = ["--bins", "5", "--seconds", "0.01", "--plot", str(tmp_path / "loss.png"), "--direction", "remove"]
    assert run(["loss", "TruncatedLaplace(scale=200, bounds=[-2500, 2500]) * 512", *asked]) == 0
    told = capsys.readouterr()
    assert "0 atoms" in told.out
    assert "wide at some bins: time ran out" in told.err
    assert "--seconds" in told.err


def test_a_picture(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "loss.svg"
    assert run(["loss", "PureDP(epsilon=0.5) * 2", "--bins", "8", "--plot", str(path)]) == 0
    assert path.read_text("utf-8").startswith("<?xml")
    assert "remove: 8 bins" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", [["--at", "nan"], ["--quantile", "2"], ["--pdp", "nan"], ["--plot", "loss.txt"]])
def test_what_is_wrong_takes_one_line(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["loss", "PureDP(epsilon=1)", *wrong]) == 2
    assert capsys.readouterr().err.count("\n") == 1
