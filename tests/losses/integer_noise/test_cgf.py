"""Moments beyond the table, the decay of transforms, and many uses by contour and by lattice."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from flint import acb, arb

import tightrope as tr
from tests.oracle.integer_noise import mass
from tightrope.core.losses.integer_noise import integer_cgf as cgfs
from tightrope.core.losses.integer_noise import integer_cgf as moments
from tightrope.core.losses.integer_noise.coins import CoinNoise
from tightrope.core.losses.integer_noise.integer_pair import IntegerNoisePair
from tightrope.core.losses.integer_noise.noise import Bend
from tightrope.core.losses.integer_noise.skellam_noise import SkellamNoise
from tightrope.core.numerics.balls import working_precision

COINS, DIFFERENCE = IntegerNoisePair(CoinNoise(600), 2), IntegerNoisePair(SkellamNoise(30.0), 2)


def coins_moment(z: acb) -> acb:
    """All outputs."""
    heads = [arb(math.comb(600, k)) / arb(2) ** 600 for k in range(601)]
    logs = [mass.log() for mass in heads]
    return sum((((1 + z) * logs[k - 2] - z * logs[k]).exp() for k in range(2, 601)), acb(0))


def difference_moment(z: acb) -> acb:
    logs = [mass(30.0, k, 160).log() for k in range(420)]
    return sum((((1 + z) * logs[abs(k - 2)] - z * logs[abs(k)]).exp() for k in range(-400, 401)), acb(0))


@pytest.mark.parametrize("z", [acb(0.7), acb(12.0), acb(-0.4), acb(-3.0), acb(2.0, 5.0)])
def test_moments(z: acb) -> None:
    with working_precision(128):
        for pair, truth in ((COINS, coins_moment), (DIFFERENCE, difference_moment)):
            found = pair.moments().log_moment(z)
            assert found is not None
            assert found.exp().overlaps(truth(z)), pair
            assert found.real.rad() < 1e-30


@pytest.mark.parametrize(("variance", "sensitivity"), [(0.3, 1), (4.0, 1), (30.0, 2), (3000.0, 40)])
def test_moments_by_the_bend(variance: float, sensitivity: int) -> None:
    """What huge variances are left to, where sums can tell."""
    noise = SkellamNoise(variance)
    pair = IntegerNoisePair(noise, sensitivity)
    with working_precision(128):
        bend, rho = Bend.of(noise, sensitivity), pair.moments().zcdp_rho()
        assert bend is not None
        assert rho is not None
        for c in (-0.4, 2.0**-40, 0.3, 1.0, 2.75, 12.1):
            exact, found = pair.moments().log_moment(acb(c)), bend.log_moment(arb(c))
            assert exact is not None
            assert found is not None
            assert found.contains(exact.real), c
            if c > 0.0:
                assert not exact.real > c * (1 + arb(c)) * rho, c
                assert all(
                    not exact.real > c * s + c * (1 + arb(c)) * slope for s, slope in pair.moments().approximate_zcdp()
                ), c


def test_bends_fall() -> None:
    with working_precision(128):
        for variance in (1e-3, 2.0, 900.0):
            bends = [SkellamNoise(variance).bend(k) for k in (0, 1, 2, 5, 11, 40)]
            assert all(one > two > 0 for one, two in pairwise(bends))
    assert CoinNoise(600).bend(300) is None


@pytest.mark.parametrize(("mechanism", "square"), [(tr.Skellam(1e12, 3), 9.0), (tr.Skellam(1e20), 1.0)])
def test_divergences_of_huge_variances(mechanism: tr.Skellam, square: float) -> None:
    """Those of a Gaussian, nearly; the window of a sum would have millions of outputs."""
    unit = square / (2.0 * mechanism.variance)
    for order in (0.3, 1.0, 1.01, 2.5, 8.0):
        found = mechanism.renyi(order)
        assert found.upper - found.lower < 1e-8 * found.upper
        assert found.upper == pytest.approx(order * unit, rel=1e-8)
    assert mechanism.zcdp().upper == pytest.approx(unit, rel=1e-8)
    assert 0.0 < mechanism.renyi(1e9).lower <= mechanism.renyi(1e9).upper <= 1e9 * unit * 1.1


def test_zcdp_of_skellam_noise() -> None:
    """D_o/o is largest as the order falls to 1, where D_1 is a sum over outputs."""
    for variance, sensitivity in ((1.0, 1), (10.0, 3)):
        with working_precision(128):
            logs = [mass(variance, k, 160).log() for k in range(200)]
            terms = [(logs[abs(k - sensitivity)], logs[abs(k)]) for k in range(-150, 151)]
            mean = sum((p.exp() * (p - q) for p, q in terms), arb(0))
        found = tr.Skellam(variance, sensitivity).zcdp()
        assert found.lower <= mean <= found.upper
        assert found.upper - found.lower < 1e-6 * found.upper
        gaussian = tr.Skellam(variance, sensitivity).gdp()
        assert gaussian.upper < 1.5 * gaussian.lower


def test_what_lies_beyond_a_window_is_bounded() -> None:
    for pair, truth in ((COINS, coins_moment), (DIFFERENCE, difference_moment)):
        noise, shift = pair.noise, pair.sensitivity
        with working_precision(128):
            for tilt in (0.0, 1.5, 9.0):
                for tolerance in (2.0, 10.0, 40.0):
                    seen = moments.window(noise, shift, tilt, tolerance)
                    terms = moments.log_terms(noise, shift, seen)
                    inside = sum(((p + tilt * (p - q)).exp() for p, q in terms), arb(0))
                    rest = moments.left_out(noise, shift, seen, arb(tilt))
                    assert not inside + rest < truth(acb(tilt)).real, (tilt, tolerance)
                assert rest < 1e-9 * inside


@pytest.mark.parametrize("pair", [COINS, DIFFERENCE, IntegerNoisePair(SkellamNoise(0.8), 1)])
def test_decay_holds_up_to_the_horizon(pair: IntegerNoisePair, monkeypatch: pytest.MonkeyPatch) -> None:
    from tightrope.core.losses.integer_noise import integer_cgf as decays

    for most in (decays.SWEPT_MAX, 0.0):  # |phi| itself, and pairs of outputs
        monkeypatch.setattr(decays, "SWEPT_MAX", most)
        for tilt in (0.3, 4.0):
            cgf = pair.cgf()
            assert cgf is not None
            law, decay, last = cgf.tilted(tilt, 0.0, 42.0), cgf.cf_decay(tilt), cgf.horizon()
            times = last * np.geomspace(1e-5, 1.0, 400)
            weights = law.weights.value / np.sum(law.weights.value)
            sizes = abs(np.exp(1j * times[:, None] * law.offsets.value) @ weights)
            largest = np.maximum.accumulate(sizes[::-1])[::-1]
            bounds = np.exp([decay.log_bound(float(t)) for t in times])
            assert np.all(bounds >= largest)
            assert min(bounds) < 0.999


@pytest.mark.parametrize("mechanism", [tr.Skellam(variance=20.0), tr.BinomialNoise(trials=600, sensitivity=3)])
def test_contour_and_lattice_agree(mechanism: tr.Mechanism) -> None:
    runs = mechanism * 3000
    first, second = runs.epsilon(1e-6, engine="contour"), runs.epsilon(1e-6, engine="lattice")
    assert first.lower <= second.upper
    assert second.lower <= first.upper
    assert first.upper - first.lower < 1e-5 * first.upper


def test_in_balls_as_in_float64() -> None:
    cgf = cgfs.IntegerNoiseCgf(DIFFERENCE)
    with working_precision(128):
        ball = cgf.ball_tilted(1.25, 3.0, 42.0)
        assert abs(ball.log_mgf - float(cgf.tilted(1.25, 3.0, 42.0).log_mgf.value)) < 1e-12
        assert (ball.phi(0.5, 3)[2] * difference_moment(acb(1.25))).overlaps(difference_moment(acb(1.25, 1.0)))
