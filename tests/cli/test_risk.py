"""tightrope risk: the page, and JSON that obeys its schema."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import tightrope as tr
from tightrope import result
from tightrope.cli.app import run

EXPRESSION = "Gaussian(sigma=2) * 3"


def test_it_prints_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["risk", EXPRESSION, "--prior", "0.5", "--fpr", "0.01"]) == 0
    assert capsys.readouterr().out.rstrip("\n") == str(tr.parse(EXPRESSION).risk(prior=0.5, fpr=0.01))


def test_it_draws_a_picture(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["risk", "PureDP(epsilon=1)", "--plot", str(tmp_path / "risk.svg")]) == 0
    assert (tmp_path / "risk.svg").read_text("utf-8").startswith("<?xml")
    assert run(["risk", "PureDP(epsilon=1)", "--plot", "risk.txt"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_json_has_results_and_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["risk", EXPRESSION, "--json", "--proof"]) == 0
    text = capsys.readouterr().out
    document = json.loads(text)
    Draft202012Validator(json.loads(files("tightrope").joinpath("schema/result.json").read_text("utf-8"))).validate(
        document
    )
    found, expected = result.read(text), tr.parse(EXPRESSION).risk(proof=True)
    assert [each.bound for each in found] == [row.bound for row in expected.rows]
    assert document["sentences"] == [row.sentence for row in expected.rows]
    assert document["not_covered"] == list(expected.not_covered)
    assert all(each.bound.certificate.arithmetic == "ball" for each in found if each.bound.certificate is not None)


def test_what_is_wrong_takes_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["risk", EXPRESSION, "--prior", "2"]) == 2
    assert run(["risk", "Gaussian()"]) == 2
    assert capsys.readouterr().err.count("\n") == 2


def test_the_page_is_as_narrow_as_asked() -> None:
    found = tr.parse(EXPRESSION).risk()
    assert max(map(len, found.page(80).splitlines())) <= 80
    assert found.page(80).split() == str(found).split()
