"""The cgf of a mixture of shifts in both arithmetics, its decay, what it bounds far out: against Arb's integration."""

from __future__ import annotations

import cmath
import math
import random
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest
from flint import acb, arb, arb_poly

from tests.losses.test_cgf import PICKED, check_ball, check_float
from tests.oracle.transforms import tilted_integral
from tightrope.core.losses.cgf import Cgf
from tightrope.core.losses.gaussian import GaussianPair
from tightrope.core.losses.gaussian_mixture.mixture_likelihood import MixtureLikelihood
from tightrope.core.losses.operators.registered import shift_mixture
from tightrope.core.losses.participation_law import (
    BinomialParticipation,
    HypergeometricParticipation,
    ParticipationLaw,
    WeightedShifts,
    quotient,
)
from tightrope.core.losses.sampled_gaussian.cf_decay import _Balls
from tightrope.core.losses.sampled_gaussian.mixture_cgf import SampledCgf
from tightrope.core.mechanisms.gaussian import Gaussian
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.question import Direction

PARTS = (Fraction(1, 8), Fraction(1, 3), Fraction(1))
SHARES = (Fraction(3, 4), Fraction(1, 5), Fraction(1, 20))
CASES = [
    (1.0, BinomialParticipation(2, 0.1), 1, 2.0, 0.25),
    (2.0, BinomialParticipation(4, 0.01), 1, 5.0, 0.25),
    (2.0, BinomialParticipation(4, 0.3), -1, 6.0, 0.25),
    (8.0, BinomialParticipation(6, 0.5), -1, 20.0, 0.125),
    (2.0, HypergeometricParticipation(40, 3, 10), 1, 1.0, 0.125),
    (0.5, WeightedShifts((Fraction(0), *PARTS[1:]), SHARES), 1, 2.0, 0.25),
    (0.5, WeightedShifts(PARTS, SHARES), -1, 6.0, 0.25),
]
PINNED = [
    (0.5, 0.001, 32, 1000, 1e-6, 1e-6),
    (1.0, 1e-4, 32, 10**6, 1e-12, 1e-10),
    (0.5, 0.01, 32, 10**5, 1e-12, 1e-10),
]


@cache
def transform(sigma: float, hits: ParticipationLaw, sign: int, tilt: float, t: float) -> acb:
    """M(tilt + i t) by its definition."""
    with working_precision(160):
        shifts = [quotient(count) / arb(sigma) for count in hits.counts()]
        parts = list(zip(shifts, hits.weights(), strict=True))

        def log_g(x: acb) -> acb:
            return sum((w * (s * x - s * s / 2).exp() for s, w in parts), acb(0)).log()

        def log_density(x: acb) -> acb:
            return -x * x / 2 + (log_g(x) if sign > 0 else acb(0))

        reach = (abs(tilt) + 1) * hits.most / sigma
        low, high = (-12.0, 12.0 + reach) if sign > 0 else (-12.0 - reach, 12.0)
        whole = tilted_integral(log_density, lambda x: sign * log_g(x), arb(low), arb(high), acb(tilt, t))
        return whole / (2 * arb.pi()).sqrt()


def cgf_of(sigma: float, hits: ParticipationLaw, sign: int) -> Cgf:
    pair = shift_mixture(GaussianPair(((sigma, 1.0, 1),)), hits, Direction.REMOVE if sign > 0 else Direction.ADD)
    assert pair is not None
    found = pair.cgf()
    assert found is not None
    return found


@pytest.mark.parametrize(("sigma", "hits", "sign", "tilt", "step"), CASES)
def test_transforms(sigma: float, hits: ParticipationLaw, sign: int, tilt: float, step: float) -> None:
    truth = {index: transform(sigma, hits, sign, tilt, step * index) for index in PICKED[:-1]}
    with working_precision(160):
        check_float(cgf_of(sigma, hits, sign), tilt, step, truth)
        check_ball(cgf_of(sigma, hits, sign), tilt, step, truth)


@pytest.mark.parametrize(("sigma", "hits", "sign", "tilt", "step"), CASES)
def test_decay(sigma: float, hits: ParticipationLaw, sign: int, tilt: float, step: float) -> None:
    cgf = cgf_of(sigma, hits, sign)
    start = transform(sigma, hits, sign, tilt, 0.0)
    for radius in (step * PICKED[1], step * PICKED[3]):
        bounds = [decay.log_bound(radius) for decay in (cgf.cf_decay(tilt), cgf.ball_cf_decay(tilt))]
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
        many = SampledCgf(base, MixtureLikelihood(1.0, BinomialParticipation(1, rate)), sign)
        assert many.cumulants(3.0) == pytest.approx(one.cumulants(3.0), rel=1e-6)
        assert float(many.tilted(3.0, 1.0, 42.0).log_mgf.value) == pytest.approx(
            float(one.tilted(3.0, 1.0, 42.0).log_mgf.value), rel=1e-13
        )
        assert many.cf_decay(3.0).log_bound(2.0) == pytest.approx(one.cf_decay(3.0).log_bound(2.0), rel=0.2)


