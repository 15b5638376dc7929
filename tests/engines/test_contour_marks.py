"""Marked parts of a sampled Gaussian: quadrature, decay and masses, against Arb's own integration."""

from __future__ import annotations

import math

import pytest
from flint import acb, arb

from tightrope.engines.contour.cgf_marked import MarkedCgf
from tightrope.kernels.approx import exact
from tightrope.kernels.ball import working_precision
from tightrope.kernels.contour_decay_ball import ball_decay
from tightrope.kernels.contour_decay_float import decay
from tightrope.kernels.quadrature import transform
from tightrope.kernels.quadrature_ball import sampled_normal_ball, transform_ball
from tightrope.kernels.quadrature_marked import log_mgf_above, marked_normal
from tightrope.kernels.quadrature_normal import sampled_normal
from tightrope.kernels.window import Edge, Window, log_phi
from tightrope.pairs.gaussian import GaussianPair

from . import contour_truth

# sigma, rate, tilt, edges, end, reach
CASES = [
    (3.5, 2e-5, 6e4, ((14.5, 0.125, -1),), 16.5, 4e5),
    (3.5, 2e-5, 4e4, ((9.0, 0.25, 1), (14.5, 0.125, -1)), 16.0, 4e5),
    (1.0, 1e-4, 8.0, ((6.0, 0.25, -1), (14.5, 0.125, -1)), 16.0, 40.0),
    (1.0, 1e-4, 8.0, ((6.0, 0.25, 1), (14.5, 0.125, -1)), 16.0, 40.0),
    (0.1, 0.1, 0.01, ((7.0, 0.25, 1), (16.0, 0.25, -1)), 19.0, 0.5),
    # a hard end where the density is far from negligible
    (1.0, 0.01, 3.0, ((5.0, 0.5, -1),), 6.0, 5.0),
]


def window(edges: tuple[tuple[float, float, int], ...], end: float) -> Window:
    return Window(tuple(Edge(*edge) for edge in edges), end)


@pytest.mark.parametrize(("sigma", "rate", "tilt", "edges", "end", "reach"), CASES)
def test_transforms(
    sigma: float, rate: float, tilt: float, edges: tuple[tuple[float, float, int], ...], end: float, reach: float
) -> None:
    marked, nodes = window(edges, end), 6
    law = marked_normal(exact(1.0) / exact(sigma), rate, tilt, reach, 42.0, marked)
    found = transform(law, reach / 8.0, nodes)
    with working_precision(140):
        ball = sampled_normal_ball(1 / arb(sigma), rate, 1, tilt, reach, 42.0, marked)
        phis = transform_ball(ball, reach / 8.0, nodes)
        start = contour_truth.marked_normal(sigma, rate, edges, end, acb(tilt)).real
        assert start.rad() < start * 1e-12
        assert not abs(start.log() - arb(float(law.log_mgf.value))) > arb(float(law.log_mgf.radius))
        assert not start.log() > arb(log_mgf_above(exact(1.0) / exact(sigma), rate, tilt, 42.0, marked))
        assert ball.log_mgf.overlaps(start.log())
        for index in (1, 3, 5):
            t = arb(reach / 8.0 * index)
            truth = contour_truth.marked_normal(sigma, rate, edges, end, acb(tilt, t)) / start
            assert phis[index].overlaps(truth)
            deviation = acb(float(found.deviation[index].real), float(found.deviation[index].imag))
            error = abs((1 + deviation) * acb(0, t * arb(float(law.drift.value))).exp() - truth)
            assert not error > arb(float(found.quadrature[index] + found.rounding[index]))


