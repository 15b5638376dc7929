"""The cgf of a group in both arithmetics, its decay, and what it bounds far out, against Arb's integration."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import pytest
from flint import acb, arb, arb_poly

from tests.facets.test_cgf import PICKED, check_ball, check_float
from tests.oracle.transforms import tilted_integral
from tightrope.facets.cgf import Cgf
from tightrope.facets.hits import BinomialHits, HitLaw, HypergeometricHits
from tightrope.kernels.ball import working_precision
from tightrope.mechanisms.gaussian import Gaussian
from tightrope.pairs.gaussian.pair import GaussianPair
from tightrope.pairs.gaussian_mixture.many_hits import ManyHits
from tightrope.pairs.sampled_gaussian.cgf import SampledCgf
from tightrope.relation import Direction

CASES = [
    (1.0, BinomialHits(2, 0.1), 1, 2.0, 0.25),
    (2.0, BinomialHits(4, 0.01), 1, 5.0, 0.25),
    (2.0, BinomialHits(4, 0.3), -1, 6.0, 0.25),
    (8.0, BinomialHits(6, 0.5), -1, 20.0, 0.125),
    (2.0, HypergeometricHits(40, 3, 10), 1, 1.0, 0.125),
]
PINNED = [
    (0.5, 0.001, 32, 1000, 1e-6, 1e-6),
    (1.0, 1e-4, 32, 10**6, 1e-12, 1e-10),
    (0.5, 0.01, 32, 10**5, 1e-12, 1e-10),
]


@cache
def transform(sigma: float, hits: HitLaw, sign: int, tilt: float, t: float) -> acb:
    """M(tilt + i t) by its definition."""
    with working_precision(160):
        mu, weights = 1 / arb(sigma), hits.weights()

        def log_g(x: acb) -> acb:
            return sum((w * (mu * j * x - mu * mu * (j * j) / 2).exp() for j, w in enumerate(weights)), acb(0)).log()

        def log_density(x: acb) -> acb:
            return -x * x / 2 + (log_g(x) if sign > 0 else acb(0))

        reach = (abs(tilt) + 1) * hits.most / sigma
        low, high = (-12.0, 12.0 + reach) if sign > 0 else (-12.0 - reach, 12.0)
        whole = tilted_integral(log_density, lambda x: sign * log_g(x), arb(low), arb(high), acb(tilt, t))
        return whole / (2 * arb.pi()).sqrt()


def cgf_of(sigma: float, hits: HitLaw, sign: int) -> Cgf:
    pair = GaussianPair(((sigma, 1.0, 1),)).mixture(hits, Direction.REMOVE if sign > 0 else Direction.ADD)
    assert pair is not None
    found = pair.cgf()
    assert found is not None
    return found


@pytest.mark.parametrize(("sigma", "hits", "sign", "tilt", "step"), CASES)
def test_transforms(sigma: float, hits: HitLaw, sign: int, tilt: float, step: float) -> None:
    truth = {index: transform(sigma, hits, sign, tilt, step * index) for index in PICKED[:-1]}
    with working_precision(160):
        check_float(cgf_of(sigma, hits, sign), tilt, step, truth)
        check_ball(cgf_of(sigma, hits, sign), tilt, step, truth)


@pytest.mark.parametrize(("sigma", "hits", "sign", "tilt", "step"), CASES)
def test_decay(sigma: float, hits: HitLaw, sign: int, tilt: float, step: float) -> None:
    cgf = cgf_of(sigma, hits, sign)
    start = transform(sigma, hits, sign, tilt, 0.0)
    for radius in (step * PICKED[1], step * PICKED[3]):
        bounds = [decay.log_bound(radius) for decay in (cgf.decay(tilt), cgf.ball_decay(tilt))]
        with working_precision(160):
            logs = [float((abs(transform(sigma, hits, sign, tilt, radius)) / start.real).log().mid())]
        assert max(logs) <= min(bounds)
        assert max(bounds) <= 0.1 * min(logs)
        assert bounds[0] == pytest.approx(bounds[1], rel=1e-4)


@pytest.mark.parametrize("rate", [0.01, 0.5])
def test_one_record_has_the_cgf_of_a_sampled_gaussian(rate: float) -> None:
    base = GaussianPair(((1.0, 1.0, 1),))
    for sign in (1, -1):
        one = SampledCgf(base, rate, sign)
        many = SampledCgf(base, ManyHits(1.0, BinomialHits(1, rate)), sign)
        assert many.cumulants(3.0) == pytest.approx(one.cumulants(3.0), rel=1e-6)
        assert float(many.tilted(3.0, 1.0, 42.0).log_mgf.value) == pytest.approx(
            float(one.tilted(3.0, 1.0, 42.0).log_mgf.value), rel=1e-13
        )
        assert many.decay(3.0).log_bound(2.0) == pytest.approx(one.decay(3.0).log_bound(2.0), rel=0.2)


@pytest.mark.parametrize(("power", "x"), [(1.0, 3.0), (3.0, 8.0), (2.5, 4.0), (6.0, 60.0)])
def test_what_lies_far_out(power: float, x: float) -> None:
    """The bound holds for the integral and for sums, before and after the last of the modes, and is no wild guess."""
    law = ManyHits(1.0, BinomialHits(5, 0.05))
    nodes = [x + 0.01 * index for index in range(8000)]
    logs = [law.log_density(power, node) for node in nodes]
    total = 0.01 * sum(math.exp(log - logs[0]) for log in logs)
    assert total <= law.beyond(1.0, power, x, 0.01)
    assert law.beyond(1.0, power, x, 0.01) <= 30.0 * total + 3.0


@pytest.mark.parametrize("mu", [0.5, 2.0])
@pytest.mark.parametrize("hits", [BinomialHits(7, 0.3), HypergeometricHits(30, 8, 5), HypergeometricHits(30, 5, 8)])
def test_all_zeros_are_real(hits: HitLaw, mu: float) -> None:
    with working_precision(600):
        weights = [w * (-(arb(mu) ** 2) * (j * j) / 2).exp() for j, w in enumerate(hits.weights())]
        # Between zeros next to each other the polynomial changes its sign: on a fine grid of -e^s as often as it may.
        values = [arb_poly(weights)(-(arb(index) / 40).exp()) for index in range(-400, 1600)]
        assert all(value > 0 or value < 0 for value in values)
        assert sum(bool(one > 0) != bool(other > 0) for one, other in pairwise(values)) == hits.most


@pytest.mark.parametrize("sigma, rate, size, count, delta, accuracy", PINNED)
def test_groups_by_the_contour_are_as_sharp_as_asked(
    sigma: float, rate: float, size: int, count: int, delta: float, accuracy: float
) -> None:
    """Ends of a sum that are lopsided, few nodes that lose their digits, and an order whose losses end below."""
    mechanism = Gaussian(sigma=sigma).poisson(rate=rate).group(size=size) * count
    bound = mechanism.epsilon(delta, accuracy=accuracy, seconds=60.0)
    assert bound.certificate.engine == "contour"
    assert bound.certificate.direction is Direction.REMOVE


def test_a_tilt_beyond_all_digits_leaves_an_answer() -> None:
    """Differences of log densities are then below the rounding of each."""
    base = Gaussian(sigma=0.5158726245362688).without_replacement(batch=1, records=100, neighbours="add_remove")
    found = base.group(size=3).epsilon(1.3053692324484845e-06, direction="remove", engine="contour")
    assert found.lower <= 5.44011918178 <= found.upper
