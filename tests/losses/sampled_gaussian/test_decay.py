"""The decay bound is a bound for every t beyond the radius, and of use."""

from __future__ import annotations

from itertools import pairwise

import pytest
from flint import acb, arb

import tightrope as tr
from tests.oracle import transforms
from tests.search import cases
from tightrope.core.losses.sampled_gaussian.cf_decay import ball_cf_decay, decay
from tightrope.core.losses.sampled_gaussian.node_grid import CELLS_MAX, cell_edges, window
from tightrope.core.numerics.balls import working_precision

CASES = [
    (1.0, 0.01, 1, 5.0, 5.0),
    (1.0, 0.01, 1, 5.0, 40.0),
    (1.0, 0.01, -1, 7.0, 20.0),
    (4.0, 0.01, 1, 10.0, 50.0),
    (0.6, 1e-4, 1, 3.0, 10.0),
    (0.6, 1e-4, -1, 3.0, 10.0),
    (2.0, 0.5, 1, 0.5, 3.0),
    (1.0, 0.5, -1, 30.0, 10.0),
    (0.5, 0.9, 1, 1.0, 0.5),
    (13.9, 6.4e-5, -1, 5400.0, 7000.0),
    (1.23, 0.011, -1, 1.23e4, 2e4),
    (0.51, 0.0047, -1, 3.65e4, 1e5),
    (1e6, 0.1, -1, 3e6, 4e7),
    (1e6, 0.1, 1, 3e6, 4e7),
    (1e5, 0.5, 1, 3.386e5, 1.2e6),
    (1e7, 0.9, -1, 2.9e4, 1e5),
    (300.0, 1e-6, -1, 5e3, 2e8),
]

# Small noise: zeros of g lie close to the real axis, and a path between them keeps a part of the exponent only.
STEEP = [(0.1, 0.01, 1, 0.4, 0.1), (0.06, 1e-3, -1, 0.7, 30.0)]


@pytest.mark.parametrize(("sigma", "rate", "sign", "tilt", "radius"), CASES + STEEP)
def test_bound(sigma: float, rate: float, sign: int, tilt: float, radius: float) -> None:
    power = 1.0 + tilt if sign > 0 else -tilt
    cells = decay(1.0 / sigma, rate, power)
    assert cells is not None
    bound = cells.log_bound(radius)
    with working_precision(128):
        proven = ball_cf_decay(1 / arb(sigma), rate, power)
        assert proven is not None
        sharp = proven.log_bound(radius)
        start = transforms.sampled_normal(sigma, rate, sign, acb(tilt))
        for factor in (1.0, 1.4, 7.0, 1.03, 2.3)[: cases(3, 5)]:
            at = transforms.sampled_normal(sigma, rate, sign, acb(tilt, radius * factor))
            size = abs(at) / start.real
            assert size < arb(sharp).exp(), f"|phi| exceeds the bound {sharp} at {factor} R"
            assert size < arb(bound).exp()
            if factor == 1.0:
                kept = 12 if (sigma, rate, sign, tilt, radius) in STEEP else 3
                assert arb(bound) < size.log() / kept, "too small a part of the true exponent"
    # float64 moves every mass and exponent to its safe side, so it is the wider one, and close.
    assert sharp <= bound * (1.0 - 1e-6)


@pytest.mark.parametrize("mu", [1e-12, 1e-6, 1e-3, 0.1, 0.5, 2.0, 5.0, 10.0, 33.0, 1e3, 1e6])
@pytest.mark.parametrize("rate", [1e-300, 1e-12, 1e-4, 0.1, 0.9, 1.0 - 1e-12])
def test_cells_are_few(mu: float, rate: float) -> None:
    """Whatever the shift, the rate and the power, and from below all mass to above it."""
    for power in (1.001, 3.0, 1e4, 1.0 + 5.0 / mu, -1e-3, -3.0, -1e4, -5.0 / mu):
        edges = cell_edges(mu, rate, power)
        low, high = window(mu, rate, power, 9.0)
        assert 2 <= len(edges) <= CELLS_MAX
        assert all(one < other for one, other in pairwise(edges))
        assert edges[0] <= low
        assert edges[-1] >= high


def test_large_noise_needs_no_memory() -> None:
    """Twelve digits at any noise, in a few hundred cells."""
    for sigma, rate, count in ((1e6, 0.1, 10**9), (1e7, 0.9, 10**6), (5e4, 0.1, 10**5), (1e5, 0.5, 1)):
        run = tr.Gaussian(sigma=sigma).poisson(rate=rate) * count
        found = run.epsilon(delta=1e-6, engine="contour")
        assert found.width <= 1e-9 * found.upper
        proven = run.delta(epsilon=found.upper, engine="contour", proof=True)
        assert proven.lower <= 1e-6 * (1.0 + 1e-9)
        assert (tr.Gaussian(sigma=sigma) * count).epsilon(delta=1e-6).upper >= found.lower
    assert (tr.Gaussian(sigma=1e6).poisson(rate=0.1) * 10).epsilon(delta=1e-6).upper <= 1e-12


def test_nothing_is_claimed_where_phi_stays() -> None:
    """At a tiny radius |phi| is nearly 1 and the bound may not be below it."""
    cells = decay(1.0, 0.01, 6.0)
    assert cells is not None
    with working_precision(128):
        start = transforms.sampled_normal(1.0, 0.01, 1, acb(5.0))
        at = transforms.sampled_normal(1.0, 0.01, 1, acb(5.0, 2.0**-10))
        assert (abs(at) / start.real).log() < arb(cells.log_bound(2.0**-10))
