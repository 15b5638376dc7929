"""Numbers at the ends of float64: huge steps, angles and shares keep their side."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

from tests.oracle.precision import precision
from tightrope.core.engines.lattice import compose as lattice_law
from tightrope.core.engines.lattice import grid as lattice_masses
from tightrope.core.engines.lattice.compose import Side
from tightrope.core.losses.atoms import Atoms
from tightrope.core.losses.density.density_cgf import DensityDecay, far_bound
from tightrope.core.losses.laplace import LaplacePair
from tightrope.core.losses.sampled_gaussian.cf_decay import ball_cf_decay, decay
from tightrope.core.losses.sampled_gaussian.likelihood import Edge, SoftWindow
from tightrope.core.losses.sampled_gaussian.mixture_quadrature import sampled_normal, sampled_normal_ball
from tightrope.core.losses.sampled_gaussian.node_grid import PLAIN
from tightrope.core.numerics.contour_sum import hits, power
from tightrope.core.numerics.enclosures import around, exact
from tightrope.core.numerics.quadrature import NO_ERROR, TiltedLaw, Transform, transform
from tightrope.core.values import compute_budget
from tightrope.core.values.errors import WorkExhausted


@pytest.mark.parametrize(
    "points", [(-20.0, 700.0, 1420.0), (0.0, 5000.0, 10000.0), (-3.0, 0.7, 4.4), (0.0, 2e-9, 4e-9)]
)
def test_shares_of_an_atom_under_any_step(points: tuple[float, ...]) -> None:
    """Each neighbour gets at least its exact share, and at most a few units more."""
    step = points[1] - points[0]
    places = np.array(points)
    inside = np.array([points[0], points[0] + 0.3 * step, points[0] + 0.999 * step, points[1] + 0.1, points[2] - 1e-3])
    losses = inside[(inside >= points[0]) & (inside <= points[2])]
    for loss in losses:
        listed = Atoms(exact(np.array([0.5])), exact(np.array([0.5])), exact(np.array([loss])), exact(0.0), exact(0.0))
        found = lattice_masses._split_atoms(listed, places, step).masses
        left = int(np.searchsorted(places, loss, side="right")) - 1
        left = min(left, len(points) - 2)
        with precision(300):
            low, high, here = (arb(float(x)) for x in (places[left], places[left + 1], loss))
            right_share = (-(here - low)).expm1() / (-(high - low)).expm1()
            left_share = (low - here).exp() * (here - high).expm1() / (low - high).expm1()
            for mass, share in ((found[left], left_share), (found[left + 1], right_share)):
                assert arb(float(mass)) >= share / 2
                assert arb(float(mass)) <= share / 2 * (1 + arb(2) ** -36) + arb(1e-321)


@pytest.mark.parametrize("width", [0.01, 40.0, 5000.0])
@pytest.mark.parametrize("slope", [0.02, 3.0])
def test_coarser_chords_under_any_step(width: float, slope: float) -> None:
    """The mass that each coarse label stands for, entry by entry."""
    masses = np.array([0.25, 0.0, 0.5, 0.125, 0.0, 0.125])
    fine = lattice_law.tilted(masses, 0, 2, slope, Side.UP)
    coarse = lattice_law.coarsened_by_chords(fine, 3, width)
    with precision(400):
        wanted = [arb(0)] * len(coarse.masses)
        for index, mass in enumerate(masses.tolist()):
            place, b = divmod(index, 3)
            share = (-arb(b) * arb(width)).expm1() / (-3 * arb(width)).expm1()
            wanted[place] += arb(mass) * (1 - share)
            wanted[place + 1] += arb(mass) * share
        scale = arb(coarse.log_scale.numerator) / arb(coarse.log_scale.denominator)
        for index, value in enumerate(coarse.masses.tolist()):
            shown = arb(value) * (scale - arb(coarse.slope) * index).exp()
            assert shown + arb(1e-280) >= wanted[index]
            assert shown <= wanted[index] * (1 + arb(2) ** -30) + arb(1e-280)


def test_decay_of_a_density_close_to_one() -> None:
    """1 - drop is not rounded: at 2^-25 the drop is a few units, and half a unit would be a third of it."""
    law = DensityDecay(((1.0,),), (0.0, 1.0), (1.0, 0.9))
    for radius in (2.0**-25 * 1.0000001, 2.0**-26 * 1.3, 2.0**-20, 0.3):
        doublings = math.ceil(-math.log2(radius))
        with precision(200):
            drop = (1 - arb(0.9) ** 2) / arb(4) ** doublings
            allowed = (1 - drop).log() / 2
            found = arb(law.log_bound(radius))
            assert found >= allowed
            assert found <= allowed * (1 - arb(1e-9))


def test_decay_of_a_density_far_out() -> None:
    powers = ((0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0),)
    assert far_bound(powers, 1e-60) == 1.0
    assert far_bound(powers, 1e60) > 0.0
    found = DensityDecay(powers, (0.0, 1.0), (1.0, 0.9)).log_bound(1e6)
    assert math.log(3e-36) <= found <= math.log(3e-36) + 1e-6


def test_laplace_tails_over_a_ball_with_both_atoms() -> None:
    pair = LaplacePair(2.0, 1.0)
    for middle, radius in ((0.0, 1.0), (0.1, 0.7), (0.4, 0.2), (-0.4, 0.2), (-5.0, 20.0)):
        with precision(100):
            found = pair.ball_tails(arb(middle, radius))
            for place in (middle - radius, middle - radius / 2, -0.5, 0.0, 0.4999, 0.5, middle + radius):
                if abs(place - middle) <= radius:
                    truth = pair.ball_tails(arb(place))
                    assert all(one.overlaps(other) for one, other in zip(found, truth, strict=True)), (middle, place)


def test_hits_refuse_angles_that_float64_cannot_hold() -> None:
    times = np.array([0.0, 1.0, 2.0])
    plain = Transform(np.zeros(3, complex), np.zeros(3), np.zeros(3))
    small = hits(plain, plain, exact(-3.0), exact(1e6), times, 10.0)
    assert np.all(np.isfinite(small.reach))
    with pytest.raises(OverflowError):
        hits(plain, plain, exact(-3.0), exact(1e9), times, 10.0)
    with pytest.raises(OverflowError):
        hits(plain, plain, exact(-3.0), exact(math.nan), times, 10.0)


def test_a_transform_of_uncertain_weights_claims_no_more_than_it_knows() -> None:
    """The second-order terms of the total's error are covered by 1.01 for small radii only."""
    offsets = exact(np.array([0.0, 2.0]))
    for share in (0.5, 0.1, 0.004, 1e-6):
        weights = around(np.array([0.9, 0.1]), share * np.array([0.9, 0.1]))
        found = transform(TiltedLaw(exact(0.0), exact(0.0), offsets, weights, NO_ERROR), 0.5, 6)
        for low, high in ((1.0 - share, 1.0 + share), (1.0 + share, 1.0 - share)):
            true = weights.value * np.array([low, high])
            phi = [np.sum(true * np.exp(0.5j * j * offsets.value)) / np.sum(true) for j in range(6)]
            assert np.all(abs(np.array(phi) - 1.0 - found.deviation) <= found.rounding + 1e-14), share


