"""Mixtures of Gaussian shifts: both arithmetics against mpmath, and what they are known to equal."""

from __future__ import annotations

import math
import pickle
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from mpmath import mp, mpf

from tests.oracle.mixtures import NormalMixtures, binomial, group, hypergeometric, shifted
from tightrope.core.losses.gaussian import GaussianPair
from tightrope.core.losses.gaussian_mixture.mixture_pair import GaussianMixturePair
from tightrope.core.losses.operators.poisson import PoissonAdd, PoissonRemove
from tightrope.core.losses.operators.registered import shift_mixture
from tightrope.core.losses.pair import TAIL_ERROR, Pair
from tightrope.core.losses.participation_law import (
    SIZE_MAX,
    BinomialParticipation,
    HypergeometricParticipation,
    ParticipationLaw,
    WeightedShifts,
)
from tightrope.core.numerics.balls import enclose, working_precision
from tightrope.core.numerics.double_double import double_double
from tightrope.core.numerics.enclosures import exact
from tightrope.core.values.errors import InvalidParameter, UnsupportedMechanism
from tightrope.core.values.question import Direction

REST, LEFT = Fraction(1, 8) - Fraction(1, 10**30), Fraction(1, 8) - Fraction(1, 10**40)
LEFT_OVER = 1 - REST - Fraction(7, 8)
CASES: list[tuple[float, ParticipationLaw]] = [
    (1.0, BinomialParticipation(2, 0.1)),
    (0.25, BinomialParticipation(3, 0.5)),
    (2.0, BinomialParticipation(12, 0.01)),
    (0.5, BinomialParticipation(5, 1.0 - 2.0**-30)),
    (1.0, HypergeometricParticipation(40, 3, 10)),
    (0.5, HypergeometricParticipation(12, 6, 2)),
    (
        0.1,
        WeightedShifts((Fraction(1, 10**5), Fraction(2, 7), Fraction(1)), (Fraction(7, 8), Fraction(1, 10**30), REST)),
    ),
    (2.0, WeightedShifts((Fraction(0), Fraction(999, 1000), Fraction(1)), (Fraction(1, 10**40), Fraction(7, 8), LEFT))),
]


def truth_of(sigma: float, hits: ParticipationLaw, direction: str) -> NormalMixtures:
    if isinstance(hits, BinomialParticipation):
        weights = binomial(hits.size, hits.rate)
    elif isinstance(hits, WeightedShifts):
        return shifted(hits.shares, [part / Fraction(sigma) for part in hits.parts], direction)
    else:
        assert isinstance(hits, HypergeometricParticipation)
        weights = hypergeometric(hits.records, hits.size, hits.batch)
    return group(weights, 1 / Fraction(sigma), direction)


def pair_of(sigma: float, hits: ParticipationLaw, direction: str) -> Pair:
    found = shift_mixture(GaussianPair(((sigma, 1.0, 1),)), hits, Direction(direction))
    assert found is not None
    return found


def places(pair: Pair, sigma: float, hits: ParticipationLaw) -> list[float]:
    """Losses all over the place, and next to the end."""
    wide = (hits.most / sigma) ** 2
    dice = random.Random(repr((sigma, hits)))
    ends = [float(end.mid()) for end in pair.loss_range() if end.is_finite()]
    near = [end + side * 10.0**-power for end in ends for side, power in ((1.0, 2), (-1.0, 9), (1.0, 9))]
    return [0.0, 0.3, -0.3, wide * dice.uniform(-0.6, 0.6), *near]


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(("sigma", "hits"), CASES)
def test_tails_and_profile_against_mpmath(sigma: float, hits: ParticipationLaw, direction: str) -> None:
    pair, truth = pair_of(sigma, hits, direction), truth_of(sigma, hits, direction)
    points = places(pair, sigma, hits)
    tails, profile = pair.tails(double_double(np.array(points))), pair.hockey_stick(exact(np.array(points)))
    with mp.workdps(60):
        for index, t in enumerate(points):
            with working_precision(300):
                proven, height = pair.ball_tails(arb(t)), pair.ball_hockey_stick(arb(t))
            for found, ball, value in zip(tails, proven, truth.tails(t), strict=True):
                error = abs(mpf(float(found[index])) - value)
                assert error <= (TAIL_ERROR * value if value >= 1e-300 else mpf(1e-313)), (t, value)
                assert _contains(ball, value), (t, ball, value)
            value = truth.hockey_stick(t)
            assert _contains(height, value)
            assert mpf(float(profile.lower[index])) * (1 - mpf(2) ** -80) <= value
            assert value <= mpf(float(profile.upper[index])) * (1 + mpf(2) ** -80) + mpf(2) ** -300
            assert profile.radius[index] <= 1e-12 * profile.value[index] + 1e-26


