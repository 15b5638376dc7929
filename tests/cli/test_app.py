"""The command line: answers, JSON, files, and one line for everything that is wrong."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import pytest
from jsonschema import Draft202012Validator

import tightrope as tr
from tightrope import documents, result
from tightrope.cli.app import run

RESULT = Draft202012Validator(json.loads(files("tightrope").joinpath("schema/result.json").read_text("utf-8")))

# Balle, Wang 2018, Thm 8 at sigma = 1: Phi(1/2 - e) - exp(e) Phi(-1/2 - e) with mpmath at 50 digits, cut to 30.
DELTA_AT_0 = Decimal("0.382924922548026207275409221217")
DELTA_AT_1 = Decimal("0.126936737506643945800829624758")


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


class Shell:
    """Runs command lines in this process, with standard streams of their own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch = monkeypatch
        self.capsys = capsys

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Outcome:
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = run(arguments)
        return Outcome(code, *self.capsys.readouterr())


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


def process(arguments: Sequence[str], stdin: bytes = b"") -> Outcome:
    """A process of its own, as a user starts it."""
    done = subprocess.run(
        [sys.executable, "-m", "tightrope.cli", *arguments], input=stdin, capture_output=True, check=False
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_delta_prints_the_interval_then_how_it_came_about(shell: Shell) -> None:
    outcome = shell("delta", "Gaussian(sigma=1)", "--epsilon", "1")
    assert (outcome.code, outcome.err) == (0, "")
    first, second = outcome.out.splitlines()
    assert first.startswith("delta in [0.1269367375")
    assert first.endswith("at epsilon 1")
    assert "closed_form, float64, direction" in second
    assert second.endswith(" s")


def test_names_are_shown_wherever_there_is_an_answer(shell: Shell, tmp_path: Path) -> None:
    expression = "Gaussian(sigma=5, name='GM1') * 3 + PureDP(epsilon=0.1, name='it\\'s \"$x\" ?')"
    label = 'GM1 * 3 + it\'s "$x" ?'
    assert shell("delta", expression, "--epsilon", "1").out.splitlines()[1] == f"  of {label}"
    outcome = shell("epsilon", expression, "--delta", "1e-6", "--json")
    document = json.loads(outcome.out)
    RESULT.validate(document)
    assert document["certificate"]["label"] == label
    assert tr.parse(document["expression"]) == tr.parse(expression)
    assert (found := result.read(outcome.out)[0].bound.certificate) is not None
    assert found.label == label
    assert "of GM1 * 3 + it's" in shell("compare", expression, "--delta", "1e-6").out
    calibrated = shell("calibrate", "Gaussian(sigma=?, name='why?')", "--epsilon", "1", "--delta", "1e-5")
    assert ", name='why?'): epsilon in" in calibrated.out
    assert shell("curve", expression, "--points", "3", "--plot", str(tmp_path / "a.svg")).code == 0
    assert "$x" in (tmp_path / "a.svg").read_text("utf-8")
    assert shell("mechanisms").out.count("name=") == 1


DATED = {
    "epsilon": ("Gaussian(sigma=1)", "--delta", "1e-5"),
    "curve": ("Gaussian(sigma=1)", "--points", "2"),
    "calibrate": ("Gaussian(sigma=?)", "--epsilon", "1", "--delta", "1e-5"),
    "compare": ("Gaussian(sigma=1)", "--delta", "1e-5", "--method", "Renyi"),
    "convert": ("Gaussian(sigma=1)",),
    "risk": ("Gaussian(sigma=1)",),
    "tradeoff": ("Gaussian(sigma=1)", "--fpr", "0.1"),
    "train": ("--records", "1000", "--batch", "10", "--steps", "5", "--sigma", "1", "--delta", "1e-5"),
}


@pytest.mark.parametrize("command", DATED)
def test_documents_have_the_date_that_is_given(shell: Shell, command: str) -> None:
    asked = (command, *DATED[command], "--json", "--date")
    outcome = shell(*asked, "2026-11-16T18:00:00+01:00")
    document = documents.read(outcome.out, "a result")  # which looks at its digest
    assert (document["version"], document["date"]) == (tr.__version__, "2026-11-16T17:00:00Z")
    assert document["digest"].startswith("sha256:")
    refused = shell(*asked, "tomorrow")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("tightrope: date must be one such as")


def test_epsilon_answers_every_delta_in_order(shell: Shell) -> None:
    expression = "Gaussian(sigma=5) * 3 + Gaussian(sigma=8) * 5 + PureDP(epsilon=0.1)"
    outcome = shell("epsilon", expression, "--delta", "1e-6", "--delta", "1e-4")
    lines = outcome.out.splitlines()
    assert outcome.code == 0
    assert lines[0].startswith("epsilon in [2.0315893")
    assert lines[0].endswith("at delta 1e-06")
    assert lines[2].startswith("epsilon in [1.5258992")
    assert lines[2].endswith("at delta 0.0001")


def test_one_question_as_json(shell: Shell) -> None:
    outcome = shell("delta", "Gaussian(sigma=1)", "--epsilon", "1", "--json", "--proof")
    document = json.loads(outcome.out)
    RESULT.validate(document)
    assert document["schema"] == 1
    assert Decimal(document["lower"]) <= DELTA_AT_1 <= Decimal(document["upper"])
    assert document["upper"] - document["lower"] <= 1e-12
    assert document["epsilon"] == 1.0
    assert tr.parse(document["expression"]) == tr.Gaussian(sigma=1)
    assert document["certificate"]["arithmetic"] == "ball"


def test_several_questions_as_json(shell: Shell) -> None:
    outcome = shell("epsilon", "ApproximateDP(epsilon=1, delta=0.1)", "--delta", "0.2", "--delta", "0.05", "--json")
    document = json.loads(outcome.out)
    RESULT.validate(document)
    narrow, infinite = document["results"]
    assert (narrow["delta"], infinite["delta"]) == (0.2, 0.05)
    assert (infinite["lower"], infinite["upper"]) == ("inf", "inf")


def test_a_single_direction_is_noted(shell: Shell) -> None:
    for direction in ("add", "remove"):
        outcome = shell("delta", "Laplace(scale=2).poisson(rate=0.3)", "--epsilon", "0.06", "--direction", direction)
        assert f"direction {direction} only" in outcome.out
        assert (
            json.loads(
                shell(
                    "delta",
                    "Laplace(scale=2).poisson(rate=0.3)",
                    "--epsilon",
                    "0.06",
                    "--direction",
                    direction,
                    "--json",
                ).out
            )["direction"]
            == direction
        )


def test_the_expression_may_come_from_standard_input(shell: Shell) -> None:
    outcome = shell("delta", "-", "--epsilon", "1", stdin=b"Gaussian(\n  sigma=1\n)\n")
    assert outcome.code == 0
    assert outcome.out.startswith("delta in [0.1269367375")


def test_accuracy_not_reached_prints_the_bound_and_exits_3(shell: Shell) -> None:
    outcome = shell("delta", "Gaussian(sigma=1)", "--epsilon", "1", "--accuracy", "1e-30")
    assert outcome.code == 3
    assert outcome.out.startswith("delta in [0.1269367375")
    assert len(outcome.err.splitlines()) == 1
    assert "accuracy 1e-30" in outcome.err
    assert shell("delta", "Gaussian(sigma=1)", "--epsilon", "1", "--accuracy", "1e-9").code == 0


def test_accuracy_not_reached_in_json_still_obeys_the_schema(shell: Shell) -> None:
    outcome = shell("delta", "Gaussian(sigma=1)", "--epsilon", "1", "--epsilon", "2", "--accuracy", "1e-30", "--json")
    assert outcome.code == 3
    RESULT.validate(json.loads(outcome.out))


def test_curve_as_csv_on_standard_output(shell: Shell) -> None:
    outcome = shell("curve", "Gaussian(sigma=1)", "--from", "0", "--to", "2", "--points", "3")
    rows = list(csv.DictReader(io.StringIO(outcome.out)))
    assert [float(row["epsilon"]) for row in rows] == [0.0, 1.0, 2.0]
    assert Decimal(float(rows[0]["lower"])) <= DELTA_AT_0 <= Decimal(float(rows[0]["upper"]))
    assert Decimal(float(rows[1]["lower"])) <= DELTA_AT_1 <= Decimal(float(rows[1]["upper"]))
    assert shell("curve", "Gaussian(sigma=1)", "--to", "2", "--points", "3", "--csv", "-").out == outcome.out


def test_curve_into_files(shell: Shell, tmp_path: Path) -> None:
    table, picture = tmp_path / "curve.csv", tmp_path / "curve.png"
    arguments = ("curve", "Laplace(scale=1)", "--to", "2", "--points", "5", "--csv", str(table), "--plot", str(picture))
    outcome = shell(*arguments)
    assert outcome.code == 0
    assert str(table) in outcome.out
    assert str(picture) in outcome.out
    assert len(table.read_text().splitlines()) == 6
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_plots_in_other_formats(shell: Shell, tmp_path: Path, suffix: str) -> None:
    picture = tmp_path / f"curve.{suffix}"
    assert shell("curve", "PureDP(epsilon=0)", "--points", "2", "--plot", str(picture)).code == 0
    assert picture.stat().st_size > 1000


def test_curve_as_json(shell: Shell) -> None:
    document = json.loads(shell("curve", "Gaussian(sigma=1)", "--points", "4", "--json").out)
    RESULT.validate(document)
    assert [result["epsilon"] for result in document["results"]] == pytest.approx([0, 4 / 3, 8 / 3, 4])


def test_version_and_help(shell: Shell) -> None:
    assert tr.__version__ in shell("--version").out
    assert "Exit codes" in shell().out
    for command in ("epsilon", "delta", "curve"):
        outcome = shell(command, "--help")
        assert (outcome.code, outcome.err) == (0, "")
        assert f"tightrope {command} " in outcome.out


@pytest.mark.parametrize(
    "command, needed",
    [("epsilon", "--delta"), ("delta", "--epsilon"), ("renyi", "--order"), ("calibrate", "--epsilon")],
)
def test_help_shows_what_is_needed_first_and_the_settings_of_one_engine_last(
    shell: Shell, command: str, needed: str
) -> None:
    options = re.findall(r"^  (?:-h, )?(--[\w-]+)", shell(command, "--help").out, re.MULTILINE)
    assert options[0] == needed
    if command != "renyi":
        assert options[-6:-1] == ["--engine", "--factor", "--buckets", "--free-infinity", "--no-error-correction"]


def test_calibration_names_the_options_that_choose_a_part(shell: Shell) -> None:
    outcome = shell("calibrate", "RandomizedResponse(p=?)", "--epsilon", "1", "--delta", "1e-6")
    assert outcome.code == 2
    assert "give --least and --most between which it is" in outcome.err


def test_pictures_are_titled_by_names(shell: Shell, tmp_path: Path) -> None:
    expression = 'Gaussian(sigma=1.0, name="GM1") * 3'
    for command in (["curve", expression], ["loss", expression], ["compare", expression, "--delta", "1e-6"]):
        assert shell(*command, "--plot", str(tmp_path / "a.svg")).code == 0
        written = (tmp_path / "a.svg").read_text("utf-8")
        assert "<!-- GM1 * 3 -->" in written
        assert "sigma" not in written


GAUSSIAN = "Gaussian(sigma=1)"

BAD_EXPRESSIONS = {
    "sigma of 0": "Gaussian(sigma=0)",
    "sigma below 0": "Gaussian(sigma=-1)",
    "sigma nan": "Gaussian(sigma=nan)",
    "sigma inf": "Gaussian(sigma=inf)",
    "scale below 0": "Laplace(scale=-2)",
    "rate above 1": "Gaussian(sigma=1).poisson(rate=1.5)",
    "rate below 0": "Gaussian(sigma=1).poisson(rate=-0.5)",
    "negative count": "Gaussian(sigma=1) * -2",
    "fractional count": "Gaussian(sigma=1) * 2.5",
    "infinite count": "Gaussian(sigma=1) * inf",
    "parameter delta above 1": "ApproximateDP(epsilon=1, delta=1.1)",
    "unknown name": "Gausian(sigma=1)",
    "unknown keyword": "Gaussian(sgma=1)",
    "repeated keyword": "Gaussian(sigma=1, sigma=1)",
    "missing keyword": "Gaussian()",
    "unbalanced open": "Gaussian(sigma=1",
    "unbalanced close": "Gaussian(sigma=1))",
    "import": "__import__('os').system('true')",
    "attribute": "Gaussian(sigma=1).__class__",
    "lambda": "lambda: 0",
    "comprehension": "[Gaussian(sigma=1) for x in (1, 2)]",
    "empty": "",
    "blank": " \n ",
    "null byte": "Gaussian(sigma=1)\x00",
    "nested brackets": "(" * 10_000 + GAUSSIAN + ")" * 10_000,
    "nested lists": "[" * 10_000 + "]" * 10_000,
    "minus signs": "Gaussian(sigma=" + "-" * 10_000 + "1)",
    "leading minus signs": "-" * 10_000 + GAUSSIAN,
    "negative masses": "Finite(p=[1.5, -0.5], q=[0.5, 0.5])",
    "masses that sum to more": "Finite(p=[0.5, 0.6], q=[0.5, 0.5])",
    "masses that sum to less": "Finite(p=[0.5, 0.5], q=[0.5, 0.4])",
    "masses of two lengths": "Finite(p=[1], q=[0.5, 0.5])",
    "unknown of a calibration": "Gaussian(sigma=?)",
    "sum with a number": "Gaussian(sigma=1) + 1",
    "product of mechanisms": "Gaussian(sigma=1) * Gaussian(sigma=1)",
    "huge power": "Gaussian(sigma=9**9**9)",
    "10 MB of text": "Gaussian(sigma=1) + " * 500_000,
    "10 MB of brackets": "(" * 10_000_000,
}

BAD_QUESTIONS = {
    "no command": ("frobnicate",),
    "unknown option": ("--frobnicate",),
    "no expression": ("epsilon",),
    "no delta": ("epsilon", GAUSSIAN),
    "no epsilon": ("delta", GAUSSIAN),
    "two expressions": ("delta", GAUSSIAN, GAUSSIAN, "--epsilon", "1"),
    "delta above 1": ("epsilon", GAUSSIAN, "--delta", "1.5"),
    "delta below 0": ("epsilon", GAUSSIAN, "--delta", "-1"),
    "delta nan": ("epsilon", GAUSSIAN, "--delta", "nan"),
    "delta inf": ("epsilon", GAUSSIAN, "--delta", "inf"),
    "delta no number": ("epsilon", GAUSSIAN, "--delta", "small"),
    "one of two deltas": ("epsilon", GAUSSIAN, "--delta", "0.1", "--delta", "2"),
    "epsilon nan": ("delta", GAUSSIAN, "--epsilon", "nan"),
    "unknown engine": ("delta", GAUSSIAN, "--epsilon", "1", "--engine", "steam"),
    "unknown direction": ("delta", GAUSSIAN, "--epsilon", "1", "--direction", "up"),
    "accuracy 0": ("delta", GAUSSIAN, "--epsilon", "1", "--accuracy", "0"),
    "accuracy nan": ("delta", GAUSSIAN, "--epsilon", "1", "--accuracy", "nan"),
    "curve backwards": ("curve", GAUSSIAN, "--from", "2", "--to", "1"),
    "curve from -inf": ("curve", GAUSSIAN, "--from", "-inf"),
    "comparison below 0": ("compare", GAUSSIAN, "--epsilon", "-1"),
    "calibration below 0": ("calibrate", "Gaussian(sigma=?)", "--epsilon", "-1", "--delta", "1e-6"),
    "curve to inf": ("curve", GAUSSIAN, "--to", "inf"),
    "curve of one point": ("curve", GAUSSIAN, "--points", "1"),
    "curve of too many points": ("curve", GAUSSIAN, "--points", "1000000000"),
    "plot as text": ("curve", GAUSSIAN, "--plot", "curve.txt"),
    "plot into nowhere": ("curve", GAUSSIAN, "--points", "2", "--plot", "/no/such/place/curve.png"),
    "csv into nowhere": ("curve", GAUSSIAN, "--points", "2", "--csv", "/no/such/place/curve.csv"),
}


def check_refusal(outcome: Outcome) -> None:
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("tightrope: ")
    assert len(outcome.err.splitlines()) == 1
    assert len(outcome.err) < 500
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("expression", BAD_EXPRESSIONS.values(), ids=BAD_EXPRESSIONS)
def test_bad_expressions_take_one_line_and_exit_2(shell: Shell, expression: str) -> None:
    check_refusal(shell("epsilon", expression, "--delta", "1e-6"))
    check_refusal(shell("epsilon", "-", "--delta", "1e-6", stdin=expression.encode()))


@pytest.mark.parametrize("arguments", BAD_QUESTIONS.values(), ids=BAD_QUESTIONS)
def test_bad_questions_take_one_line_and_exit_2(shell: Shell, arguments: tuple[str, ...]) -> None:
    check_refusal(shell(*arguments))


def test_what_no_engine_can_answer_takes_one_line_and_exits_2(shell: Shell) -> None:
    run = "Laplace(scale=1).poisson(rate=0.01) * 300"
    outcome = shell("epsilon", run, "--delta", "1e-6", "--engine", "closed_form")
    check_refusal(outcome)
    assert f"the engine closed_form cannot answer for {tr.parse(run)!r}: " in outcome.err


def test_bytes_that_are_no_text_are_refused(shell: Shell) -> None:
    check_refusal(shell("epsilon", "-", "--delta", "1e-6", stdin=b"\xff\xfe Gaussian"))


@pytest.mark.parametrize(
    "stdin", [b"(" * 10_000_000, b"-" * 10_000, b"Gausian(sigma=1)"], ids=["10 MB", "minus", "name"]
)
def test_a_process_of_its_own_refuses_in_one_line(stdin: bytes) -> None:
    check_refusal(process(("epsilon", "-", "--delta", "1e-6"), stdin))


def test_a_process_of_its_own_answers_without_colour_or_spinner() -> None:
    outcome = process(("delta", GAUSSIAN, "--epsilon", "1"))
    assert (outcome.code, outcome.err) == (0, "")
    assert "\x1b" not in outcome.out


def test_an_interrupt_exits_with_130_and_no_traceback(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tr.Gaussian, "epsilon", interrupted)
    outcome = shell("epsilon", GAUSSIAN, "--delta", "0.1")
    assert outcome.code == 130
    assert outcome.err.strip() == ""


def test_a_reader_that_went_away_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "tightrope.cli", "curve", GAUSSIAN]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_curve_at_epsilons_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["curve", "Laplace(scale=1)", "--epsilon", "0.25", "--epsilon", "1"]) == 0
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()] == ["epsilon", "0.25", "1.0"]
    assert run(["curve", "Laplace(scale=1)", "--epsilon", "1", "--epsilon", "0.25"]) == 2
    assert "rise" in capsys.readouterr().err
    assert run(["curve", "Laplace(scale=1)", "--epsilon", "1", "--to", "2"]) == 2
    assert "either epsilons" in capsys.readouterr().err


def test_an_infinite_epsilon_says_why(shell: Shell) -> None:
    outcome = shell("epsilon", "ApproximateDP(epsilon=0.5, delta=1e-5) * 3", "--delta", "1e-6")
    assert outcome.code == 0
    note = next(line for line in outcome.out.splitlines() if "note:" in line)
    assert "the loss is infinite with probability 2.99e-5 at least, above delta 1e-06" in note
    assert "every delta above 3.00e-5 has a finite epsilon" in note
    document = json.loads(shell("epsilon", "RandomizedResponse(p=1)", "--delta", "1e-6", "--json").out)
    assert "no delta below 1 is known to have a finite epsilon" in document["certificate"]["reason"]
    assert tr.parse("ApproximateDP(epsilon=0.5, delta=1e-5) * 3").epsilon(3.00e-5).upper < float("inf")
