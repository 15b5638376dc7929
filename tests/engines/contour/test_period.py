"""Laws on one lattice by one period: polynomial powers in balls are the truth, and ties are where mistakes would be."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from flint import arb

import tightrope as tr
from tests.oracle import enumeration
from tests.oracle.lattice_fold import atoms, discrete_gaussian, fold, response
from tests.oracle.precision import ball, precision
from tests.search import FULL
from tightrope.core.engines import tuning
from tightrope.core.engines.contour import way as contour_plan
from tightrope.core.engines.contour.engine import prepare
from tightrope.core.engines.contour.sums import ContourBound
from tightrope.core.engines.contour.way import Fallen, Falling, First, LogBounds, Period, period_of
from tightrope.core.engines.saddle import Saddle
from tightrope.core.engines.selection import Evaluation
from tightrope.core.losses.atoms import LatticeStep, common_step, ratio_lattice
from tightrope.core.numerics.balls import BITS_START, working_precision
from tightrope.core.values.errors import UnsupportedMechanism
from tightrope.core.values.question import Direction

BITS = 600


def made(mechanism: tr.Mechanism, epsilon: float, proof: bool, direction: str = "remove") -> ContourBound:
    terms = [(part.pair(Direction(direction)), count) for part, count in mechanism.terms]
    assert period_of(terms) is not None
    return prepare(terms, epsilon=epsilon, accuracy=1e-9, proof=proof)


def holds(value: Evaluation, truth: arb) -> bool:
    return bool(arb(value.lower) <= truth) and (value.upper == 1.0 or bool(truth <= arb(value.upper)))


def narrow(value: Evaluation, accuracy: float = 1e-9) -> bool:
    return value.upper - value.lower <= accuracy * value.upper


def around(epsilon: float) -> list[float]:
    """An epsilon and its neighbours: next to a loss the first loss above changes."""
    return [math.nextafter(epsilon, -math.inf), epsilon, math.nextafter(epsilon, math.inf)]


@pytest.mark.parametrize("proof", [False, True])
@pytest.mark.parametrize("count", [1, 2, 30])
@pytest.mark.parametrize(("sigma", "sensitivity"), [(0.1, 1), (0.5, 2), (1.0, 1), (1.19, 1), (1.21, 3), (4.0, 1)])
def test_discrete_gaussians_on_and_off_their_losses(sigma: float, sensitivity: int, count: int, proof: bool) -> None:
    step = sensitivity / Fraction(sigma) ** 2
    shift = -count * sensitivity * step / 2
    centre = math.floor(-2 * shift / step)  # the loss next to the mean
    places = [centre - 1, centre, centre + 2, centre + 2 + count // 4]
    places = places if FULL else places[proof::2]  # both arithmetics share them
    losses = [loss for place in places for loss in around(float(shift + place * step))]
    with precision(BITS):
        row, width = discrete_gaussian(sigma, sensitivity, BITS)
        law = fold([(row, count)], width)
        for epsilon in [0.0, *(loss for loss in losses if loss > 0.0)]:
            value = made(tr.DiscreteGaussian(sigma, sensitivity) * count, epsilon, proof).delta(epsilon)
            assert holds(value, law.delta(epsilon)), epsilon
            assert narrow(value) or value.upper < 1e-300, epsilon


@pytest.mark.parametrize("proof", [False, True])
@pytest.mark.parametrize("leak", [0.0, 1e-12, 0.1])
@pytest.mark.parametrize("each", [0.001, 0.125, 3.0, 60.0])
def test_responses_whose_steps_are_multiples(each: float, leak: float, proof: bool) -> None:
    mechanism = tr.ApproximateDP(each, leak) * 40 + tr.PureDP(2 * each) * 7
    supremum = 54 * each
    with precision(BITS):
        first, step = response(each, leak)
        second, _ = response(2 * each, 0)
        spread = atoms({0: second.masses[0], 2: second.masses[1]}, second.shift, second.infinite)
        law = fold([(first, 40), (spread, 7)], step)
        for place in (0.0, 0.3, 0.5, 26 / 27, 0.999999):
            for epsilon in around(place * supremum) if place else [0.0]:
                value = made(mechanism, epsilon, proof).delta(epsilon)
                assert holds(value, law.delta(epsilon)), epsilon
                assert narrow(value) or value.upper < 1e-300, epsilon


@pytest.mark.parametrize("proof", [False, True])
def test_a_response_in_the_step_of_a_discrete_gaussian(proof: bool) -> None:
    mechanism = tr.DiscreteGaussian(2.0) * 25 + tr.ApproximateDP(0.375, 1e-5) * 9
    with precision(BITS):
        row, step = discrete_gaussian(2.0, 1, BITS)
        other, _ = response(0.375, 1e-5)
        spread = atoms({0: other.masses[0], 3: other.masses[1]}, other.shift, other.infinite)
        law = fold([(row, 25), (spread, 9)], step)
        for epsilon in (0.0, 1.0, 4.75, 12.0, 40.0):
            value = made(mechanism, epsilon, proof).delta(epsilon)
            assert holds(value, law.delta(epsilon))
            assert narrow(value)


@pytest.mark.parametrize("proof", [False, True])
@pytest.mark.parametrize(("scale", "size", "count"), [(0.3, 1, 50), (1.0, 3, 9), (7.0, 20, 12), (0.05, 2, 3)])
def test_discrete_laplaces(scale: float, size: int, count: int, proof: bool) -> None:
    mechanism = tr.DiscreteLaplace(scale, size) * count
    rng = random.Random(3)
    with precision(BITS):
        rate = 1 / ball(Fraction(scale))
        ratio = (-rate).exp()
        masses = {0: (-size * rate).exp() / (1 + ratio), size: 1 / (1 + ratio)}
        for x in range(1, size):
            masses[x] = (1 - ratio) / (1 + ratio) * ((x - size) * rate).exp()
        row = atoms(masses, -size * rate, arb(0))
        law = fold([(row, count)], 2 * rate)
        for _ in range(4):
            epsilon = rng.random() * count * size / scale
            value = made(mechanism, epsilon, proof).delta(epsilon)
            assert holds(value, law.delta(epsilon))
            assert narrow(value) or value.upper < 1e-300


@pytest.mark.parametrize("proof", [False, True])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_ratios_that_are_powers_of_one(direction: str, proof: bool) -> None:
    """Ratios 4, 1 and 1/2, a part that only one of both has, and a base that is no loss: log 4 + n log 2."""
    p, q = (0.5, 0.25, 0.125, 0.125, 0.0), (0.125, 0.25, 0.25, 0.0, 0.375)
    mechanism = tr.Finite(p=p, q=q) * 30
    sign, masses, infinite = (1, p, p[3]) if direction == "remove" else (-1, q, q[4])
    with precision(BITS):
        row = atoms({2 * sign: ball(masses[0]), 0: ball(masses[1]), -sign: ball(masses[2])}, arb(0), ball(infinite))
        law = fold([(row, 30)], ball(2).log())
        for place in (0, 1, 7, 20):
            for epsilon in around(place * math.log(2.0)) if place else [0.0]:
                value = made(mechanism, epsilon, proof, direction).delta(epsilon)
                assert holds(value, law.delta(epsilon)), epsilon
                assert narrow(value)


def test_a_loss_equal_to_epsilon_between_logarithms() -> None:
    """Losses log(2/3) + log(3/2) n: 0 is one of them, and no digits show it; what may have been moved is nothing."""
    period = Period(LatticeStep(Fraction(3, 2), True), Fraction(0), ((Fraction(2, 3), 5),))
    found = period.first(0.0)
    with precision(BITS):
        assert abs(found.point) < arb(2) ** -100
        assert found.beyond.is_zero()
        assert found.moved < arb(2) ** -4000
    above = period.first(1e-300)
    assert above.moved.is_zero()
    assert abs(float(above.beyond) - math.log(1.5)) < 1e-15


def test_common_steps() -> None:
    def rational(*numbers: float) -> LatticeStep | None:
        return common_step(LatticeStep(Fraction(number), False) for number in numbers)

    assert rational(0.5, 0.75) == LatticeStep(Fraction(1, 4), False)
    assert rational(0.0, 0.75) == LatticeStep(Fraction(3, 4), False)
    tenths = rational(0.1, 0.3)
    assert tenths is not None
    assert tenths.number < Fraction(1, 2**50)  # 0.3 is no multiple of 0.1 in doubles
    assert common_step([LatticeStep(Fraction(27, 8), True), LatticeStep(Fraction(9, 4), True)]) == LatticeStep(
        Fraction(3, 2), True
    )
    assert common_step([LatticeStep(Fraction(27, 8), True), LatticeStep(Fraction(9, 5), True)]) is None
    assert common_step([LatticeStep(Fraction(2), True), LatticeStep(Fraction(2), False)]) is None
    found = ratio_lattice([Fraction(1, 2), Fraction(4), Fraction(1)])
    assert found is not None
    assert (found.step, found.factor) == (LatticeStep(Fraction(2), True), Fraction(1, 2))


@pytest.mark.parametrize("proof", [False, True])
def test_any_count_and_any_sigma(proof: bool) -> None:
    """Where the step is far below the spread the loss is normal, to more digits than are shown."""
    for sigma, count in ((10.0, 100), (1000.0, 10**6), (1e5, 10**10)):
        value = made(tr.DiscreteGaussian(sigma) * count, 1.0, proof).delta(1.0)
        normal = tr.Gaussian(sigma=sigma) * count
        exact = normal.delta(1.0, proof=True)
        slack = 1e-4 / sigma  # of the profile of one step of the lattice; far more than it is
        assert value.lower - slack <= exact.lower
        assert exact.upper <= value.upper + slack
        assert narrow(value)


def test_tiny_deltas() -> None:
    run = tr.DiscreteGaussian(3.0) * 1000
    for delta in (1e-30, 1e-300):
        bound = run.epsilon(delta, proof=True)
        assert bound.lower <= bound.upper <= bound.lower * (1 + 1e-9)
        loose = run.epsilon(delta)
        assert loose.lower <= bound.upper
        assert bound.lower <= loose.upper
        assert loose.upper <= loose.lower * (1 + 1e-9)


def test_infinite_mass_next_to_delta() -> None:
    run = tr.ApproximateDP(0.25, 1e-7) * 500 + tr.PureDP(0.5) * 3000
    with precision(BITS):
        mass = 1 - (1 - ball(1e-7)) ** 500
        delta = math.nextafter(float(mass.upper()), 1.0) * (1 + 1e-12)
    bound = run.epsilon(delta)
    assert 0.0 < bound.lower <= bound.upper <= run.epsilon(delta, proof=True).upper * (1 + 1e-3)


def test_steps_without_a_common_one_are_left_to_the_lattice() -> None:
    run = tr.RandomizedResponse(p=0.75) * 100 + tr.RandomizedResponse(p=0.9) * 100
    with pytest.raises(UnsupportedMechanism):
        run.delta(5.0, engine="contour")
    bound = run.delta(5.0)
    assert bound.lower <= bound.upper


def test_what_used_to_be_wide() -> None:
    """A proof as sharp as float64, and an epsilon next to the only loss that counts."""
    run = tr.DiscreteGaussian(0.5, sensitivity=2) * 70
    proven, quick = run.delta(590.6827003137449, proof=True), run.delta(590.6827003137449)
    assert quick.lower <= proven.lower <= proven.upper <= quick.upper
    assert proven.upper <= proven.lower * (1 + 1e-12)
    single = (tr.DiscreteGaussian(0.1) * 100).epsilon(1e-10)
    assert single.lower <= 5000.0 - 1e-10 + 1e-12
    assert single.upper >= 5000.0 - 1e-10 - 1e-12
    assert single.upper - single.lower < 1e-11


@pytest.mark.parametrize("proof", [False, True])
@pytest.mark.parametrize("sigma", [1e6, 1e12])
def test_sigmas_whose_outputs_nobody_lists(sigma: float, proof: bool) -> None:
    """One use: delta is about 1/(sigma sqrt(2 pi)) at epsilon 0, and exactly the greatest mass where D is 1."""
    bound = tr.DiscreteGaussian(sigma).delta(0.0, proof=proof)
    with precision(BITS):
        greatest = 1 / (ball(sigma) * (2 * arb.pi()).sqrt())  # by Poisson summation, up to e^{-2 pi^2 sigma^2}
        assert arb(bound.lower) <= greatest
        assert greatest <= arb(bound.upper)
    assert bound.upper - bound.lower <= 1e-9 * bound.upper


def test_a_single_sharp_loss_at_any_count() -> None:
    """Nearly every output is 1: epsilon lies as close below the sum of its losses as delta says."""
    for sigma, count in ((0.05, 10), (0.01, 10**9)):
        loss = count / (2.0 * sigma**2)
        bound = (tr.DiscreteGaussian(sigma) * count).epsilon(1e-6)
        assert bound.lower <= loss * (1 - 1e-6 / loss) * (1 + 1e-14)
        assert bound.upper >= loss * (1 - 1e-6 / loss) * (1 - 1e-14)
        assert bound.upper - bound.lower <= 1e-12 * loss


@pytest.mark.parametrize("proof", [False, True])
def test_a_period_that_is_cut_far_too_early(monkeypatch: pytest.MonkeyPatch, proof: bool) -> None:
    """Only the bound of what is left out keeps the truth inside."""

    def early(falling: list[Falling], saddle: Saddle, *rest: object) -> tuple[float, LogBounds]:
        height = 1.2 / math.sqrt(saddle.curvature)
        return height, tuple(Fallen(decay.log_bound(height), uses, ratio) for decay, uses, ratio in falling)

    monkeypatch.setattr(contour_plan, "find_reach", early)
    monkeypatch.setattr(tuning, "WHOLE_MIN", 0)
    with precision(160):
        row, width = discrete_gaussian(4.0, 1, 160)
        truth = fold([(row, 16)], width).delta(1.0)
        found = made(tr.DiscreteGaussian(4.0) * 16, 1.0, proof)
        value = found.delta(1.0)
        assert holds(value, truth)
        middle = (value.lower + value.upper) / 2.0
        assert not abs(arb(middle) / truth - 1) < 1e-4, "the cut was too small to see"


@pytest.mark.parametrize("proof", [False, True])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_loss_that_cannot_be_told_from_epsilon(monkeypatch: pytest.MonkeyPatch, side: int, proof: bool) -> None:
    """Epsilon is moved to a loss beside it: what that may change belongs into the upper end, and into the lower."""
    far, loss, count = 1e-3, 2.0 * math.log(3.0), 6
    epsilon = loss + side * far
    plain = Period.first

    def beside(self: Period, asked: float) -> First:
        found = plain(self, loss - 1e-9)  # the loss itself
        with working_precision(BITS_START):
            return First(found.point, arb(0), arb(0).union(abs(found.point - arb(asked))))

    outcomes = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    low, high = enumeration.delta(enumeration.composed([(outcomes, count)]), epsilon)
    monkeypatch.setattr(Period, "first", beside)
    found = made(tr.RandomizedResponse(p=0.75) * count, epsilon, proof).delta(epsilon)
    assert Fraction(found.lower) <= high
    assert low <= Fraction(found.upper)
    assert found.upper - found.lower <= 2.1 * far
    assert found.budget.upper["rounding"] >= far
    assert found.budget.lower["rounding"] >= far
