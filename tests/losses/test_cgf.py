"""The tilted laws and their transforms contain what Arb's own integration finds, in both arithmetics."""

from __future__ import annotations

import numpy as np
import pytest
from flint import acb, arb

from tests.oracle import transforms
from tightrope.core.losses.cgf import Cgf, cgf_of
from tightrope.core.losses.gaussian import GaussianPair
from tightrope.core.losses.laplace import LaplacePair
from tightrope.core.losses.operators.poisson import PoissonAdd, PoissonRemove
from tightrope.core.losses.pair import Pair
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.quadrature import transform

NODES, PICKED = 40, (0, 1, 5, 17, 39)


def gaussian(sigma: float, rate: float, sign: int) -> Pair:
    base = GaussianPair(((sigma, 1.0, 1),))
    return PoissonRemove(base, rate) if sign > 0 else PoissonAdd(base, rate)


SAMPLED = [
    (1.0, 0.01, 1, 5.0, 0.25),
    (1.0, 0.01, -1, 7.0, 0.25),
    (4.0, 0.01, 1, 10.0, 1.0),
    (0.6, 1e-4, 1, 3.0, 0.25),
    (0.6, 1e-4, -1, 3.0, 0.25),
    (0.25, 0.3, 1, 2.0, 0.0625),
    (0.25, 0.3, -1, 2.0, 0.0625),
    (20.0, 0.9, 1, 0.5, 0.5),
    (2.0, 1e-8, 1, 20.0, 0.5),
    (1.0, 0.5, -1, 30.0, 0.25),
    (100.0, 0.5, 1, 4.0, 0.125),
    (1.0, 1.0 - 1e-9, 1, 0.75, 0.125),
    (1.0, 1.0 - 1e-9, -1, 0.75, 0.125),
]


def check_float(cgf: Cgf, tilt: float, step: float, truth: dict[int, acb]) -> None:
    """log M(c) and phi within their radii, and the radii of use for a power of 10^6."""
    tilted = cgf.tilted(tilt, step * NODES, 45.0)
    log_mgf = tilted.log_mgf
    exact = truth[0].real.log()
    assert abs(exact - arb(float(log_mgf.value))) <= arb(float(log_mgf.radius))
    law = tilted
    found = transform(law, step, NODES)
    for index, value in truth.items():
        t = step * index
        deviation = acb(*(arb(float(part)) for part in (found.deviation[index].real, found.deviation[index].imag)))
        drift = arb(float(law.drift.value), float(law.drift.radius))
        error = abs((1 + deviation) * acb(0, arb(t) * drift).exp() - value / truth[0])
        radius = float(found.quadrature[index] + found.rounding[index])
        assert not error > arb(radius), f"error {error} above {radius} at t = {t}"
    mean = np.sum(abs(law.offsets.value) * law.weights.value) / np.sum(law.weights.value)
    assert np.all(found.quadrature <= 1e-17)
    assert np.all(found.rounding[1:] <= 1e-12 * step * np.arange(1, NODES) * mean)


def check_ball(cgf: Cgf, tilt: float, step: float, truth: dict[int, acb]) -> None:
    with working_precision(160):
        tilted = cgf.ball_tilted(tilt, step * NODES, 45.0)
        assert tilted.log_mgf.overlaps(truth[0].real.log())
        assert tilted.log_mgf.rad() < 1e-17
        for index, value in truth.items():
            phi = tilted.phi(step, NODES)[index]
            assert phi.overlaps(value / truth[0])
            assert phi.real.rad() < 1e-17


@pytest.mark.parametrize(("sigma", "rate", "sign", "tilt", "step"), SAMPLED)
def test_sampled_gaussian(sigma: float, rate: float, sign: int, tilt: float, step: float) -> None:
    with working_precision(160):
        truth = {index: transforms.sampled_normal(sigma, rate, sign, acb(tilt, step * index)) for index in PICKED}
        cgf = cgf_of(gaussian(sigma, rate, sign))
        check_float(cgf, tilt, step, truth)
        check_ball(cgf, tilt, step, truth)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("scale", "rate", "tilt"), [(2.0, 0.3, 3.0), (10.0, 0.01, 20.0), (0.25, 0.5, 0.5)])
def test_sampled_laplace(scale: float, rate: float, tilt: float, sign: int) -> None:
    step = 0.25
    with working_precision(160):
        edge = 1 / arb(scale)
        truth = {index: transforms.sampled_laplace(edge, rate, sign, acb(tilt, step * index)) for index in PICKED}
        base = LaplacePair(scale, 1.0)
        cgf = cgf_of(PoissonRemove(base, rate) if sign > 0 else PoissonAdd(base, rate))
        check_float(cgf, tilt, step, truth)
        check_ball(cgf, tilt, step, truth)


def test_the_quadrature_error_is_needed() -> None:
    """On a grid that is far too coarse the claimed error still covers the true one."""
    sigma, rate, tilt, step = 1.0, 0.3, 2.0, 0.25
    with working_precision(160):
        truth = {index: transforms.sampled_normal(sigma, rate, 1, acb(tilt, step * index)) for index in PICKED}
        cgf = cgf_of(gaussian(sigma, rate, 1))
        tilted = cgf.tilted(tilt, step * NODES, 6.0)
        log_mgf = tilted.log_mgf
        assert abs(truth[0].real.log() - arb(float(log_mgf.value))) <= arb(float(log_mgf.radius))
        law = tilted
        found = transform(law, step, NODES)
        visible = 0
        for index, value in truth.items():
            deviation = acb(float(found.deviation[index].real), float(found.deviation[index].imag))
            turn = acb(0, arb(step * index) * arb(float(law.drift.value), float(law.drift.radius))).exp()
            error = abs((1 + deviation) * turn - value / truth[0])
            assert not error > arb(float(found.quadrature[index] + found.rounding[index]))
            visible += bool(error > arb(float(10 * found.rounding[index])))
        assert visible, "the grid was not coarse enough to see the quadrature error"
