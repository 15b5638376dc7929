"""N(0, first^2) against N(0, second^2): the loss is affine in x^2.

With r = first/second and D = r^2 - 1, x/first and x/second are standard normal under P and Q, and
l = -log r + D x^2/(2 first^2): of k uses -k log r + D X, X a gamma variable of shape k/2 under P, and X/r^2 is one
under Q. So l > t where X > u (r > 1: losses rise with |x|, the lowest is -k log r) or X < u (r < 1: they fall, the
highest is -k log r), u = (t + k log r)/D.
One use, y = sqrt(2u), R the Mills ratio, c = sqrt(2/pi): e^t e^(-r^2 u) = e^-u/r, so that H(e^t) is
c e^-u (R(y) - R(ry)/r) for r > 1, and that plus 1 - e^t for r < 1.
Guarantee: exact; float64 with the radius of kernels.enclosure. Proof: docs/proofs/gaussian_variance.md.
Reference: Zhu, Dong, Wang 2021, Example 15; Gil, Alajaji, Linder 2013 (its Renyi divergences).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import NamedTuple, TypeVar

import numpy as np
from flint import acb, arb, ctx

from ..numerics.balls import BITS_START, complex_log, enclose, lower_float, upper_float, working_precision
from ..numerics.contour_sum import Factor
from ..numerics.counting import gamma_sides
from ..numerics.double_double import DoubleDouble, double_double_of_ball
from ..numerics.double_double import where as choose
from ..numerics.enclosures import Enclosure, FloatArray, around, enclosed, exact, falling, mills, where
from ..numerics.normal import both_sides
from ..numerics.rounding import FEW, UNIT, round_down
from ..values.errors import UnsupportedMechanism
from ..values.question import Direction
from .capabilities import Moments
from .cgf import Cgf, Cumulants, beyond_pole
from .operators.registered import dominates
from .pair import BallTails, LossRange, Pair, Tails

# The ratio of two deviations, exactly: two doubles that share no power of two.
#
# Guarantee: exact; balls at the working precision, nothing cancels where the deviations are close.

CLOSE_RATIO = 0.5  # |r - 1|: up to here a logarithm is taken by what it is off from 1


@dataclass(frozen=True, slots=True)
class VarianceRatio:
    """first/second."""

    first: float
    second: float

    @staticmethod
    def of(first: float, second: float) -> VarianceRatio:
        """By mantissas: the second lies in [1/2, 1); the first must not leave the doubles."""
        _, power = math.frexp(second)
        return VarianceRatio(math.ldexp(first, -power), math.ldexp(second, -power))

    def inverse(self) -> VarianceRatio:
        """second/first."""
        return VarianceRatio.of(self.second, self.first)

    def equals(self, other: VarianceRatio) -> bool:
        """Whether both are the same number."""
        return self == other or self._exact() == other._exact()

    def beyond(self, other: VarianceRatio) -> bool:
        """Whether it is the same, or further from 1 on the same side."""
        mine, theirs = self._exact(), other._exact()
        return mine <= theirs < 1 or mine >= theirs > 1

    def _exact(self) -> Fraction:
        return Fraction(self.first) / Fraction(self.second)

    def ball(self) -> arb:
        """r."""
        return arb(self.first) / arb(self.second)

    def ball_excess(self) -> arb:
        """r - 1."""
        return (arb(self.first) - arb(self.second)) / arb(self.second)

    def ball_log(self) -> arb:
        """log r."""
        excess = self.ball_excess()
        return excess.log1p() if abs(excess) < CLOSE_RATIO else self.ball().log()

    def ball_growth(self) -> arb:
        """r^2 - 1."""
        excess = self.ball_excess()
        return excess * (2 + excess)


Number = TypeVar("Number")
ROOT_TWO_OVER_PI = around(0.7978845608028654, 1e-16)  # sqrt(2 / pi), error below 6e-17
NARROW_PROFILE, NARROW_PROFILES = 1e-12, 1e-8  # relative: where float64 loses more, of few points and of many
FEW_POINTS = 64
CONSTANT_BITS = 256
POLE_MIN, SMALLEST_GROWTH = 2.0**-20, 1e-140  # of a contour: tilts below the pole, squares that are doubles


@dataclass(frozen=True, slots=True)
class GaussianVariancePair(Pair):
    """Two deviations that differ."""

    ratio: VarianceRatio

    @property
    def rising(self) -> bool:
        """Whether losses rise with |x|."""
        return self.ratio.first > self.ratio.second

    def tails(self, t: DoubleDouble) -> Tails:
        log, slope, near = self._constants(double_double_of_ball)
        away = t + log if self.rising else -(t + log)
        with np.errstate(all="ignore"):
            away = choose(away.hi > 0.0, away, DoubleDouble(np.zeros_like(away.hi), np.zeros_like(away.hi)))
            wide = (away * slope).sqrt()  # x over the smaller deviation
            narrow = wide * near
        p, q = (narrow, wide) if self.rising else (wide, narrow)
        (p_out, p_in), (q_out, q_in) = both_sides(p), both_sides(q)
        return Tails(p_out, q_out, p_in, q_in) if self.rising else Tails(p_in, q_in, p_out, q_out)

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        """By Mills ratios; in balls where they cancel."""
        with np.errstate(all="ignore"):
            enclosure = self._by_ratios(epsilon)
            narrow = NARROW_PROFILE if enclosure.value.size <= FEW_POINTS else NARROW_PROFILES
            wide = np.atleast_1d(~(enclosure.radius <= narrow * enclosure.value))
            if not wide.any():
                return enclosure
            known = falling(self._ends, _rows(epsilon)[wide])
            value, radius = np.atleast_1d(enclosure.value).copy(), np.atleast_1d(enclosure.radius).copy()
            value[wide], radius[wide] = known.value, known.radius
        return Enclosure(value.reshape(enclosure.value.shape), radius.reshape(enclosure.value.shape))

    def _by_ratios(self, epsilon: Enclosure) -> Enclosure:
        log, slope, near = self._constants(lambda ball: enclosed([ball])[0])
        beyond = epsilon + log if self.rising else -(epsilon + log)
        wide = (beyond.clip_below(0.0) * slope).sqrt()
        narrow = wide * near
        if self.rising:
            bracket = mills(narrow) - mills(wide) * near
            below = -((-beyond).clip_below(0.0))  # under the lowest loss H = 1 - alpha
            return (narrow * narrow * -0.5).exp() * ROOT_TWO_OVER_PI * bracket - near * below.expm1()
        bracket = mills(narrow) / near - mills(wide)
        inside = -epsilon.expm1() + (wide * wide * -0.5).exp() * ROOT_TWO_OVER_PI * bracket
        return where(beyond.upper <= 0.0, exact(np.zeros_like(inside.value)), inside)

    def _ends(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        found = [enclose(partial(self.ball_hockey_stick, arb(float(point)))) for point in points]
        return np.array([low for low, _ in found]), np.array([high for _, high in found])

    def ball_tails(self, t: arb) -> BallTails:
        return self.summed_tails(t, 1)

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        return self.summed_hockey_stick(epsilon, 1)

    def summed_tails(self, t: arb, count: int) -> BallTails:
        """Those of so many uses."""
        u = (t + count * self.ratio.ball_log()) / self.ratio.ball_growth()
        p_in, p_out = gamma_sides(count, u)
        q_in, q_out = gamma_sides(count, self.ratio.ball() ** 2 * u)
        return BallTails(p_out, q_out, p_in, q_in) if self.rising else BallTails(p_in, q_in, p_out, q_out)

    def summed_hockey_stick(self, epsilon: arb, count: int) -> arb:
        """That of so many uses."""
        last = -count * self.ratio.ball_log()
        if self.rising and epsilon <= last:
            return -epsilon.expm1()
        if not self.rising and epsilon >= last:
            return arb(0)
        tails = self.summed_tails(epsilon, count)
        return tails.p_above - epsilon.exp() * tails.q_above

    def reversed(self) -> GaussianVariancePair:
        return GaussianVariancePair(self.ratio.inverse())

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        end = -self.ratio.ball_log()
        return LossRange(end, arb.pos_inf()) if self.rising else LossRange(arb.neg_inf(), end)

    def hockey_stick_cost(self) -> int:
        return 4

    def compose_exact(self, like: Sequence[tuple[Pair, int]]) -> GaussianVarianceSum | None:
        """Uses of one ratio: a chi-square of as many degrees."""

        same = all(isinstance(pair, GaussianVariancePair) and pair.ratio.equals(self.ratio) for pair, _ in like)
        return GaussianVarianceSum(self, sum(count for _, count in like)) if same else None

    def cgf(self) -> Cgf:

        with working_precision(BITS_START):
            growth = self.ratio.ball_growth()
            if not (abs(growth) > SMALLEST_GROWTH and growth * POLE_MIN < 1):
                raise UnsupportedMechanism("its deviations are too far apart, or too close; try engine='lattice'")
        return GaussianVarianceCgf(self)

    def ball_mean(self) -> arb:
        """E_P[l] = D/2 - log r, at the working precision and a little more, since it cancels."""
        with working_precision(ctx.prec + CONSTANT_BITS):
            return self.ratio.ball_growth() / 2 - self.ratio.ball_log()

    def _constants(self, number: Callable[[arb], Number]) -> tuple[Number, Number, Number]:
        """log r, 2/(1 - s^2) and s, s the smaller deviation over the larger."""
        with working_precision(CONSTANT_BITS):
            growth = (self.ratio.inverse() if self.rising else self.ratio).ball_growth()
            smaller = 1 / self.ratio.ball() if self.rising else self.ratio.ball()
            return number(self.ratio.ball_log()), number(-2 / growth), number(smaller)

    def moments(self) -> GaussianVarianceMoments:
        return GaussianVarianceMoments(self)


class GaussianVarianceMoments(Moments[GaussianVariancePair]):
    def log_moment(self, z: acb) -> acb | None:
        """-(z g(D) + g(-zD))/2, g(x) = log(1 + x) - x; +inf from the pole 1/D on, None beside it."""
        with working_precision(ctx.prec + CONSTANT_BITS):
            growth = self.pair.ratio.ball_growth()
            left = 1 - z.real * growth
            if left <= 0:
                return acb(arb.pos_inf()) if z.imag.is_zero() else None
            if not left > 0:
                return acb("nan")
            if z.imag.is_zero():
                return acb(-z.real * self.pair.ratio.ball_log() - left.log() / 2)
            return -z * self.pair.ratio.ball_log() - complex_log(1 - z * growth) / 2

    def zcdp_rho(self) -> arb | None:
        """D_1, where the loss has an upper end; else there is none. Proof: docs/proofs/gaussian_variance.md, 4."""
        return None if self.pair.rising else self.pair.ball_mean()

    def gdp_mu_lower(self, direction: Direction) -> arb | None:
        """The loss falls slower than that of every Gaussian, where it has no end."""
        return arb.pos_inf() if self.pair.rising == (direction is Direction.REMOVE) else None


@dominates.register(GaussianVariancePair)
def _(pair: GaussianVariancePair, other: Pair) -> bool:
    """The ratio further from 1 on the same side. Proof: docs/proofs/gaussian_variance.md, section 5."""
    if isinstance(other, GaussianVariancePair):
        return pair.ratio.beyond(other.ratio)
    return dominates.default(pair, other)


def _rows(points: Enclosure) -> Enclosure:
    return Enclosure(np.atleast_1d(points.value), np.atleast_1d(points.radius))


# K(z) = -z log r - log(1 - zD)/2, D = r^2 - 1, for Re z on the side of 0 of the pole 1/D.
#
# Tilted by e^{cl} the loss is -log r + bX, X a gamma variable of shape 1/2, b = D/(1 - cD): mean b/2 - log r, variance
# b^2/2, and with the drift m = b/2 - log r = (D - log(1 + D) + c D b)/2
# log phi(t) e^{-itm} = -log(1 + x^2)/4 + i (atan x - x)/2, x = bt. The modulus falls with t, like |t|^(-1/2).
# Guarantee: exact. Proof: docs/proofs/gaussian_variance.md, section 6.
# Reference: Zhu, Dong, Wang 2021, Sec. 4 (characteristic functions).

GAMMA_POINTS = 8  # of a sum that take as long as one node
SMALL_TURN = 0.3  # |x| up to which atan x - x is a series
SERIES_TERMS = 17  # of it: 0.09^17 is below 1e-17
TURN_ROUNDINGS = 64.0  # of a phase and of a modulus, more than there are


class Slope(NamedTuple):
    """Of the tilted loss, at the working precision."""

    log_mgf: arb
    drift: arb
    scale: arb  # b


def slope_at(pair: GaussianVariancePair, tilt: float) -> Slope:
    """Raises UnsupportedMechanism from the pole on."""
    with working_precision(ctx.prec + CONSTANT_BITS):  # both cancel where the deviations are close
        growth, log, c = pair.ratio.ball_growth(), pair.ratio.ball_log(), arb(tilt)
        left = 1 - c * growth
        if not left > 0:
            raise UnsupportedMechanism(f"its moment of order {tilt!r} is infinite")
        scale = growth / left
        return Slope(-c * log - left.log() / 2, scale / 2 - log, scale)


@dataclass(frozen=True)
class GaussianVarianceTilted:
    """A shifted gamma variable in float64."""

    log_mgf: Enclosure
    drift: Enclosure
    scale: Enclosure

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        import numpy as np

        uses, x = float(count), float(self.scale.value) * (step * np.arange(nodes, dtype=np.float64))
        square = x * x
        log, turn = np.log1p(square), _turn(x, square)
        # x is off by a share e of itself: log is by 2e square/(1 + square), the turn by e |x| square/(1 + square).
        share = 4.0 * UNIT + 1.01 * float(self.scale.radius) / abs(float(self.scale.value))
        settled = square / (1.0 + square)
        off_log = TURN_ROUNDINGS * UNIT * log + 2.02 * share * settled
        reached = np.where(abs(x) < SMALL_TURN, abs(turn), abs(x) + 2.0)
        off_turn = TURN_ROUNDINGS * UNIT * reached + 1.01 * share * abs(x) * settled
        rounding = uses * (off_log + off_turn) + 1e-300
        modulus = -0.25 * uses * log
        return Factor(modulus, 0.5 * uses * turn, modulus + rounding, np.zeros_like(x), rounding)


def _turn(x: FloatArray, square: FloatArray) -> FloatArray:
    """atan x - x."""
    import numpy as np

    series = np.zeros_like(x)
    for n in range(SERIES_TERMS, 0, -1):
        series = 1.0 / (2 * n + 1) - square * series
    return np.where(abs(x) < SMALL_TURN, -x * square * series, np.arctan2(x, 1.0) - x)


@dataclass(frozen=True)
class GaussianVarianceBallTilted:
    """The same in balls."""

    pair: GaussianVariancePair
    tilt: float

    @property
    def log_mgf(self) -> arb:
        return slope_at(self.pair, self.tilt).log_mgf

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        scale, log = slope_at(self.pair, self.tilt).scale, self.pair.ratio.ball_log()
        times = [arb(step) * index for index in range(nodes)]
        return [acb(0, -t * log).exp() * acb(1, -t * scale).rsqrt() for t in times]


@dataclass(frozen=True)
class GaussianVarianceDecay:
    """The modulus itself: it falls with t."""

    least_scale: float

    def log_bound(self, radius: float) -> float:
        x = self.least_scale * radius
        return round_down(-0.25 * math.log1p(round_down(x * x, FEW)), FEW)


@dataclass(frozen=True)
class GaussianVarianceBallDecay:
    """The same in balls."""

    scale: arb

    def log_bound(self, radius: float) -> float:
        with working_precision(BITS_START):
            return upper_float(-((self.scale * arb(radius)) ** 2).log1p() / 4)


@dataclass(frozen=True)
class GaussianVarianceCgf(Cgf):
    """K of a pair of deviations."""

    pair: GaussianVariancePair

    @cached_property
    def _plain(self) -> tuple[float, float]:
        """D, and D - log(1 + D), about."""
        with working_precision(CONSTANT_BITS):
            growth = self.pair.ratio.ball_growth()
            return float(growth.mid()), float((growth - 2 * self.pair.ratio.ball_log()).mid())

    def cumulants(self, tilt: float) -> Cumulants:
        growth, excess = self._plain
        left = 1.0 - tilt * growth
        if left <= 0.0:
            return beyond_pole(tilt, 1.0 / growth)
        scale = growth / left
        value = 0.5 * (tilt * excess + _above_log(-tilt * growth))
        return Cumulants(value, 0.5 * (excess + tilt * growth * scale), 0.5 * scale * scale)

    def log_mgf_above(self, tilt: float) -> float:
        with working_precision(BITS_START):
            try:
                return upper_float(slope_at(self.pair, tilt).log_mgf)
            except UnsupportedMechanism:
                return math.inf

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return GAMMA_POINTS

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> GaussianVarianceTilted:

        with working_precision(BITS_START):
            known = enclosed(slope_at(self.pair, tilt))
        return GaussianVarianceTilted(known[0], known[1], known[2])

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> GaussianVarianceBallTilted:
        return GaussianVarianceBallTilted(self.pair, tilt)

    def cf_decay(self, tilt: float) -> GaussianVarianceDecay:
        with working_precision(BITS_START):
            return GaussianVarianceDecay(lower_float(abs(slope_at(self.pair, tilt).scale)))

    def ball_cf_decay(self, tilt: float) -> GaussianVarianceBallDecay:
        with working_precision(BITS_START):
            return GaussianVarianceBallDecay(slope_at(self.pair, tilt).scale)


def _above_log(x: float) -> float:
    """x - log(1 + x), about."""
    if abs(x) < 1e-4:
        return x * x * (0.5 - x / 3.0)
    return x - math.log1p(x)


# Several uses of one ratio of deviations: the sum of the losses is affine in a chi-square.
#
# Guarantee: exact, in balls. Proof: docs/proofs/gaussian_variance.md, sections 1 and 2.

SUM_COST, COST_PER_ROOT = 400, 200  # of a profile: its series takes terms like the root of the count


@dataclass(frozen=True, slots=True)
class GaussianVarianceSum:
    """So many uses of a pair."""

    pair: GaussianVariancePair
    count: int

    def hockey_stick_cost(self) -> int:
        return SUM_COST + COST_PER_ROOT * math.isqrt(self.count)

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        return self.pair.summed_hockey_stick(epsilon, self.count)

    def ball_tails(self, t: arb) -> BallTails:
        return self.pair.summed_tails(t, self.count)
