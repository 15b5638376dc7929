"""Truncated noise against the enumeration of every output and against quadrature, both with mpmath."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate

import mpmath
import numpy as np
import pytest
from flint import acb, arb

import tightrope as tr
from tests.search import shared
from tightrope.core.losses.pair import TAIL_ERROR
from tightrope.core.mechanisms.truncated import TruncatedGaussian, TruncatedLaplace
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.double_double import double_double
from tightrope.core.values.errors import InvalidParameter
from tightrope.core.values.question import Direction

DIGITS = 60
FAR = 25  # scales beyond which nothing is seen


@dataclass(frozen=True)
class Setting:
    """A truncated mechanism by its parameters, read by the oracle and by the package."""

    kind: str
    scale: float
    mean: float
    bounds: tuple[float, float]
    mode: str
    integer: bool
    shift: float

    def mechanism(self) -> TruncatedGaussian | TruncatedLaplace:
        make = TruncatedGaussian if self.kind == "gaussian" else TruncatedLaplace
        return make(self.scale, self.mean, self.bounds, self.mode, self.integer, self.shift)

    def below(self, x: mpmath.mpf) -> mpmath.mpf:
        z = mpmath.mpf(x) / mpmath.mpf(self.scale)
        if self.kind == "gaussian":
            return mpmath.ncdf(z)
        return mpmath.exp(z) / 2 if z < 0 else 1 - mpmath.exp(-z) / 2

    def result(self, x: float, shift: float) -> mpmath.mpf:
        """P[noisy result <= x] before rounding and clamping, the query at `shift`."""
        low, high = (mpmath.mpf(bound) for bound in self.bounds)
        x = mpmath.mpf(x) - mpmath.mpf(self.mean) - mpmath.mpf(shift)
        if self.mode == "clamp":
            return self.below(x)
        start, stop = self.below(low), self.below(high)
        return (self.below(min(max(x, low), high)) - start) / (stop - start)

    def outputs(self) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
        """(P, Q) of every whole output, enumerated to the digits that are current; both directions share them."""
        return enumerated(self, mpmath.mp.dps)

    def cells(self) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
        if self.mode == "clamp":
            low, high = self.bounds
            first = max(low, self.mean - FAR * self.scale)
            last = min(high, self.mean + self.shift + FAR * self.scale)
        else:
            first, last = self.mean + self.bounds[0], self.mean + self.bounds[1] + self.shift
        cells = []
        for k in range(math.ceil(first), math.floor(last) + 1):
            laws = []
            for shift in (self.shift, 0.0):
                start = 0 if self.mode == "clamp" and k == math.ceil(first) else self.result(k - 1, shift)
                stop = 1 if self.mode == "clamp" and k == math.floor(last) else self.result(k, shift)
                laws.append(stop - start)
            cells.append((laws[0], laws[1]))
        return cells


@cache
def enumerated(setting: Setting, digits: int) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    with mpmath.workdps(digits):
        return setting.cells()


INTEGER = [
    Setting("gaussian", 3.0, 0.0, (-9.0, 7.0), "cut", True, 2.0),
    Setting("gaussian", 3.0, 5.0, (-12.0, 12.0), "cut", True, 1.0),
    Setting("gaussian", 20.0, 0.0, (-50.0, 80.0), "cut", True, 3.0),
    Setting("gaussian", 2.5, 10.0, (0.0, 17.0), "clamp", True, 2.0),
    Setting("gaussian", 2.5, 10.0, (9.0, 11.0), "clamp", True, 2.0),
    Setting("gaussian", 18.0, 40.0, (0.0, math.inf), "clamp", True, 2.0),
    Setting("gaussian", 0.7, 3.0, (-math.inf, 6.0), "clamp", True, 1.0),
    Setting("gaussian", 1.5, 0.0, (-4.0, 4.0), "cut", True, 8.0),
    Setting("laplace", 2.0, 0.0, (-9.0, 7.0), "cut", True, 3.0),
    Setting("laplace", 20.0, 1.0, (-60.0, 60.0), "cut", True, 1.0),
    Setting("laplace", 5.0, 12.0, (0.0, math.inf), "clamp", True, 2.0),
    Setting("laplace", 5.0, 12.0, (13.0, 15.0), "clamp", True, 4.0),
    Setting("laplace", 0.5, 1.0, (0.0, 9.0), "clamp", True, 5.0),
]
EPSILONS = (0.0, 1e-9, 0.01, 0.07, 0.3, 0.6666, 1.0, 2.0, 5.0)
DIRECTIONS = (Direction.REMOVE, Direction.ADD)


def _name(setting: Setting) -> str:
    return repr(setting.mechanism())


@pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda item: item.value)
@pytest.mark.parametrize("setting", INTEGER, ids=_name)
def test_delta_of_whole_outputs_is_the_enumerated_one(setting: Setting, direction: Direction) -> None:
    pair = setting.mechanism().pair(direction)
    with mpmath.workdps(DIGITS):
        cells = setting.outputs()
        if direction is Direction.ADD:
            cells = [(q, p) for p, q in cells]
        assert abs(sum(p for p, _ in cells) - 1) < mpmath.mpf(10) ** -40
        for epsilon in EPSILONS:
            alpha = mpmath.exp(mpmath.mpf(epsilon))
            truth = sum(max(p - alpha * q, mpmath.mpf(0)) for p, q in cells)
            bound = setting.mechanism().delta(epsilon, proof=True, direction=direction.value)
            assert bound.lower <= truth <= bound.upper or abs(truth - bound.lower) < mpmath.mpf(10) ** -40
            assert bound.width <= 1e-13 * bound.upper + 1e-300
        infinite = sum(p for p, q in cells if q == 0)
        with working_precision(200):
            assert abs(float(pair.infinite_mass()) - infinite) < 1e-15


@pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda item: item.value)
@pytest.mark.parametrize("setting", INTEGER, ids=_name)
def test_tails_of_whole_outputs_are_the_enumerated_ones(setting: Setting, direction: Direction) -> None:
    pair = setting.mechanism().pair(direction)
    with mpmath.workdps(180):  # the enumeration subtracts distribution functions
        cells = setting.outputs() if direction is Direction.REMOVE else [(q, p) for p, q in setting.outputs()]
        cells = [(p, q) for p, q in cells if p > mpmath.mpf(10) ** -120 or q > mpmath.mpf(10) ** -120]
        losses = [mpmath.inf if q == 0 else -mpmath.inf if p == 0 else mpmath.log(p / q) for p, q in cells]
        finite = [float(loss) for loss in losses if mpmath.isfinite(loss)]
        points = sorted({-40.0, 40.0, 0.0, *finite[:16], *np.linspace(-3.0, 3.0, 19).tolist()})
        # A loss itself is no double: what counts as above it is decided a few units to either side.
        points = [t for t in points if all(abs(t - loss) > 1e-12 * max(abs(t), 1e-3) for loss in finite)]
        points += [loss + side * 1e-9 * abs(loss) for loss in finite[:16] for side in (-1.0, 1.0) if abs(loss) > 1e-6]
        tails = pair.tails(double_double(np.array(points)))
        rising = sorted(zip(losses, cells, strict=True))
        # Of the first n outputs by their loss, and of the others, each summed from its own end.
        below = [list(accumulate((cell[law] for _, cell in rising), initial=mpmath.mpf(0))) for law in (0, 1)]
        above = [list(accumulate((cell[law] for _, cell in rising[::-1]), initial=mpmath.mpf(0))) for law in (0, 1)]
        for index, t in enumerate(points):
            n = bisect_right(rising, t, key=lambda each: each[0])
            truths = [above[0][len(rising) - n], above[1][len(rising) - n], below[0][n], below[1][n]]
            for got, truth in zip(tails, truths, strict=True):
                assert abs(float(got[index]) - truth) <= TAIL_ERROR * truth + mpmath.mpf(10) ** -110, (t, truth)


CONTINUOUS = [
    Setting("gaussian", 3.0, 0.0, (-9.0, 7.0), "cut", False, 2.0),
    Setting("gaussian", 1.0, 0.3, (-2.5, 2.5), "cut", False, 0.7),
    Setting("gaussian", 1.0, 0.0, (-1.0, 1.0), "cut", False, 2.5),
    Setting("gaussian", 2.5, 10.3, (0.0, 11.0), "clamp", False, 2.0),
    Setting("gaussian", 2.5, 1.0, (0.0, math.inf), "clamp", False, 0.5),
    Setting("laplace", 2.0, 0.0, (-9.0, 7.0), "cut", False, 3.0),
    Setting("laplace", 1.0, 0.3, (-0.25, 5.0), "cut", False, 0.7),
    Setting("laplace", 5.0, 12.5, (0.0, math.inf), "clamp", False, 2.0),
    Setting("laplace", 2.0, 1.0, (1.5, 2.25), "clamp", False, 3.0),
]


def _thresholds(setting: Setting, alpha: mpmath.mpf, reverse: bool) -> mpmath.mpf:
    """The best half-line by brute force over a fine grid: at or below the truth, and close to it."""
    low, high = setting.bounds
    if setting.mode == "cut":
        grid = np.linspace(setting.mean + low - 1e-9, setting.mean + high + setting.shift, 20001)
    else:
        grid = np.linspace(
            max(low, setting.mean - 40 * setting.scale), min(high, setting.mean + 40 * setting.scale), 20001
        )
        grid = grid[(grid >= low) & (grid < high)]
    first, second = np.array([[_law(setting, x, shift) for x in grid] for shift in (setting.shift, 0.0)])
    if reverse:
        return max(mpmath.mpf(0), 1 - alpha, mpmath.mpf(float(np.max(second - float(alpha) * first))))
    return max(mpmath.mpf(0), 1 - alpha, mpmath.mpf(float(np.max((1 - first) - float(alpha) * (1 - second)))))


def _law(setting: Setting, x: float, shift: float) -> float:
    """P[output <= x] in doubles."""

    def below(z: float) -> float:
        z /= setting.scale
        if setting.kind == "gaussian":
            return 0.5 * math.erfc(-z / math.sqrt(2.0))
        return math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2

    low, high = setting.bounds
    z = x - setting.mean - shift
    if setting.mode == "clamp":
        return below(z)
    return (below(min(max(z, low), high)) - below(low)) / (below(high) - below(low))


@pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda item: item.value)
@pytest.mark.parametrize("setting", CONTINUOUS, ids=_name)
def test_delta_is_that_of_the_best_half_line(setting: Setting, direction: Direction) -> None:
    for epsilon in shared((0.0, 0.05, 0.4, 1.0), direction.value):
        bound = setting.mechanism().delta(epsilon, proof=True, direction=direction.value)
        near = float(_thresholds(setting, mpmath.exp(epsilon), direction is Direction.ADD))
        assert near - 1e-12 <= bound.upper <= near + 2e-4
        assert bound.width <= 1e-13 * bound.upper + 1e-300


@pytest.mark.parametrize("setting", [*INTEGER, *CONTINUOUS], ids=_name)
def test_float_tails_and_profiles_agree_with_balls(setting: Setting) -> None:
    from tightrope.core.numerics.enclosures import around

    for direction in DIRECTIONS:
        pair = setting.mechanism().pair(direction)
        points = np.concatenate([np.linspace(-2.0, 2.0, 61), [-30.0, -7.77, 7.77, 30.0]]) + 1e-5
        tails = pair.tails(double_double(points))
        profile = pair.hockey_stick(around(points, np.zeros_like(points)))
        for index, t in enumerate(points):
            with working_precision(400):
                for got, truth in zip(tails, pair.ball_tails(arb(t)), strict=True):
                    assert not abs(arb(float(got[index])) - truth) > TAIL_ERROR * truth + arb(10) ** -300
                exact = pair.ball_hockey_stick(arb(t))
                assert not arb(profile.lower[index]) > exact
                assert not arb(profile.upper[index]) < exact
        assert pair.reversed().reversed() == pair


def test_far_tails_keep_their_relative_precision() -> None:
    pair = TruncatedGaussian(
        sigma=400.0, mean=9000.0, bounds=(0.0, math.inf), mode="clamp", integer=True, sensitivity=2.0
    )
    points = np.array([0.02, 0.05, 0.1, 0.15, 0.18])  # from 4 to 36 sigma
    tails = pair.pair(Direction.REMOVE).tails(double_double(points))
    with mpmath.workdps(DIGITS):
        for index, t in enumerate(points):
            # The first whole output whose cell has a loss above t, by bisection on exact cell masses.
            low, high = 0, 400 * 40
            while high - low > 1:
                middle = (low + high) // 2
                p, q = (
                    mpmath.erfc(mpmath.mpf(middle - 1 - shift) / 400 / mpmath.sqrt(2))
                    - mpmath.erfc(mpmath.mpf(middle - shift) / 400 / mpmath.sqrt(2))
                    for shift in (2, 0)
                )
                low, high = (low, middle) if mpmath.log(p / q) > t else (middle, high)
            truth = mpmath.erfc(mpmath.mpf(high - 1 - 2) / 400 / mpmath.sqrt(2)) / 2
            assert abs(float(tails.p_above[index]) - truth) <= TAIL_ERROR * truth


def test_clamping_laplace_noise_outside_its_slopes_changes_nothing() -> None:
    clamped = TruncatedLaplace(scale=2.0, mean=5.0, bounds=(0.0, math.inf), mode="clamp", sensitivity=1.0)
    edge = 0.5
    for epsilon in (0.0, 0.1, 0.4):
        truth = 1 - math.exp((epsilon - edge) / 2)
        assert clamped.delta(epsilon, proof=True).upper == pytest.approx(truth, rel=1e-14)
    assert clamped.epsilon(0.0).upper == pytest.approx(edge, rel=1e-15)


def test_moments_are_those_of_the_enumerated_outputs() -> None:
    for setting in (INTEGER[0], INTEGER[3], INTEGER[8], INTEGER[10]):
        pair = setting.mechanism().pair(Direction.REMOVE)
        with mpmath.workdps(30), working_precision(128):
            cells = [(p, q) for p, q in setting.outputs() if p > 0 and q > 0]
            for order in (1, 3):
                rounded = sum(p * (p / q) ** order for p, q in cells if q > mpmath.mpf(10) ** -28)
                known, bound = pair.moments().log_moment(acb(order)), pair.moments().log_moment_above(float(order))
                above = math.exp(float(bound if known is None else known.real))
                # Rounding to whole numbers is post-processing: it can only lower the moment, and not by much.
                assert float(rounded) <= above * (1 + 1e-12) <= float(rounded) * 1.2


@pytest.mark.parametrize(
    "change",
    [
        {"bounds": (1.0, 1.0)},
        {"bounds": (2.0, -2.0)},
        {"bounds": (1.0,)},
        {"bounds": (math.nan, 1.0)},
        {"bounds": (900.0, 901.0)},
        {"mode": "cutt"},
        {"integer": 1},
        {"integer": True, "mean": 0.5},
        {"integer": True, "bounds": (-2.5, 3.0)},
        {"integer": True, "sensitivity": 1.5},
        {"sensitivity": 0.0},
        {"sigma": -1.0},
        {"mean": math.inf},
    ],
)
def test_bad_parameters_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        TruncatedGaussian(**{"sigma": 1.0, "bounds": (-3.0, 3.0), **change})  # type: ignore[arg-type]


def test_parameters_are_kept_exactly() -> None:
    pair = TruncatedGaussian(sigma=1.0, mean=0.1, bounds=(0.3, math.inf), mode="clamp").pair(Direction.REMOVE)
    assert pair.left == Fraction(0.3) - Fraction(0.1)  # type: ignore[attr-defined]


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("extra", [None, tr.ApproximateDP(epsilon=0.1, delta=1e-3)], ids=repr)
def test_infinite_mass_counts_once_in_float64(integer: bool, extra: tr.Mechanism | None) -> None:
    """What the profile of cut noise already holds must not be added again; the proof takes another path."""
    cut = tr.TruncatedLaplace(scale=200.0, bounds=(-2500.0, 2500.0), integer=integer)
    run = cut if extra is None else cut + extra
    for epsilon in (0.0, 1e-3, 0.004, 1.0):
        quick, proven = run.delta(epsilon), run.delta(epsilon, proof=True)
        assert quick.lower <= proven.upper
        assert proven.lower <= quick.upper
