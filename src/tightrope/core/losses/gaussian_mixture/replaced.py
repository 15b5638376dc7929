"""Replacing a record under Poisson sampling of a Gaussian: P = (1 - r) N(0) + r N(mu), Q = (1 - r) N(0) + r N(-mu).

With g(x) = 1 - r + r e^{mu x - mu^2/2} the loss is log g(x) - log g(-x), which is odd and rises with x; it is t at
x = (t/2 + asinh(k sinh(t/2)))/mu, k = (1 - r)/r e^{mu^2/2}. The pair is its own reverse, and with the excesses A, B of
one shift (excess), for t >= 0 at the place x of t,
g(-x) H(e^t) = r (1 - r) [A_mu(x) + B_mu(-x)] + r^2 e^{-mu x - mu^2/2} A_{2 mu}(x + mu): nothing cancels.
Guarantee: exact, in any dimension, adaptively composed too; float64 with the radii of kernels.
Proof: docs/proofs/gaussian_mixture.md, section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from flint import arb

from ...numerics.balls import erfc, lower_float, upper_float, working_precision
from ...numerics.double_double import DoubleDouble, FloatArray, double_double
from ...numerics.double_double import where as chosen
from ...numerics.enclosures import Enclosure, enclosing, exact, mills, where
from ...numerics.normal import normal_tails
from ...values.errors import InvalidParameter, UnsupportedMechanism
from ...values.question import Direction
from ..capabilities import Moments
from ..gaussian import GaussianPair
from ..pair import BallTails, LossRange, Pair, Tails
from .mixture_pair import NUMBER_BITS, ball_double_double, beside, excesses, sized, within

LOG_STEEP = 45.0  # of log z: asinh z is log 2z, up to e^-90
HOCKEY_STICK_TERMS = 40  # of a profile, in evaluations of a Gaussian's
ONE_AND_TWO = (Fraction(1), Fraction(2))  # shifts between the laws


class _Numbers(NamedTuple):
    mu: DoubleDouble
    log_factor: DoubleDouble  # log k
    log_two: DoubleDouble


@dataclass(frozen=True, slots=True)
class SampledReplacementPair(Pair):
    """One record in a Poisson sample at this rate, 0 < rate < 1, at +mu against -mu; base is one shift."""

    base: GaussianPair
    rate: float

    def __post_init__(self) -> None:
        if not 0.0 < self.rate < 1.0:
            raise InvalidParameter(f"rate must be above 0 and below 1, not {self.rate!r}")
        if not within(self.base, ONE_AND_TWO):
            raise UnsupportedMechanism("its shift is too small or too large for its noise")

    def _numbers(self) -> _Numbers:
        with working_precision(NUMBER_BITS):
            mu = self.base.ball_mu()
            return _Numbers(
                ball_double_double(mu),
                ball_double_double(self._ball_factor(mu).log()),
                ball_double_double(arb(2).log()),
            )

    def _ball_factor(self, mu: arb) -> arb:
        return (1 - arb(self.rate)) / arb(self.rate) * (mu * mu / 2).exp()

    def places(self, t: DoubleDouble) -> DoubleDouble:
        """x of a loss t."""
        mu, log_factor, log_two = self._numbers()
        sign = np.where(t.hi < 0.0, -1.0, 1.0)
        size = t * sign
        with np.errstate(all="ignore"):
            # log of z = k sinh(|t|/2), then asinh z = log1p(z + z^2/(1 + sqrt(1 + z^2))).
            log_z = log_factor + size.half() + (-(-size).expm1()).log() - log_two
            z = chosen(log_z.hi > LOG_STEEP, double_double(0.0), log_z).exp()
            square = z * z
            near = (z + square / ((square + 1.0).sqrt() + 1.0)).log1p()
            turn = chosen(log_z.hi > LOG_STEEP, log_z + log_two, near)
            return (size.half() + turn) / mu * sign

    def tails(self, t: DoubleDouble) -> Tails:
        place, mu = self.places(t), self._numbers().mu
        kept = float((1.0 - exact(self.rate)).value)
        above, below = normal_tails(place)
        first_above, first_below = normal_tails(place - mu)
        second_above, second_below = normal_tails(place + mu)
        return Tails(
            kept * above + self.rate * first_above,
            kept * above + self.rate * second_above,
            kept * below + self.rate * first_below,
            kept * below + self.rate * second_below,
        )

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        """For eps < 0 the pair is its own reverse: H(e^eps) = 1 - e^eps + e^eps H(e^-eps)."""
        with np.errstate(all="ignore"):
            size = sized(epsilon)
            most, least = self._near(np.fmax(size.lower, 0.0), -1.0), self._near(size.upper, 1.0)
            forward = enclosing(np.fmax(least.lower, 0.0), np.fmin(most.upper, 1.0))
            backward = -(-size).expm1() + (-size).exp() * forward
            return where(epsilon.value < 0.0, backward, forward)

    def _near(self, t: FloatArray, side: float) -> Enclosure:
        """H at a loss as close to t >= 0 as doubles are, at or below (side -1) or at or above it (side 1)."""
        mu_value = float(self._numbers().mu.hi)
        place = beside(self.places(double_double(t)), 0.0, mu_value, side)
        x, rate = exact(place), exact(self.rate)
        with working_precision(NUMBER_BITS):
            mu = _enclosed(self.base.ball_mu())
        above, _ = excesses(x, mills(sized(x)), mu)
        _, below = excesses(-x, mills(sized(x)), mu)
        moved = x + mu
        both, _ = excesses(moved, mills(sized(moved)), mu * 2.0)
        fall = (-(mu * (x + mu * 0.5))).exp() * rate
        kept = 1.0 - rate
        return (rate * kept * (above + below) + rate * fall * both) / (kept + fall)

    def ball_tails(self, t: arb) -> BallTails:
        mu, rate = self.base.ball_mu(), arb(self.rate)
        place = (t / 2 + (self._ball_factor(mu) * (t / 2).sinh()).asinh()) / mu
        above, below = (1 - rate) * _sf(place), (1 - rate) * _sf(-place)
        return BallTails(
            above + rate * _sf(place - mu),
            above + rate * _sf(place + mu),
            below + rate * _sf(mu - place),
            below + rate * _sf(-mu - place),
        )

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        tails = self.ball_tails(epsilon)
        return tails.p_above - epsilon.exp() * tails.q_above

    def reversed(self) -> SampledReplacementPair:
        return self

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        return LossRange(arb.neg_inf(), arb.pos_inf())

    def hockey_stick_cost(self) -> int:
        return HOCKEY_STICK_TERMS

    def moments(self) -> SampledReplacementMoments:
        return SampledReplacementMoments(self)


class SampledReplacementMoments(Moments[SampledReplacementPair]):
    def zcdp_rho(self) -> arb:
        """That of a shift by 2 mu: Renyi divergences are jointly quasi-convex (van Erven, Harremoes 2014, Thm 13)."""
        return 4 * self.pair.base.moments().zcdp_rho()

    def approximate_zcdp(self) -> tuple[tuple[arb, arb], ...]:
        """Q >= (1 - r) N(0), and of P against N(0) the shift by mu has the largest divergences."""
        return ((-(-arb(self.pair.rate)).log1p(), self.pair.base.moments().zcdp_rho()),)

    def gdp_mu(self) -> arb:
        """A shift by 2 mu, by joint convexity."""
        return 2 * self.pair.base.moments().gdp_mu()

    def gdp_mu_lower(self, direction: Direction) -> arb:
        """mu: where x > 0, P is at least r times the shift, and Q at most the noise at 0."""
        return self.pair.base.moments().gdp_mu()


def _enclosed(ball: arb) -> Enclosure:

    return enclosing(lower_float(ball), upper_float(ball))


def _sf(z: arb) -> arb:
    return erfc(z / arb(2).sqrt()) / 2
