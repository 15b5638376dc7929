"""zCDP beside the pairs: upper ends against formulas of the papers, lower ends against real mechanisms by mpmath."""

from __future__ import annotations

import math

import mpmath
import pytest
from mpmath import mpf

import tightrope as tr


def two_candidates(epsilon: float, uses: int, asked: float) -> mpf:
    """delta of a real exponential mechanism: log odds from -epsilon/2 to epsilon/2, a binomial sum."""
    with mpmath.workdps(40):
        p = 1 / (1 + mpmath.exp(-mpf(epsilon) / 2))
        total = mpf(0)
        for k in range(uses + 1):
            loss = (2 * k - uses) * mpf(epsilon) / 2
            if loss > asked:
                mass = mpmath.binomial(uses, k) * p**k * (1 - p) ** (uses - k)
                total += mass * (1 - mpmath.exp(asked - loss))
        return total


def gaussian(mu: mpf, epsilon: float) -> mpf:
    """delta of Gaussian noise."""
    with mpmath.workdps(40):
        return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def classic(rho: float, delta: float) -> float:
    """rho + 2 sqrt(rho log(1/delta)), which every rho-zCDP mechanism keeps to (Bun, Steinke 2016, Prop. 1.3)."""
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


@pytest.mark.parametrize(("epsilon", "uses", "delta"), [(0.5, 20, 1e-6), (0.1, 20, 1e-6), (1.0, 100, 1e-2)])
def test_many_exponential_mechanisms_have_the_lesser_of_pair_and_rho(epsilon: float, uses: int, delta: float) -> None:
    bound = (tr.Exponential(epsilon=epsilon) * uses).epsilon(delta)
    assert bound.upper <= classic(uses * epsilon**2 / 8, delta)
    assert two_candidates(epsilon, uses, bound.upper) <= delta
    assert two_candidates(epsilon, uses, bound.lower * (1 - 1e-6)) >= delta
    assert bound.certificate.attained
    at = 0.9 * bound.upper
    there = (tr.Exponential(epsilon=epsilon) * uses).delta(at)
    truth = two_candidates(epsilon, uses, at)
    assert there.lower <= truth * (1 + mpf("1e-6")) <= there.upper * (1 + 1e-6)


def test_twenty_of_them_are_below_what_their_pairs_say() -> None:
    assert (tr.Exponential(epsilon=0.5) * 20).epsilon(1e-6).upper < 5.927
    assert (tr.Exponential(epsilon=0.5) * 20 + tr.Gaussian(sigma=100.0)).epsilon(1e-6).upper < 5.94


def test_few_of_them_keep_the_pair() -> None:
    """Beside three uses of a large epsilon, rho says nothing."""
    run = tr.Exponential(epsilon=2.0) * 3
    assert run.epsilon(1e-6) == run.epsilon(1e-6, engine="contour")
    assert tr.Exponential(epsilon=0.1).epsilon(1e-6).width < 1e-9


@pytest.mark.parametrize(("rho", "size", "delta"), [(2.63, 5, 1e-9), (1.0, 5, 0.01), (2.63, 20, 1e-5)])
def test_groups_of_what_is_zcdp_have_an_end(rho: float, size: int, delta: float) -> None:
    """Gaussian noise with this rho is real; its groups move size times as far."""
    bound = tr.ZCDP(rho=rho).group(size=size).epsilon(delta, seconds=1)
    mu = size * mpmath.sqrt(2 * mpf(rho))
    assert bound.upper <= classic(size**2 * rho, delta)
    assert gaussian(mu, bound.upper) <= delta
    assert gaussian(mu, bound.lower * (1 - 1e-9)) >= delta * (1 - 1e-6)


def test_a_claim_with_a_delta_has_no_such_groups() -> None:
    bound = tr.ZCDP(rho=1.0, delta=1e-6).group(size=6).epsilon(1e-5, seconds=0.5)
    assert tr.ZCDP(rho=1.0, delta=1e-6).group(size=2).concentrated() is None
    assert bound.upper == math.inf or bound.upper >= bound.lower


def test_a_sample_of_it_has_no_such_groups() -> None:
    assert tr.ZCDP(rho=1.0).poisson(rate=0.1).group(size=2).concentrated() is None
