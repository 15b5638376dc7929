"""The table: each mechanism beside its two output laws, every Poisson rate, both directions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from flint import arb

import tightrope as tr
from tests.catalogued import missing, written
from tests.oracle.channel import hull
from tests.oracle.continuous import Centred, Gaussian, Growing, Laplace, Logistic
from tests.oracle.discrete_gaussian import DiscreteGaussian
from tests.oracle.finite import DiscreteLaplace, FiniteLaw, Histogram, Leaky, response
from tests.oracle.integer_noise import Coins, Skellam
from tests.oracle.mixtures import ShiftMixture
from tests.oracle.points import Points
from tests.oracle.precision import ball, precision
from tests.oracle.sparse_vector import FlatTop
from tests.oracle.stability import Lone, Thresholded, Unstable
from tests.oracle.staircase import Staircase
from tests.oracle.subsets import Subsets
from tests.oracle.truncated import Clamped, Cut, GaussianNoise, LaplaceNoise, Rounded, Window
from tests.oracle.truth import Law, Truth

if slips := [slip for name, make in written().items() for slip in missing(name, make)]:
    pytest.fail("; ".join(slips), pytrace=False)

RATES = (1e-8, 0.01, 0.3, 0.999, 1.0)
FEW_RATES = (1e-8, 0.3, 1.0)
GONE = arb(10) ** -330
DIRECTIONS = ("remove", "add")

_ZEROS = ((0.5, 0.25, 0.25, 0.0, 0.0), (0.25, 0.5, 0.0, 0.125, 0.125))
_SKEWED = ((0.1, 0.2, 0.3, 0.4), (0.4, 0.3, 0.2, 0.1))
_TINY = ((1.0 - 2.0**-40, 2.0**-40, 1e-300), (2.0**-40, 1.0 - 2.0**-40, 1e-310))
_COUNTS = ((30, 10, 0, 7), (10, 25, 5, 7))
_CROSSING = ((0.5, 0.25, 0.25), (0.25, 0.5, 0.25), (0.125, 0.0625, 0.8125))  # rows of a channel
_GREY = ((0.75, 0.25, 0.0), (0.25, 0.5, 0.25), (0.0, 0.25, 0.75))
_SHIFTS = ((0.0, 0.5, 2.25), (0.875, 0.0625, 0.0625))
_CLOSE = ((0.5, 0.5), (0.5 + 2.0**-45, 0.5 - 2.0**-45))


@dataclass(frozen=True)
class Row:
    """A mechanism beside the two output laws of one use."""

    mechanism: tr.Mechanism
    law: Law
    points: int = 120  # how many epsilons to ask about
    blur: float = 0.0  # masses are known up to this only

    @property
    def name(self) -> str:
        """The call that makes the mechanism; functions by their names."""
        if isinstance(self.mechanism, tr.Density):
            return f"Density({self.mechanism.log_p[0].__name__.strip('_')})"  # type: ignore[index]
        return repr(self.mechanism)


def row(mechanism: tr.Mechanism, law: Law) -> Row:
    """One of the usual ones."""
    return Row(mechanism, law)


def smooth(mechanism: tr.Density, law: Law) -> Row:
    """Densities know the masses outside of their support up to a rounding error, and take their time."""
    return Row(mechanism, law, 40, 1e-60)


def searched(mechanism: tr.Mechanism, law: Law) -> Row:
    """Those that a brute force of their own searches as well."""
    return Row(mechanism, law, 48)


def extreme(mechanism: tr.Mechanism, law: Law) -> Row:
    """Noise from next to nothing to overwhelming, certainty, impossibility, equal laws, sensitivities above 1."""
    return Row(mechanism, law, 40)


def _normal(x: Any) -> Any:
    return -(x**2) / 2 - (2 * arb.pi()).log() / 2


def _normal_at_one(x: Any) -> Any:
    return _normal(x - 1)


def _growing(x: Any) -> Any:
    return x - arb(1).expm1().log()


def _flat(x: Any) -> Any:
    return 0


ROWS: tuple[Row, ...] = (
    row(tr.Gaussian(sigma=1.25), Gaussian(1.25)),
    searched(tr.GaussianVariance(sigma1=1.05, sigma2=1.0), Centred(1.05, 1.0)),
    row(tr.Laplace(scale=1.0), Laplace(1.0)),
    row(tr.DiscreteGaussian(sigma=3.0), DiscreteGaussian(3.0)),
    row(tr.DiscreteLaplace(scale=2.0, sensitivity=7), DiscreteLaplace(2.0, 7)),
    searched(tr.Skellam(variance=2.0), Skellam(2.0)),
    searched(tr.BinomialNoise(trials=4), Coins(4)),
    row(tr.RandomizedResponse(p=0.51, neighbours="add_remove"), response(0.51)),
    row(tr.RandomizedResponse(p=0.75, categories=4, neighbours="add_remove"), response(0.75, 4)),
    row(tr.PureDP(epsilon=0.1), Leaky(0.1)),
    searched(tr.Staircase(epsilon=1.0), Staircase(1.0)),
    searched(tr.SubsetSelection(epsilon=1.0, categories=5, size=2, neighbours="add_remove"), Subsets(1.0, 5, 2)),
    row(tr.ApproximateDP(epsilon=1.0, delta=1e-6), Leaky(1.0, 1e-6)),
    row(tr.Finite(p=_ZEROS[0], q=_ZEROS[1]), Histogram(*_ZEROS)),
    row(tr.Finite(p=_SKEWED[0], q=_SKEWED[1]), Histogram(*_SKEWED)),
    row(tr.TradeoffCurve(fprs=(0, 0.125, 1), fnrs=(1, 0.5, 0)), Histogram((7, 4), (4, 7))),
    row(tr.PrivacyCurve(epsilons=(0.5, 1.0), deltas=(0.01, 0.0001)), Points((0.5, 1.0), (0.01, 0.0001))),
    row(tr.Exponential(epsilon=0.5), Logistic(0.5)),
    searched(tr.DistanceToInstability(epsilon=1.0, delta=1e-6), Unstable(1.0, 1e-6)),
    searched(tr.StabilityHistogram(epsilon=1.0, threshold=5.0), Thresholded(1.0, 5.0)),
    searched(tr.SparseVector(threshold_scale=2.0, query_scale=4.0), FlatTop(1.0, 1.0, 0.125)),
    searched(tr.SparseVector(threshold_scale=2.0, query_scale=1.0, monotone=True), FlatTop(1.0, 1.5, 1.0, over_e=True)),
    row(tr.Histograms(a=_COUNTS[0], b=_COUNTS[1]), Histogram(*_COUNTS)),
    row(tr.TruncatedGaussian(sigma=2.0, bounds=(-6.0, 5.0)), Cut(GaussianNoise(2.0), 1.0, -6.0, 5.0)),
    row(
        tr.TruncatedGaussian(sigma=2.0, mean=0.25, bounds=(-1.0, 3.0), mode="clamp"),
        Clamped(GaussianNoise(2.0), 1.0, -1.25, 2.75),
    ),
    row(
        tr.TruncatedGaussian(sigma=3.0, bounds=(-9.0, 7.0), integer=True, sensitivity=2.0),
        Rounded(GaussianNoise(3.0), 2, -9, 7),
    ),
    row(tr.TruncatedLaplace(scale=2.0, bounds=(-9.0, 7.0)), Cut(LaplaceNoise(2.0), 1.0, -9.0, 7.0)),
    row(
        tr.TruncatedLaplace(scale=5.0, mean=1.0, bounds=(1.5, 3.0), mode="clamp", sensitivity=3.0),
        Clamped(LaplaceNoise(5.0), 3.0, 0.5, 2.0),
    ),
    row(
        tr.TruncatedLaplace(scale=3.0, mean=1.0, bounds=(-6.0, 8.0), mode="clamp", integer=True),
        Rounded(LaplaceNoise(3.0), 1, -7, 7, clamped=True),
    ),
    smooth(
        tr.Density(log_p=_normal_at_one, log_q=_normal, support=(-14.0, 15.0)),
        Window(GaussianNoise(1.0), 1.0, -14.0, 15.0),
    ),
    smooth(tr.Density(log_p=_growing, log_q=_flat, support=(0.0, 1.0)), Growing()),
    extreme(tr.GDP(mu=0.7), Gaussian(1.0, 0.7)),
    extreme(tr.Gaussian(sigma=0.02), Gaussian(0.02)),
    extreme(tr.Gaussian(sigma=1e-6), Gaussian(1e-6)),
    extreme(tr.Gaussian(sigma=100.0), Gaussian(100.0)),
    extreme(tr.Gaussian(sigma=1e6), Gaussian(1e6)),
    extreme(tr.Gaussian(sigma=2.0, sensitivity=3.3), Gaussian(2.0, 3.3)),
    extreme(tr.GaussianVariance(sigma1=1.0, sigma2=2.0), Centred(1.0, 2.0)),
    extreme(tr.GaussianVariance(sigma1=1.0, sigma2=1.0 + 1e-12), Centred(1.0, 1.0 + 1e-12)),
    extreme(tr.GaussianVariance(sigma1=1e3, sigma2=1.0), Centred(1e3, 1.0)),
    extreme(tr.GaussianMixture(sigma=1.0, shifts=_SHIFTS[0], weights=_SHIFTS[1]), ShiftMixture(1.0, *_SHIFTS)),
    extreme(tr.MatrixMechanism(sigma=10.0, matrix=((3.0, 0.0), (4.0, 1.0))), Gaussian(10.0, 5.0)),
    extreme(
        tr.MatrixMechanism(sigma=10.0, toeplitz=(1.0,), steps=8, participations=4, separation=2), Gaussian(10.0, 2.0)
    ),
    extreme(tr.MatrixMechanism(sigma=10.0, toeplitz=(3.0, 1.0), steps=2, bins=1), Gaussian(10.0, 5.0)),
    extreme(tr.TreeAggregation(sigma=8.0, steps=9, sensitivity=2.0), Gaussian(8.0, 4.0)),
    extreme(tr.Laplace(scale=1e-3), Laplace(1e-3)),
    extreme(tr.Laplace(scale=10.0), Laplace(10.0)),
    extreme(tr.Laplace(scale=1e6), Laplace(1e6)),
    extreme(tr.Laplace(scale=2.0, sensitivity=3.3), Laplace(2.0, 3.3)),
    extreme(tr.DiscreteGaussian(sigma=0.1), DiscreteGaussian(0.1)),
    extreme(tr.DiscreteGaussian(sigma=40.0), DiscreteGaussian(40.0)),
    extreme(tr.DiscreteGaussian(sigma=2.0, sensitivity=3), DiscreteGaussian(2.0, 3)),
    extreme(tr.Skellam(variance=1e-12, sensitivity=3), Skellam(1e-12, 3)),
    extreme(tr.BinomialNoise(trials=1), Coins(1)),
    extreme(tr.BinomialNoise(trials=2, sensitivity=3), Coins(2, 3)),
    extreme(tr.DiscreteLaplace(scale=1.0), DiscreteLaplace(1.0)),
    extreme(tr.DiscreteLaplace(scale=1e-3), DiscreteLaplace(1e-3)),
    extreme(tr.DiscreteLaplace(scale=1e6), DiscreteLaplace(1e6)),
    extreme(tr.RandomizedResponse(p=0.5, neighbours="add_remove"), response(0.5)),
    extreme(tr.RandomizedResponse(p=0.0, neighbours="add_remove"), response(0)),
    extreme(tr.RandomizedResponse(p=1.0, neighbours="add_remove"), response(1)),
    extreme(tr.RandomizedResponse(p=0.125, categories=5, neighbours="add_remove"), response(0.125, 5)),
    extreme(tr.RandomizedResponse(p=1e-12, neighbours="add_remove"), response(1e-12)),
    extreme(tr.RandomizedResponse(epsilon=1.0, categories=3, neighbours="add_remove"), Leaky(1.0, 0, 3)),
    extreme(tr.RandomizedResponse(channel=_CROSSING, neighbours="add_remove"), hull(_CROSSING)),
    extreme(tr.RandomizedResponse(channel=_GREY, neighbours="add_remove"), hull(_GREY)),
    extreme(tr.Staircase(epsilon=1e-6, gamma=0.5), Staircase(1e-6, 0.5)),
    extreme(tr.Staircase(epsilon=800.0, gamma=0.75), Staircase(800.0, 0.75)),
    extreme(tr.Staircase(epsilon=3.0, gamma=0.0, sensitivity=2.5), Staircase(3.0, 0.0)),
    extreme(tr.SubsetSelection(epsilon=1e-6, categories=8, size=7, neighbours="add_remove"), Subsets(1e-6, 8, 7)),
    extreme(tr.SubsetSelection(epsilon=800.0, categories=4, size=2, neighbours="add_remove"), Subsets(800.0, 4, 2)),
    extreme(tr.PureDP(epsilon=0.0), Leaky(0.0)),
    extreme(tr.PureDP(epsilon=5.0), Leaky(5.0)),
    extreme(tr.PureDP(epsilon=800.0), Leaky(800.0)),
    extreme(tr.ApproximateDP(epsilon=0.1, delta=0.0), Leaky(0.1, 0)),
    extreme(tr.ApproximateDP(epsilon=0.0, delta=0.1), Leaky(0.0, 0.1)),
    extreme(tr.ApproximateDP(epsilon=0.5, delta=1.0), Leaky(0.5, 1)),
    extreme(tr.Finite(p=_SKEWED[0], q=_SKEWED[0]), Histogram(_SKEWED[0], _SKEWED[0])),
    extreme(tr.Finite(p=_TINY[0], q=_TINY[1]), Histogram(*_TINY)),
    extreme(tr.Finite(p=_CLOSE[0], q=_CLOSE[1]), Histogram(*_CLOSE)),
    extreme(tr.Finite(p=(1.0, 0.0), q=(0.0, 1.0)), Histogram((1.0, 0.0), (0.0, 1.0))),
    extreme(
        tr.TradeoffCurve(fprs=(0, 0.25, 0.75, 1), fnrs=(0.75, 0.25, 0, 0), both_directions=False), Histogram(*_ZEROS)
    ),
    extreme(tr.TradeoffCurve(fprs=(0.25,), fnrs=(0.5,), points_only=True), Histogram((1, 2, 0), (0, 2, 1))),
    extreme(tr.TradeoffCurve(fprs=(0, 1), fnrs=(1, 0)), Histogram((1.0,), (1.0,))),
    extreme(tr.TradeoffCurve(fprs=(0,), fnrs=(1,)), Histogram((1.0, 0.0), (0.0, 1.0))),
    extreme(tr.PrivacyCurve(epsilons=(1.0,), deltas=(1e-6,)), Leaky(1.0, 1e-6)),
    extreme(
        tr.PrivacyCurve(epsilons=(-0.5, 0.0, 3.0), deltas=(0.5, 0.25, 0.0), both_directions=False),
        Points((-0.5, 0.0, 3.0), (0.5, 0.25, 0.0), both=False),
    ),
    extreme(tr.PrivacyCurve(epsilons=(0.0,), deltas=(0.0,)), Histogram((1.0,), (1.0,))),
    extreme(tr.Exponential(epsilon=1e-6), Logistic(1e-6)),
    extreme(tr.DistanceToInstability(epsilon=5.0, delta=0.3), Unstable(5.0, 0.3)),
    extreme(tr.StabilityHistogram(epsilon=0.5, threshold=0.0), Lone(0.5, 0.0)),
    extreme(tr.StabilityHistogram(epsilon=2.0, threshold=1000.0), Thresholded(2.0, 1000.0)),
    extreme(tr.Exponential(epsilon=30.0), Logistic(30.0)),
    extreme(tr.NoisyMax(scale=4.0), Laplace(4.0, 2.0)),
    extreme(tr.NoisyMax(scale=4.0, sensitivity=7.0, noise="gumbel"), Logistic(3.5)),
    extreme(tr.NoisyMax(scale=3e-3, monotone=True), Laplace(3e-3)),
    extreme(tr.PermuteAndFlip(epsilon=0.3), Laplace(1.0, 0.3)),
    extreme(tr.PermuteAndFlip(epsilon=0.0), Leaky(0.0)),
    extreme(tr.SparseVector(threshold_scale=2.0, query_scale=0.5), FlatTop(4.5, 4.5, 1.0)),
    extreme(
        tr.SparseVector(threshold_scale=64.0, query_scale=2.0, answers=3, monotone=True),
        FlatTop(1.5, 1.515625, 1.5, over_e=True),
    ),
    extreme(
        tr.SparseVector(threshold_scale=2.0**-10, query_scale=2.0**20),
        FlatTop(1024 + 2.0**-19, 1024 + 2.0**-19, 2.0**-21),
    ),
    extreme(
        tr.TruncatedGaussian(sigma=0.5, bounds=(0.0, math.inf), mode="clamp"),
        Clamped(GaussianNoise(0.5), 1.0, 0.0, math.inf),
    ),
    extreme(
        tr.TruncatedGaussian(sigma=1.0, bounds=(-math.inf, 2.0), sensitivity=2.5),
        Cut(GaussianNoise(1.0), 2.5, -math.inf, 2.0),
    ),
    extreme(
        tr.TruncatedLaplace(scale=1.0, bounds=(-1.0, 1.0), sensitivity=2.0), Cut(LaplaceNoise(1.0), 2.0, -1.0, 1.0)
    ),
)

STANDARD = tuple(each for each in ROWS if each.points > 40)


@dataclass(frozen=True)
class Case:
    """A mechanism, one direction of it, and the truth about it."""

    mechanism: tr.Mechanism
    direction: str
    truth: Truth
    points: int  # how many epsilons to ask about
    blur: float = 0.0

    def __str__(self) -> str:
        return f"{self.mechanism!r:.120}, {self.direction}"


def both_ways(each: Row, mechanism: tr.Mechanism, rate: float) -> list[Case]:
    """A mechanism made of a row that is a sample of it at that rate, in both directions."""
    truths = {direction: Truth(each.law, rate, direction) for direction in DIRECTIONS}
    return [Case(mechanism, direction, truth, each.points, each.blur) for direction, truth in truths.items()]


def rates_of(row: Row, rates: Sequence[float]) -> list[float]:
    """The rates at which a row can be sampled: what was measured on two data sets is not known on samples of them."""
    return [rate for rate in rates if rate == 1.0 or row.mechanism.beside_others]


def sampled(rates: tuple[float, ...] = RATES) -> list[object]:
    """Every row of the table as a pytest parameter, with all its cases: thousands of tests would cost seconds."""
    rows = []
    for each in ROWS:
        cases = []
        for rate in rates_of(each, rates if each in STANDARD else [rate for rate in rates if rate in FEW_RATES]):
            cases += both_ways(each, each.mechanism if rate == 1.0 else each.mechanism.poisson(rate=rate), rate)
        rows.append(pytest.param(cases, id=each.name))
    return rows


def direction_of(name: str) -> tr.Direction:
    """The package's name for it."""
    return tr.Direction(name)


