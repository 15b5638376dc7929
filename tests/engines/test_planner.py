"""Readings as questions: options, directions, quantiles at their ends, JSON, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest

import tightrope as tr
from tightrope import result
from tightrope.core.values.question import ARGUMENTS
from tightrope.result import Result

LEAKY = tr.ApproximateDP(epsilon=0.5, delta=0.25)
TRAINING = tr.Gaussian(sigma=1.0).poisson(rate=0.01) * 100


def test_the_worse_of_both_directions() -> None:
    for t in (-0.3, 0.0, 0.4):
        pdp = [TRAINING.pdp(t, direction=each) for each in ("remove", "add")]
        cdf = [TRAINING.loss_cdf(t, direction=each) for each in ("remove", "add")]
        assert TRAINING.pdp(t).upper == max(each.upper for each in pdp)
        assert TRAINING.pdp(t).lower == max(each.lower for each in pdp)
        assert TRAINING.loss_cdf(t).upper == min(each.upper for each in cdf)
        assert TRAINING.loss_cdf(t).lower == min(each.lower for each in cdf)
    quantiles = [TRAINING.loss_quantile(0.9, direction=each) for each in ("remove", "add")]
    assert TRAINING.loss_quantile(0.9).upper == max(each.upper for each in quantiles)


def test_a_distribution_and_its_complement() -> None:
    for t in (-1.0, -1e-9, 0.0, 1e-9, 0.25, 2.0):
        above, below = TRAINING.pdp(t, direction="remove"), TRAINING.loss_cdf(t, direction="remove")
        assert above.lower + below.lower <= 1.0 + 1e-15
        assert above.upper + below.upper >= 1.0 - 1e-15


SKEWED = tr.Finite(p=(0.078125, 0.625, 0.296875), q=(0.84375, 0.078125, 0.078125)) * 4
STEPS = tr.Finite(p=(0.5, 0.25, 0.125, 0.125), q=(0.125, 0.125, 0.25, 0.5))


@pytest.mark.parametrize(
    ("run", "t", "engine"),
    [
        (SKEWED, 6.828885216824352, "buckets"),  # an atom in one direction only
        (SKEWED, 6.828885216824352, "lattice"),
        (STEPS, 0.0, "contour"),  # exact but for the last bit
        (TRAINING, -0.2, "auto"),
    ],
)
def test_budgets_cover_the_width(run: tr.Mechanism, t: float, engine: str) -> None:
    """With both directions too, whose ends may come from either."""
    for direction in ("remove", "add", None) if engine != "lattice" else (None,):
        for quantity in ("pdp", "loss_cdf"):
            bound = getattr(run, quantity)(t, direction=direction, engine=engine)
            sides = bound.certificate.budget.upper, bound.certificate.budget.lower
            assert sum(sum(side.values()) for side in sides) >= (bound.upper - bound.lower) * (1.0 - 1e-12)


def test_delta_lies_below_pdp() -> None:
    for epsilon in (0.0, 0.3, 1.0):
        assert TRAINING.delta(epsilon).lower <= TRAINING.pdp(epsilon).upper


def test_ends_of_quantiles() -> None:
    assert LEAKY.loss_quantile(0.0) == tr.Bound(-math.inf, -math.inf)
    assert LEAKY.loss_quantile(0.75).upper == 0.5
    assert LEAKY.loss_quantile(math.nextafter(0.75, 1.0)) == tr.Bound(math.inf, math.inf)
    assert "infinite" in LEAKY.loss_quantile(1.0).certificate.reason  # type: ignore[union-attr]
    assert tr.PureDP(epsilon=0.5).loss_quantile(1.0) == tr.Bound(0.5, 0.5)
    assert tr.Gaussian(sigma=1.0).loss_quantile(1.0) == tr.Bound(math.inf, math.inf)
    # P[l <= -0.5] = 1/(1 + e^0.5) = 0.37754...
    found = tr.PureDP(epsilon=0.5).loss_quantile([0.3775, 0.3776])
    assert found[0].lower <= -0.5 <= found[0].upper < -0.499
    assert 0.499 < found[1].lower <= 0.5 <= found[1].upper


def test_sequences_give_tuples_and_accuracy_is_insisted_on() -> None:
    assert len(TRAINING.pdp([0.1, -0.1])) == 2
    assert TRAINING.pdp(0.1, accuracy=1e-9).width <= 1e-9
    with pytest.raises(tr.AccuracyNotReached):
        (tr.Laplace(scale=1.0) * 2).pdp(0.0, accuracy=1e-6, engine="lattice")  # 0 has mass of its own


def test_time_is_kept_and_what_is_known_given() -> None:
    found = TRAINING.loss_quantile(0.5, seconds=1e-4)
    assert found.lower <= TRAINING.loss_quantile(0.5).upper
    assert found.upper >= TRAINING.loss_quantile(0.5).lower
    assert found.certificate is not None
    assert found.certificate.exhausted == "time"
    assert LEAKY.pdp(0.1, seconds=1e-6).upper >= 0.25


def test_the_distribution_at_both_infinities() -> None:
    """P[l <= inf] = 1 with infinite losses, which the limit from below leaves out; no loss is -inf."""
    for run in (LEAKY, TRAINING, TRAINING + LEAKY):
        assert run.loss_cdf([math.inf, -math.inf]) == (tr.Bound(1.0, 1.0), tr.Bound(0.0, 0.0))
    assert LEAKY.loss_cdf(1e9) == tr.Bound(0.75, 0.75)
    text = result.write([Result(repr(LEAKY), "loss_cdf", {"t": -math.inf}, LEAKY.loss_cdf(-math.inf))], several=False)
    assert result.read(text)[0].arguments == {"t": -math.inf}


@pytest.mark.parametrize("t", [math.inf, -math.inf, math.nan])
def test_probabilistic_dp_is_for_finite_epsilons(t: float) -> None:
    with pytest.raises(tr.InvalidParameter, match="finite"):
        TRAINING.pdp(t)


def test_a_distribution_at_no_number() -> None:
    with pytest.raises(tr.InvalidParameter, match="t must be a number"):
        TRAINING.loss_cdf(math.nan)


@pytest.mark.parametrize("p", [1e-9, 0.01, 0.5, 0.9, 1.0 - 2.0**-30])
def test_quantiles_of_formulas_end_where_doubles_do(p: float) -> None:
    """The loss of three Gaussians is normal, with mean 3/50 and variance 6/50."""
    found = (tr.Gaussian(sigma=5.0) * 3).loss_quantile(p)
    with mpmath.workdps(40):
        sigma = mpmath.mpf(5)
        truth = 3 / (2 * sigma**2) + mpmath.sqrt(6) / sigma * mpmath.erfinv(2 * mpmath.mpf(p) - 1)
    assert found.lower <= truth <= found.upper
    assert found.width <= 1e-12 * abs(found.upper)
    level, budget = min(p, 1.0 - p), found.certificate.budget  # type: ignore[union-attr]
    assert max(*budget.upper.values(), *budget.lower.values()) <= 1e-15 * level


def test_what_is_refused() -> None:
    with pytest.raises(tr.InvalidParameter, match=r"\[0, 1\]"):
        TRAINING.loss_quantile(1.5)
    with pytest.raises(tr.InvalidParameter, match="engine must be one of"):
        TRAINING.pdp(0.0, engine="nothing")
    with pytest.raises(tr.UnsupportedMechanism):
        TRAINING.pdp(0.0, engine="closed_form")


@pytest.mark.parametrize(("quantity", "value"), [("pdp", -0.5), ("loss_cdf", -0.25), ("loss_quantile", 1e-3)])
def test_answers_are_documents(quantity: str, value: float) -> None:
    bound = getattr(LEAKY, quantity)(value)
    text = result.write([Result(repr(LEAKY), quantity, {ARGUMENTS[quantity][0]: value}, bound)], several=False)
    (again,) = result.read(text)
    assert again.bound == bound
    assert again.arguments == {ARGUMENTS[quantity][0]: value}
    infinite = Result(repr(LEAKY), "loss_quantile", {"p": 0.0}, LEAKY.loss_quantile(0.0))
    assert result.read(result.write([infinite], several=False))[0].bound.lower == -math.inf


def test_proofs_hold_the_same() -> None:
    rough, proven = TRAINING.pdp(0.3), TRAINING.pdp(0.3, proof=True)
    assert proven.certificate is not None
    assert proven.certificate.arithmetic == "ball"
    assert rough.lower <= proven.upper
    assert proven.lower <= rough.upper


def test_a_rate_that_is_no_double_is_no_rate_of_real_neighbours() -> None:
    """The pair has two thirds rounded up: one in 24 outputs tells everything, and the lower end is above that."""
    run = tr.ApproximateDP(epsilon=2.0, delta=0.0625).without_replacement(2, 3, neighbours="add_remove")
    truth = Fraction(1, 24)
    loss, delta = run.pdp(4.0, direction="remove"), run.delta(4.0, direction="remove")
    assert loss.certificate is not None
    assert delta.certificate is not None
    assert delta.certificate.tight
    assert Fraction(delta.lower) <= truth <= Fraction(delta.upper)
    assert Fraction(loss.lower) > truth
    assert not loss.certificate.tight
    assert not loss.certificate.attained
    even = tr.ApproximateDP(epsilon=2.0, delta=0.0625).without_replacement(1, 2, neighbours="add_remove").pdp(4.0)
    assert even.certificate is not None
    assert even.certificate.tight
