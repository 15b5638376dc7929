"""What a cgf keeps from one tilt to the next changes no number."""

from __future__ import annotations

import math
import random

import mpmath
import pytest

import tightrope as tr
from tightrope.core.losses.cgf import Cgf
from tightrope.core.values.question import Direction

CASES = [(1.0, 0.01), (0.3, 0.2), (4.0, 0.7), (0.05, 0.001), (20.0, 1e-6), (0.7, 0.999)]


def fresh(sigma: float, rate: float, direction: Direction) -> Cgf:
    cgf = tr.Gaussian(sigma=sigma).poisson(rate=rate).pair(direction).cgf()
    assert cgf is not None
    return cgf


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize(("sigma", "rate"), CASES)
def test_the_order_of_tilts_does_not_matter(sigma: float, rate: float, direction: Direction) -> None:
    source = random.Random(f"{sigma} {rate}")
    tilts = [math.exp(source.uniform(-4.0, 3.0)) for _ in range(30)]
    used = fresh(sigma, rate, direction)
    for tilt in [*tilts, *sorted(tilts), *sorted(tilts, reverse=True)]:
        other = fresh(sigma, rate, direction)
        assert used.cumulants(tilt) == other.cumulants(tilt)
        if source.random() < 0.3:
            assert used.log_mgf_above(tilt) == other.log_mgf_above(tilt)


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.01), (4.0, 0.7), (0.7, 0.999)])
def test_the_bound_of_the_cgf_is_above_the_integral_whatever_was_asked_before(
    sigma: float, rate: float, direction: Direction
) -> None:
    """The truth by mpmath: E[g^{1+c}] of the removal and E[g^{-c}] of the addition, g the likelihood ratio."""
    used, mu = fresh(sigma, rate, direction), 1.0 / sigma
    for tilt in (0.5, 7.0, 2.0):
        power = 1.0 + tilt if direction is Direction.REMOVE else -tilt

        def integrand(x: mpmath.mpf, power: float = power) -> mpmath.mpf:
            ratio = 1 - mpmath.mpf(rate) + mpmath.mpf(rate) * mpmath.exp(mu * x - mpmath.mpf(mu) ** 2 / 2)
            return mpmath.exp(-x * x / 2) * ratio**power

        with mpmath.workdps(30):
            total = mpmath.quad(integrand, mpmath.linspace(-30, 40, 71)) / mpmath.sqrt(2 * mpmath.pi)
            truth = mpmath.log(total)
        above = used.log_mgf_above(tilt)
        assert truth <= above
        assert above <= truth + 1e-6 * (1 + abs(truth))
        assert used.cumulants(tilt).value == pytest.approx(float(truth), rel=1e-3, abs=1e-6)
