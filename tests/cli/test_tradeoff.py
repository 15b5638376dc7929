"""tightrope tradeoff: sentences, tables, JSON and pictures."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tightrope import result
from tightrope.cli.app import run

RESULT = Draft202012Validator(json.loads(files("tightrope").joinpath("schema/result.json").read_text("utf-8")))
COIN = "RandomizedResponse(p=0.75, neighbours='add_remove')"  # misses 0.7 at a rate of 0.1, 0.25 at 0.25


def test_one_sentence_for_each_rate(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tradeoff", COIN, "--fpr", "0.1", "--fpr", "0"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("  ")]
    assert len(lines) == 2
    assert lines[0].startswith("At a false positive rate of 0.1 an attacker misses at least 0.69999")
    assert ", so finds at most 0.30000" in lines[0]
    assert "; the best one misses at most 0.70000" in lines[0]
    assert lines[1].startswith("At a false positive rate of 0 an attacker misses at least 1, so finds at most 0;")


def test_three_rates_by_default_and_one_direction_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tradeoff", COIN, "--direction", "remove"]) == 0
    out = capsys.readouterr().out
    for rate in ("0.001", "0.01", "0.1"):
        assert f"At a false positive rate of {rate} an attacker" in out
    assert out.count("note: direction remove only") == 3


def test_json_holds_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tradeoff", COIN, "--fpr", "0.25", "--json"]) == 0
    text = capsys.readouterr().out
    RESULT.validate(json.loads(text))
    (one,) = result.read(text)
    assert (one.quantity, dict(one.arguments)) == ("tradeoff", {"fpr": 0.25})
    assert 0.25 in one.bound
    assert run(["tradeoff", COIN, "--points", "4", "--csv", "-", "--json", "--direction", "add"]) == 0
    text = capsys.readouterr().out
    RESULT.validate(json.loads(text))
    assert [each.arguments["fpr"] for each in result.read(text)][::3] == [0.0, 1.0]


def test_tables(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    assert run(["tradeoff", COIN, "--fpr", "0.5", "--fpr", "0.25", "--csv", str(path)]) == 0
    assert [line.split(",")[0] for line in path.read_text().splitlines()] == ["fpr", "0.25", "0.5"]
    assert "At a false positive rate of 0.5" in capsys.readouterr().out
    assert run(["tradeoff", COIN, "--from", "1e-4", "--to", "0.01", "--points", "3"]) == 0
    head, first, *_, last = capsys.readouterr().out.splitlines()
    assert (head, first.split(",")[0], last.split(",")[0]) == ("fpr,lower,upper", "0.0001", "0.01")
    assert run(["tradeoff", COIN, "--csv", str(path)]) == 0
    assert capsys.readouterr().out.endswith(f"50 points: {path}\n")


def test_a_picture_shows_directions_that_differ(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "f.svg"
    assert run(["tradeoff", f"{COIN}.poisson(rate=0.5)", "--points", "6", "--plot", str(path)]) == 0
    assert "<!-- both, symmetric -->" in path.read_text("utf-8")
    assert capsys.readouterr().out.endswith(f"6 points: {path}\n")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--fpr", "1.5"], 2, "fpr must lie in [0, 1], not 1.5"),
        (["--from", "0.5", "--to", "0.1"], 2, "start must lie below stop"),
        (["--points", "1"], 2, "--points"),
        (["--plot", "f.gif"], 2, "png, pdf, svg"),
        (["--fpr", "0.1", "--accuracy", "1e-30", "--seconds", "0.05"], 3, "wider than the accuracy 1e-30"),
        (["--points", "4", "--accuracy", "1e-30"], 3, "wider than the accuracy 1e-30"),
    ],
)
def test_what_is_wrong_takes_one_line(
    arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tradeoff", "Gaussian(sigma=1)", *arguments]) == code
    told = capsys.readouterr().err
    assert words in told
    assert len(told.splitlines()) == 1
