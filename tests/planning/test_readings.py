"""Calibration to every reading: against closed forms, and each value by its own reading."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from importlib.resources import files
from statistics import NormalDist
from typing import Any

import jsonschema
import mpmath as mp
import pytest

import tightrope as tr
from tightrope import result
from tightrope.core.planning.goal import Goal
from tightrope.core.text.expressions import parse_template

SCHEMA = json.loads(files("tightrope").joinpath("schema/calibration.json").read_text())
Given = dict[str, Any]


def normal(share: float) -> float:
    """Phi^-1."""
    return NormalDist().inv_cdf(share)


def of_accuracy(accuracy: float, prior: float) -> float:
    """The sigma at which the best guess is right so often: one normal tail each side of the log odds."""
    odds = math.log((1.0 - prior) / prior)

    def right(sigma: float) -> mp.mpf:
        mu = 1 / mp.mpf(sigma)
        return prior * mp.ncdf(mu / 2 - odds / mu) + (1 - prior) * mp.ncdf(mu / 2 + odds / mu)

    return float(mp.findroot(lambda sigma: right(sigma) - accuracy, (0.5, 1.0)))


def gaussian(**given: float) -> float:
    """The sigma of one Gaussian that has this reading."""
    match given:
        case {"advantage": distance} | {"total_variation": distance}:
            return 1.0 / (2.0 * normal((1.0 + distance) / 2.0))
        case {"tpr": tpr, "fpr": fpr} | {"reconstruction": tpr, "baseline": fpr}:
            return 1.0 / (normal(tpr) - normal(fpr))
        case {"posterior": belief, "prior": prior, "fpr": fpr}:
            return 1.0 / (normal(belief * (1.0 - prior) * fpr / (prior * (1.0 - belief))) - normal(fpr))
        case {"bayes_accuracy": accuracy, "prior": prior}:
            return of_accuracy(accuracy, prior)
        case {"mu": mu}:
            return 1.0 / mu
        case {"rho": rho} | {"mean_loss": rho}:
            return 1.0 / math.sqrt(2.0 * rho)
        case {"renyi": divergence, "order": order}:
            return math.sqrt(order / (2.0 * divergence))
    raise AssertionError(given)


def laplace(**given: float) -> float:
    """The scale of one Laplace mechanism."""
    match given:
        case {"advantage": distance}:
            return -1.0 / (2.0 * math.log1p(-distance))
        case {"mu": mu}:  # 2 Phi^-1(1 - e^(-1/(2 scale))/2) = mu
            return -1.0 / (2.0 * math.log(2.0 * NormalDist().cdf(-mu / 2.0)))
        case {"rho": rho} | {"mean_loss": rho}:  # 1/scale - 1 + e^(-1/scale) = rho
            return float(1 / mp.findroot(lambda x: x - 1 + mp.exp(-x) - rho, math.sqrt(2.0 * rho)))
    raise AssertionError(given)


def contains(found: tr.Calibration, truth: float, tolerance: float = 1e-6) -> None:
    """The value meets, the value beside it is proven to miss, and the truth lies between."""
    target, missed = found.target, found.missed
    assert found.ended is None
    assert missed is not None
    assert found.bound.upper <= target.limit < missed.bound.lower
    low, high = sorted((found.value, missed.value))
    assert high - low <= tolerance * found.value
    assert low * (1.0 - 1e-9) <= truth <= high * (1.0 + 1e-9)
    assert f"{target.title} in {found.bound}" in str(found)
    assert pickle.loads(pickle.dumps(found)) == found


ONE_GAUSSIAN: list[Given] = [
    {"advantage": 0.1},
    {"advantage": 1e-9},
    {"advantage": 0.9999},
    {"total_variation": 0.5},
    {"bayes_accuracy": 0.6, "prior": 0.5},
    {"bayes_accuracy": 0.75, "prior": 0.3},
    {"bayes_accuracy": 0.92, "prior": 0.9},
    {"tpr": 0.05, "fpr": 0.01},
    {"tpr": 0.999, "fpr": 0.9},
    {"tpr": 0.0101, "fpr": 0.01},
    {"tpr": 1e-6, "fpr": 1e-9},
    {"posterior": 0.2, "prior": 0.1, "fpr": 0.001},
    {"reconstruction": 0.01, "baseline": 1e-4},
    {"mu": 0.3},
    {"mu": 1.0, "delta_least": 1e-6},
    {"rho": 0.5},
    {"rho": 0.01, "order_most": 32.0},
    {"mean_loss": 0.01},
    {"renyi": 0.1, "order": 8.0},
    {"renyi": 3.0, "order": 1.5},
]


@pytest.mark.parametrize("given", ONE_GAUSSIAN, ids=str)
def test_a_gaussian_has_the_closed_form(given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    bound = Goal._bound
    monkeypatch.setattr(Goal, "_bound", lambda *each: (asked.append(each), bound(*each))[1])
    found = tr.calibrate(lambda sigma: tr.Gaussian(sigma=sigma), target=tr.Target(**given))
    contains(found, gaussian(**given))
    assert len(asked) <= 12


@pytest.mark.parametrize("given", [{"advantage": 0.1}, {"mu": 0.5}, {"rho": 0.2}, {"mean_loss": 0.3}], ids=str)
def test_laplace_has_the_closed_form(given: Given) -> None:
    contains(tr.calibrate(lambda scale: tr.Laplace(scale=scale), target=tr.Target(**given)), laplace(**given))


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("Gaussian(sigma=?).poisson(rate=0.01) * 1000", {"advantage": 0.1}),
        ("Gaussian(sigma=1).poisson(rate=0.01) * ?", {"advantage": 0.1}),
        ("Gaussian(sigma=1).poisson(rate=?) * 100", {"bayes_accuracy": 0.6, "prior": 0.5}),
        ("Gaussian(sigma=1).poisson(rate=0.01) * ?", {"mean_loss": 0.01}),
        ("Gaussian(sigma=?).poisson(rate=0.01) * 1000", {"tpr": 0.05, "fpr": 0.01}),
        ("Gaussian(sigma=2).poisson(rate=?) * 100", {"posterior": 0.2, "prior": 0.1, "fpr": 0.01}),
        ("Gaussian(sigma=?).poisson(rate=0.01) * 1000", {"rho": 0.01, "order_most": 32.0}),
        ("Gaussian(sigma=?).poisson(rate=0.1) * 30", {"mu": 1.0}),
        ("RandomizedResponse(p=0.9, categories=?)", {"renyi": 4.0, "order": 2.0}),
    ],
)
def test_rates_and_counts_answer_for_themselves(text: str, given: Given) -> None:
    template, target = parse_template(text), tr.Target(**given)
    found = tr.calibrate(template, target=target, parameter=template.parameter, integer=template.integer, seconds=60)
    assert found.ended is None
    assert found.missed is not None
    distance = abs(found.missed.value - found.value)
    assert distance == 1 if template.integer else distance <= 1e-6 * found.value
    ask: Callable[..., tr.Bound] = getattr(found.mechanism, target.quantity)
    assert ask(**target.arguments, accuracy=1e-8).upper <= target.limit
    ask = getattr(template(found.missed.value), target.quantity)
    assert ask(**target.arguments, accuracy=1e-8).lower > target.limit


def test_advantage_is_delta_at_epsilon_0() -> None:
    make = parse_template("Gaussian(sigma=?).poisson(rate=0.1) * 30")
    one = tr.calibrate(make, target=tr.Target(advantage=0.2))
    two = tr.calibrate(make, epsilon=0.0, delta=0.2)
    assert (one.value, one.missed and one.missed.value) == (two.value, two.missed and two.missed.value)
    assert one.target != two.target
    assert two.target == tr.Target(epsilon=0, delta=0.2)


def test_what_every_value_reads_as_infinite_is_missed() -> None:
    for given, told in (
        ({"mean_loss": 1.0}, "mean loss in"),
        ({"mu": 1.0}, r"mu in \[inf, inf\]: the loss is infinite"),
    ):
        with pytest.raises(
            tr.BracketNotFound, match=rf"not shown to depend on sigma: .* do not meet the target; {told}"
        ):
            tr.calibrate(
                lambda sigma: tr.Gaussian(sigma=sigma) + tr.ApproximateDP(epsilon=0.1, delta=0.1),
                target=tr.Target(**given),  # type: ignore[misc]
            )


def test_sampling_does_not_help_mu_everywhere() -> None:
    with pytest.raises(tr.BracketNotFound, match=r"not shown to depend on rate: .*sampling does not help here"):
        tr.calibrate(lambda rate: tr.Gaussian(sigma=1).poisson(rate=rate) * 4, target=tr.Target(mu=1))


def test_mu_where_delta_is_large_helps_sampling() -> None:
    target = tr.Target(mu=1, delta_least=1e-3)
    try:
        found = tr.calibrate(lambda rate: tr.Gaussian(sigma=1).poisson(rate=rate) * 4, target=target, tolerance=0.01)
    except tr.BracketNotFound as error:
        raise AssertionError from error
    assert 0.01 < found.value < 1.0
    assert found.missed is not None


def test_what_is_not_monotone_is_refused_by_its_reading() -> None:
    with pytest.raises(tr.BracketNotFound, match=r"not monotone in x, see .* \(mean loss in \["):
        tr.calibrate(lambda x: tr.Gaussian(sigma=abs(x - 3) + 0.5), target=tr.Target(mean_loss=0.4))
    with pytest.raises(tr.BracketNotFound, match=r"not monotone in x, see .* \(advantage in \["):
        tr.calibrate(lambda x: tr.Gaussian(sigma=abs(x - 3) + 0.5), target=tr.Target(advantage=0.3))


def test_the_target_is_named_where_nothing_meets_it() -> None:
    with pytest.raises(tr.BracketNotFound, match=r"no rate was shown to meet advantage 0\.1: "):
        tr.calibrate(
            lambda rate: tr.RandomizedResponse(p=0.9) + tr.Gaussian(sigma=1 / rate), target=tr.Target(advantage=0.1)
        )


@pytest.mark.parametrize(
    "given",
    [{"epsilon": 1.0, "delta": 1e-6}, {"advantage": 0.1}, {"bayes_accuracy": 0.7, "prior": 0.4},
     {"posterior": 0.2, "prior": 0.1, "fpr": 0.001}, {"mu": 0.5, "delta_least": 1e-6},
     {"rho": 0.5, "order_most": 64.0}, {"renyi": 1.0, "order": math.inf}],
    ids=str,
)  # fmt: skip
def test_documents_name_the_target_by_its_arguments(given: Given) -> None:
    target = tr.Target(**given)
    make = tr.Laplace if "renyi" in given else tr.Gaussian
    found = tr.calibrate(lambda scale: make(scale), target=target, tolerance=1e-3)
    document = json.loads(result.calibration(found, 0.5))
    jsonschema.validate(document, SCHEMA)
    assert tr.Target(**{name: float(document[name]) for name in given}) == target
    assert tr.parse(document["expression"]) == found.mechanism
    assert document["bound"]["upper"] <= target.limit < document["missed"]["lower"]
    for wrong in ({"mean_loss": 1.0}, {"prior": 0.5} if "prior" not in given else {"delta": 0.5}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**document, **wrong}, SCHEMA)
