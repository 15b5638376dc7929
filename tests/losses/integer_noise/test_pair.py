"""Pairs of integer noise where the table does not reach: many coins, deep tails, large shifts, huge variances."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import tightrope as tr
from tests.oracle.integer_noise import Skellam
from tests.oracle.precision import precision
from tests.oracle.truth import Truth
from tightrope.core.losses.capabilities import Resolution
from tightrope.core.losses.finite.finite_pair import FinitePair
from tightrope.core.losses.integer_noise.coins import CoinLaw, CoinNoise, coin_pair
from tightrope.core.losses.integer_noise.integer_pair import IntegerNoisePair
from tightrope.core.losses.operators.registered import has_bracket_only, shifted_pair
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.double_double import double_double
from tightrope.core.values.question import Direction


def contains(bound: tr.Bound, truth: object) -> bool:
    return bool(not bound.lower > truth and not bound.upper < truth)  # type: ignore[operator]


def test_many_coins_are_the_same_law_as_few() -> None:
    law, noise = FinitePair(CoinLaw(40, 3)), IntegerNoisePair(CoinNoise(40), 3)
    t = double_double(np.array([-np.inf, -4.0, -0.7, 0.0, 0.3, 2.0, 7.0, 30.0, np.inf]))
    for one, other in zip(law.tails(t), noise.tails(t), strict=True):
        assert one == pytest.approx(other, rel=1e-13, abs=0.0)
    assert isinstance(coin_pair(512, 1), FinitePair)
    assert isinstance(coin_pair(513, 1), IntegerNoisePair)
    assert noise.infinite_mass().overlaps(law.infinite_mass())


@pytest.mark.parametrize("sensitivity", [1, 30, 700])
def test_many_coins(sensitivity: int) -> None:
    mechanism, heads = tr.BinomialNoise(trials=700, sensitivity=sensitivity), [math.comb(700, k) for k in range(701)]
    pairs = list(zip([0] * sensitivity + heads, heads + [0] * sensitivity, strict=True))
    for epsilon in (0.0, 0.4, 40.0, 400.0):
        with precision(1500):
            truth = sum(((p - q * arb(epsilon).exp()).max(arb(0)) for p, q in pairs), arb(0)) / arb(2) ** 700
        assert contains(mechanism.delta(epsilon), truth), epsilon
        assert contains(mechanism.delta(epsilon, proof=True), truth), epsilon


@pytest.mark.parametrize(("variance", "sensitivity"), [(30.0, 1), (0.01, 40), (2.5, 9)])
def test_deep_tails(variance: float, sensitivity: int) -> None:
    mechanism, truth = tr.Skellam(variance, sensitivity), Truth(Skellam(variance, sensitivity))
    for delta in (0.1, 1e-12, 1e-300):
        bound = mechanism.epsilon(delta)
        assert truth.delta(Fraction(bound.upper)) <= delta
        assert bound.lower == 0.0 or truth.delta(Fraction(bound.lower)) >= delta
        assert bound.upper - bound.lower <= 1e-10 * bound.upper


def test_fewer_trials_than_the_sensitivity_tell_everything() -> None:
    for trials in (2, 800):
        assert tr.BinomialNoise(trials=trials, sensitivity=trials + 1).delta(5.0).lower == 1.0
    assert tr.BinomialNoise(trials=800, sensitivity=800).delta(1e6).lower >= 1.0 - 1e-15


@pytest.mark.parametrize("trials", [40, 1000, 10**5, 10**15])
def test_divergences_of_coins_are_infinite(trials: int) -> None:
    """With probability 2^-trials the loss is infinite, be that below every double."""
    mechanism = tr.BinomialNoise(trials=trials)
    for bound in (mechanism.renyi(2.0), (mechanism * 3).renyi(1.0), mechanism.zcdp(), mechanism.gdp()):
        assert bound.lower == math.inf
        assert bound.certificate is not None
        assert "the loss is infinite" in bound.certificate.reason
        assert "probability 0 " not in bound.certificate.reason


def test_huge_variances_follow_the_normal_law() -> None:
    for mechanism, sigma in ((tr.Skellam(variance=1e12), 1e6), (tr.BinomialNoise(trials=10**12), 5e5)):
        bound, normal = mechanism.delta(2e-6), tr.Gaussian(sigma=sigma).delta(2e-6)
        assert bound.upper == pytest.approx(normal.upper, rel=1e-5)
        assert bound.upper - bound.lower < 1e-10 * bound.upper


@pytest.mark.parametrize("mechanism", [tr.Skellam(1e12, 10**5), tr.BinomialNoise(10**12, 30_000)])
def test_outputs_that_nobody_lists_lie_between_two_finite_pairs(mechanism: tr.Mechanism) -> None:
    pair = mechanism.pair(Direction.REMOVE)
    assert has_bracket_only(pair)
    found = pair.bracket(Resolution(40, 1e-9, False))
    assert found is not None
    with working_precision(128):
        for epsilon in (-0.2, 0.0, 0.013, 0.3):
            low, here, high = (each.ball_hockey_stick(arb(epsilon)) for each in (found[0], pair, found[1]))
            assert not low > here
            assert not here > high
            assert high - low < 3e-3


def test_groups_are_larger_shifts() -> None:
    assert tr.Skellam(3.0, 2).group(size=3).delta(1.0) == tr.Skellam(3.0, 6).delta(1.0)
    pair = tr.BinomialNoise(trials=600, sensitivity=2).pair(Direction.ADD)
    assert shifted_pair(pair, 5) == tr.BinomialNoise(trials=600, sensitivity=10).pair(Direction.REMOVE)


def test_two_uses_by_brute_force() -> None:
    """All pairs of outputs, by the masses of scipy's own kind: a sum over a square."""
    from scipy.special import ive

    variance, epsilon, outputs = 1.5, 0.8, range(-30, 32)
    p, q = ([float(ive(abs(k - shift), variance)) for k in outputs] for shift in (1, 0))
    total = math.fsum(
        max(p[i] * p[j] - math.exp(epsilon) * q[i] * q[j], 0.0) for i in range(len(p)) for j in range(len(p))
    )
    bound = (tr.Skellam(variance) * 2).delta(epsilon)
    assert bound.lower * (1.0 - 1e-12) <= total <= bound.upper * (1.0 + 1e-12)
    assert bound.upper - bound.lower < 1e-5 * bound.upper


