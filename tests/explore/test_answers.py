"""What the page is told is what everybody else is told: the same ends, rounded outward, by the same commands."""

from __future__ import annotations

import json
import math
import shlex
from decimal import Decimal
from typing import Any

import pytest

import tightrope as tr
from tightrope import result
from tightrope.cli.app import run as command_line
from tightrope.core.values.question import ARGUMENTS
from tightrope.explore import asked
from tightrope.explore.answers import KINDS, VIEWS, answer
from tightrope.explore.asked import TEXT_MAX

SGD = "Gaussian(sigma=1).poisson(rate=0.01) * 1000"
MIXED = "Laplace(scale=10) * 3 + Gaussian(sigma=5)"
RISK = {"prior": "0.1", "fpr": "0.001", "baseline": "1e-4", "delta": "1e-6"}
ASKED: dict[str, dict[str, Any]] = {
    "epsilon": {"delta": "1e-5"},
    "delta": {"epsilon": "1"},
    "curve": {"from": 0, "to": 3},
    "steps": {"delta": "1e-5"},
    "tradeoff": {},
    "risk": RISK,
    "compare": {"delta": "1e-5"},
}


def points(found: object) -> list[dict[str, Any]]:
    """Everything with two ends, wherever it stands."""
    if isinstance(found, dict):
        inside = [each for value in found.values() for each in points(value)]
        return [found, *inside] if "lowText" in found else inside
    return [each for value in found for each in points(value)] if isinstance(found, list) else []


def end(value: float | str) -> Decimal:
    return Decimal(str(value)) if isinstance(value, str) else Decimal(value)


@pytest.mark.parametrize("stage", ["first", "fine"])
@pytest.mark.parametrize("text", [SGD, MIXED, "ApproximateDP(epsilon=1, delta=0.01) * 3"])
@pytest.mark.parametrize("kind", VIEWS)
def test_texts_are_rounded_outward(kind: str, text: str, stage: str) -> None:
    found = answer({"kind": kind, "text": text, "stage": stage, **ASKED[kind]})
    assert "error" not in found
    shown = points(found)
    assert shown
    for each in shown:
        assert Decimal(each["lowText"]) <= end(each["low"]) <= end(each["high"]) <= Decimal(each["highText"])
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("text", [SGD, MIXED])
def test_ends_are_those_of_the_mechanism(text: str) -> None:
    run = tr.parse(text)
    found = answer({"kind": "epsilon", "text": text, "delta": "1e-5"})
    bound = run.epsilon(1e-5)
    assert (found["low"], found["high"]) == (bound.lower, bound.upper)
    curve = answer({"kind": "curve", "text": text, "from": 0, "to": 3, "pins": [0.123, 99]})["points"]
    places = [each["x"] for each in curve]
    assert 0.123 in places
    assert 99 not in places
    assert len(places) == 62
    bounds = run.curve(epsilons=places).bounds
    assert [(each["low"], each["high"]) for each in curve] == [(each.lower, each.upper) for each in bounds]


def test_places_read_as_people_write_them() -> None:
    curve = answer({"kind": "curve", "text": "Gaussian(sigma=1)", "from": 0.3, "to": 1.5})["points"]
    assert [each["xText"] for each in curve][:4] == ["0.3", "0.32", "0.34", "0.36"]


def test_hits_are_the_complement_of_misses() -> None:
    found = answer({"kind": "tradeoff", "text": "Laplace(scale=2)"})
    for missed, hit in zip(found["points"], found["hits"], strict=True):
        assert hit["low"] <= 1 - missed["low"]
        assert hit["high"] >= 1 - missed["high"]
        exact = tr.Laplace(scale=2).tradeoff(missed["x"])
        assert missed["low"] <= exact.upper
        assert missed["high"] >= exact.lower


def test_a_training_run_goes_by_epochs_and_others_by_uses() -> None:
    epochs = answer({"kind": "steps", "text": "training(records=600, batch=60, epochs=4, sigma=2)", "delta": 1e-5})
    assert [(each["x"], each["epoch"]) for each in epochs["points"]] == [(10, 1), (20, 2), (30, 3), (40, 4)]
    uses = answer({"kind": "steps", "text": "Laplace(scale=5) * 7", "delta": 1e-5})
    assert [each["x"] for each in uses["points"]] == [1, 2, 3, 4, 5, 6, 7]
    assert uses["unit"] == "uses of Laplace(scale=5.0)"
    again = answer({"kind": "steps", "text": MIXED, "delta": 1e-5})
    assert again["unit"] == "times the whole run"
    last = (tr.parse(MIXED) * 10).epsilon(1e-5)
    assert again["points"][-1]["low"] <= last.upper
    assert again["points"][-1]["high"] >= last.lower


