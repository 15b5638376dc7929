"""Chains of neighbours against exact fractions, and against the longer shift where there is one."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from flint import arb, fmpq

from tests.oracle.chain import chain_delta
from tests.oracle.enumeration import random_outcomes
from tightrope import ApproximateDP, DiscreteLaplace, Exponential, Gaussian, Laplace, Mechanism, PureDP
from tightrope.core.losses.capabilities import Resolution
from tightrope.core.losses.finite.finite_pair import FinitePair
from tightrope.core.losses.finite.laws import RationalLaw
from tightrope.core.losses.operators.dyadic import DyadicPair
from tightrope.core.losses.operators.group_privacy import (
    GroupPrivacyPair,
    group_pair,
    group_privacy_pair,
    replaced_pair,
)
from tightrope.core.losses.operators.poisson import poisson_pair
from tightrope.core.losses.operators.registered import shifted_pair
from tightrope.core.losses.pair import Pair
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.question import Direction

REMOVE = Direction.REMOVE
ALPHAS = [Fraction(n, 8) for n in (0, 1, 3, 7, 8, 9, 13, 24, 64, 400)]


def ball(number: Fraction) -> arb:
    return arb(fmpq(number.numerator, number.denominator))


def rational(outcomes: object) -> FinitePair:
    return FinitePair(RationalLaw(*(tuple(column) for column in zip(*outcomes, strict=True))))  # type: ignore[call-overload]


def profile(pair: Pair, alpha: Fraction) -> arb:
    return pair.ball_hockey_stick(ball(alpha).log()) if alpha else arb(1)


@pytest.mark.parametrize("seed", range(12))
def test_finite_laws_are_chained_exactly(seed: int) -> None:
    """Also in the general way, and between two pairs, in whole numbers."""
    rng = random.Random(seed)
    links = [(random_outcomes(rng), rng.randint(1, 3)) for _ in range(rng.randint(1, 2))]
    steps = [outcomes for outcomes, count in links for _ in range(count)]
    pairs = [(rational(outcomes), count) for outcomes, count in links]
    exactly, general = group_privacy_pair(pairs), GroupPrivacyPair(tuple(pairs))
    below, above = general.bracket(Resolution(64, 1e-30, proof=bool(seed % 2)))
    with working_precision(128):
        for index, alpha in enumerate(ALPHAS):
            truth = ball(chain_delta(steps, alpha))
            assert profile(exactly, alpha).overlaps(truth)
            found = profile(general if index == seed % 8 else exactly, alpha)
            assert found.overlaps(truth)
            assert found.rad() < 1e-15
            low, high = profile(below, alpha), profile(above, alpha)
            assert low.lower() <= truth.upper()
            assert high.upper() >= truth.lower()
            assert high - low < 1e-12
        mirror = exactly.reversed()
        assert profile(mirror, Fraction(1, 3)).overlaps(ball(Fraction(2, 3) + chain_delta(steps, Fraction(3)) / 3))
        assert general.infinite_mass().overlaps(exactly.infinite_mass())


@pytest.mark.parametrize("size", [3])
@pytest.mark.parametrize(
    "mechanism", [Gaussian(sigma=2.5), Laplace(scale=3), Exponential(epsilon=0.5), DiscreteLaplace(scale=2)], ids=str
)
def test_a_shift_is_what_the_general_way_finds(mechanism: Mechanism, size: int) -> None:
    """The chain of the steps, without knowing that they are shifts."""
    base = mechanism.pair(REMOVE)
    shift, general = shifted_pair(base, size), GroupPrivacyPair(((base, size),))
    assert shift is not None
    assert group_pair(base, size) == shift
    below, above = general.bracket(Resolution(512, 1e-20, proof=False))
    assert isinstance(below, DyadicPair)
    with working_precision(128):
        for epsilon in (-0.4, 0.0, 0.3, 0.9, 2.1):
            truth, found = shift.ball_hockey_stick(arb(epsilon)), general.ball_hockey_stick(arb(epsilon))
            assert found.overlaps(truth)
            assert found.rad() <= 1e-16 * truth.max(arb(1e-9))
            low, high = (each.ball_hockey_stick(arb(epsilon)) for each in (below, above))
            assert low.lower() <= truth <= high.upper()
            assert high - low < 2e-3


def test_pure_dp_has_the_chain_of_the_geometric_mechanism() -> None:
    for size in (2, 3, 32):
        chain = group_pair(PureDP(epsilon=0.25).pair(REMOVE), size)
        noise = DiscreteLaplace(scale=4, sensitivity=size).pair(REMOVE)
        assert chain.lattice() == noise.lattice()
        with working_precision(128):
            for epsilon in (-1.0, 0.0, 0.1, 0.6, 5.0):
                assert chain.ball_hockey_stick(arb(epsilon)).overlaps(noise.ball_hockey_stick(arb(epsilon)))


def test_leaks_add_up_as_in_group_privacy() -> None:
    """(epsilon, delta) of one is (k epsilon, delta (1 + e^epsilon + ... + e^((k-1) epsilon))) of k."""
    chain = group_pair(ApproximateDP(epsilon=0.5, delta=0.01).pair(REMOVE), 3)
    with working_precision(128):
        whole = arb(0.01) * (1 + arb(0.5).exp() + arb(1).exp())
        assert chain.infinite_mass().overlaps(whole)
        assert chain.ball_hockey_stick(arb(1.5)).overlaps(whole)


def test_a_replaced_record_is_one_out_and_one_in() -> None:
    """Of shifted noise two shifts; of a sample, whose directions differ, neither twice the one nor the other."""
    gaussian = Gaussian(sigma=2).pair(REMOVE)
    assert replaced_pair(gaussian, gaussian) == shifted_pair(gaussian, 2)
    remove, add = (poisson_pair(Laplace(scale=1).pair(each), 0.25, each) for each in Direction)
    chain = replaced_pair(remove, add)
    with working_precision(128):
        for epsilon in (0.0, 0.2, 0.5):  # its own mirror
            there, back = chain.ball_hockey_stick(arb(epsilon)), chain.reversed().ball_hockey_stick(arb(epsilon))
            assert there.overlaps(back)
            assert there.rad() < 1e-15


def test_one_step_is_the_pair_itself() -> None:
    for mechanism in (Exponential(epsilon=0.1), PureDP(epsilon=1), Gaussian(sigma=1).poisson(rate=0.1)):
        pair = mechanism.pair(REMOVE)
        assert group_pair(pair, 1) == pair


def test_steps_without_loss_fall_away() -> None:
    nothing, something = PureDP(epsilon=0).pair(REMOVE), Exponential(epsilon=0.3).pair(REMOVE)
    assert group_privacy_pair([(nothing, 4), (something, 1), (nothing, 1)]) == something
    assert group_privacy_pair([(nothing, 4)]) == nothing


def test_chains_of_chains_are_one() -> None:
    base = Exponential(epsilon=0.1).pair(REMOVE)
    assert group_pair(group_pair(base, 3), 7) == group_pair(base, 21)


def test_infinite_losses_of_a_law_that_is_not_finite() -> None:
    """Uniform noise on [0, 1] that moves by 1/4: a chain of two has an infinite loss with probability 1/2."""
    from tightrope import TruncatedGaussian

    pair = TruncatedGaussian(sigma=50, bounds=[-1, 1], sensitivity=0.5).pair(REMOVE)
    general = GroupPrivacyPair(((pair, 2),))
    shift = shifted_pair(pair, 2)
    assert shift is not None
    with working_precision(128):
        assert general.infinite_mass().overlaps(shift.infinite_mass())
        assert general.infinite_mass().rad() < 1e-15
        assert general.ball_hockey_stick(arb(0.01)).overlaps(shift.ball_hockey_stick(arb(0.01)))