@pytest.mark.parametrize(("power", "x"), [(1.0, 3.0), (3.0, 8.0), (2.5, 4.0), (6.0, 60.0)])
def test_what_lies_far_out(power: float, x: float) -> None:
    """The bound holds for the integral and for sums, before and after the last of the modes, and is no wild guess."""
    law = MixtureLikelihood(1.0, BinomialParticipation(5, 0.05))
    nodes = [x + 0.01 * index for index in range(8000)]
    logs = [law.log_density(power, node) for node in nodes]
    total = 0.01 * sum(math.exp(log - logs[0]) for log in logs)
    assert total <= law.beyond(1.0, power, x, 0.01)
    assert law.beyond(1.0, power, x, 0.01) <= 30.0 * total + 3.0


@pytest.mark.parametrize("v", [0.3, 1.0, 1.5, 3.0])
def test_turns_and_sizes_off_the_axis(v: float) -> None:
    """What section 6 of the proof claims of h = E[e^(iKv)], for laws with few and with many parts."""
    dice = random.Random(repr(v))
    for _ in range(200):
        counts = [dice.choice([0.0, 0.5, 1.0, dice.random()]) for _ in range(dice.randint(1, 4))]
        terms = [dice.random() ** 4 + 1e-9 for _ in counts]
        masses = [term / sum(terms) for term in terms]
        h = sum(mass * cmath.exp(1j * count * v) for mass, count in zip(masses, counts, strict=True))
        share = sum(mass * count for mass, count in zip(masses, counts, strict=True))
        spread = sum(mass * (count - share) ** 2 for mass, count in zip(masses, counts, strict=True))
        q = math.sin(v / 2.0) ** 2
        assert abs(h) >= math.cos(v / 2.0) - 1e-12
        assert 1.0 - spread * v * v - 1e-12 <= abs(h) ** 2 <= 1.0 - 4.0 * q * spread + 1e-12
        assert cmath.phase(h) <= min(1.0, 2.0 * share) * v + 1e-12
        if v <= math.pi / 2.0:
            assert cmath.phase(h) >= share * math.sin(v) - 1e-12
            assert v * v <= 4.0 * q * (1.0 + 0.4675 * q)


def test_growth_on_a_cell() -> None:
    """At or above a log|h|, whatever the law on the cell, for powers of both signs."""
    law, mu = MixtureLikelihood(2.0, WeightedShifts(PARTS, SHARES)), arb(2)
    for left, right in ((-1.0, -0.5), (0.0, 0.1), (1.0, 2.0)):
        points = [law.ball_point(mu, arb(x)) for x in (left, right)]
        cell = law.ball_cell(mu, (arb(left), arb(right)), (points[0], points[1]), ())
        for v in (0.1, 0.8, 1.5):
            for x in (left, 0.5 * (left + right), right):
                _, terms = law.ball_terms(mu, arb(x))
                turned = [term * acb(0, v * float(part)).exp() for term, part in zip(terms, PARTS, strict=True)]
                log = float((abs(sum(turned, acb(0))) / sum(terms, arb(0))).log().mid())
                for power in (-30.0, -0.5, 4.0):
                    bound = float(cell.log_modulus(_Balls, cell.spread(_Balls), arb(v / 2.0).sin(), power).mid())
                    assert power * log <= bound + 1e-12


@pytest.mark.parametrize("mu", [0.5, 2.0])
@pytest.mark.parametrize(
    "hits",
    [BinomialParticipation(7, 0.3), HypergeometricParticipation(30, 8, 5), HypergeometricParticipation(30, 5, 8)],
)
def test_all_zeros_are_real(hits: ParticipationLaw, mu: float) -> None:
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


@pytest.mark.parametrize("rate", [0.05, 0.4])
def test_an_angle_turns_no_faster_than_is_said(rate: float) -> None:
    """arg g(x + iy) <= turning mu y, in both arithmetics, from where hardly anything hits to where all do."""
    law, size = MixtureLikelihood(1.0, BinomialParticipation(5, rate)), 5
    with working_precision(100):
        weights = [math.comb(size, k) * arb(rate) ** k * (1 - arb(rate)) ** (size - k) for k in range(size + 1)]
        for x in (-2.0, 0.0, 1.0, 2.0, 3.0, 4.0, 6.0):
            share = law.plain_point(x)[1]
            for y in (0.05, 0.4, 1.0):
                g = sum((w * acb(k * x - arb(k * k) / 2, k * y).exp() for k, w in enumerate(weights)), acb(0))
                # Followed from 0: the angle is at most 5 y, and grows with y.
                angle = g.arg() + 2 * arb.pi() * (1 if 5 * y > math.pi and g.imag < 0 else 0)
                assert angle <= arb(law.turning(share)) * y + 1e-9
                assert angle <= law.ball_turning(arb(share)) * y + 1e-9
