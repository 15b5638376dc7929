"""Every value crosses processes: pickle, copy, Pool.map; and calls from Python say what was meant."""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import pickle
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from typing import Any

import pytest
from flint import arb

import tightrope as tr
from tightrope.core.engines.selection import ENGINE_NAMES
from tightrope.core.text.registry import MECHANISMS
from tightrope.core.values.bound import FrozenMapping
from tightrope.core.values.errors import Refusal, WorkExhausted

RUN = tr.Gaussian(sigma=5.0) * 3 + tr.PureDP(epsilon=0.1)
TINY = tr.Gaussian(sigma=0.01).poisson(rate=0.5) * 10
JOINT = (tr.Gaussian(sigma=2.0) + tr.Laplace(scale=5.0)).poisson(rate=0.1)
DISCRETE = tr.DiscreteGaussian(sigma=3.0) * 20
SAMPLED = tr.Gaussian(sigma=1.0).poisson(rate=0.1) * 3


def quartic(x: Any) -> Any:
    return -((x - arb(0.5)) ** 4) - (2 * (arb(5) / 4).gamma()).log()


def centred(x: Any) -> Any:
    return -(x**4) - (2 * (arb(5) / 4).gamma()).log()


def normal_moments(z: Any) -> Any:
    return z * (z + 1) / 2


def noise(sigma: float) -> tr.Mechanism:
    return tr.Gaussian(sigma=sigma)


