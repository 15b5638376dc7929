"""The profile as readings ask for it: both signs of t, 1 - H without cancellation, both directions."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import mpmath
import numpy as np
import pytest

import tightrope as tr
from tightrope.core.accountant import Case
from tightrope.core.metrics.ask import READINGS
from tightrope.core.metrics.law import Law
from tightrope.core.metrics.tradeoff import posterior, tpr
from tightrope.core.numerics.balls import lower_float, upper_float
from tightrope.core.values.errors import WorkExhausted
from tightrope.core.values.question import Direction, Question


def gaussian_hockey_stick(mu: float, t: float) -> mpmath.mpf:
    """H(e^t) = Phi(-t/mu + mu/2) - e^t Phi(-t/mu - mu/2)."""
    with mpmath.workdps(60):
        ratio = mpmath.mpf(t) / mu
        return mpmath.ncdf(-ratio + mpmath.mpf(mu) / 2) - mpmath.exp(t) * mpmath.ncdf(-ratio - mpmath.mpf(mu) / 2)


@pytest.mark.parametrize("t", [-30.0, -2.0, -1e-9, 0.0, 0.5, 3.0])
@pytest.mark.parametrize("proof", [False, True])
def test_the_profile_and_its_rest(t: float, proof: bool) -> None:
    law = Law(tr.Gaussian(sigma=2), Question("tradeoff", proof=proof))
    exact = gaussian_hockey_stick(0.5, t)
    found, (low, high) = law.delta(t), law.rest(t)
    assert found.lower <= exact <= found.upper
    with mpmath.workdps(60):
        rest = 1 - exact
        assert lower_float(low) <= rest <= upper_float(high)
    assert upper_float(high) - lower_float(low) <= 1e-6 * float(rest)


def test_readings_that_are_one_delta() -> None:
    run = tr.Gaussian(sigma=1).poisson(rate=0.01) * 100
    assert run.advantage() == run.total_variation()
    assert run.advantage().lower <= run.delta(0.0).upper
    half = run.bayes_accuracy(0.5)
    assert half.lower <= (1 + run.advantage().upper) / 2 <= math.nextafter(half.upper, 2.0)
    assert run.bayes_accuracy([0.0, 1.0]) == (tr.Bound(1.0, 1.0), tr.Bound(1.0, 1.0))
    assert run.mean_loss() == run.renyi(1)


def test_only_one_argument_is_a_sequence() -> None:
    with pytest.raises(tr.InvalidParameter, match="prior must"):
        tr.Gaussian(sigma=1).bayes_accuracy("x")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="did you mean accuracy"):
        tr.Gaussian(sigma=1).advantage(acuracy=0.1)  # type: ignore[call-arg]


def late(*_: object) -> NoReturn:
    raise WorkExhausted("time")


def test_when_time_is_up_what_is_known_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """H falls, so that points which are known bound those between and beyond them."""
    law = Law(tr.Gaussian(sigma=2), Question("tradeoff"))
    near, far = law.delta(0.5), law.delta(2.0)
    monkeypatch.setattr(Case, "bound", late)
    middle, beyond, other = law.delta(1.0), law.delta(3.0), law.one_sided(-1.0)
    assert (middle.lower, middle.upper) == (far.lower, near.upper)
    assert (beyond.lower, beyond.upper) == (0.0, far.upper)
    assert (other.lower, other.upper) == (0.0, 1.0)
    assert law.exhausted == "time"


def test_what_one_reading_found_out_answers_the_next_when_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A posterior is no wider than the power that is known at its rate, and a power at a smaller rate is no larger."""
    for run in (tr.PureDP(epsilon=1.0).shuffle(users=50), tr.Gaussian(sigma=2.0)):  # with real runs below it, and tight
        question = Question("tpr")
        law = Law(run, question)
        known = tpr(law, 0.01)
        with monkeypatch.context() as patched:
            patched.setattr(Case, "bound", late)
            patched.setattr(Law, "over", True)
            less, sure = tpr(law.again(question), 1e-4), posterior(law.again(question), 0.1, 0.01)
        assert less.upper <= known.upper
        assert sure.upper <= 0.1 * known.upper / (0.1 * known.upper + 0.9 * 0.01) * (1.0 + 1e-12)
        assert sure.certificate is not None


def test_one_direction_stays_one_when_asked_again() -> None:
    law = Law(tr.Gaussian(sigma=1).poisson(rate=0.1), Question("tpr"))
    law.toward(Direction.REMOVE)
    twin = law.again(Question("tradeoff"))
    assert twin.toward(Direction.REMOVE).directions == (Direction.REMOVE,)


HURRIED = (
    tr.Gaussian(sigma=1.0) * 10,
    tr.Gaussian(sigma=2.0).poisson(rate=0.1).group(size=3) * 10,
    tr.PureDP(epsilon=2.0).shuffle(users=1000),
    tr.ApproximateDP(epsilon=1.0, delta=1e-5) * 30,
    tr.ZCDP(rho=0.1) * 4 + tr.Laplace(scale=1.0),
)
ASKED: dict[str, dict[str, Any]] = {
    "renyi": {"order": [0.5, 2.0, math.inf]},
    "mean_loss": {},
    "zcdp": {"order_most": [2.0, math.inf]},
    "gdp": {"delta_least": [0.0, 1e-6]},
    "advantage": {},
    "total_variation": {},
    "bayes_accuracy": {"prior": [0.1, 0.5]},
    "tradeoff": {"fpr": [0.0, 1e-3]},
    "tpr": {"fpr": [1e-3, 0.3]},
    "posterior": {"prior": [0.1, 0.5], "fpr": 0.01},
    "reconstruction": {"baseline": [1e-6, 0.1]},
}


@pytest.mark.parametrize("seconds", [1e-6, 1e-3])
@pytest.mark.parametrize("quantity", READINGS)
def test_a_reading_always_answers(quantity: str, seconds: float) -> None:
    """Whatever little time there is, each value of a sequence has its bound, and a wide one says why."""
    for run in HURRIED:
        found = getattr(run, quantity)(**ASKED[quantity], seconds=seconds)
        for bound in found if isinstance(found, tuple) else (found,):
            narrow = bound.width <= 1e-6 * bound.upper or bound.lower == bound.upper
            assert narrow or bound.certificate.exhausted == "time"


def test_what_formulas_say_is_known_when_time_is_up() -> None:
    sampled = tr.Gaussian(sigma=1.0).poisson(rate=0.01) * 4
    assert all(bound.upper <= 2.000001 for bound in sampled.gdp([0.0, 1e-9, 1e-6], seconds=1e-2))
    assert all(bound.upper <= 2.000001 for bound in sampled.zcdp([2.0, 64.0, math.inf], seconds=1e-2))


def test_an_array_without_a_dimension_is_one_number() -> None:
    run = tr.Gaussian(sigma=1.0)
    assert run.delta(np.array(0.5)) == run.delta(0.5)
    assert run.tpr(np.array(0.1)) == run.tpr(0.1)
    assert run.epsilon(np.array(1e-5)) == run.epsilon(1e-5)
    assert run.tpr(np.array([0.1])) == (run.tpr(0.1),)
    curve = run.tradeoff_curve(points=3)
    assert curve.at(np.float32(0.5)) == curve.at(0.5)
    for odd in ("0.5", [0.5], None, 10**400, math.nan):
        with pytest.raises(tr.InvalidParameter, match=r"must be a number in \[0, 1\], not "):
            curve.at(odd)  # type: ignore[arg-type]
    with pytest.raises(tr.InvalidParameter, match="order must be a number"):
        run.renyi(10**400)
