"""The closed form of a Laplace loss: moments, transforms and decay, in both arithmetics."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from flint import acb, arb

import tightrope as tr
from tests.oracle import transforms
from tightrope.core.losses.bounded_loss import BoundedLossBallTilted
from tightrope.core.losses.cgf import cumulant, cumulant_above
from tightrope.core.losses.laplace import LaplaceCgf, LaplacePair, SampledLaplaceCgf
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.enclosures import around

NODES, PICKED = 40, (0, 1, 5, 17, 39)
LAWS = [
    (2.0, 3.0, 0.25),
    (10.0, 20.0, 1.0),
    (0.125, 0.5, 0.5),
    (1e6, 0.0625, 2.0**16),
    (0.04, 2.0**-20, 2.0**-6),
    (1.0 / 400.0, 1.0, 2.0**-9),
    (3.0, 5000.0, 16.0),
    (3.0, -0.375, 0.5),
]


@pytest.mark.parametrize(("scale", "tilt", "step"), LAWS)
def test_transforms_contain_the_truth(scale: float, tilt: float, step: float) -> None:
    floats = LaplaceCgf(LaplacePair(scale, 1.0)).tilted(tilt, 0.0, 0.0)
    law = floats.law
    found = floats.transform(step, NODES)
    with working_precision(256):
        edge = 1 / arb(scale)
        truth = {index: transforms.laplace(edge, acb(tilt, step * index)) for index in PICKED}
        balls = law.phi(step, NODES)
        assert law.log_mgf.overlaps(truth[0].real.log())
        assert abs(law.log_mgf - arb(float(floats.log_mgf.value))) <= arb(float(floats.log_mgf.radius))
        for index, value in truth.items():
            phi = value / truth[0]
            assert balls[index].overlaps(phi)
            assert balls[index].real.rad() < 1e-40
            turned = phi * acb(0, -arb(step * index) * edge).exp() - 1
            error = abs(turned - acb(float(found.deviation[index].real), float(found.deviation[index].imag)))
            assert error <= arb(float(found.rounding[index])) + arb(2) ** -200
            # As narrow as its own rounding: a power of 10^6 keeps its digits.
            assert float(found.rounding[index]) <= 100 * 2.0**-53 * step * index * 2.0 / scale + 1e-300


@pytest.mark.parametrize(("scale", "tilt"), [(scale, tilt) for scale, tilt, _ in LAWS])
def test_transforms_fall_as_claimed(scale: float, tilt: float) -> None:
    pair = LaplacePair(scale, 1.0)
    decay = LaplaceCgf(pair).ball_cf_decay(tilt)
    with working_precision(256):
        law, edge = BoundedLossBallTilted(pair, tilt), 1 / arb(scale)
        whole = transforms.laplace(edge, acb(tilt)).real
        between = float((law.shares()[0] / (2 * law.growth)).mid())
        for turns in (2.0**-6, 0.5, 1.5, 2.0, 30.0):
            claimed = decay.log_bound(turns * scale)
            assert math.log1p(-between) < claimed <= 0.0
            for index in range(60):
                t = arb(turns * scale) * (1 + arb(index) / 17)
                assert abs(transforms.laplace(edge, acb(arb(tilt), t)) / whole).log() <= claimed + 1e-15
        assert decay.log_bound(1e12 * scale) == pytest.approx(math.log1p(-between), rel=1e-3)


@pytest.mark.parametrize("edge", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("tilt", [2.0**-10, 1.0, 40.0])
def test_choices_agree_with_those_of_the_quadrature(edge: float, tilt: float) -> None:
    found = LaplaceCgf(LaplacePair(1.0, edge)).cumulants(tilt)
    assert found == pytest.approx(SampledLaplaceCgf(LaplacePair(1.0, edge), 1.0, 1).cumulants(tilt), rel=0.1, abs=1e-2)


@pytest.mark.parametrize("edge", [1e-200, 1e-6, 0.5, 3.0, 700.0, 1e6])
@pytest.mark.parametrize("z", [0.0, 2.0**-50, 0.7, 1e7, -0.5, -0.25, -1.0, -3.0, 2j, -0.5 + 1j, -4.0 + 0.5j, 3.0 - 9j])
def test_one_formula_for_every_order(edge: float, z: complex) -> None:
    pair = LaplacePair(1.0, edge)
    found = cumulant(pair, z)
    with working_precision(4096):
        point = acb(complex(z).real, complex(z).imag) + acb(arb(2) ** -3000)  # beside the removable pole
        truth = transforms.laplace(arb(edge), point)
        assert abs(found.exp() / truth - 1).abs_lower() < arb(2) ** -50 * (1 + abs(found))
        if complex(z).imag == 0.0 and complex(z).real > 0.0:
            above = arb(cumulant_above(pair, complex(z).real))
            assert above >= truth.real.log()
            assert above <= truth.real.log() * (1 + arb(2) ** -50) + arb(2) ** -110


def test_many_laplaces_alone_are_one_contour() -> None:
    """Their transform falls to what the atoms weigh, which a power makes nothing of."""
    run = tr.Laplace(scale=5.0) * 3000
    found = run.delta(epsilon=100.0, engine="contour")
    other = run.delta(epsilon=100.0, engine="lattice")
    assert found.width <= 1e-9 * found.upper
    assert max(found.lower, other.lower) <= min(found.upper, other.upper)
    assert found.certificate is not None
    assert np.isfinite(found.upper)


def test_an_edge_within_a_radius() -> None:
    """Where the edge is known up to a radius only, the errors of a node say so."""
    tilted = LaplaceCgf(LaplacePair(1.0, 1.0)).tilted(0.75, 0.0, 0.0)
    moved = replace(tilted, drift=around(float(tilted.drift.value) + 1e-9, 2e-9))
    sharp, loose = tilted.transform(0.25, 40), moved.transform(0.25, 40)
    off = abs(loose.deviation - sharp.deviation)
    assert np.all(off <= loose.rounding)
    assert np.all(off[1:] > 100.0 * sharp.rounding[1:])  # else nothing was shown