VALUES: dict[str, Callable[[], Any]] = {
    **{name: lambda make=make: tr.parse(make.example) for name, make in MECHANISMS.items()},
    "Density": lambda: tr.Density(log_p=quartic, log_q=centred, support=(-3.5, 4)),
    "CharacteristicFunction": lambda: tr.CharacteristicFunction(log_moment=normal_moments, strip=(-9, 8)),
    "Poisson": lambda: tr.Gaussian(sigma=1.0).poisson(rate=0.1),
    "Curve": lambda: RUN.curve(0.0, 2.0, 5),
    "Target": lambda: tr.Target(posterior=0.5, prior=0.1, fpr=0.01),
    "Calibration": lambda: tr.calibrate(noise, epsilon=1.0, delta=1e-5, tolerance=1e-3),
    "Comparison": lambda: tr.compare(tr.PureDP(epsilon=0.1) * 4, delta=1e-6),
    "Renyi": lambda: RUN.renyi([2.0, 8.0]),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_pickled_and_copied(name: str) -> None:
    value = VALUES[name]()
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert again == value
        assert type(again) is type(value)
        assert hash(again) == hash(value)


@pytest.mark.parametrize("proof", [False, True])
def test_bounds_keep_their_certificates(proof: bool) -> None:
    asked = set()
    for engine, run in product(ENGINE_NAMES, (SAMPLED, RUN, TINY, JOINT, DISCRETE)):
        with suppress(tr.UnsupportedMechanism):
            if engine not in asked:
                check_copies(run.delta(0.5, engine=engine, proof=proof, seconds=0.3))
                asked.add(engine)
    assert asked >= {"auto", "closed_form", "contour", "lattice"}


def check_copies(bound: tr.Bound) -> None:
    for again in (pickle.loads(pickle.dumps(bound)), copy.deepcopy(bound)):
        assert again == bound
        assert again.certificate == bound.certificate
        assert hash(again.certificate) == hash(bound.certificate)
        assert dict(again.certificate.parameters) == dict(bound.certificate.parameters)


def test_questions_and_refusals_cross_a_pool() -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.map(RUN.delta, [0.5, 1.0]) == list(RUN.delta([0.5, 1.0]))
        with pytest.raises(tr.InvalidParameter, match="epsilon"):
            pool.map(RUN.delta, [float("nan")])


@pytest.mark.parametrize(
    "error",
    [
        tr.InvalidParameter("sigma must be above 0"),
        tr.UnsupportedMechanism("no reason", Refusal.NEEDS_BALLS, "GDP"),
        tr.ExpressionError("cannot be read", "Gausian(", 3),
        tr.AccuracyNotReached(tr.Bound(0.0, 1.0), 1e-6),
        WorkExhausted("memory"),
        tr.DataError("no number", "a.csv", 7),
        tr.BracketNotFound("no sigma", "sigma"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_are_pickled_and_copied(error: tr.TightropeError) -> None:
    error.add_note("seen in step 7")
    for again in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.__dict__ == error.__dict__


def test_a_frozen_mapping_is_a_value() -> None:
    items = {"a": 1.0, "b": 2.0}
    frozen = FrozenMapping(items)
    items["a"] = 3.0
    assert frozen == {"b": 2.0, "a": 1.0}
    assert frozen["a"] == 1.0
    assert hash(frozen) == hash(FrozenMapping({"b": 2.0, "a": 1.0}))
    assert repr(frozen) == "{'a': 1.0, 'b': 2.0}"
    with pytest.raises(TypeError):
        frozen["a"] = 2.0  # type: ignore[index]


def test_sums_and_compositions() -> None:
    parts = [tr.Gaussian(sigma=2.0), tr.Laplace(scale=3.0), tr.Gaussian(sigma=2.0)]
    whole = parts[0] * 2 + parts[1]
    assert sum(parts) == whole
    assert tr.compose(parts) == whole
    assert tr.compose(*parts) == whole
    assert tr.compose(parts[:1], parts[1], iter(parts[2:])) == whole
    assert tr.compose() == tr.compose([]) == tr.PureDP(epsilon=0.0)
    for wrong in ("Gaussian", 1.0, [parts, "x"], [[parts]]):
        with pytest.raises(tr.InvalidParameter, match="only mechanisms"):
            tr.compose(wrong)  # type: ignore[arg-type]
    for start in (1, 0.5, "x"):
        with pytest.raises(TypeError):
            start + parts[0]


@pytest.mark.parametrize(
    "call, meant",
    [
        (lambda: tr.Gaussian(sgima=1.0), "sigma"),
        (lambda: tr.Exponential(epsilom=1.0), "epsilon"),
        (lambda: tr.Density(log_p=centred, log_q=centred, suport=(0, 1)), "support"),
        (lambda: RUN.epsilon(detla=1e-6), "delta"),
        (lambda: RUN.delta(1.0, acuracy=1e-3), "accuracy"),
        (lambda: RUN.curve(epsilon=[1.0]), "epsilons"),
        (lambda: RUN.curve(points=3).plot(lable="x"), "label"),
        (lambda: RUN.renyi(oder=2), "order"),
        (lambda: RUN.poisson(rat=0.1), "rate"),
        (lambda: tr.parse(txt="GDP(mu=1)"), "text"),
        (lambda: tr.draw_curves(curve={}), "curves"),
        (lambda: tr.compare(RUN, dleta=1e-6), "delta"),
        (lambda: tr.calibrate(noise, epsilon=1.0, delta=1e-5, tolerence=1e-3), "tolerance"),
    ],
)
def test_a_misspelt_keyword_is_answered_with_the_right_one(call: Callable[[], Any], meant: str) -> None:
    with pytest.raises(TypeError, match=f"did you mean {meant}\\?") as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: SAMPLED.epsilon(1e-6, engine="closed_form"),
        lambda: SAMPLED.delta(1.0, engine="buckets", proof=True),
        lambda: SAMPLED.curve(points=2, engine="closed_form"),
    ],
)
def test_a_refusal_names_what_was_written(ask: Callable[[], Any]) -> None:
    with pytest.raises(tr.UnsupportedMechanism) as caught:
        ask()
    assert repr(SAMPLED) in str(caught.value)
    assert caught.value.mechanism == repr(SAMPLED)
    assert "Pair" not in str(caught.value)
    assert "PoissonRemove" not in str(caught.value)


def test_a_refusal_of_many_parts_stays_short() -> None:
    run = tr.compose(tr.Gaussian(sigma=1 + index / 50).poisson(rate=0.01) for index in range(50))
    with pytest.raises(tr.UnsupportedMechanism) as caught:
        run.epsilon(1e-6, engine="closed_form")
    assert len(str(caught.value)) < 250
    assert "Gaussian(sigma=1.0).poisson(rate=0.01) + " in str(caught.value)


def test_what_cannot_be_made_says_so_whatever_it_is_given() -> None:
    with pytest.raises(TypeError, match="abstract"):
        tr.Mechanism(sigma=1.0)  # type: ignore[abstract, call-arg]


def test_a_calibration_is_told_in_two_lines() -> None:
    found = tr.calibrate(noise, epsilon=1.0, delta=1e-5, parameter="sigma", tolerance=1e-3)
    first, second = str(found).splitlines()
    assert first == f"sigma = {found.value!r}: epsilon in {found.bound}"
    assert second.startswith("sigma = ")
    assert "misses the target" in second


def test_the_exponential_mechanism_is_found_by_its_name() -> None:
    assert "exponential mechanism" in (tr.Exponential.__doc__ or "").lower()


def test_help_names_every_keyword() -> None:
    for function in (tr.Gaussian.epsilon, tr.Gaussian.delta, tr.Gaussian.curve, tr.calibrate):
        shown = inspect.signature(function)
        assert {"proof", "engine", "direction", "seconds"} <= set(shown.parameters)
        assert "Ellipsis" not in str(shown)
        assert "**" not in str(shown)