def test_the_growth_of_a_steep_power_off_the_axis_keeps_its_digits() -> None:
    """a log cos(mu y/2) where the cosine is nearly 1 and a is large."""
    for mu, y, exponent in ((1e-6, 10.0, -1e8), (1e-4, 12.0, -1e9), (0.5, 5.0, -3.0)):
        found = PLAIN.log_kappa(mu, y, exponent)
        with precision(200):
            truth = arb(exponent) * (arb(mu) * arb(y) / 2).cos().log()
            assert abs(arb(found) - truth) <= 1e-14 * truth


def test_a_transform_that_vanishes_has_no_unknown_error() -> None:
    plain = Transform(np.array([0.0, -1.0 + 0.0j]), np.zeros(2), np.full(2, 1e-17))
    found = power(plain, 3.0)
    assert np.all(found.quadrature == 0.0)
    assert not np.any(np.isnan(found.rounding))


def test_no_array_of_nodes_grows_before_its_size_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute_budget, "MEMORY_MAX", 1000)
    for formula in (
        lambda: sampled_normal(exact(1.0), 0.01, 1, 5.0, 40.0, 30.0),
        lambda: sampled_normal_ball(arb(1), 0.01, 1, 5.0, 40.0, 30.0),
        lambda: sampled_normal(exact(1.0), 0.01, 1, 5.0, 40.0, 30.0, SoftWindow((Edge(3.0, 0.5, 1),), 9.0)),
    ):
        with pytest.raises(WorkExhausted):
            formula()


def test_the_decay_of_a_sampled_normal_is_metered() -> None:
    for formula in (lambda: decay(10.0, 0.01, 1.4), lambda: ball_cf_decay(arb(10), 0.01, 1.4)):
        with compute_budget.allowance(1e-6), pytest.raises(WorkExhausted):
            formula()
