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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from flint import acb, arb, ctx

from ...errors import UnsupportedMechanism
from ...facets.moments import Moments
from ...kernels.ball import BITS_START, complex_log, enclose, working_precision
from ...kernels.double_double import DoubleDouble, double_double_of_ball
from ...kernels.double_double import where as choose
from ...kernels.enclosure import Enclosure, FloatArray, around, enclosed, exact, falling, mills, where
from ...kernels.incomplete_gamma import gamma_sides
from ...kernels.normal import both_sides
from ...operators import dominates
from ...pair import BallTails, LossRange, Pair, Tails
from ...relation import Direction
from .ratio import VarianceRatio

if TYPE_CHECKING:
    from ...facets.cgf import Cgf
    from .several import GaussianVarianceSum

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
        from .several import GaussianVarianceSum

        same = all(isinstance(pair, GaussianVariancePair) and pair.ratio.equals(self.ratio) for pair, _ in like)
        return GaussianVarianceSum(self, sum(count for _, count in like)) if same else None

    def cgf(self) -> Cgf:
        from .cgf import GaussianVarianceCgf

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