@pytest.mark.parametrize(("sigma", "rate", "tilt", "edges", "end", "reach"), CASES[:4])
def test_decay(
    sigma: float, rate: float, tilt: float, edges: tuple[tuple[float, float, int], ...], end: float, reach: float
) -> None:
    marked = window(edges, end)
    cells = decay(1.0 / sigma, rate, 1.0 + tilt, marked)
    assert cells is not None
    with working_precision(140):
        proven = ball_decay(1 / arb(sigma), rate, 1.0 + tilt, marked)
        assert proven is not None
        start = contour_truth.marked_normal(sigma, rate, edges, end, acb(tilt)).real
        for radius in (reach, 4.0 * reach):
            bound, sharp = cells.log_bound(radius), proven.log_bound(radius)
            assert sharp <= bound <= 0.0
            for factor in (1.0, 1.7):
                at = contour_truth.marked_normal(sigma, rate, edges, end, acb(tilt, radius * factor))
                assert not abs(at) / start > arb(sharp).exp()
    assert sharp < 0.0, "of no use"


@pytest.mark.parametrize(("sigma", "rate", "tilt"), [(13.9, 6.4e-5, 5400.0), (0.51, 0.0047, 3.65e4), (2.4, 1e-3, 2e5)])
def test_hard_end_of_an_addition(sigma: float, rate: float, tilt: float) -> None:
    """Large negative powers end their nodes early; transforms still hold."""
    reach, nodes = 2.0 * tilt, 6
    law = sampled_normal(exact(1.0) / exact(sigma), rate, -1, tilt, reach, 42.0)
    found = transform(law, reach / 8.0, nodes)
    assert law.offsets.value.size < 3000
    with working_precision(140):
        ball = sampled_normal_ball(1 / arb(sigma), rate, -1, tilt, reach, 42.0)
        phis = transform_ball(ball, reach / 8.0, nodes)
        start = contour_truth.sampled_normal(sigma, rate, -1, acb(tilt)).real
        assert not abs(start.log() - arb(float(law.log_mgf.value))) > arb(float(law.log_mgf.radius))
        assert ball.log_mgf.overlaps(start.log())
        for index in (1, 5):
            t = arb(reach / 8.0 * index)
            truth = contour_truth.sampled_normal(sigma, rate, -1, acb(tilt, t)) / start
            assert phis[index].overlaps(truth)
            deviation = acb(float(found.deviation[index].real), float(found.deviation[index].imag))
            error = abs((1 + deviation) * acb(0, t * arb(float(law.drift.value))).exp() - truth)
            assert not error > arb(float(found.quadrature[index] + found.rounding[index]))


@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.01), (0.3, 1e-4), (10.0, 0.5)])
def test_masses(sigma: float, rate: float) -> None:
    """What is rare, what leaks out of the body, and the two parts: nothing is lost."""
    base = GaussianPair(((sigma, 1.0, 1),))
    split, cut, end, short = Edge(2.0, 0.25, 1), Edge(4.0, 0.5, -1), 6.0, 4.0
    hit = MarkedCgf(base, rate, Window((split, cut), end))
    body = MarkedCgf(base, rate, Window((Edge(2.0, 0.25, -1), cut), short))
    with working_precision(140):
        parts = [
            contour_truth.marked_normal(
                sigma, rate, tuple((e.at, e.width, e.side) for e in part.marked.edges), last, acb(0)
            ).real
            for part, last in ((hit, end), (body, short))
        ]
        left_out = 1 - sum(parts, arb(0))
        assert left_out <= hit.beyond() + body.leak()
        assert hit.beyond() + body.leak() < 1.2 * left_out
    plain = MarkedCgf(base, rate, Window((cut,), end)).cumulants(0.0).value
    assert math.isclose(math.exp(plain), float((1 - hit.beyond()).mid()), rel_tol=1e-3)


def test_log_phi() -> None:
    with working_precision(128):
        for u in (-60.0, -31.0, -29.0, -5.0, 0.0, 3.0, 9.0):
            exact_log = ((-arb(u) / arb(2).sqrt()).erfc() / 2).log()
            assert abs(exact_log - log_phi(u)) < 1e-3 * (1 + abs(exact_log))
