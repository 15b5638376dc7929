"""Gaussian pairs: any number of Gaussian shifts is one shift.

The loss is normal with mean mu^2/2 under P and -mu^2/2 under Q, and variance mu^2, where
mu^2 = sum of count (shift / sigma)^2.
Guarantee: exact; float64 with the radius of kernels.enclosure.
Reference: Balle, Wang 2018, Thm 8; Dong, Roth, Su 2021, Cor. 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from flint import acb, arb

from ...facets.cgf import demand_ordinary
from ...facets.moments import Moments
from ...kernels.ball import BITS_START, erfc, lower_float, working_precision
from ...kernels.directed import exact_product
from ...kernels.double_double import DoubleDouble, double_double, double_double_of_count
from ...kernels.enclosure import Enclosure, around, count_enclosure, exact, mills, where
from ...kernels.normal import normal_tails
from ...operators import (
    bin_sampled,
    dominates,
    hidden_participation,
    normal_shift,
    ratio_transform,
    sampled_cgf,
    sampled_replacement,
    shift_mixture,
    shifted_pair,
    visible_participation,
)
from ...pair import BallTails, LossRange, Pair, Tails, VisibleParticipation
from ...relation import Direction

if TYPE_CHECKING:
    from ...facets.cgf import Cgf
    from ...facets.parameter_binning import ParameterBinning
    from ...facets.participation_law import ParticipationLaw
    from ...facets.ratio import RatioTransform

Float = TypeVar("Float", Enclosure, DoubleDouble)

MAXIMUM_MIN, MAXIMUM_MAX = (
    1e-2,
    50.0,
)  # of mu: below, the sum tells as much as the largest coordinate; above, it will do


@dataclass(frozen=True, slots=True)
class GaussianPair(Pair):
    """shifts: (sigma, shift, count), composed."""

    shifts: tuple[tuple[float, float, int], ...]

    def tails(self, t: DoubleDouble) -> Tails:
        mu = self._mu(double_double, double_double_of_count)
        centre, half = t / mu, mu / 2.0
        p_above, p_below = normal_tails(centre - half)
        q_above, q_below = normal_tails(centre + half)
        return Tails(p_above, q_above, p_below, q_below)

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        """H(e^eps) = phi(a) [R(-a) - R(-b)] for a < 0 and 1 - phi(a) [R(a) + R(-b)] otherwise.

        a = mu/2 - eps/mu, b = a - mu, R the Mills ratio: e^eps phi(b) = phi(a), so no large factor meets a small one.
        For eps < 0 the pair is its own reverse: H(e^eps) = 1 - e^eps + e^eps H(e^-eps).
        """
        mu = self._mu(exact, count_enclosure)
        with np.errstate(all="ignore"):
            size = Enclosure(abs(epsilon.value), epsilon.radius)
            a = mu * 0.5 - size / mu
            minus_b = mu * 0.5 + size / mu
            density = ((a * a) * -0.5).exp() * INVERSE_ROOT_TWO_PI
            far = mills(minus_b)
            beyond = density * (mills(-a) - far)
            within = 1.0 - density * (mills(a) + far)
            forward = where(a.value < 0.0, beyond, within)
            weight = (-size).exp()
            backward = -(-size).expm1() + weight * forward
            return where(epsilon.value < 0.0, backward, forward)

    def ball_tails(self, t: arb) -> BallTails:
        mu = self.ball_mu()
        p, q = t / mu - mu / 2, t / mu + mu / 2
        return BallTails(_sf(p), _sf(q), _sf(-p), _sf(-q))

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        """H(e^eps) = Phi(a) - e^eps Phi(b)."""
        mu = self.ball_mu()
        a = mu / 2 - epsilon / mu
        return _sf(-a) - epsilon.exp() * _sf(mu - a)

    def reversed(self) -> GaussianPair:
        return self

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        return LossRange(arb.neg_inf(), arb.pos_inf())

    def hockey_stick_cost(self) -> int:
        return 1

    def compose_exact(self, like: Sequence[tuple[Pair, int]]) -> GaussianPair | None:
        """One Gaussian: shifts add up as squares."""
        known = [(pair, count) for pair, count in like if isinstance(pair, GaussianPair)]
        shifts = [(sigma, shift, uses * count) for pair, count in known for sigma, shift, uses in pair.shifts]
        return GaussianPair(tuple(sorted(shifts))) if len(known) == len(like) else None

    def cgf(self) -> Cgf:
        from .cgf import GaussianCgf

        demand_ordinary(self.ball_mu)
        return GaussianCgf(self)

    def ball_mu(self) -> arb:
        """mu as a ball at the working precision."""
        return self._ball_square().sqrt()

    def _ball_square(self) -> arb:
        return sum((count * (arb(shift) / arb(sigma)) ** 2 for sigma, shift, count in self.shifts), arb(0))

    def _mu(self, number: Callable[[float], Float], whole: Callable[[int], Float]) -> Float:
        """mu in float64, as an enclosure or twofold."""
        parts = [(number(shift) / number(sigma), count) for sigma, shift, count in self.shifts]
        if len(parts) == 1 and parts[0][1] == 1:
            return parts[0][0]
        squares = number(0.0)
        for ratio, count in parts:
            squares = squares + (ratio * ratio) * whole(count)
        return squares.sqrt()

    def moments(self) -> GaussianMoments:
        return GaussianMoments(self)


class GaussianMoments(Moments[GaussianPair]):
    def log_moment(self, z: acb) -> acb:
        """mu^2 (z + z^2)/2."""
        return self.pair._ball_square() * z * (1 + z) / 2

    def zcdp_rho(self) -> arb:
        """mu^2/2, the least one."""
        return self.pair._ball_square() / 2

    def gdp_mu(self) -> arb:
        """Itself."""
        return self.pair.ball_mu()

    def gdp_mu_lower(self, direction: Direction) -> arb:
        return self.pair.ball_mu()


@bin_sampled.register(GaussianPair)
def _(
    own: GaussianPair, like: Sequence[tuple[Pair, int]], make: Callable[[Pair], Pair], cells: int, mixed: bool
) -> ParameterBinning | None:
    from ..sampled_gaussian.parameter_binning import bin_sampled_parameters

    known = [(pair, count) for pair, count in like if isinstance(pair, GaussianPair)]
    return bin_sampled_parameters(known, make, cells, mixed) if len(known) == len(like) else None


@sampled_cgf.register(GaussianPair)
def _(pair: GaussianPair, rate: float, direction: Direction) -> Cgf:
    from ..sampled_gaussian.cgf import SampledCgf

    demand_ordinary(pair.ball_mu)
    return SampledCgf(pair, rate, 1 if direction is Direction.REMOVE else -1)


@visible_participation.register(GaussianPair)
def _(pair: GaussianPair) -> VisibleParticipation:
    return VisibleParticipation(1.0, pair.ball_mu() ** 2, arb(0), arb(0), arb(0))


@hidden_participation.register(GaussianPair)
def _(pair: GaussianPair, steps: int, hits: int) -> tuple[Pair, ...]:
    """The largest of all coordinates, and their sum, at most at the mu of the shift."""
    from ..finite.largest import LargestLaw
    from ..finite.pair import FinitePair

    with working_precision(BITS_START):
        mu, summed = (lower_float(pair.ball_mu() * part) for part in (arb(1), hits / arb(steps).sqrt()))
    total = GaussianPair(((1.0, summed, 1),))
    if not MAXIMUM_MIN < mu < MAXIMUM_MAX:
        return (total,)
    largest = FinitePair(LargestLaw(mu, steps, min(hits, steps)))
    return largest, total


@sampled_replacement.register(GaussianPair)
def _(pair: GaussianPair, rate: float) -> Pair | None:
    from ..gaussian_mixture.numbers import within
    from ..gaussian_mixture.replaced import ONE_AND_TWO, SampledReplacementPair

    return SampledReplacementPair(pair, rate) if within(pair, ONE_AND_TWO) else None


@shift_mixture.register(GaussianPair)
def _(pair: GaussianPair, hits: ParticipationLaw, direction: Direction) -> Pair | None:
    from ..gaussian_mixture.numbers import within
    from ..gaussian_mixture.pair import GaussianMixturePair

    return GaussianMixturePair(pair, hits, direction) if within(pair, hits.counts()[1:]) else None


@shifted_pair.register(GaussianPair)
def _(pair: GaussianPair, times: int) -> GaussianPair:
    """mu times as large: the shifts themselves where they stay doubles, else their squares."""
    return GaussianPair(
        tuple(
            (sigma, shift, count * times**2)
            if (longer := exact_product(shift, times)) is None
            else (sigma, longer, count)
            for sigma, shift, count in pair.shifts
        )
    )


@dominates.register(GaussianPair)
def _(pair: GaussianPair, other: Pair) -> bool:
    """By the larger mu."""
    if isinstance(other, GaussianPair):
        with working_precision(BITS_START):
            return pair == other or bool(pair._ball_square() >= other._ball_square())
    return dominates.default(pair, other)


@ratio_transform.register(GaussianPair)
def _(pair: GaussianPair) -> RatioTransform:
    from .ratio import GaussianRatio

    return GaussianRatio(pair)


@normal_shift.register(GaussianPair)
def _(pair: GaussianPair) -> arb:
    return pair.ball_mu()


INVERSE_ROOT_TWO_PI = around(0.3989422804014327, 1e-16)  # 1 / sqrt(2 pi), error below 3e-17


def _sf(z: arb) -> arb:
    return erfc(z / arb(2).sqrt()) / 2
