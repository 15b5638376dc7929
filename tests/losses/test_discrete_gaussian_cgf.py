"""The cgf of discrete Gaussians: transforms against plain sums, and mixes with Gaussians against sums of profiles."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import acb, arb

import tightrope as tr
from tests.oracle.lattice_fold import atoms, discrete_gaussian, fold
from tests.oracle.precision import ball, precision
from tests.search import cases
from tightrope.core.engines.contour.engine import prepare
from tightrope.core.engines.contour.way import period_of
from tightrope.core.losses.discrete_gaussian import DiscreteGaussianCgf, DiscreteGaussianPair
from tightrope.core.values.question import Direction

BITS = 400
SIGMAS = [0.15, 0.6, 1.19, 1.2, 1.3, 5.0]


def moment(sigma: float, shift: int, tilt: float, time: float) -> acb:
    """E_P[e^{(tilt + i time) l}] by the sum over outputs around the tilted centre."""
    variance, centre = ball(Fraction(sigma) ** 2), round(shift * (1 + tilt))
    reach = 40 + math.ceil(25 * sigma)
    total, whole = acb(0), arb(0)
    for x in range(-reach, reach + 1):
        whole += (-ball(x * x) / (2 * variance)).exp()
        output = x + centre
        loss = ball(shift * (2 * output - shift)) / (2 * variance)
        log = -ball((output - shift) ** 2) / (2 * variance)
        total += acb(log + ball(tilt) * loss, ball(time) * loss).exp()
    return total / whole


@pytest.mark.parametrize(
    ("tilt", "shift"),
    [(0.25, 1), (0.5, 3), (1.0, 1), (37.3125, 3), (0.25, 3), (0.5, 1), (1.0, 3), (37.3125, 1)][: cases(4, 8)],
)
@pytest.mark.parametrize("sigma", SIGMAS)
def test_transforms_beyond_their_period(sigma: float, tilt: float, shift: int) -> None:
    cgf, nodes, count = DiscreteGaussianCgf(DiscreteGaussianPair(sigma, shift)), 40, 7
    step = 2.0 ** round(math.log2(sigma**2 / shift)) * 0.375  # several turns
    tilted = cgf.tilted(tilt, step * nodes, 45.0)
    factor, drift = tilted.factor(step, nodes, count), tilted.drift
    with precision(BITS):
        at_zero = moment(sigma, shift, tilt, 0.0).real
        balls = cgf.ball_tilted(tilt, step * nodes, 45.0)
        exact = at_zero.log()
        assert arb(float(tilted.log_mgf.lower)) <= exact
        assert exact <= arb(float(tilted.log_mgf.upper))
        assert balls.log_mgf.overlaps(exact)
        for index, phi in enumerate(balls.phi(step, nodes)):
            truth = moment(sigma, shift, tilt, step * index) / at_zero
            assert phi.overlaps(truth)
            assert phi.real.rad() < 1e-60
            turned = (truth * acb(0, -ball(step * index) * ball(float(drift.value))).exp()) ** count
            found = acb(ball(float(factor.log_modulus[index])), ball(float(factor.phase[index]))).exp()
            drifted = count * step * index * float(drift.radius)
            spread = factor.quadrature[index] + factor.rounding[index] + drifted
            allowed = arb(float(factor.reach[index]) + drifted).exp() * arb(-math.expm1(-float(spread)))
            assert abs(found - turned) <= allowed + arb(1e-15) * abs(found)
            # Far below its own size the error says nothing of the modulus.
            assert float(allowed.upper()) <= 1e-12 * max(1.0, count)


@pytest.mark.parametrize("tilt", [0.25, 0.5, 3.0])
@pytest.mark.parametrize("sigma", SIGMAS)
def test_decay_within_half_a_period(sigma: float, tilt: float) -> None:
    pair = DiscreteGaussianPair(sigma, 2)
    lattice = pair.lattice()
    assert lattice is not None
    decay = DiscreteGaussianCgf(pair).period_cf_decay(tilt, lattice.step)
    top = math.pi / float(lattice.step.number)
    times = [top * share / 24.0 for share in range(1, 25)]
    with precision(BITS):
        at_zero = moment(sigma, 2, tilt, 0.0).real
        sizes = [float((abs(moment(sigma, 2, tilt, time)) / at_zero).log().upper()) for time in times]
    for index, time in enumerate(times):
        assert decay.log_bound(time) >= max(sizes[index:]) - 1e-9
    if sigma >= 1.2:
        assert decay.log_bound(times[0]) <= 0.99 * sizes[0]


def gaussian_hockey_stick(mu: arb, epsilon: arb) -> arb:
    def above(x: arb) -> arb:
        return (x / arb(2).sqrt()).erfc() / 2

    return above(epsilon / mu - mu / 2) - epsilon.exp() * above(epsilon / mu + mu / 2)


@pytest.mark.parametrize("proof", [False, True])
@pytest.mark.parametrize("sigma", [0.6, 1.2, 2.5])
def test_next_to_a_gaussian(sigma: float, proof: bool) -> None:
    """The sum over the lattice of P times the Gaussian's profile at what is left of epsilon; several periods count."""
    for noise, count in ((0.7, 3), (30.0, 4)):
        mechanism = tr.DiscreteGaussian(sigma) * count + tr.Gaussian(sigma=noise)
        terms = [(part.pair(Direction.REMOVE), uses) for part, uses in mechanism.terms]
        assert period_of(terms) is None
        with precision(BITS):
            row, step = discrete_gaussian(sigma, 1, BITS)
            law = fold([(row, count)], step)
            for epsilon in (0.0, 1.0, 4.5):
                value = prepare(terms, epsilon=epsilon, accuracy=1e-9, proof=proof).delta(epsilon)
                truth = arb(0)
                for index, mass in enumerate(law.masses):
                    if mass > arb(2) ** -300:
                        left = ball(epsilon) - law.base - index * step
                        truth += mass * gaussian_hockey_stick(1 / ball(noise), left)
                assert arb(value.lower) <= truth + arb(2) ** -250
                assert truth - arb(2) ** -250 <= arb(value.upper)
                assert value.upper - value.lower <= 1e-9 * value.upper


def test_a_law_of_one_loss_is_no_lattice() -> None:
    terms = [(part.pair(Direction.REMOVE), uses) for part, uses in (tr.PureDP(0.0) * 3).terms]
    assert period_of(terms) is None
    with precision(BITS):
        assert fold([(atoms({0: arb(1)}, arb(0), arb(0)), 3)], arb(1)).delta(0.0).is_zero()