def losses(truth: Truth) -> list[float]:
    """The finite losses of a law with few outputs, to the nearest double; empty for the others."""
    rate = Fraction(truth.rate)
    if not isinstance(truth.law, FiniteLaw):
        ends = truth.law.ratio_range()
        ratios = [end for end in ends if end is not None]
    else:
        ratios = [output.ratio for output in truth.law.outputs() if output.ratio.factor is not None]
    with precision(300):
        mixtures = [ball(1 - rate) + ball(rate) * ball(r.factor) * ball(r.exponent).exp() for r in ratios]
        logs = [float(mixture.log()) for mixture in mixtures if mixture > 0]
    return [log if truth.direction == "remove" else -log for log in logs]


@cache
def last_epsilon(truth: Truth) -> float:
    """Where delta has fallen to the last doubles, or the supremum of the loss."""
    supremum = truth.supremum()
    if supremum is not None:
        return float(supremum)
    high = 2.0**-20
    while truth.delta(high) > GONE:
        high *= 2.0
    low = high / 2.0
    for _ in range(12):
        middle = (low + high) / 2.0
        low, high = (middle, high) if truth.delta(middle) > GONE else (low, middle)
    return high


@cache
def epsilons(truth: Truth, count: int) -> tuple[float, ...]:
    """From 0 to the supremum and beyond, next to it on both sides, and at every loss with mass."""
    last = last_epsilon(truth)
    special = {0.0, 5e-324, 1e-300, 1e-17, 1.5 * last, last + 1.0, 700.0, 1e5}
    for point in {last, *losses(truth)}:
        if point >= 0.0:
            special |= {point, math.nextafter(point, 0.0), math.nextafter(point, math.inf), point * (1.0 - 1e-9)}
    special = set(sorted(special)[:40]) | {last}
    rest = max(count - len(special), 20)
    spread = {last * (index / rest) ** 2 for index in range(1, rest - rest // 4)}
    near = {last * (1.0 - 10.0 ** (-12.0 * index / (rest // 4))) for index in range(rest // 4)}
    return tuple(sorted(special | spread | near))


def deltas(case: Case) -> tuple[float, ...]:
    """From nothing to everything, at the infinite mass and at the total variation."""
    truth = case.truth
    points = {0.0, 1e-9, 0.1, 1.0}
    if not case.blur:
        points |= {5e-324, 1e-300, 1e-100, 1e-3, 0.9, 1.0 - 2.0**-53}
    for mass in (float(truth.infinite_mass()), float(truth.delta(0.0))):
        points |= {mass, math.nextafter(mass, 0.0), math.nextafter(mass, 1.0), mass * 0.999, min(mass * 1.001, 1.0)}
    return tuple(sorted(points))
