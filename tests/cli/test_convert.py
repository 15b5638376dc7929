"""tightrope convert: one guarantee in every form, rows that are refused, and JSON that obeys its schema."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import tightrope as tr
from tightrope import result
from tightrope.cli.app import run

GAUSSIAN = "Gaussian(sigma=2) * 4"

MOMENTS = ("renyi", "mean_loss", "advantage")


def table(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["convert", *arguments]) == 0
    return capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[dict[str, Any], tuple[result.Result, ...]]:
    text = table(capsys, *arguments, "--json")
    found: dict[str, Any] = json.loads(text)
    schema = json.loads(files("tightrope").joinpath("schema/result.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(found)
    return found, result.read(text)


def test_every_form_of_one_gaussian(capsys: pytest.CaptureFixture[str]) -> None:
    """mu = 1: rho = 1/2, order/2, the mean loss 1/2 and the advantage erf(1/sqrt 8)."""
    _, answers = document(capsys, GAUSSIAN, "--delta", "1e-6", "--order", "3")
    exact = {"gdp": 1.0, "zcdp": 0.5, "renyi": 1.5, "mean_loss": 0.5, "advantage": math.erf(1 / math.sqrt(8.0))}
    assert [each.quantity for each in answers] == ["epsilon", "gdp", "gdp", "zcdp", "zcdp", *MOMENTS]
    for answer in answers[1:]:
        value = exact[answer.quantity]
        assert answer.bound.lower - 1e-15 <= value <= answer.bound.upper + 1e-15
        assert answer.bound.width < 1e-6
    assert answers[0].bound == tr.parse(GAUSSIAN).epsilon(1e-6)
    assert [each.arguments for each in answers[1:3]] == [{"delta_least": 0.0}, {"delta_least": 1e-6}]
    assert [each.arguments for each in answers[3:5]] == [{"order_most": math.inf}, {"order_most": 8.0}]


def test_the_table_says_what_a_row_is_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    text = table(capsys, "Gaussian(sigma=1).poisson(rate=0.01) * 1000", "--delta", "1e-6", "--order", "2")
    lines = text.splitlines()
    assert lines[0] == "Gaussian(sigma=1.0).poisson(rate=0.01) * 1000, in every form"
    assert lines[2].split("  ")[1] == "epsilon at delta 1e-06"
    assert "sampling does not help" in text
    assert "--delta-least asks" in text
    assert "--order-most asks" in text
    assert "delta_least=" not in text
    assert "mean privacy loss" in text


def test_what_is_infinite_is_none_with_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    text = table(capsys, "ApproximateDP(epsilon=1, delta=0.01)", "--direction", "add")
    assert text.count(" none ") == 13
    assert text.count("from order 1 on divergences are infinite") == 1  # said once for all orders
    assert "direction add only" in text
    found, answers = document(capsys, "ApproximateDP(epsilon=1, delta=0.01)")
    assert found["results"][0]["upper"] == "inf"
    assert answers[-1].bound.upper < 0.5


def test_bounds_that_end_do_not_say_that_the_mechanism_has_no_rho(capsys: pytest.CaptureFixture[str]) -> None:
    # A mechanism with these divergences may be Gaussian noise, which has a rho.
    assert run(["convert", "RenyiCurve(orders=[2, 4], divergences=[0.1, 0.2])", "--order", "2"]) == 0
    out = capsys.readouterr().out
    assert "there is none" not in out
    assert "none follows from the dominating pair" in out


def test_a_row_that_is_refused_ends_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: tr.Mechanism, **given: object) -> None:
        raise tr.UnsupportedMechanism("it is refused here")

    monkeypatch.setattr(tr.Mechanism, "gdp", refuse)
    text = table(capsys, GAUSSIAN)
    assert " refused " in text
    assert "    it is refused here" in text
    assert "advantage" in text
    found, answers = document(capsys, GAUSSIAN)
    assert [each["delta_least"] for each in found["refused"]] == [0.0, 1e-6]
    assert {each["why"] for each in found["refused"]} == {"it is refused here"}
    assert len(answers) == 12
    for name in ("epsilon", "zcdp", "renyi", "mean_loss", "advantage"):
        monkeypatch.setattr(tr.Mechanism, name, refuse)
    assert run(["convert", GAUSSIAN]) == 2
    assert "it is refused here" in capsys.readouterr().err


def test_what_is_wrong_takes_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", GAUSSIAN, "--delta", "2"]) == 2
    assert run(["convert", GAUSSIAN, "--order", "-1"]) == 2
    assert capsys.readouterr().err.count("\n") == 2


def test_lower_ends_say_what_they_speak_of(capsys: pytest.CaptureFixture[str]) -> None:
    assert "that of the dominating pair" in table(capsys, "Exponential(epsilon=0.2)", "--order", "2", "--delta", "0.1")
