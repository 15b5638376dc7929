"""`tightrope calibrate` with every kind of target."""

from __future__ import annotations

import json
from importlib.resources import files

import jsonschema
import pytest

from tightrope.cli.app import run
from tightrope.cli.calibrate import TARGETS, option_of
from tightrope.core.planning.calibration import Limits

SCHEMA = json.loads(files("tightrope").joinpath("schema/calibration.json").read_text())


def test_every_keyword_of_a_target_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(TARGETS) == list(Limits.__annotations__)
    assert run(["calibrate", "--help"]) == 0
    told = capsys.readouterr().out
    assert all(f"{option_of(name)} " in told for name in TARGETS)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--advantage", "0.1"], "advantage in [0.0999"),
        (["--tpr", "0.05", "--fpr", "0.01"], "] at fpr 0.01"),
        (["--mu", "1"], "mu in [0.9999"),
        (["--rho", "0.5"], "rho in [0.4999"),
        (["--rho", "0.5", "--order-most", "8"], "] up to order 8"),
        (["--bayes-accuracy", "0.6", "--prior", "0.5"], "] at prior 0.5"),
        (["--posterior", "0.2", "--prior", "0.1", "--fpr", "0.001"], "] at prior 0.1 and fpr 0.001"),
        (["--reconstruction", "0.01", "--baseline", "0.0001"], "] at baseline 0.0001"),
        (["--renyi", "0.1", "--order", "8"], "] at order 8"),
        (["--mean-loss", "0.1"], "mean loss in [0.0999"),
    ],
)
def test_the_answer_tells_its_reading(options: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["calibrate", "Gaussian(sigma=?) * 10", *options]
    assert run(arguments) == 0
    first, second, _ = capsys.readouterr().out.splitlines()
    assert first.startswith("sigma = ")
    assert told in first
    assert second.endswith(f"above {options[1]}")
    assert run([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, SCHEMA)
    names = [each.removeprefix("--").replace("-", "_") for each in options[::2]]
    assert [document[name] for name in names] == [float(each) for each in options[1::2]]


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("NoisyMax(scale=?) * 5", ": for what real neighbours lose, ask tpr of the mechanism itself"),
        ("SparseVector(20, ?)", "; the mechanism itself may lose less"),
    ],
)
def test_a_search_speaks_of_the_dominating_pair(expression: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["calibrate", expression, "--tpr", "0.4", "--fpr", "0.1"]) == 0
    note = capsys.readouterr().out.splitlines()[2]
    assert note == f"  note: each end is that of the dominating pair, also of what misses it{told}"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "such as --epsilon 1 --delta 1e-6 or --advantage 0.1"),
        (["--epsilon", "1"], "epsilon needs delta: --epsilon ... --delta 1e-6"),
        (["--tpr", "0.1"], "tpr needs fpr: --tpr ... --fpr 0.01"),
        (["--bayes-accuracy", "0.7"], "--bayes-accuracy ... --prior 0.5"),
        (["--mu", "1", "--rho", "1"], "not mu and rho: leave out all but one"),
        (["--advantage", "1"], "promises nothing"),
        (["--mean-loss", "1", "--engine", "contour"], "leave out engine"),
    ],
)
def test_wrong_mixtures_are_told_in_one_line(options: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["calibrate", "Gaussian(sigma=?)", *options]) == 2
    seen = capsys.readouterr()
    assert seen.out == ""
    assert seen.err.startswith("tightrope: ")
    assert seen.err.count("\n") == 1
    assert told in seen.err
