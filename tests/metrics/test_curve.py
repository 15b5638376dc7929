"""Trade-off curves against closed forms and fractions: at the rates, and between them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import pytest

import tightrope as tr

from ..oracle.readings import Family, GaussianReadings, LaplaceReadings, ResponseReadings, Two
from .test_tradeoff import LAWS

AIM = 1e-4
ENDS_APART = 1e-14  # doubles near 1, where what is missed or found is small
FINE = (1e-9, 3e-5, 0.02, 0.07, 0.31, 0.77, 0.999)


def holds(curve: tr.Tradeoffs, missed: Callable[[float], mp.mpf | Fraction], aim: float = AIM) -> None:
    """The truth is inside at each rate and between them, and at the rates as near as promised."""
    with mp.workdps(40):
        for fpr, bound in curve:
            exact = missed(fpr)
            inside(bound, exact)
            size = min(bound.lower, 1.0 - bound.upper)
            assert bound.upper - bound.lower <= aim * size + ENDS_APART, (fpr, bound)
        for fpr in FINE:
            inside(curve.at(fpr), missed(fpr))


def inside(bound: tr.Bound, exact: mp.mpf | Fraction) -> None:
    exact = mp.mpf(exact.numerator) / exact.denominator if isinstance(exact, Fraction) else exact
    assert mp.mpf(bound.lower) <= exact <= mp.mpf(bound.upper)


FAMILIES: list[tuple[tr.Mechanism, Family]] = [
    (tr.Gaussian(sigma=2), GaussianReadings(mp.mpf("0.5"))),
    (tr.Gaussian(sigma=1) * 25, GaussianReadings(mp.mpf(5))),
    (tr.Gaussian(sigma=1e6), GaussianReadings(mp.mpf("1e-6"))),
    (tr.Laplace(scale=0.5), LaplaceReadings(mp.mpf(2))),
    (tr.RandomizedResponse(p=0.75), ResponseReadings(mp.log(3))),
]


@pytest.mark.parametrize(("run", "family"), FAMILIES, ids=lambda each: str(each)[:30])
def test_closed_forms(run: tr.Mechanism, family: Family) -> None:
    """Also one that has the same f everywhere below its resolution, and one that is almost certain."""
    curve = run.tradeoff_curve(points=20)
    holds(curve, lambda fpr: 1 - family.tpr(mp.mpf(fpr)))


@pytest.mark.parametrize("name", LAWS)
def test_finite_laws(name: str) -> None:
    """Atoms, infinite losses on either side, both directions and the envelope of both; rates at corners too."""
    two = LAWS[name]
    run, laws = tr.Finite([float(each) for each in two.p], [float(each) for each in two.q]) * 2, two.power(2)
    corners = {float(fpr) for fpr, _ in (*laws.corners(), *laws.reversed().corners(), *laws.symmetric())}
    rates = sorted(corners | {1e-12, 0.3, 0.6, 1.0 - 1e-9})
    for direction, truth in (("remove", laws.tpr), ("add", laws.reversed().tpr), (None, laws.symmetric_tpr)):
        curve = run.tradeoff_curve(fprs=rates, direction=direction)
        holds(curve, lambda fpr, truth=truth: 1 - truth(Fraction(fpr)))


def test_between_two_corners_it_is_linear() -> None:
    """One loss up to 0.25, another one from there on: one rate inside of each says all that there is."""
    law = Two.of((0.75, 0.25), (0.25, 0.75))
    curve = tr.Finite([0.75, 0.25], [0.25, 0.75]).tradeoff_curve(fprs=[0.0, 0.1, 0.25, 0.5, 1.0], direction="remove")
    for fpr in (0.05, 0.2, 0.3, 0.9):
        found = curve.at(fpr)
        inside(found, 1 - law.tpr(Fraction(fpr)))
        assert found.width < 1e-9


@pytest.mark.parametrize("direction", ["remove", "add", None])
def test_training(direction: str | None) -> None:
    """50 rates from some hundred points of the profile agree with one question for each rate, which is sharper."""
    run = tr.Gaussian(sigma=1).poisson(rate=0.01) * 1000
    curve = run.tradeoff_curve(direction=direction)
    assert len(curve) == 50
    assert curve.fprs[:2] == (0.0, 1e-6)
    assert curve.fprs[-1] == 1.0
    assert [bound.width for fpr, bound in curve if fpr in (0.0, 1.0)] == [0.0, 0.0]
    for fpr, bound in curve:
        assert bound.width <= AIM * min(bound.upper, 1.0 - bound.lower)
        assert bound.certificate is not None
        budget = bound.certificate.budget
        assert math.fsum(budget.upper.values()) >= bound.upper - bound.lower
        if fpr in curve.fprs[::7]:
            one = run.tradeoff(fpr, direction=direction)
            assert max(one.lower, bound.lower) <= min(one.upper, bound.upper)
    rates = (2e-6, 1e-4, 0.4, 0.93)
    for fpr, one in zip(rates, run.tradeoff(rates, direction=direction), strict=True):
        between = curve.at(fpr)
        assert between.lower <= one.upper
        assert one.lower <= between.upper
        assert between.width < 2e-3


def test_ends_that_fall_and_bend_as_a_trade_off_does() -> None:
    curve = (tr.Laplace(scale=3) * 4 + tr.ApproximateDP(epsilon=0.1, delta=1e-3)).tradeoff_curve(points=30)
    assert curve.bounds[0].upper == pytest.approx(0.999, abs=1e-12)
    for (fpr, one), (after, two) in pairwise(curve):
        assert two.lower <= one.upper
        assert one.upper <= 1.0 - fpr
        assert after > fpr
    slopes = curve.slopes
    assert slopes[0] == math.inf
    assert all(first >= second for first, second in pairwise(slopes))


def test_lower_ends_are_those_of_the_pair_and_upper_ends_those_of_real_neighbours() -> None:
    """Where nobody attains the dominating pair, the ends stay apart, and few points are asked for nothing."""
    run = tr.Exponential(epsilon=1) * 4
    curve = run.tradeoff_curve(fprs=[1e-3, 0.3])
    assert not run.tight
    for fpr, bound in curve:
        one = run.tradeoff(fpr)
        assert max(one.lower, bound.lower) <= min(one.upper, bound.upper)
        assert bound.lower >= one.lower - 1e-3
        assert bound.upper <= one.upper + 1e-3


def test_proof_uses_balls() -> None:
    curve = (tr.Gaussian(sigma=1) * 2).tradeoff_curve(points=5, proof=True)
    assert {bound.certificate.arithmetic for bound in curve.bounds if bound.certificate} == {"ball"}


def test_rates() -> None:
    run = tr.RandomizedResponse(p=0.75)
    assert run.tradeoff_curve(0.2, 0.4, 5).fprs == pytest.approx((0.2, 0.25, 0.3, 0.35, 0.4))
    assert run.tradeoff_curve(1e-4, 1e-2, 3).fprs == pytest.approx((1e-4, 1e-3, 1e-2))
    assert run.tradeoff_curve(0.0, 1e-9, 3).fprs == pytest.approx((0.0, 1e-10, 1e-9))
    assert run.tradeoff_curve(points=2).fprs == (0.0, 1.0)
    assert run.tradeoff_curve(fprs=(each / 4 for each in range(5))).fprs == (0.0, 0.25, 0.5, 0.75, 1.0)
    for wrong in ([], [0.5, 0.1], [0.1, 0.1], [-0.1], [1.5], [math.nan], ["x"], "0.5", 0.5, [0.5] * 10_001):
        with pytest.raises(tr.InvalidParameter, match="fpr"):
            run.tradeoff_curve(fprs=wrong)
    with pytest.raises(tr.InvalidParameter, match="either fprs"):
        run.tradeoff_curve(0.0, fprs=[0.1])
    with pytest.raises(tr.InvalidParameter, match="start must lie below stop"):
        run.tradeoff_curve(0.5, 0.5)
    with pytest.raises(tr.InvalidParameter, match="at most 10,000"):
        run.tradeoff_curve(points=10**9)
    with pytest.raises(tr.InvalidParameter, match="fewer points"):
        run.tradeoff_curve(0.5, math.nextafter(0.5, 1.0), 3)


def test_a_wanted_accuracy_is_reached_or_refused() -> None:
    run = tr.Gaussian(sigma=1)
    for _, bound in run.tradeoff_curve(fprs=[1e-3, 0.5], accuracy=1e-9):
        assert bound.width <= 1e-9 * bound.upper
    with pytest.raises(tr.AccuracyNotReached):
        run.tradeoff_curve(fprs=[1e-3, 0.5], accuracy=1e-30, seconds=0.2)


def test_nobody_is_missed() -> None:
    """Where both rates are tiny and no double tells delta from 1."""
    for run in (tr.Gaussian(sigma=1e-3), tr.Gaussian(sigma=0.05), tr.PureDP(epsilon=1000)):
        for _, bound in run.tradeoff_curve(fprs=[1e-30, 1e-12, 0.3]):
            assert 0.0 <= bound.lower <= bound.upper < 1e-14


def test_no_time_is_no_excuse() -> None:
    """What ended early is wide and right, and says so."""
    run = tr.Gaussian(sigma=1).poisson(rate=0.01) * 1000
    curve = run.tradeoff_curve(points=5, seconds=1e-9)
    exact = (tr.Gaussian(sigma=1).poisson(rate=0.01) * 1000).tradeoff_curve(points=5)
    for one, two in zip(curve.bounds, exact.bounds, strict=True):
        assert max(one.lower, two.lower) <= min(one.upper, two.upper)
    certificate = curve.bounds[2].certificate
    assert certificate is not None
    assert certificate.exhausted == "time"


def test_one_direction_of_a_replaced_record_is_refused() -> None:
    run = tr.Gaussian(sigma=1).without_replacement(batch=1, records=10)
    with pytest.raises(tr.InvalidParameter, match="direction must be left out"):
        run.tradeoff_curve(points=3, direction="add")
    assert run.tradeoff_curve(points=3).bounds[-1].upper == 0.0


def test_a_curve_of_real_neighbours_below_a_pair_falls_and_is_about_as_narrow_as_single_rates() -> None:
    run = tr.PureDP(epsilon=1.0).shuffle(users=20)
    curve = run.tradeoff_curve(points=12)
    highs = [bound.upper for bound in curve.bounds]
    assert highs == sorted(highs, reverse=True)
    for place in (3, 6, 8):  # a curve aims at 1e-4 of the smaller rate, where a single one may be exact
        bound = curve.bounds[place]
        aim = 1e-4 * min(bound.lower, 1.0 - bound.upper)
        assert bound.width <= 2.0 * run.tradeoff(curve.fprs[place]).width + aim
