"""Replacing a record under Poisson sampling: both arithmetics against mpmath, and the symmetry."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from mpmath import mp, mpf

from tests.oracle.mixtures import NormalMixtures
from tightrope.core.losses.gaussian import GaussianPair
from tightrope.core.losses.operators.registered import sampled_replacement
from tightrope.core.losses.pair import TAIL_ERROR, Pair
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.double_double import double_double
from tightrope.core.numerics.enclosures import exact
from tightrope.core.values.errors import InvalidParameter

POINTS = [0.0, 1e-9, 0.01, 0.3, 1.0, 5.0, 40.0]


def pair_of(sigma: float, rate: float) -> Pair:
    found = sampled_replacement(GaussianPair(((sigma, 1.0, 1),)), rate)
    assert found is not None
    return found


@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.1), (0.125, 0.5), (8.0, 1e-6), (0.5, 1.0 - 2.0**-40), (2.0, 0.9)])
def test_tails_and_profile_against_mpmath(sigma: float, rate: float) -> None:
    mu, share = 1 / Fraction(sigma), Fraction(rate)
    none = 1 - share, Fraction(0)
    truth, pair = NormalMixtures((none, (share, mu)), (none, (share, -mu))), pair_of(sigma, rate)
    points = [sign * point for point in POINTS for sign in (1.0, -1.0)]
    tails, profile = pair.tails(double_double(np.array(points))), pair.hockey_stick(exact(np.array(points)))
    with mp.workdps(60):
        for index, t in enumerate(points):
            with working_precision(300):
                proven, height = pair.ball_tails(arb(t)), pair.ball_hockey_stick(arb(t))
                balls = [*proven, height]
            values = [*truth.tails(t), truth.hockey_stick(t)]
            for found, value in zip(tails, values, strict=False):
                error = abs(mpf(float(found[index])) - value)
                assert error <= (TAIL_ERROR * value if value >= 1e-300 else mpf(1e-313)), (t, value)
            with working_precision(300):
                for ball, value in zip(balls, values, strict=True):
                    assert arb(mp.nstr(value, 55)).overlaps(ball * (1 + arb(0, 1e-45)) + arb(0, 1e-55))
            assert mpf(float(profile.lower[index])) * (1 - mpf(2) ** -80) <= values[-1]
            assert values[-1] <= mpf(float(profile.upper[index])) * (1 + mpf(2) ** -80) + mpf(2) ** -300
            assert profile.radius[index] <= 1e-11 * profile.value[index] + 1e-29


def test_limits() -> None:
    """At rate 1 it would be the shift by both; its tails at the infinities are 0 and 1."""
    nearly, whole = pair_of(1.0, 1.0 - 1e-15), GaussianPair(((1.0, 2.0, 1),))
    np.testing.assert_allclose(nearly.hockey_stick(exact(1.0)).value, whole.hockey_stick(exact(1.0)).value, rtol=1e-12)
    ends = pair_of(1.0, 0.5).tails(double_double(np.array([math.inf, -math.inf])))
    assert [list(each) for each in ends] == [[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    assert pair_of(1.0, 0.5).reversed() == pair_of(1.0, 0.5)


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_rates(rate: float) -> None:
    with pytest.raises(InvalidParameter, match="rate"):
        pair_of(1.0, rate)
