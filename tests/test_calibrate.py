"""Calibration: the value meets the target, its neighbour is proven to miss it."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files

import jsonschema
import pytest
from click.testing import CliRunner

import tightrope as tr
from tightrope.cli.app import app
from tightrope.expression import parse_template

CASES = [
    ("Gaussian(sigma=?) * 10", 1.0, 1e-6),
    ("Gaussian(sigma=?).poisson(rate=0.01) * 1000", 3.0, 1e-6),
    ("Gaussian(sigma=2).poisson(rate=?) * 1000", 1.0, 1e-6),
    ("Gaussian(sigma=5) * ?", 3.0, 1e-6),
    ("Laplace(scale=?) * 10", 1.0, 0.0),
    ("PureDP(epsilon=?) * 100", 1.0, 1e-6),
    ("Gaussian(sigma=?, sensitivity=2) * 10**9", 1.0, 1e-6),
    ("Gaussian(sigma=100, sensitivity=?)", 1.0, 1e-6),
]


@pytest.mark.parametrize(("text", "epsilon", "delta"), CASES)
def test_value_meets_and_neighbour_misses(text: str, epsilon: float, delta: float) -> None:
    template = parse_template(text)
    most = 1.0 if template.parameter == "rate" else None
    found = tr.calibrate(
        template, epsilon=epsilon, delta=delta, parameter=template.parameter, integer=template.integer, most=most
    )
    assert found.bound.upper <= epsilon
    assert template(found.value).delta(epsilon).upper <= delta
    assert found.missed is not None
    assert found.missed.bound.lower >= epsilon
    assert template(found.missed.value).delta(epsilon).lower > delta
    distance = abs(found.missed.value - found.value)
    assert distance == 1 if template.integer else distance <= 1e-6 * found.value


def test_the_closed_form_of_laplace_is_found() -> None:
    found = tr.calibrate(lambda scale: tr.Laplace(scale=scale) * 10, epsilon=1.0, delta=0.0)
    assert 10.0 <= found.value <= 10.0 * (1 + 2e-6)


def test_a_rate_that_need_not_be_limited_is_one() -> None:
    found = tr.calibrate(
        lambda rate: tr.Gaussian(sigma=100.0).poisson(rate=rate), epsilon=1.0, delta=1e-6, parameter="rate", most=1.0
    )
    assert found.value == 1.0
    assert found.missed is None


def test_a_target_out_of_reach_names_the_parameter() -> None:
    with pytest.raises(tr.BracketNotFound, match="rate") as caught:
        tr.calibrate(
            lambda rate: tr.ApproximateDP(epsilon=0.1, delta=1e-3).poisson(rate=0.5) + tr.Gaussian(sigma=1 / rate),
            epsilon=1.0,
            delta=1e-6,
            parameter="rate",
            most=1.0,
        )
    assert caught.value.parameter == "rate"


def test_command_line() -> None:
    arguments = ["calibrate", "Gaussian(sigma=?) * 10", "--epsilon", "1", "--delta", "1e-6"]
    text = CliRunner().invoke(app, arguments)
    assert text.exit_code == 0
    assert text.output.startswith("sigma = ")
    document = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).output)
    schema = json.loads(files("tightrope").joinpath("schema/calibration.json").read_text())
    jsonschema.validate(document, schema)
    assert document["bound"]["upper"] <= 1.0 <= document["missed"]["lower"]


@pytest.mark.parametrize("text", ["Gaussian(sigma=1)", "Gaussian(sigma=_)", "? + 1", "Gaussian(sigma=?x)", ""])
def test_templates_that_are_none(text: str) -> None:
    with pytest.raises((tr.ExpressionError, tr.InvalidParameter)):
        parse_template(text)


@pytest.mark.parametrize(
    ("make", "most", "value"),
    [
        (lambda n: tr.Gaussian(sigma=1000.0) * n, 100, 100),
        (lambda n: tr.Gaussian(sigma=n, sensitivity=10.0), 50, 38),
        (lambda n: tr.Gaussian(sigma=n, sensitivity=1e3), None, 3731),
    ],
)
def test_whole_numbers_up_to_their_end(make: Callable[[float], tr.Mechanism], most: int | None, value: int) -> None:
    assert tr.calibrate(make, epsilon=1.0, delta=1e-5, integer=True, most=most).value == value
