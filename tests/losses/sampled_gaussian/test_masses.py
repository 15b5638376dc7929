"""Masses of cells and moments from above, each against an integral: also where cells are wide and rates next to 1."""

from __future__ import annotations

import pytest
from flint import acb, arb

from tests.oracle import transforms
from tests.oracle.precision import precision
from tightrope.core.losses.cgf import cgf_of
from tightrope.core.losses.sampled_gaussian.cf_decay import _Balls
from tightrope.core.losses.sampled_gaussian.likelihood import DecayCell, log_masses
from tightrope.core.mechanisms.gaussian import Gaussian
from tightrope.core.values.question import Direction

ENDS = [(-4.0, -3.6), (-3.0, -0.5), (-1.0, 1.0), (0.2, 0.3), (0.5, 3.0), (2.0, 6.0)]


@pytest.mark.parametrize(("mu", "rate"), [(1.0, 0.3), (0.2, 0.01), (2.0, 0.9)])
@pytest.mark.parametrize("power", [-6.0, -0.5, 1.5, 7.0])
def test_the_mass_of_a_cell(mu: float, rate: float, power: float) -> None:
    with precision(80):
        m, q = arb(mu), arb(rate)

        def weight(x: arb) -> arb:
            return 1 + q * (m * x - m * m / 2).expm1()

        def log_density(x: arb) -> arb:
            return weight(x).log() * power - x * x / 2

        def share(x: arb) -> arb:
            return q * (m * x - m * m / 2).exp() / weight(x)

        def density(z: acb, _: bool) -> acb:
            return ((1 + q * ((m * z - m * m / 2).exp() - 1)).log() * power - z * z / 2).exp()

        for left, right in ENDS:
            one, other = arb(left), arb(right)
            ends = share(one), share(other)
            cell = DecayCell(one, other, *ends, *(1 - each for each in ends))
            logs = log_density(one), log_density((one + other) / 2), log_density(other)
            low, high = log_masses(_Balls, cell, logs, m, power)
            mass = (acb.integral(density, one, other).real / (other - one)).log()
            assert low <= mass
            assert mass <= high


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("rate", [1e-9, 1.0 - 1e-9, 1.0 - 2.0**-53])
def test_moments_from_above(rate: float, direction: Direction) -> None:
    cgf = cgf_of(Gaussian(sigma=1.0).poisson(rate=rate).pair(direction))
    sign = 1 if direction is Direction.REMOVE else -1
    for tilt in (2.0, 20.0):
        with precision(128):
            exact = transforms.sampled_normal(1.0, rate, sign, acb(tilt)).real.log()
            assert exact.lower() <= cgf.log_mgf_above(tilt)
            assert cgf.log_mgf_above(tilt) <= exact.upper() + 1e-3