@pytest.mark.parametrize(
    "mechanism", [tr.Skellam(variance=1e30), tr.BinomialNoise(trials=10**15), tr.Skellam(1.0, 10**9)]
)
def test_what_nobody_lists_is_answered_or_left_open(mechanism: tr.Mechanism) -> None:
    bound = mechanism.delta(0.5)
    assert 0.0 <= bound.lower <= bound.upper <= 1.0
    assert contains(mechanism.delta(1e5), arb(0).union(arb(1)))


@pytest.mark.parametrize(
    "make",
    [
        lambda: tr.Skellam(variance=1e31),
        lambda: tr.Skellam(variance=1.0, sensitivity=10**10),
        lambda: tr.BinomialNoise(trials=10**16),
        lambda: tr.BinomialNoise(trials=0),
    ],
)
def test_sizes_are_checked(make: Callable[[], tr.Mechanism]) -> None:
    with pytest.raises(tr.InvalidParameter):
        make()


@pytest.mark.parametrize("sensitivity", [601, 602, 5000])
def test_fewer_coins_than_the_shift_tell_everything(sensitivity: int) -> None:
    """Alone, beside other noise, in samples and in groups."""
    coins = tr.BinomialNoise(trials=600, sensitivity=sensitivity)
    assert coins.delta(0.3).lower == (coins + tr.Laplace(scale=1.0)).delta(0.3).lower == 1.0
    assert contains(coins.poisson(rate=0.25, neighbours="replace").delta(0.3), 0.25)
    assert (tr.BinomialNoise(trials=600).group(size=sensitivity) + tr.Laplace(scale=1.0)).delta(0.3).lower == 1.0
    found = coins.pair(Direction.REMOVE).ball_tails(arb(1))
    assert found.p_above == found.q_below == 1
    assert found.q_above == found.p_below == 0
