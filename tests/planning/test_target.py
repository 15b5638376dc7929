"""A target: one reading and its limit, or one line that says what to change."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest

import tightrope as tr
from tightrope.core.planning.calibration import FORMS, Limits

GIVEN: list[tuple[dict[str, float], str]] = [
    ({"epsilon": 1.0, "delta": 1e-6}, "epsilon 1 at delta 1e-06"),
    ({"advantage": 0.1}, "advantage 0.1"),
    ({"total_variation": 0.1}, "total variation 0.1"),
    ({"tpr": 0.05, "fpr": 0.01}, "tpr 0.05 at fpr 0.01"),
    ({"mu": 1.0}, "mu 1"),
    ({"mu": 1.0, "delta_least": 1e-6}, "mu 1 where delta is at least 1e-06"),
    ({"rho": 0.5}, "rho 0.5"),
    ({"rho": 0.5, "order_most": 64.0}, "rho 0.5 up to order 64"),
    ({"bayes_accuracy": 0.6, "prior": 0.5}, "bayes accuracy 0.6 at prior 0.5"),
    ({"posterior": 0.2, "prior": 0.1, "fpr": 0.001}, "posterior 0.2 at prior 0.1 and fpr 0.001"),
    ({"reconstruction": 0.1, "baseline": 1e-4}, "reconstruction 0.1 at baseline 0.0001"),
    ({"mean_loss": 0.5}, "mean loss 0.5"),
    ({"renyi": 0.5, "order": math.inf}, "renyi 0.5 at order inf"),
]


@pytest.mark.parametrize(("given", "text"), GIVEN, ids=[text for _, text in GIVEN])
def test_a_target_is_a_value(given: dict[str, Any], text: str) -> None:
    target = tr.Target(**given)
    assert str(target) == text
    assert target.given == given
    assert eval(repr(target), {"Target": tr.Target, "inf": math.inf}) == target
    twin = pickle.loads(pickle.dumps(target))
    assert (twin, hash(twin)) == (target, hash(target))
    assert target != tr.Target(advantage=0.2)
    with pytest.raises(AttributeError):
        target.limit = 0.0  # type: ignore[misc]


def test_defaults_are_left_out_and_do_not_matter() -> None:
    assert tr.Target(mu=1, delta_least=0) == tr.Target(mu=1.0)
    assert repr(tr.Target(rho=1, order_most=math.inf)) == "Target(rho=1.0)"
    assert tr.Target(rho=1).arguments == {"order_most": math.inf}
    assert tr.Target(rho=1).quantity == "zcdp"
    assert tr.Target(mu=1).quantity == "gdp"


def test_every_form_has_its_keywords() -> None:
    names = {*FORMS, *(name for form in FORMS.values() for name in form.arguments)}
    assert names == set(Limits.__annotations__)
    assert all(hasattr(tr.Mechanism, form.quantity) for form in FORMS.values())


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, r"needs a reading and its limit, such as Target\(epsilon=1"),
    ({"delta": 1e-6}, r"delta needs a limit for epsilon: Target\(epsilon=..., delta=1e-6\)"),
    ({"fpr": 0.1}, "fpr needs a limit for tpr or posterior"),
    ({"epsilon": 1.0}, "epsilon needs delta"),
    ({"tpr": 0.1}, r"tpr needs fpr: Target\(tpr=..., fpr=0.01\)"),
    ({"advantage": 0.1, "mu": 1.0}, "not advantage and mu: leave out all but one"),
    ({"advantage": 0.1, "mu": 1.0, "rho": 1.0}, "not advantage, mu and rho"),
    ({"advantage": 0.1, "fpr": 0.1}, "takes nothing else: leave out fpr"),
    ({"tpr": 0.1, "fpr": 0.01, "prior": 0.5}, "takes fpr: leave out prior"),
    ({"epsilon": 1.0, "delta": 1.0}, "delta 1 promises nothing"),
    ({"epsilon": math.inf, "delta": 0.1}, "epsilon must be a finite number"),
    ({"advantage": 1.0}, "advantage 1 promises nothing: every value meets it"),
    ({"advantage": 0.0}, "advantage must lie above 0"),
    ({"advantage": math.nan}, "advantage must lie in"),
    ({"tpr": 1.0, "fpr": 0.1}, "tpr 1 promises nothing"),
    ({"tpr": 0.01, "fpr": 0.01}, "tpr must lie above fpr, not be 0.01: guessing alone reaches that"),
    ({"tpr": 0.01, "fpr": 1.0}, r"fpr must lie in \[0, 1\)"),
    ({"posterior": 0.1, "prior": 0.1, "fpr": 0.1}, "posterior must lie above prior"),
    ({"posterior": 0.6, "prior": 0.1, "fpr": 0.1}, "at prior 0.1 and fpr 0.1 promises nothing"),
    ({"posterior": 0.6, "prior": 0.1, "fpr": 0.0}, "fpr must lie strictly between"),
    ({"bayes_accuracy": 0.5, "prior": 0.5}, "above prior and 1 - prior"),
    ({"bayes_accuracy": 0.8, "prior": 0.1}, "above prior and 1 - prior"),
    ({"bayes_accuracy": 0.8, "prior": 0.0}, "prior must lie strictly between"),
    ({"reconstruction": 1e-4, "baseline": 1e-4}, "above baseline"),
    ({"mu": 0.0}, "mu must be a finite number above 0"),
    ({"mu": math.inf}, "mu must be a finite number above 0"),
    ({"mu": 1.0, "delta_least": 1.0}, "delta_least must lie"),
    ({"rho": -1.0}, "rho must be a finite number above 0"),
    ({"rho": 1.0, "order_most": 1.0}, "order_most must be a number above 1"),
    ({"renyi": 1.0, "order": 0.0}, "order must be a number above 0"),
    ({"renyi": 1.0, "order": math.nan}, "order must be a number above 0"),
    ({"mean_loss": "0.1"}, "mean_loss must be a number, not the text"),
]


@pytest.mark.parametrize(("given", "told"), WRONG)
def test_what_is_no_target_is_told_in_one_line(given: dict[str, Any], told: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=told) as caught:
        tr.Target(**given)
    assert "\n" not in str(caught.value)


def test_a_misspelt_reading_is_suggested() -> None:
    with pytest.raises(TypeError, match="did you mean advantage"):
        tr.Target(advantge=0.1)  # type: ignore[call-arg]


def test_a_search_has_one_target() -> None:
    target = tr.Target(advantage=0.1)
    with pytest.raises(tr.InvalidParameter, match="leave out epsilon and delta"):
        tr.calibrate(tr.Gaussian, epsilon=1.0, delta=1e-6, target=target)
    with pytest.raises(tr.InvalidParameter, match="calibrate needs epsilon and delta, or target, such as"):
        tr.calibrate(tr.Gaussian)
    with pytest.raises(tr.InvalidParameter, match="epsilon needs delta"):
        tr.calibrate(tr.Gaussian, epsilon=1.0)
    with pytest.raises(tr.InvalidParameter, match="target must be one such as"):
        tr.calibrate(tr.Gaussian, target=0.1)  # type: ignore[arg-type]
    with pytest.raises(tr.InvalidParameter, match="leave out engine"):
        tr.calibrate(tr.Gaussian, target=tr.Target(mean_loss=0.1), engine="contour")
