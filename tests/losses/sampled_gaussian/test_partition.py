"""Marked parts of a sampled Gaussian: quadrature, decay and masses, against Arb's own integration."""

from __future__ import annotations

import math

import pytest
from flint import acb, arb

from tests.oracle import transforms
from tightrope.core.engines.saddle import Parts
from tightrope.core.losses.cgf import Split
from tightrope.core.losses.gaussian import GaussianPair
from tightrope.core.losses.sampled_gaussian import node_grid as quadrature_grid
from tightrope.core.losses.sampled_gaussian.cf_decay import ball_cf_decay, decay
from tightrope.core.losses.sampled_gaussian.likelihood import Edge, SoftWindow, log_phi
from tightrope.core.losses.sampled_gaussian.mixture_cgf import RestrictedGaussianCgf
from tightrope.core.losses.sampled_gaussian.mixture_quadrature import log_mgf_above, sampled_normal, sampled_normal_ball
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.enclosures import exact
from tightrope.core.numerics.quadrature import transform

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


def window(edges: tuple[tuple[float, float, int], ...], end: float) -> SoftWindow:
    return SoftWindow(tuple(Edge(*edge) for edge in edges), end)


@pytest.mark.parametrize(("sigma", "rate", "tilt", "edges", "end", "reach"), CASES)
def test_transforms(
    sigma: float, rate: float, tilt: float, edges: tuple[tuple[float, float, int], ...], end: float, reach: float
) -> None:
    marked, nodes = window(edges, end), 6
    law = sampled_normal(exact(1.0) / exact(sigma), rate, 1, tilt, reach, 42.0, marked)
    found = transform(law, reach / 8.0, nodes)
    with working_precision(140):
        ball = sampled_normal_ball(1 / arb(sigma), rate, 1, tilt, reach, 42.0, marked)
        phis = ball.phi(reach / 8.0, nodes)
        start = transforms.restricted_normal(sigma, rate, edges, end, acb(tilt)).real
        assert start.rad() < start * 1e-12
        assert not abs(start.log() - arb(float(law.log_mgf.value))) > arb(float(law.log_mgf.radius))
        assert not start.log() > arb(log_mgf_above(exact(1.0) / exact(sigma), rate, tilt, 42.0, marked))
        assert ball.log_mgf.overlaps(start.log())
        for index in (1, 3, 5):
            t = arb(reach / 8.0 * index)
            truth = transforms.restricted_normal(sigma, rate, edges, end, acb(tilt, t)) / start
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
        proven = ball_cf_decay(1 / arb(sigma), rate, 1.0 + tilt, marked)
        assert proven is not None
        start = transforms.restricted_normal(sigma, rate, edges, end, acb(tilt)).real
        for radius in (reach, 4.0 * reach):
            bound, sharp = cells.log_bound(radius), proven.log_bound(radius)
            assert sharp <= bound <= 0.0
            for factor in (1.0, 1.7):
                at = transforms.restricted_normal(sigma, rate, edges, end, acb(tilt, radius * factor))
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
        phis = ball.phi(reach / 8.0, nodes)
        start = transforms.sampled_normal(sigma, rate, -1, acb(tilt)).real
        assert not abs(start.log() - arb(float(law.log_mgf.value))) > arb(float(law.log_mgf.radius))
        assert ball.log_mgf.overlaps(start.log())
        for index in (1, 5):
            t = arb(reach / 8.0 * index)
            truth = transforms.sampled_normal(sigma, rate, -1, acb(tilt, t)) / start
            assert phis[index].overlaps(truth)
            deviation = acb(float(found.deviation[index].real), float(found.deviation[index].imag))
            error = abs((1 + deviation) * acb(0, t * arb(float(law.drift.value))).exp() - truth)
            assert not error > arb(float(found.quadrature[index] + found.rounding[index]))


@pytest.mark.parametrize("radius", [30.0, 300.0])
def test_decay_where_the_law_ends(radius: float) -> None:
    """A law cut off where it is not small falls like 1/t: only the way back to the real axis knows that."""
    sigma, rate, tilt, edges, end = 1.0, 0.5, 1.0, ((1.0, 0.5, 1), (3.0, 0.5, -1)), 3.5
    cells = decay(1.0 / sigma, rate, 1.0 + tilt, window(edges, end))
    assert cells is not None
    with working_precision(140):
        proven = ball_cf_decay(1 / arb(sigma), rate, 1.0 + tilt, window(edges, end))
        assert proven is not None
        start = transforms.restricted_normal(sigma, rate, edges, end, acb(tilt)).real
        at = abs(transforms.restricted_normal(sigma, rate, edges, end, acb(tilt, radius))) / start
        assert at < arb(cells.log_bound(radius)).exp()
        assert at < arb(proven.log_bound(radius)).exp()


def test_an_addition_that_ends_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes end where the density is still e^-9 of its top: the claimed error covers what lies beyond."""
    plain = quadrature_grid._falling_end
    monkeypatch.setattr(quadrature_grid, "_falling_end", lambda mu, rate, power, fall: plain(mu, rate, power, 9.0))
    sigma, rate, tilt = 0.51, 0.0047, 3.65e4
    law = sampled_normal(exact(1.0) / exact(sigma), rate, -1, tilt, 2.0 * tilt, 42.0)
    with working_precision(140):
        ball = sampled_normal_ball(1 / arb(sigma), rate, -1, tilt, 2.0 * tilt, 42.0)
        start = transforms.sampled_normal(sigma, rate, -1, acb(tilt)).real.log()
        off = abs(start - arb(float(law.log_mgf.value)))
        assert off > 1e-9, "the end was too small to see"
        assert not off > arb(float(law.log_mgf.radius))
        assert ball.log_mgf.overlaps(start)


@pytest.mark.parametrize("short", [4.0, 2.5])
@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.01), (0.3, 1e-4), (10.0, 0.5)])
def test_masses(sigma: float, rate: float, short: float) -> None:
    """What is rare, what leaks out of a body that ends early, and the two parts: nothing is lost."""
    base = GaussianPair(((sigma, 1.0, 1),))
    split, cut, end = Edge(2.0, 0.25, 1), Edge(4.0, 0.5, -1), 6.0
    hit = RestrictedGaussianCgf(base, rate, 1, SoftWindow((split, cut), end))
    body = RestrictedGaussianCgf(base, rate, 1, SoftWindow((Edge(2.0, 0.25, -1), cut), short))
    whole = RestrictedGaussianCgf(base, rate, 1, SoftWindow((cut,), end))
    with working_precision(140):
        kept = [
            transforms.restricted_normal(
                sigma, rate, tuple((e.at, e.width, e.side) for e in part.window.edges), part.window.end, acb(0)
            ).real
            for part in (hit, body)
        ]
        left_out = 1 - sum(kept, arb(0))
        rare = Parts([(body, 1)], (whole,), (Split(body, hit),)).rare_mass()
        assert left_out <= rare
        assert rare < 3 * left_out
        if short < 4.0:
            assert whole.beyond() < left_out, "the leak was too small to see"
    assert math.isclose(math.exp(whole.cumulants(0.0).value), float((1 - whole.beyond()).mid()), rel_tol=1e-3)


def test_log_phi() -> None:
    with working_precision(128):
        for u in (-60.0, -31.0, -29.0, -5.0, 0.0, 3.0, 9.0):
            exact_log = ((-arb(u) / arb(2).sqrt()).erfc() / 2).log()
            assert abs(exact_log - log_phi(u)) < 1e-3 * (1 + abs(exact_log))
