"""The selftest finds what is wrong, and the line that it prints finds it again."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import tightrope as tr
from tightrope import documents
from tightrope.cli.app import run
from tightrope.core.accountant import Case
from tightrope.selftest import selftest
from tightrope.selftest.cases import drawn
from tightrope.selftest.judges import Ruling, judged
from tightrope.selftest.report import Selftest

SCHEMA = Draft202012Validator(json.loads(files("tightrope").joinpath("schema/selftest.json").read_text("utf-8")))
CHEAP = (0, 2, 6, 28)  # finite, mixed, finite, a sampled Gaussian


def test_answers_agree_with_all_judges() -> None:
    found = Selftest(1)
    for number in CHEAP:
        found = found.with_case(judged(drawn(1, number)), 0.5)
    assert not found.failures
    assert found.rulings("balls")[Ruling.AGREES] == 4
    assert found.rulings("enumeration")[Ruling.AGREES] == 2
    assert found.rulings("checker")[Ruling.AGREES] >= 3  # what takes it long depends on the machine
    assert found.widest.width < 1e-9
    page = str(found)
    assert page.startswith("4 cases of seed 1 in 0.500 s: no failure")
    assert all(each in page for each in ("refused:      0", "Python 3.", "numpy", "scipy", "python-flint"))
    SCHEMA.validate(json.loads(documents.write_dated(found.document())))


@pytest.fixture
def moved_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every lower end a little above the upper one that was proven: balls agree with each other, and are wrong."""
    certified = Case.certified

    def moved(self: Case, *given: Any) -> tr.Bound:
        bound = certified(self, *given)
        above = 1.0000001 * bound.upper
        return replace(bound, lower=above, upper=2.0 * above)

    monkeypatch.setattr(Case, "certified", moved)


@pytest.mark.usefixtures("moved_up")
def test_a_fault_is_found_and_its_line_finds_it_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["selftest", "--minutes", "0", "--seed", "1"]) == 1
    page = capsys.readouterr().out
    assert ": 1 failure" in page
    assert "enumeration: delta is at most" in page
    (again,) = re.findall(r"^    again: (tightrope .*)$", page, re.MULTILINE)
    assert run([*shlex.split(again)[1:], "--json", "--date", "2026-11-16"]) == 1
    document = documents.read(capsys.readouterr().out, "a selftest")
    SCHEMA.validate(document)
    (failure,) = document["failures"]
    assert f"FAILED case {failure['case']}: {failure['asked']} in [{failure['lower']!r}" in page
    assert failure["again"] == again
    assert failure["told"]["enumeration"] in page
    assert failure["told"]["checker"].startswith("lower end refuted")


def test_balls_that_do_not_meet_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tightrope.selftest.judges._asked", lambda *asked, proof, seconds: tr.Bound(*((0, 1), (2, 3))[proof])
    )
    opinion, *_ = judged(drawn(1, 1)).failures
    assert (opinion.judge, opinion.told) == ("balls", "in balls it is in [2.0, 3.0]")


def test_what_is_raised_is_a_failure_and_what_is_refused_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(error: Exception) -> None:
        def ask(*asked: Any, **options: Any) -> tr.Bound:
            raise error

        monkeypatch.setattr("tightrope.selftest.judges._asked", ask)

    raising(ZeroDivisionError("by what"))
    assert [each.told for each in judged(drawn(1, 1)).failures] == ["ZeroDivisionError: by what"]
    raising(tr.UnsupportedMechanism("not today"))
    found = selftest(minutes=0.0, seed=3, case=1)
    assert (found.refusals, found.failures) == (1, [])
    assert "refused:      1" in str(found)


def test_one_case_tells_what_each_judge_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["selftest", "--case", "6"]) == 0
    page = capsys.readouterr().out
    assert "case 6: epsilon in [" in page
    assert "    balls: agrees, in balls it is in [" in page
    assert "    enumeration: agrees, 9 outcomes agree" in page
    assert "    checker: agrees, lower end proved; upper end proved" in page


@pytest.mark.parametrize(
    "given", [("--minutes", "-1"), ("--minutes", "nan"), ("--minutes", "1e300"), ("--seed", "-1"), ("--case", "-2")]
)
def test_bad_input_takes_one_line(given: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["selftest", *given]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"tightrope: {given[0].strip('-')} must be ")
    assert captured.err.count("\n") == 1


def test_an_interrupt_tells_what_was_found(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(minutes: float, told: Callable[[Selftest], None], **given: Any) -> Selftest:
        told(selftest(0.0, seed=1, case=6))
        raise KeyboardInterrupt

    monkeypatch.setattr("tightrope.extend.selftesting.selftest", interrupted)
    assert run(["selftest"]) == 130
    shown = capsys.readouterr().out
    assert shown.startswith("1 case of seed 1 in ")
    assert "case 6: epsilon in [" in shown