def _contains(ball: arb, value: mpf) -> bool:
    """Up to the digits of mpmath."""
    with working_precision(300):
        return bool(arb(mp.nstr(value, 55)).overlaps(ball * (1 + arb(0, 1e-45)) + arb(0, 1e-55)))


def test_values_of_reference() -> None:
    remove = pair_of(1.0, BinomialParticipation(2, 0.1), "remove")
    lower, upper = enclose(lambda: remove.ball_hockey_stick(arb(1)))
    assert lower <= 0.0038260518157870417258 * (1 + 1e-14)
    assert upper >= 0.0038260518157870417258 * (1 - 1e-14)
    lower, upper = enclose(lambda: remove.reversed().ball_hockey_stick(arb(0.2)))
    assert lower <= 0.000015100600690477958571 * (1 + 1e-12)
    assert upper >= 0.000015100600690477958571 * (1 - 1e-12)


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("rate", [1e-9, 0.1, 0.9])
def test_one_record_is_a_sampled_gaussian(rate: float, direction: str) -> None:
    base = GaussianPair(((1.5, 1.0, 1),))
    known = (PoissonRemove if direction == "remove" else PoissonAdd)(base, rate)
    pair = GaussianMixturePair(base, BinomialParticipation(1, rate), Direction(direction))
    points = np.array([-2.0, -0.05, 0.0, 1e-10, 0.04, 1.0, 7.0, math.inf, -math.inf])
    for one, other in zip(pair.tails(double_double(points)), known.tails(double_double(points)), strict=True):
        np.testing.assert_allclose(one, other, rtol=2 * TAIL_ERROR, atol=1e-313)
    with working_precision(200):
        for point in points[:-2]:
            assert pair.ball_hockey_stick(arb(point)).overlaps(known.ball_hockey_stick(arb(point)))


def test_one_hit_of_a_batch_is_a_rate() -> None:
    batch = pair_of(1.0, HypergeometricParticipation(64, 1, 16), "remove")
    sample = pair_of(1.0, BinomialParticipation(1, 0.25), "remove")
    with working_precision(200):
        assert batch.ball_hockey_stick(arb(0.5)).overlaps(sample.ball_hockey_stick(arb(0.5)))


def test_larger_groups_and_rates_tell_more() -> None:
    heights = [
        float(pair_of(1.0, BinomialParticipation(size, 0.1), "remove").hockey_stick(exact(0.5)).value)
        for size in (1, 2, 5)
    ]
    assert heights == sorted(heights)
    heights = [
        float(pair_of(1.0, BinomialParticipation(4, rate), "add").hockey_stick(exact(0.1)).value)
        for rate in (0.1, 0.2, 0.7)
    ]
    assert heights == sorted(heights)


