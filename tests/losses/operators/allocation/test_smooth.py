"""One of many Gaussian steps by the transform of its ratio: the transform, its bounds, and what is read from it."""

from __future__ import annotations

import numpy as np
import pytest
from flint import acb, arb

from tests.oracle.allocated import gaussian, gaussian_many
from tightrope.core.losses.capabilities import Resolution
from tightrope.core.losses.gaussian import GaussianPair
from tightrope.core.losses.operators.allocation.allocated import SumTable, _made, smooth_pairs
from tightrope.core.losses.operators.registered import ratio_transform
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.question import Direction

FINE = Resolution(points=400, tail=1e-12, proof=True)


def shift(sigma: float) -> GaussianPair:
    return GaussianPair(((sigma, 1.0, 1),))


def integral(sigma: float, s: complex) -> complex:
    """E e^{-s (Y - 1)} by a fine sum in floats: about 15 digits."""
    x = np.linspace(-11.0, 11.0, 20001)
    ratio = np.exp(x / sigma - 0.5 / sigma**2)
    return complex(np.sum(np.exp(-0.5 * x * x - s * (ratio - 1.0))) * (x[1] - x[0]) / np.sqrt(2.0 * np.pi))


@pytest.mark.parametrize("sigma", [0.5, 1.0, 10.0])
def test_transform_on_a_line_and_beyond(sigma: float) -> None:
    ratio = ratio_transform(shift(sigma))
    with working_precision(128):
        real, step = arb(0.75), arb(0.5)
        found = ratio.values(real, step, 5, -40.0)
        fall = ratio.fall(real, arb(2.0))
        for n, ball in enumerate(found):
            truth = integral(sigma, 0.75 + 0.5j * n)
            assert abs(ball - acb(truth.real, truth.imag)) < arb(1e-11)
            assert ball.real.rad() < arb(1e-15)
        for imaginary in (2.0, 3.0, 8.0):
            size = abs(integral(sigma, 0.75 + 1j * imaginary))
            assert arb(size) <= fall.log_bound.exp() * arb(1 + 1e-9)
            assert arb(size) <= fall.slope / imaginary * arb(1 + 1e-9)


def table(sigma: float, steps: int, tail: float = FINE.tail) -> SumTable:
    pair = shift(sigma)
    found = _made(pair, ratio_transform(pair), steps, Resolution(FINE.points, tail, proof=True))
    assert found is not None
    return found


@pytest.mark.parametrize(("sigma", "steps", "epsilon"), [(2.0, 20, 0.4), (10.0, 1000, 0.005), (1.0, 9000, 0.03)])
def test_profiles_are_those_of_an_inversion_in_floats(sigma: float, steps: int, epsilon: float) -> None:
    remove, add = gaussian_many(sigma, steps, epsilon)
    law = table(sigma, steps)
    with working_precision(law.bits):
        for sign, truth in ((1, remove), (-1, add)):
            k = (sign * arb(epsilon)).exp() * steps
            g, _ = law.at(k)
            profile = (g + steps - k) / steps if sign > 0 else g / k
            assert abs(profile - truth) < arb(1e-12) + profile.rad()
            assert profile.rad() < arb(1e-15)


def test_two_steps_are_those_of_quadrature() -> None:
    remove, add = gaussian(6.0, 2, 0.25)
    law = table(6.0, 2)
    with working_precision(law.bits):
        k = arb(0.25).exp() * 2
        assert abs((law.at(k)[0] + 2 - k) / 2 - remove) < arb(1e-13)
        k = 2 / arb(0.25).exp()
        assert abs(law.at(k)[0] / k - add) < arb(1e-13)


def test_another_line_gives_the_same() -> None:
    """Tables for other tails have another real part, period and number of nodes; their balls meet."""
    tables = [table(3.0, 30, tail) for tail in (1e-6, 1e-9, 1e-15)]
    assert len({each.line.nodes for each in tables}) == 3
    for loss in (-0.15, 0.0, 0.05, 0.15):
        found = []
        for each in tables:
            with working_precision(each.bits):
                found.append(each.at(arb(loss).exp() * 30))
        for g, f in found[:-1]:
            assert g.overlaps(found[-1][0])
            assert f.overlaps(found[-1][1])
            assert g.rad() < arb(1e-7)


@pytest.mark.parametrize("direction", list(Direction))
def test_pairs_lie_on_both_sides(direction: Direction) -> None:
    below, above = smooth_pairs(shift(3.0), 30, direction, FINE, {}) or pytest.fail("too many nodes")
    law = table(3.0, 30, 1e-15)
    for epsilon in (-0.5, -0.1, 0.0, 0.05, 0.3, 0.6, 2.0):
        with working_precision(law.bits):
            sign = 1 if direction is Direction.REMOVE else -1
            k = (sign * arb(epsilon)).exp() * 30
            g, _ = law.at(k)
            truth = (g + 30 - k) / 30 if sign > 0 else g / k
            low, high = below.ball_hockey_stick(arb(epsilon)), above.ball_hockey_stick(arb(epsilon))
            assert not low > truth
            assert not high < truth
            assert high - low < arb(2e-4)


def test_little_noise_and_few_steps_are_left_to_grids() -> None:
    assert smooth_pairs(shift(0.5), 10, Direction.REMOVE, Resolution(400, 1e-12, proof=False), {}) is None


def test_rates_of_the_left_end_cost_no_more_than_those_of_the_line() -> None:
    """Of two steps with much noise the best rate of Chernoff's bound is huge, and its transform as dear."""
    for tail in (1e-16, 4e-20):
        pair = shift(18.68)
        found = _made(pair, ratio_transform(pair), 2, Resolution(FINE.points, tail, proof=False))
        assert found is None or found.chernoff[0] < 3000
    assert table(18.68, 2, 1e-16).line.nodes > 0
