"""K at a real tilt that is no short binary fraction: 1 + tilt must not be rounded on the way into a ball."""

from __future__ import annotations

import mpmath
import pytest

import tightrope as tr
from tests.losses.moments import log_moment


@pytest.mark.parametrize("proof", [False, True])
def test_moment_at_a_tilt_with_many_bits(proof: bool) -> None:
    sigma, rate, tilt = 600.5654470703889, 0.9567070462003745, 1.0089995922445007e-05
    with mpmath.workdps(50):
        mu, share, power = 1 / mpmath.mpf(sigma), mpmath.mpf(rate), 1 + mpmath.mpf(tilt)
        moment = mpmath.quad(
            lambda x: mpmath.npdf(x) * (1 - share + share * mpmath.exp(mu * x - mu**2 / 2)) ** power,
            mpmath.linspace(-15, 15, 31),
        )
        truth = mpmath.log(moment)
        low, high = log_moment(tr.Gaussian(sigma=sigma).poisson(rate=rate).pair(tr.Direction.REMOVE), tilt, proof)
        assert mpmath.mpf(low) <= truth <= mpmath.mpf(high)