def test_values() -> None:
    pair = pair_of(1.0, BinomialParticipation(2, 0.1), "remove")
    assert pair.reversed().reversed() == pair
    pair.hockey_stick(exact(0.5))
    assert pickle.loads(pickle.dumps(pair)) == pair
    assert hash(pickle.loads(pickle.dumps(pair))) == hash(pair)
    with working_precision(100):
        assert pair.infinite_mass().is_zero()
        assert pair.loss_range().lowest.overlaps(arb(0.9) ** 0 * (1 - arb(0.1)).log() * 2)


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_places_too_far_to_look_for(direction: str) -> None:
    """Tiny shifts, and a loss that only outputs at many millions have."""
    pair = pair_of(5e7, BinomialParticipation(2, 1e-8), direction)
    points = np.array([0.5, -0.5, 1e-17, -1e-17])
    tails, profile = pair.tails(double_double(points)), pair.hockey_stick(exact(points))
    with working_precision(300):
        for index, t in enumerate(points):
            for found, ball in zip(tails, pair.ball_tails(arb(t)), strict=True):
                assert abs(arb(float(found[index])) - ball) <= TAIL_ERROR * ball + arb(1e-313)
            height = pair.ball_hockey_stick(arb(t))
            assert arb(float(profile.lower[index])) <= height
            assert height <= arb(float(profile.upper[index]))
            assert profile.radius[index] <= 1e-6 * profile.value[index] + 1e-25


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_losses_beyond_all_digits(direction: str) -> None:
    """Where doubles cannot tell a loss from its neighbours, balls still can."""
    pair = pair_of(
        0.01, WeightedShifts((Fraction(0), Fraction(1, 10), Fraction(1)), (REST, Fraction(7, 8), LEFT_OVER)), direction
    )
    for t in (1e19, 1e22, 1e30):
        with working_precision(300):
            tails = pair.ball_tails(arb(t if direction == "remove" else -t))
            assert all(tail.is_finite() for tail in tails)


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_many_shifts_at_few_places_and_at_many(direction: str) -> None:
    """Two ways through the sums: all terms of a place at once, or all places of a term."""
    parts = tuple(Fraction(j, 80) for j in range(81))
    pair = pair_of(0.25, WeightedShifts(parts, (Fraction(1, 81),) * 81), direction)
    points = np.linspace(-3.0, 9.0, 100)
    many, tails = pair.hockey_stick(exact(points)), pair.tails(double_double(points))
    for index in (0, 30, 60, 99):
        few = pair.hockey_stick(exact(points[index : index + 1]))
        with working_precision(200):
            height, known = pair.ball_hockey_stick(arb(points[index])), pair.ball_tails(arb(points[index]))
            for one, place in ((few, 0), (many, index)):
                assert arb(float(one.lower[place])) <= height <= arb(float(one.upper[place]))
                assert one.radius[place] <= 1e-11 * one.value[place] + 1e-26
            for found, ball in zip(tails, known, strict=True):
                assert abs(arb(float(found[index])) - ball) <= TAIL_ERROR * ball + arb(1e-313)


@pytest.mark.parametrize("size", [0, SIZE_MAX + 1])
def test_sizes(size: int) -> None:
    with pytest.raises(InvalidParameter, match="size"):
        BinomialParticipation(size, 0.5)


def test_refusals() -> None:
    with pytest.raises(InvalidParameter, match="smaller batch"):
        HypergeometricParticipation(10, 4, 7)
    with pytest.raises(InvalidParameter, match="rate"):
        BinomialParticipation(2, 1.0)
    for sigma in (1e9, 1e-9):
        base = GaussianPair(((sigma, 1.0, 1),))
        assert shift_mixture(base, BinomialParticipation(2, 0.5), Direction.REMOVE) is None
        with pytest.raises(UnsupportedMechanism, match="shifts"):
            GaussianMixturePair(base, BinomialParticipation(2, 0.5), Direction.REMOVE)


@pytest.mark.parametrize(
    ("parts", "shares"),
    [((0, 1), (1,)), ((1, 0), (0.5, 0.5)), ((0, 0.5), (0.5, 0.5)), ((0, 1), (1, 0)), ((0, 1), (0.5, 0.25)), ((), ())],
)
def test_uneven_laws_are_checked(parts: tuple[float, ...], shares: tuple[float, ...]) -> None:
    with pytest.raises(InvalidParameter, match=r"parts|shares"):
        WeightedShifts(tuple(map(Fraction, parts)), tuple(map(Fraction, shares)))


def test_shifts_that_are_not_told_from_the_least_loss() -> None:
    """Where t may be the least loss, balls claim what holds on both sides of it."""
    for direction in ("remove", "add"):
        pair = pair_of(1.0, BinomialParticipation(2, 0.5), direction)
        with working_precision(60):
            end = next(each for each in pair.loss_range() if each.is_finite())
            wide = end + arb(0, 1e-3)
            for inside in (end.mid() - 1e-4, end.mid() + 1e-4):
                assert pair.ball_hockey_stick(wide).contains(pair.ball_hockey_stick(inside).mid())
                for one, other in zip(pair.ball_tails(wide), pair.ball_tails(inside), strict=True):
                    assert one.contains(other.mid())
