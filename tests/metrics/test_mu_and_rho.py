"""mu, rho and divergences: against closed forms and fractions, against each other, and against the profile."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import pytest

import tightrope as tr
from tests.metrics.test_agreement import OTHER, Asked, case, meet, seeds, up
from tests.metrics.test_truth import FAMILIES, finite, holds, narrow
from tests.oracle.readings import DIGITS, Family, gaussian_hockey_stick
from tests.search import cases


@pytest.mark.parametrize("run, family", FAMILIES, ids=lambda each: str(each)[:30])
def test_closed_forms(run: tr.Mechanism, family: Family) -> None:
    with mp.workdps(DIGITS):
        mu, rho = family.gdp(), family.zcdp()
    for direction in ("remove", "add", None):
        for found, value in ((run.gdp(direction=direction), mu), (run.zcdp(direction=direction), rho)):
            holds(found, value)
            assert narrow(found)


@pytest.mark.parametrize("seed", range(cases(2, 60)))
def test_finite_laws(seed: int) -> None:
    run, two = finite(seed)
    holds(run.gdp(), two.gdp())
    holds(run.gdp(delta_least=0.0625), two.gdp(0.0625))
    holds(run.zcdp(), *two.zcdp())
    holds(run.zcdp(order_most=3.0), *two.zcdp(3.0))


@pytest.mark.parametrize("sigma, rate, count", [(1.0, 0.01, 1000), (2.0, 0.5, 1), (0.75, 0.25, 4)])
def test_sampling_does_not_help_mu_and_rho(sigma: float, rate: float, count: int) -> None:
    run = tr.Gaussian(sigma=sigma).poisson(rate=rate) * count
    with mp.workdps(DIGITS):
        mu, rho = mp.sqrt(count) / mp.mpf(sigma), count / (2 * mp.mpf(sigma) ** 2)
    holds(run.gdp(), mu)
    holds(run.zcdp(), rho)
    assert narrow(run.gdp())
    assert narrow(run.zcdp())
    assert run.gdp(delta_least=1e-6).upper < mu
    assert run.zcdp(order_most=2.0).upper < rho


@pytest.mark.parametrize("seed", seeds(17))
def test_divergences(seed: int) -> None:
    run, _, direction = case(seed)
    mean = run.mean_loss(direction=direction)
    assert meet(mean, run.renyi(1.0, direction=direction))
    orders = (1.0, 1.5, 2.0, 8.0)
    found = run.renyi(orders, direction=direction)
    rho = run.zcdp()
    assert mean.lower <= up(rho.upper)
    for order, divergence in zip(orders, found, strict=True):
        assert divergence.lower <= up(order * rho.upper)
    assert all(less.lower <= more.upper for less, more in itertools.pairwise(found))
    upto = run.zcdp(order_most=2.0)
    assert upto.lower <= rho.upper
    assert all(each.lower <= up(o * upto.upper) for o, each in zip(orders[:3], found[:3], strict=True))
    # Pinsker: the distance is at most sqrt(KL / 2).
    assert run.advantage().lower <= up(math.sqrt(mean.upper / 2.0))


@pytest.mark.parametrize("seed", seeds(19))
def test_the_gaussian_of_mu_covers(seed: int) -> None:
    run, _, _ = case(seed)
    mu = run.gdp()
    ts = (0.0, 0.1, 1.0, 2.0)
    for direction in OTHER:
        for t, delta in zip(ts, run.delta(ts, direction=direction), strict=True):
            if mu.upper < math.inf:
                assert delta.lower <= float(gaussian_hockey_stick(mp.mpf(mu.upper), mp.exp(t))) + 1e-15
    part = run.gdp(delta_least=0.01)
    assert part.lower <= mu.upper
    for t, delta in zip(ts, run.delta(ts), strict=True):
        if delta.lower >= 0.01 and part.upper < math.inf:
            assert delta.lower <= float(gaussian_hockey_stick(mp.mpf(part.upper), mp.exp(t))) + 1e-15
    if part.upper < math.inf:
        # Above 0.01 the profile is covered, so the advantage is; and no mu below the lower end does that.
        advantage = run.advantage()
        if advantage.lower >= 0.01:
            assert advantage.lower <= math.erf(part.upper / 8.0**0.5) + 1e-15


@pytest.mark.parametrize("seed", seeds(3))
def test_more_uses_need_more(seed: int) -> None:
    run, _, _ = case(seed)
    twice = Asked(run.run * 2)
    assert run.gdp().lower <= twice.gdp().upper
    assert run.zcdp().lower <= twice.zcdp().upper
    assert 2.0 * run.mean_loss().lower <= up(twice.mean_loss().upper)