@pytest.mark.parametrize(
    "question",
    [
        {"kind": "epsilon", "text": SGD, "delta": "1e-5"},
        {"kind": "delta", "text": " Laplace(scale=2,\n name='it\\'s') ", "epsilon": "0.25"},
        {"kind": "epsilon", "text": "--1 * Gaussian(sigma=1)", "delta": "1e-5"},
        {"kind": "curve", "text": SGD, "from": 0, "to": 3},
        {"kind": "curve", "text": "+1 * Gaussian(sigma=1)", "from": 0.1, "to": 0.4, "pins": [0.2]},
        {"kind": "curve", "text": SGD, "from": 0.1, "to": 0.4, "pins": ["0.2345"]},
        {"kind": "tradeoff", "text": "Gaussian(sigma=2)"},
        {"kind": "risk", "text": "Laplace(scale=2)", **RISK},
        {"kind": "compare", "text": "Laplace(scale=2) * 3", "delta": "1e-5"},
        {"kind": "calibrate", "text": "Gaussian(sigma=?) * 3", "epsilon": "2", "delta": "1e-6"},
        {"kind": "calibrate", "text": "Gaussian(sigma=20, name='a?{b}') * ?", "epsilon": "2", "delta": "1e-6"},
    ],
    ids=lambda question: f"{question['kind']}-{question['text'][:20].strip()}",
)
def test_the_command_and_python_say_the_same(question: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """The command that is copied, run as a user would, and the Python that is copied, have the digits of the page."""
    found = answer(question)
    name, *arguments = shlex.split(found["command"])
    assert name == "tightrope"
    assert command_line(arguments) == 0
    printed = capsys.readouterr().out
    exec(compile(found["python"], "copied", "exec"), {})
    python = capsys.readouterr().out
    if question["kind"] in ("epsilon", "delta"):
        told = f"[{found['lowText']}, {found['highText']}]"
        assert told in printed
        assert told in python
    elif question["kind"] == "curve":
        rows = [tuple(map(float, line.split(","))) for line in printed.splitlines()[1:]]
        assert rows == [(each["x"], each["low"], each["high"]) for each in found["points"]]
    elif question["kind"] == "calibrate":
        assert f"{found['parameter']} = {found['valueText']}" in printed
        assert f"{found['parameter']} = {found['value']!r}" in python
        filled = tr.parse(found["text"]).epsilon(1e-6)
        assert filled.upper <= 2.0
    elif question["kind"] == "risk":
        shown = " ".join(printed.split())
        assert all(" ".join(row["sentence"].split()) in shown for row in found["rows"])
        assert all(" ".join(row["sentence"].split()) in " ".join(python.split()) for row in found["rows"])
    else:
        assert printed
        assert python


def test_a_calibration_names_what_meets_and_what_misses() -> None:
    found = answer({"kind": "calibrate", "text": "Gaussian(sigma=?)", "epsilon": "1", "delta": "1e-6"})
    assert found["high"] <= 1.0 < found["missed"]["low"]
    assert tr.parse(found["text"]) == tr.Gaussian(sigma=found["value"])
    assert json.loads(found["json"])["quantity"] == "calibration"


def test_a_document_holds_the_answers_and_is_read_again() -> None:
    questions = [{"kind": "curve", "text": text, "from": 0, "to": 1, "points": 3} for text in (SGD, MIXED)]
    found = answer({"kind": "document", "questions": [*questions, {"kind": "risk", "text": MIXED, **RISK}]})
    results = result.read(found["json"])
    assert len(results) == 3 + 3 + 6
    assert [each.bound for each in results[:3]] == list(tr.parse(SGD).curve(start=0, stop=1, points=3).bounds)
    assert all(each.quantity in ARGUMENTS for each in results)


def test_every_part_of_a_document_has_the_time_of_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hard run leaves the others what they would have alone."""
    monkeypatch.setattr(asked, "SECONDS", 0.5)
    hard = {"kind": "epsilon", "text": "training(records=600, batch=60, epochs=4, sigma=1.1, sampling='allocated')"}
    found = result.read(answer({"kind": "document", "questions": [{**hard, "delta": 1e-5}] * 2})["json"])
    alone = tr.parse(hard["text"]).epsilon(1e-5, seconds=0.5)
    assert alone.upper > tr.parse(hard["text"]).epsilon(1e-5, seconds=1.0).upper, "it is hard"
    assert [each.bound for each in found] == [alone] * 2


def test_a_report_is_a_whole_page() -> None:
    found = answer({"kind": "report", "text": "Laplace(scale=2)", **RISK})
    assert found["html"].startswith("<!DOCTYPE html>")
    (told,) = result.read(found["json"])
    assert told.bound == tr.Laplace(scale=2).epsilon(1e-6)


@pytest.mark.parametrize(
    ("question", "says", "column"),
    [
        ({"kind": "epsilon", "text": "Gaussian(sigm=1)", "delta": 1e-5}, "did you mean sigma?", 1),
        ({"kind": "read", "text": "Gaussian(sigma=1) + Laplce(scale=1)"}, "did you mean Laplace?", 21),
        ({"kind": "read", "text": ""}, "the expression is empty", 1),
        ({"kind": "read", "text": "x" * (TEXT_MAX + 1)}, "at most 10,000 characters", None),
        ({"kind": "read", "text": 7}, "text must be an expression", None),
        ({"kind": "read", "text": "__import__('os').system('id')"}, "unknown transformation", None),
        ({"kind": "read", "text": "(" * 5000}, "nested", None),
        ({"kind": "epsilon", "text": "Gaussian(sigma=?)", "delta": 1e-5}, "? is a number to be found", None),
        ({"kind": "calibrate", "text": "Gaussian(sigma=1)", "epsilon": 1, "delta": 1e-5}, "nothing to calibrate", 1),
        ({"kind": "epsilon", "text": SGD, "delta": "nan"}, "delta must be a number", None),
        ({"kind": "epsilon", "text": SGD, "delta": "1_0"}, "delta must be a number", None),
        ({"kind": "epsilon", "text": SGD, "delta": [1]}, "delta must be a number", None),
        ({"kind": "epsilon", "text": SGD, "delta": True}, "delta must be a number", None),
        ({"kind": "epsilon", "text": SGD, "delta": 2}, "delta must", None),
        ({"kind": "epsilon", "text": SGD}, "delta must be a number", None),
        ({"kind": "curve", "text": SGD, "from": 3, "to": 1}, "start must lie below stop", None),
        ({"kind": "curve", "text": SGD, "to": "inf"}, "stop", None),
        ({"kind": "curve", "text": SGD, "points": 1000}, "points must be a whole number from 2 to 240", None),
        ({"kind": "curve", "text": SGD, "points": "inf"}, "points must be a whole number", None),
        ({"kind": "epsilon", "text": SGD, "delta": 10**400}, "delta must be a number", None),
        ({"kind": "read", "text": "Gaussian(sigma=1)" + ".poisson(rate=0.9)" * 101}, "transformations in a row", 1),
        ({"kind": "curve", "text": SGD, "points": 2.5}, "points must be a whole number", None),
        ({"kind": "curve", "text": SGD, "pins": list(range(99))}, "pins must be a list of at most 20", None),
        ({"kind": "epsilon", "text": "Histograms(a='/etc/passwd', b=[1, 2])", "delta": 1e-5}, "--files FOLDER", None),
        ({"kind": "document", "questions": [{"kind": "report"}]}, "a document holds", None),
        ({"kind": "document", "questions": []}, "1 to 8 questions", None),
        ({"kind": "document", "questions": [7]}, "1 to 8 questions", None),
        ({"kind": "document"}, "1 to 8 questions", None),
        ({"kind": "nothing"}, "the page asks for", None),
        ({"kind": 3}, "kind must be a word", None),
        ({}, "the page asks for", None),
    ],
    ids=lambda each: str(each)[:70],
)
def test_what_cannot_be_answered_is_refused_in_a_line(question: dict[str, Any], says: str, column: int | None) -> None:
    found = answer(question)
    assert says in found["error"]
    assert "\n" not in found["error"]
    assert column is None or found["column"] == column


def test_files_are_named_where_they_are_allowed(tmp_path: Any) -> None:
    (tmp_path / "a.csv").write_text("count\n900\n100\n")
    text = "Histograms(a='a.csv', b=[880, 120])"
    assert "error" in answer({"kind": "epsilon", "text": text, "delta": 1e-5})
    found = answer({"kind": "epsilon", "text": text, "delta": 1e-5}, str(tmp_path))
    assert found["low"] <= found["high"]
    assert "error" in answer({"kind": "read", "text": "Histograms(a='../x.csv', b=[1, 2])"}, str(tmp_path))


def test_infinite_ends_are_words() -> None:
    found = answer({"kind": "epsilon", "text": "ApproximateDP(epsilon=1, delta=0.5)", "delta": "1e-5"})
    assert found["high"] == "inf"
    assert found["highText"] == "inf"
    assert float(found["low"]) == math.inf


def test_every_kind_is_asked_here() -> None:
    assert {*KINDS} == {"menu", "read", *ASKED, "calibrate", "audit", "report"}
