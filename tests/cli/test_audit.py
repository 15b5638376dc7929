"""tightrope audit: what a shell gives, and what comes out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tightrope as tr
from tightrope.cli.app import run

COUNTS = ["audit", "--one-run", "--guesses", "1000", "700", "640", "--delta", "1e-5"]


@pytest.fixture
def scores(tmp_path: Path) -> str:
    path = tmp_path / "scores.csv"
    rows = [f"{index * 7919 % 400 + 300 * (index % 2)},{index % 2}" for index in range(400)]
    path.write_text("\n".join(["score,member", *rows]) + "\n", "utf-8")
    return str(path)


def test_counts_and_a_claim_of_two_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*COUNTS, "--claim", "1", "1e-5"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("At least epsilon 2.14105 at delta 1e-05, with 95 % confidence")
    assert "The claim (1, 1e-05) is REFUTED at level 5 %" in told.replace("\n  ", " ")
    assert "What it rests on" in told


def test_json_is_what_python_gives_and_is_verified(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run([*COUNTS, "--json", "--date", "2026-11-16"]) == 0
    text = capsys.readouterr().out
    found = tr.audit(design="one-run", guesses=(1000, 700, 640), delta=1e-5).document()
    assert {**json.loads(text), "seconds": 0}.items() >= {**json.loads(json.dumps(found)), "seconds": 0}.items()
    path = tmp_path / "audit.json"
    path.write_text(text, "utf-8")
    assert run(["verify", str(path)]) == 0
    assert "2 proved, 0 refuted, 0 not checkable" in capsys.readouterr().out


@pytest.mark.parametrize("design", ["--runs", "--one-run", "--random-split"])
def test_files(design: str, scores: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", scores, design, "--delta", "1e-5", "--claim", "Gaussian(sigma=1)"]) == 0
    told = capsys.readouterr().out
    assert "At least epsilon" in told
    assert "The claim Gaussian(sigma=1.0)" in told


def test_options_go_on(scores: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--rank", "20", "--rank", "40", "--level", "0.99", "--seed", "4", "--tail", "both", "--sides", "both"]
    assert run(["audit", scores, "--one-run", "--delta", "1e-5", "--json", *options]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["level"] == 0.99
    assert document["settings"]["seed"] == 4
    assert [test["rank"] for test in document["tests"]] == [20, 40, 20, 40]
    assert run(["audit", scores, "--runs", "--delta", "0", "--stopping", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["method"] == "E1"
    counts = ["--guesses", "100", "20", "19", "--in-only", "--coin", "0.3"]
    assert run(["audit", "--one-run", *counts, "--delta", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tests"][0]["sides"] == "in"


def test_a_flag_that_is_not_given_says_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scores.csv"
    rows = [f"{place % 7},{place % 2}" for place in range(99)]
    path.write_text("\n".join(["score,member", *rows, "nan,1", ""]), "utf-8")
    command = ["audit", str(path), "--one-run", "--delta", "1e-5", "--json"]
    assert run(command) == 2
    assert "NaN" in capsys.readouterr().err
    for flag, neighbours in (("", "add_remove"), ("--replaced", "replace")):
        assert run([*command, "--nan-lowest", *flag.split()]) == 0
        assert json.loads(capsys.readouterr().out)["settings"]["neighbours"] == neighbours


def test_a_picture(scores: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "p.svg"
    assert run(["audit", scores, "--runs", "--delta", "1e-5", "--plot", str(picture)]) == 0
    assert picture.stat().st_size > 1000
    assert run(["audit", scores, "--runs", "--delta", "1e-5", "--plot", "p.txt"]) == 2
    assert "png, pdf, svg" in capsys.readouterr().err


def test_a_list_without_a_coin(scores: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", scores, "--members", "--delta", "1e-5"]) == 0
    told = capsys.readouterr().out.replace("\n  ", " ")
    assert "They bound no epsilon" in told
    assert "Neither an epsilon nor a claim was audited." in told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--guesses", "10", "5", "5", "--delta", "0"], "say what was decided by chance: --runs"),
        (["--one-run", "--guesses", "10", "5", "5"], "audit needs delta"),
        (
            ["--one-run", "--guesses", "10", "5", "5", "--claim", "1"],
            "or an epsilon and a delta",
        ),
        (["--one-run", "--guesses", "10", "5", "5", "0.1"], "one file is audited"),
        (["--one-run", "a.csv", "b.csv", "--delta", "0"], "one file is audited, not a.csv, b.csv"),
        (["--one-run", "nowhere.csv", "--delta", "0"], "nowhere.csv: cannot be opened"),
        (["--one-run", "--guesses", "10", "5", "6", "--delta", "0"], "v <= r <= m"),
    ],
)
def test_bad_input(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", *arguments]) == 2
    assert told in capsys.readouterr().err
