"""Glued pairs against closed forms in mpmath, against data sets with all their neighbours, and both arithmetics."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from mpmath import mp, mpf

import tightrope as tr
from tests.oracle import amplified
from tests.oracle import enumerate_data as data
from tests.oracle.adaptive import adaptive
from tightrope.core.engines.lattice import engine as lattice
from tightrope.core.losses.operators.dyadic import DyadicPair, dyadic_pair
from tightrope.core.losses.operators.fixed_size import FixedSizeSubsampledPair, fixed_size_subsampled_pair
from tightrope.core.losses.operators.poisson import poisson_pair
from tightrope.core.losses.operators.product import ProductPair
from tightrope.core.losses.operators.registered import factors_of, remake
from tightrope.core.losses.pair import TAIL_ERROR, Pair
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.double_double import double_double
from tightrope.core.numerics.enclosures import around, exact
from tightrope.core.values.question import Direction

POINTS = (-30.0, -2.0, -0.5, -1e-9, -0.0, 0.0, 1e-300, 1e-9, 0.3, 1.0, 3.0, 40.0)
BASES = {
    "Gaussian": tr.Gaussian(sigma=1.0),
    "Laplace": tr.Laplace(scale=2.0),
    "discrete Gaussian": tr.DiscreteGaussian(sigma=0.7),
    "leaky response": tr.ApproximateDP(epsilon=1.0, delta=0.05),
    "three answers": tr.RandomizedResponse(p=0.5, categories=3),
}


def base_of(mechanism: tr.Mechanism) -> Pair:
    return mechanism.pair(Direction.REMOVE)


@pytest.mark.parametrize("rate", [1e-12, 0.1, 0.9])
def test_gaussian_against_the_formula(rate: float) -> None:
    pair = fixed_size_subsampled_pair(base_of(BASES["Gaussian"]), rate)
    with mp.workdps(60):
        truth = amplified.glued(amplified.mixture(1, {1: 1}), mpf(rate))
        for epsilon in (-2.0, -0.5, 0.0, 0.3, 1.0, 4.0):
            value = truth(mp.exp(mpf(epsilon)))
            found = pair.hockey_stick(exact(np.array([epsilon])))
            assert float(found.lower[0]) <= value <= float(found.upper[0])
            with working_precision(200):
                ball = pair.ball_hockey_stick(arb(epsilon))
                assert float(ball.mid()) == pytest.approx(float(value), rel=1e-12)
            assert float(found.value[0]) == pytest.approx(float(value), rel=1e-10)


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("rate", [0.2, 0.7])
def test_both_arithmetics_and_the_tails_tell_one_law(name: str, rate: float) -> None:
    base = base_of(BASES[name])
    for pair in (fixed_size_subsampled_pair(base, rate), FixedSizeSubsampledPair(base, rate)):
        tails = pair.tails(double_double(np.array(POINTS)))
        profile = pair.hockey_stick(exact(np.array(POINTS)))
        for index, t in enumerate(POINTS):
            with working_precision(256):
                found, height = pair.ball_tails(arb(t)), pair.ball_hockey_stick(arb(t))
                for column, ball in zip(tails, found, strict=True):
                    assert abs(arb(float(column[index])) - ball) <= TAIL_ERROR * ball.abs_upper() + arb(1e-300)
                assert arb(float(profile.lower[index])) <= height.upper()
                assert height.lower() <= arb(float(profile.upper[index]))
                difference = found.p_above - arb(t).exp() * found.q_above - height
                assert difference.abs_upper() < 1e-25 * (1 + arb(t).exp())
                assert (found.p_above + found.p_below - 1).abs_upper() < 1e-25
                # Its own mirror image: what P has above t, Q has below -t, atoms apart.
                mirror = pair.ball_tails(-arb(t) - arb(1e-20))
                assert (found.p_above - mirror.q_below).abs_upper() < 1e-15 or t in (0.0, -0.0)
        with working_precision(256):
            atom = pair.ball_tails(arb(0)).p_below - pair.ball_tails(arb("-1e-40")).p_below
            inner = base.ball_tails(arb(0))
            assert (atom - (1 - 2 * inner.q_above - arb(rate) * (inner.p_above - inner.q_above))).abs_upper() < 1e-30


@pytest.mark.parametrize("name", ["leaky response", "three answers"])
def test_lists_of_atoms(name: str) -> None:
    base = base_of(BASES[name])
    one, other = fixed_size_subsampled_pair(base, 0.3).atoms(), FixedSizeSubsampledPair(base, 0.3).atoms()
    assert one is not None
    assert other is not None
    for left, right in zip(one[:5], other[:5], strict=True):
        assert np.all(abs(left.value - right.value) <= left.radius + right.radius)
    assert fixed_size_subsampled_pair(base, 0.3).reversed() == fixed_size_subsampled_pair(base, 0.3)


def test_where_epsilon_is_not_told_from_zero() -> None:
    pair = FixedSizeSubsampledPair(base_of(BASES["Gaussian"]), 0.3)
    wide = pair.hockey_stick(around(np.array([0.0, 0.0]), np.array([1e-3, 0.0])))
    for epsilon in (-1e-3, 0.0, 1e-3):
        height = float(pair.hockey_stick(exact(np.array([epsilon]))).value[0])
        assert float(wide.lower[0]) <= height <= float(wide.upper[0])
    with working_precision(128):
        ball = pair.ball_hockey_stick(arb(0, 1e-3))
        assert all(ball.overlaps(pair.ball_hockey_stick(arb(each))) for each in (-1e-3, 0.0, 1e-3))


@pytest.mark.parametrize(("records", "batch"), [(2, 1), (3, 2)])
def test_all_neighbours_of_tiny_data(records: int, batch: int) -> None:
    """One use: equal at every alpha."""
    noise = data.discrete_gaussian(Fraction(1, 2))
    real = data.of_sums(data.without_replacement(batch), noise, data.replacing(records))
    pair = fixed_size_subsampled_pair(
        tr.DiscreteGaussian(sigma=0.5, sensitivity=2).pair(Direction.REMOVE), batch / records
    )
    points = np.linspace(-4.0, 4.0, 41)
    truth = adaptive([real], np.exp(points)).astype(float)
    assert np.max(abs(truth - pair.hockey_stick(exact(points)).value)) < 1e-12


def test_two_uses_of_half_a_batch() -> None:
    """What one direction gives, what can be attained, what the glued pair says."""
    base = tr.DiscreteGaussian(sigma=1.0).pair(Direction.REMOVE)
    for pair, value in (
        (poisson_pair(base, 0.5, Direction.REMOVE), 0.146657),
        (fixed_size_subsampled_pair(base, 0.5), 0.160401),
    ):
        found = lattice.prepare([(pair, 2)], epsilon=0.5, accuracy=1e-6).delta(0.5)
        assert found.lower - 5e-7 <= value <= found.upper + 5e-7


def test_over_other_bases() -> None:
    pair = FixedSizeSubsampledPair(base_of(BASES["Gaussian"]), 0.3)
    laplace = base_of(BASES["Laplace"])
    assert remake(pair, (laplace,)) == FixedSizeSubsampledPair(laplace, 0.3)
    for base in (dyadic_pair([(3, 1), (1, 3), (4, 0), (0, 4)], 3), dyadic_pair([(5, 2), (3, 6)], 3)):
        found = remake(pair, (base,))
        assert isinstance(found, DyadicPair)
        with working_precision(128):
            for epsilon in (-0.5, 0.2, 0.7):
                heights = [side.ball_hockey_stick(arb(epsilon)) for side in (found, found.reversed())]
                assert heights[0].overlaps(heights[1])  # symmetric, whatever the base was
                single = [
                    FixedSizeSubsampledPair(side, 0.3).ball_hockey_stick(arb(epsilon))
                    for side in (base, base.reversed())
                ]
                assert heights[0].overlaps(single[0].max(single[1]))
    product = FixedSizeSubsampledPair(ProductPair(((laplace, 1), (base_of(BASES["Gaussian"]), 1))), 0.3)
    assert factors_of(product.bases()[0]) is not None
