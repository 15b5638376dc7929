"""Little noise: hits are seen, and the sum over their number holds against quadrature and against other engines."""

from __future__ import annotations

import math

import mpmath
import pytest

import tightrope as tr
from tests.oracle.sampled_twice import Use, delta_of_two
from tests.reference.integrals import stored
from tightrope.core.engines import tuning

ORACLE_ERROR = mpmath.mpf(10) ** -17
TWICE = [
    (0.09, 0.01, 0.09, 0.01, 20.0),
    (0.09, 0.01, 0.09, 0.01, 70.0),
    (0.09, 0.01, 0.09, 0.01, 120.0),
    (0.08, 0.3, 0.06, 0.02, 90.0),
    (0.05, 0.5, 0.05, 0.5, 390.0),
    (0.02, 1e-4, 0.03, 0.9, 1300.0),
    (0.01, 0.5, 0.01, 0.5, 9700.0),
]


def uses(one: Use, other: Use) -> tr.Mechanism:
    return tr.compose([tr.Gaussian(sigma=each.sigma).poisson(rate=each.rate) for each in (one, other)])


def two_removals(one: Use, other: Use, epsilon: float) -> mpmath.mpf:
    """Stored; one of them and the additions are computed here."""
    with mpmath.workdps(40):
        found = stored("one sampled Gaussian and another", one.sigma, one.rate, other.sigma, other.rate, epsilon)
        return mpmath.mpf(found)


def test_the_stored_integrals_are_computed_here() -> None:
    """The cheapest of them; the others by `python -m tests.reference.integrals`."""
    one, other = Use(0.02, 1e-4), Use(0.03, 0.9)
    assert abs(delta_of_two(one, other, 1300.0) / two_removals(one, other, 1300.0) - 1) <= ORACLE_ERROR


@pytest.mark.parametrize(("sigma", "rate", "other_sigma", "other_rate", "epsilon"), TWICE)
def test_two_removals(sigma: float, rate: float, other_sigma: float, other_rate: float, epsilon: float) -> None:
    one, other = Use(sigma, rate), Use(other_sigma, other_rate)
    bound = uses(one, other).delta(epsilon, engine="hits", direction="remove")
    truth = two_removals(one, other, epsilon)
    assert bound.lower <= truth * (1 + ORACLE_ERROR)
    assert truth * (1 - ORACLE_ERROR) <= bound.upper
    assert bound.width < 1e-3 * bound.upper


@pytest.mark.parametrize(("sigma", "rate", "share"), [(0.09, 0.3, 0.1), (0.08, 0.01, 0.5), (0.05, 0.7, 0.9)])
def test_two_additions(sigma: float, rate: float, share: float) -> None:
    use = Use(sigma, rate)
    epsilon = share * float(-2 * mpmath.log1p(-rate))
    bound = uses(use, use).delta(epsilon, engine="hits", direction="add")
    truth = delta_of_two(use, use, epsilon, remove=False)
    assert bound.lower <= truth * (1 + ORACLE_ERROR)
    assert truth * (1 - ORACLE_ERROR) <= bound.upper
    assert bound.width < 1e-2 * bound.upper


@pytest.mark.parametrize(
    ("run", "delta"),
    [
        (tr.Gaussian(sigma=0.01).poisson(rate=0.5) * 100, 1e-6),
        (tr.Gaussian(sigma=0.01).poisson(rate=1e-4) * 10**6, 1e-6),
        (tr.Gaussian(sigma=0.001).poisson(rate=0.1) * 10, 1e-6),
        (tr.Gaussian(sigma=1e-6).poisson(rate=0.1) * 10, 1e-200),
        (tr.Gaussian(sigma=0.02).poisson(rate=0.01) * 500 + tr.Gaussian(sigma=0.05).poisson(rate=0.1) * 7, 1e-9),
        (tr.Gaussian(sigma=0.02).poisson(rate=0.01) * 500 + tr.ApproximateDP(epsilon=2.0, delta=1e-8) * 3, 1e-6),
    ],
    ids=repr,
)
def test_narrow(run: tr.Mechanism, delta: float) -> None:
    """Both questions are answered to ten digits, and agree."""
    found = run.epsilon(delta)
    assert found.certificate is not None
    assert found.certificate.engine == "hits"
    assert found.width <= 1e-10 * found.upper
    assert run.delta(found.lower).upper >= delta >= run.delta(found.upper).lower


@pytest.mark.parametrize(("sigma", "rate", "count", "delta"), [(0.06, 0.01, 1000, 1e-6), (0.07, 0.05, 300, 1e-4)])
def test_overlaps_the_contour(sigma: float, rate: float, count: int, delta: float) -> None:
    run = tr.Gaussian(sigma=sigma).poisson(rate=rate) * count
    seen, other = (run.epsilon(delta, engine=name, accuracy=1e-3) for name in ("hits", "contour"))
    assert max(seen.lower, other.lower) <= min(seen.upper, other.upper)


def test_epsilon_zero() -> None:
    bound = (tr.Gaussian(sigma=0.001).poisson(rate=0.1) * 10).epsilon(0.9)
    assert (bound.lower, bound.upper) == (0.0, 0.0)


def test_says_no_to_ordinary_noise() -> None:
    run = tr.Gaussian(sigma=1.0).poisson(rate=0.01) * 1000
    with pytest.raises(tr.UnsupportedMechanism):
        run.epsilon(1e-6, engine="hits")


def test_hits_that_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists that end far too early: only the bound of what they leave out keeps the truth inside."""
    use = Use(0.05, 0.3)
    truth = delta_of_two(use, use, 300.0)
    monkeypatch.setattr(tuning, "FIRST_LOOK", math.log(0.2))
    monkeypatch.setattr(tuning, "LISTS_MAX", 1)
    bound = uses(use, use).delta(300.0, engine="hits", direction="remove")
    assert bound.lower <= truth * (1 + ORACLE_ERROR)
    assert truth * (1 - ORACLE_ERROR) <= bound.upper
    assert bound.width > 1e-2 * bound.upper, "the list was long enough"
