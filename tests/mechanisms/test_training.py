"""A training run is the expression that it stands for, in every way that it can be written and asked."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
from jsonschema import Draft202012Validator

import tightrope as tr
from tightrope.core.mechanisms.base import Leaf, Mechanism
from tightrope.core.mechanisms.composition import Composition
from tightrope.core.mechanisms.poisson import Poisson
from tightrope.core.mechanisms.training import LOADERS
from tightrope.core.text.expressions import parse_template

SCHEMA = json.loads((Path(tr.__file__).parent / "schema" / "mechanism.json").read_text("utf-8"))
STEP = {"records": 100, "batch": 7, "epochs": 3, "sigma": 1.5}
# The keywords of a run, and the expression that it stands for, written by hand.
PART: tuple[dict[str, Any], str] = (
    STEP | {"epochs": 2.5, "sampling": "allocated"},
    "Gaussian(sigma=1.5).random_allocation(15) * 2 + Gaussian(sigma=1.5).random_allocation(8).poisson(rate=8/15)",
)
EXPANDED: list[tuple[dict[str, Any], str]] = [
    (STEP, "Gaussian(sigma=1.5).poisson(rate=7/100) * 43"),
    (STEP | {"sampling": "fixed"}, "Gaussian(sigma=1.5, sensitivity=2).without_replacement(batch=7, records=100) * 43"),
    (
        STEP | {"sampling": "truncated", "cap": 23},
        "Gaussian(sigma=1.5).truncated_poisson(rate=7/100, cap=23, records=100) * 43",
    ),
    (
        STEP | {"sampling": "with_replacement"},
        "Gaussian(sigma=1.5, sensitivity=2).with_replacement(batch=7, records=100) * 43",
    ),
    (STEP | {"sampling": "allocated"}, "Gaussian(sigma=1.5).random_allocation(steps=15) * 3"),
    PART,
    (STEP | {"sampling": "shuffled"}, "Gaussian(sigma=1.5).shuffled_batches(steps=15) * 3"),
    (STEP | {"group": 4}, "(Gaussian(sigma=1.5).poisson(rate=7/100) * 43).group(size=4)"),
    ({"records": 100, "batch": 100, "steps": 2, "sigma": 3}, "Gaussian(sigma=3).poisson(rate=1) * 2"),
    ({"records": 100, "batch": 5, "epochs": 0, "sigma": 3}, "PureDP(epsilon=0)"),
    (
        {"records": 100, "schedule": [(10, 1.5, 7), (0, 9, 9), (3, 2, 20), (5, 1.5, 7)]},
        "Gaussian(sigma=1.5).poisson(rate=7/100) * 15 + Gaussian(sigma=2).poisson(rate=20/100) * 3",
    ),
    (
        {"records": 100, "schedule": [[10, 1.5, 7]], "sampling": "truncated", "cap": 30, "group": 2},
        "(Gaussian(sigma=1.5).truncated_poisson(rate=7/100, cap=30, records=100) * 10).group(size=2)",
    ),
    (STEP | {"sampling": "in_order"}, "MatrixMechanism(sigma=1.5, toeplitz=[1], steps=45, epochs=3)"),
    (
        STEP | {"sampling": "in_order", "matrix": "banded:3"},
        "MatrixMechanism(sigma=1.5, toeplitz=[1, 1/2, 3/8], steps=45, epochs=3)",
    ),
    (
        STEP | {"epochs": 2.5, "separation": 4, "matrix": "banded:4", "group": 2},
        "MatrixMechanism(sigma=1.5, toeplitz=[1, 1/2, 3/8, 5/16], steps=38, participations=3, separation=4).group(2)",
    ),
    (
        {"records": 100, "batch": 50, "epochs": 2, "sigma": 2, "sampling": "any_order", "matrix": "sqrt"},
        "MatrixMechanism(sigma=2, toeplitz=[1, 1/2, 3/8, 5/16], steps=4, participations=2, separation=1)",
    ),
    (
        STEP | {"sampling": "in_order", "matrix": "bisr:4"},
        "MatrixMechanism(sigma=1.5, inverse=[1, -1/2, -1/8, -1/16], steps=45, epochs=3)",
    ),
    (STEP | {"sampling": "in_order", "matrix": "tree"}, "TreeAggregation(sigma=1.5, steps=45, epochs=3)"),
    (
        STEP | {"sampling": "bins", "matrix": "banded:2"},
        "MatrixMechanism(sigma=1.5, toeplitz=[1, 1/2], steps=45, bins=15)",
    ),
    (
        {"records": 10, "bins": 7, "epochs": 2.5, "sigma": 2, "toeplitz": [1, 0.25]},
        "MatrixMechanism(sigma=2, toeplitz=[1, 1/4], steps=18, bins=7)",
    ),
    (
        {"records": 10, "bins": 5, "steps": 3, "sigma": 2, "inverse": [1, -0.25]},
        "MatrixMechanism(sigma=2, inverse=[1, -1/4], steps=3, bins=3).poisson(rate=3/5)",
    ),
    (
        STEP | {"sampling": "groups", "matrix": "banded:2"},
        "MatrixMechanism(sigma=1.5, toeplitz=[1, 1/2], steps=43, rate=14/100, groups=2)",
    ),
    ({"records": 100, "bins": 5, "epochs": 0, "sigma": 3, "matrix": "sqrt"}, "PureDP(epsilon=0)"),
]


@pytest.mark.parametrize("given, text", EXPANDED, ids=[text for _, text in EXPANDED])
def test_a_run_stands_for_an_expression(given: dict[str, Any], text: str) -> None:
    run, plain = tr.training(**given), tr.parse(text)
    assert run.expanded == run.nameless == plain
    assert run.terms == plain.terms
    assert run != plain
    assert (run * 2 + tr.Laplace(scale=3)).terms == (plain * 2 + tr.Laplace(scale=3)).terms
    assert run.relation in (plain.relation, tr.Relation.ADD_REMOVE if not run.total_steps else None)
    again = [tr.parse(repr(run)), tr.load(tr.dump(run)), pickle.loads(pickle.dumps(run)), tr.training(**run.parameters)]
    for each in (*again, *(each.named("MNIST").named(None) for each in again)):
        assert each == run
        assert hash(each) == hash(run)
        assert each.nameless == plain
    Draft202012Validator(SCHEMA).validate(json.loads(tr.dump(run.named("MNIST") * 2)))


def test_it_answers_as_the_expression() -> None:
    run, plain = tr.training(**STEP), tr.parse(EXPANDED[0][1])
    assert run.epsilon(1e-5) == plain.epsilon(1e-5)
    assert run.delta(1.0, direction="add", proof=True) == plain.delta(1.0, direction="add", proof=True)
    assert run.renyi(3.0) == plain.renyi(3.0)
    assert run.advantage() == plain.advantage()
    assert run.named("MNIST").epsilon(1e-5).certificate.label == "MNIST"  # type: ignore[union-attr]
    assert tr.training(records=9, batch=3, steps=0, sigma=1).epsilon(0.0).upper == 0.0


def test_it_hands_on_whatever_a_composition_answers_for_itself() -> None:
    """A method that a mechanism may answer in its own way is answered by the expression, never by the defaults."""
    own = {name for name in vars(Composition) if callable(getattr(Mechanism, name, None)) or name in vars(Mechanism)}
    own |= {name for name in vars(Poisson) if name in vars(Mechanism)}
    written = {"__repr__", "__str__", "__init__", "__post_init__", "__eq__", "__hash__", "__doc__", "__module__"}
    handed = {name for name in own if not name.startswith("__")} - set(vars(Leaf)) | {"tight", "nameless", "relation"}
    assert handed - written <= set(vars(tr.training)) | {"parts", "names", "_key", "name"}


@pytest.mark.parametrize("sampling", ["poisson", "allocated"])
@pytest.mark.parametrize(
    "records, batch, epochs", [(100, 10, 0.1), (60000, 256, 15), (3, 2, 1.5), (7, 3, 0.3), (1, 1, 1e-9)]
)
def test_steps_are_exact(sampling: str, records: int, batch: int, epochs: float) -> None:
    run = tr.training(records=records, batch=batch, epochs=epochs, sigma=1, sampling=sampling)
    epoch = Fraction(records, batch) if sampling == "poisson" else math.ceil(Fraction(records, batch))
    assert run.total_steps == math.ceil(Fraction(str(epochs)) * epoch)


def test_whole_epochs_are_whole_numbers() -> None:
    run = tr.training(records=60000, batch=256, epochs=15.0, sigma=1.1)
    assert repr(run) == "training(records=60000, batch=256, epochs=15, sigma=1.1)"
    assert run == tr.training(60000, batch=256.0, epochs=15, sigma=1.1)
    assert tr.training(records=10, batch=3, epochs=2**90, sigma=1).total_steps == math.ceil(Fraction(2**90 * 10, 3))


def gaussian(shift: float, alpha: Any) -> Any:
    """The profile of Gaussian noise of deviation 1 at a shift, without the package."""
    loss = mpmath.log(alpha)
    first, second = (mpmath.ncdf(sign * mpmath.mpf(shift) / 2 - loss / shift) for sign in (1, -1))
    return first - alpha * second


def test_one_step_by_hand() -> None:
    with mpmath.workdps(40):
        alpha = mpmath.exp(mpmath.mpf(0.25))
        for sampling, shift in ("poisson", 1), ("fixed", 2):
            rate = mpmath.mpf(1) / 4
            truth = rate * gaussian(shift, 1 + (alpha - 1) / rate)
            bound = tr.training(records=4, batch=1, steps=1, sigma=1, sampling=sampling).delta(0.25)
            assert bound.lower <= truth <= bound.upper
            assert bound.width < 1e-9


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "training needs batch and sigma: "),
    ({"batch": 10, "sigma": 1}, "training needs epochs or steps: "),
    ({"batch": 10, "sigma": 1, "epochs": 1, "steps": 3}, "epochs or steps, and not both"),
    ({"batch": 300, "sigma": 1, "epochs": 1}, "batch must be at most records, 100, not 300"),
    ({"schedule": [(1, 2, 3), (1, 2, 300)]}, "batch must be at most records, 100, not 300"),
    ({"schedule": [(1, 2, 3)], "sigma": 1}, "leave out sigma, or the schedule"),
    ({"schedule": [(1, 2)]}, r"a list of \(steps, sigma, batch\), not of rows of 2"),
    ({"schedule": [(1, 2, 3), (1.5, 2, 3)]}, r"schedule\[1\], steps, must be a whole number"),
    ({"schedule": []}, "at least one row"),
    ({"schedule": "abc"}, "must be a number"),
    (STEP | {"sampling": "poison"}, "one of poisson, .*; did you mean poisson?"),
    (STEP | {"sampling": "shuffled", "epochs": 1.5}, "steps must be a multiple of 15, the batches of an epoch, not 23"),
    (STEP | {"sampling": 5}, "sampling must be one of"),
    (STEP | {"sampling": "truncated"}, r"needs cap, .* commonly about batch \+ 6 sqrt\(batch\), 25 here"),
    (STEP | {"sampling": "truncated", "cap": 6}, "cap must be at least batch, 7"),
    (STEP | {"cap": 30}, "cap is for sampling='truncated'"),
    (STEP | {"group": 101}, "group must be at most records, 100, not 101"),
    (STEP | {"group": 0}, "group must be a whole number"),
    (STEP | {"epochs": float("nan")}, "epochs must be a finite number"),
    (STEP | {"epochs": -1}, "epochs must be a finite number, 0 or above"),
    (STEP | {"epochs": 10**400}, "epochs must be a number"),
    (STEP | {"epochs": 1e307}, "whole number"),
    (STEP | {"epochs": True}, "epochs must be a number, not True"),
    (STEP | {"batch": "7"}, "batch must be a number, not the text"),
    (STEP | {"batch": 0}, "batch must be a whole number from 1"),
    (STEP | {"sigma": 0}, "sigma must be a finite number above 0"),
    (STEP | {"records": 0}, "records must be a whole number from 1"),
    (STEP | {"matrix": "sqrt"}, "'poisson' has no bound .* your own, one of in_order, any_order, bins, groups$"),
    (STEP | {"matrix": "sqrt", "sampling": "shuffled"}, "'shuffled' has no bound where steps share their noise"),
    (STEP | {"matrix": "banded"}, "needs its bands, as banded:16"),
    (STEP | {"matrix": "banded:0"}, "needs its bands, as banded:16"),
    (STEP | {"matrix": "bandd:4"}, "one of identity, banded:K, .*; did you mean banded:K.; coefficients"),
    (STEP | {"matrix": "tree:4"}, "matrix must be one of"),
    (STEP | {"matrix": 4}, "matrix must be one of"),
    (STEP | {"matrix": "sqrt", "toeplitz": [1, 2]}, "toeplitz and matrix say the same"),
    (STEP | {"inverse": [1], "toeplitz": [1, 2]}, "toeplitz and inverse say the same"),
    (STEP | {"toeplitz": "ab", "sampling": "bins"}, "toeplitz must be a list of numbers"),
    (STEP | {"sampling": "bins", "matrix": "tree"}, "'tree' has no bound with batches that are drawn: state"),
    (STEP | {"sampling": "groups", "matrix": "sqrt"}, "'groups' needs a C with few bands: matrix='banded:K'"),
    (STEP | {"sampling": "groups", "matrix": "banded:16"}, "batch must be at most 6, .* of 16 groups, not 7"),
    (STEP | {"sampling": "in_order", "epochs": 1.5}, "steps must be a multiple of 15"),
    (STEP | {"bins": 3}, "bins=3 of 100 records have batches of 34 on average, not 7: leave out batch, or bins"),
    (STEP | {"sampling": "fixed", "bins": 15}, "bins is for sampling='bins', not for 'fixed'"),
    (STEP | {"sampling": "bins", "separation": 15}, "separation is for sampling='any_order', not for 'bins'"),
    (STEP | {"separation": 0}, "separation must be a whole number from 1"),
    ({"schedule": [(1, 2, 3)], "sampling": "bins"}, "a schedule goes with loaders that sample anew, not with .*'bins'"),
    ({"sampling": "any_order", "matrix": "sqrt", "batch": 1, "sigma": 1, "steps": 2**21}, "banded:K' cuts it"),
]


@pytest.mark.parametrize("given, told", REFUSED, ids=[told for _, told in REFUSED])
def test_odd_numbers_are_refused_with_what_to_change(given: dict[str, Any], told: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=told) as caught:
        tr.training(**{"records": 100, **given})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "call, told",
    [
        (lambda: tr.training(batch=3), "training needs records"),
        (lambda: tr.training(records=3, sgima=3), "did you mean sigma"),
        (lambda: tr.training(100, 7), "positional"),
    ],
)
def test_misspelt_keywords_name_the_right_ones(call: Callable[[], object], told: str) -> None:
    with pytest.raises(TypeError, match=told):
        call()


def test_neighbours_are_those_of_the_sampling() -> None:
    with pytest.raises(tr.InvalidParameter, match="about replacing a record"):
        tr.training(**STEP, sampling="fixed").epsilon(1e-5, direction="add")
    with pytest.raises(tr.InvalidParameter, match="disagree"):
        tr.training(**STEP, sampling="fixed") + tr.training(**STEP)
    with pytest.raises(tr.InvalidParameter, match="data of 100 records"):
        tr.training(**STEP).poisson(rate=0.5)


def test_every_sampling_says_what_it_assumes_and_its_theorem() -> None:
    said = {}
    for each in LOADERS:
        run = tr.training(**STEP, sampling=each, cap=30 if each == "truncated" else None)
        assert "\n" not in run.loader
        assert f"({each})" in run.loader
        said[run.loader] = run.sampling_theorem
    assert len(said) == len(LOADERS)
    assert all(said.values())
    phases = tr.training(records=100, schedule=[(3, 1.0, 10), (7, 0.9, 10)], sampling="allocated")
    assert "every phase of the schedule begins an epoch" in phases.loader


@pytest.mark.parametrize(
    "text, parameter, best, missing",
    [
        ("training(records=60000, batch=256, epochs=15, sigma=?)", "sigma", None, None),
        ("training(records=60000, batch=256, epochs=?, sigma=1.1)", "epochs", 43, 44),
        ("training(records=60000, batch=?, epochs=15, sigma=1.1)", "batch", 677, 678),
        ("training(records=60000, schedule=[[1000, ?, 256], [500, 2, 512]])", "?", None, None),
    ],
)
def test_any_number_may_be_the_unknown(text: str, parameter: str, best: int | None, missing: int | None) -> None:
    template = parse_template(text)
    assert (template.parameter, template.integer) == (parameter, best is not None)
    found = tr.calibrate(template, epsilon=2.0, delta=1e-5, integer=template.integer)
    assert found.bound.upper <= 2.0 < found.missed.bound.lower  # type: ignore[union-attr]
    assert (best, missing) in ((None, None), (found.value, found.missed.value))  # type: ignore[union-attr]


def test_many_kinds_of_steps_lie_between_runs_of_one_kind() -> None:
    """More noise and a smaller batch cost less, step by step; and phases are counted in any order."""
    kinds = [(20, 1.0 + index / 20, 40 - index) for index in range(20)]
    bound = tr.training(records=2000, schedule=kinds).epsilon(1e-6)
    worst, best = (
        tr.training(records=2000, schedule=[(400, *kind[1:])]).epsilon(1e-6) for kind in (kinds[0], kinds[-1])
    )
    assert best.upper < bound.lower <= bound.upper < worst.lower
    assert bound.width < 1e-9 * bound.upper
    assert (
        tr.training(records=2000, schedule=kinds[::-1]).expanded == tr.training(records=2000, schedule=kinds).expanded
    )
