"""Gaussian pairs: any number of Gaussian shifts is one shift.

The loss is normal with mean mu^2/2 under P and -mu^2/2 under Q, and variance mu^2, where
mu^2 = sum of count (shift / sigma)^2.
Guarantee: exact; float64 with the radius of kernels.enclosure.
Reference: Balle, Wang 2018, Thm 8; Dong, Roth, Su 2021, Cor. 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from flint import acb, arb

from ..numerics.balls import BITS_START, erfc, lower_float, upper_float, working_precision
from ..numerics.contour_sum import bell
from ..numerics.double_double import DoubleDouble, double_double, double_double_of_count
from ..numerics.enclosures import Enclosure, around, count_enclosure, enclosing, exact, mills, where
from ..numerics.normal import normal_tails
from ..numerics.rounding import FEW, exact_product, round_down, round_up
from ..values.question import Direction
from .capabilities import Moments
from .cgf import BallTilted, CfDecay, Cgf, Cumulants, RatioDecay, Tilted, demand_ordinary
from .finite.finite_pair import FinitePair
from .finite.largest import LargestLaw
from .operators.registered import (
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
from .pair import BallTails, LossRange, Pair, Tails, VisibleParticipation

if TYPE_CHECKING:
    from ..numerics.contour_sum import Factor
    from .capabilities import ParameterBinning
    from .cgf import RatioTransform
    from .participation_law import ParticipationLaw


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
    from .sampled_gaussian.binned_rates import bin_sampled_parameters

    known = [(pair, count) for pair, count in like if isinstance(pair, GaussianPair)]
    return bin_sampled_parameters(known, make, cells, mixed) if len(known) == len(like) else None


@sampled_cgf.register(GaussianPair)
def _(pair: GaussianPair, rate: float, direction: Direction) -> Cgf:
    from .sampled_gaussian.mixture_cgf import SampledCgf

    demand_ordinary(pair.ball_mu)
    return SampledCgf(pair, rate, 1 if direction is Direction.REMOVE else -1)


@visible_participation.register(GaussianPair)
def _(pair: GaussianPair) -> VisibleParticipation:
    return VisibleParticipation(1.0, pair.ball_mu() ** 2, arb(0), arb(0), arb(0))


@hidden_participation.register(GaussianPair)
def _(pair: GaussianPair, steps: int, hits: int) -> tuple[Pair, ...]:
    """The largest of all coordinates, and their sum, at most at the mu of the shift."""

    with working_precision(BITS_START):
        mu, summed = (lower_float(pair.ball_mu() * part) for part in (arb(1), hits / arb(steps).sqrt()))
    total = GaussianPair(((1.0, summed, 1),))
    if not MAXIMUM_MIN < mu < MAXIMUM_MAX:
        return (total,)
    largest = FinitePair(LargestLaw(mu, steps, min(hits, steps)))
    return largest, total


@sampled_replacement.register(GaussianPair)
def _(pair: GaussianPair, rate: float) -> Pair | None:
    from .gaussian_mixture.mixture_pair import within
    from .gaussian_mixture.replaced import ONE_AND_TWO, SampledReplacementPair

    return SampledReplacementPair(pair, rate) if within(pair, ONE_AND_TWO) else None


@shift_mixture.register(GaussianPair)
def _(pair: GaussianPair, hits: ParticipationLaw, direction: Direction) -> Pair | None:
    from .gaussian_mixture.mixture_pair import GaussianMixturePair, within

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

    return GaussianRatio(pair)


@normal_shift.register(GaussianPair)
def _(pair: GaussianPair) -> arb:
    return pair.ball_mu()


INVERSE_ROOT_TWO_PI = around(0.3989422804014327, 1e-16)  # 1 / sqrt(2 pi), error below 3e-17


def _sf(z: arb) -> arb:
    return erfc(z / arb(2).sqrt()) / 2


# Gaussian shifts: K(z) = mu^2 (z + z^2)/2 for all complex z.
#
# |phi(t)| = e^{-mu^2 t^2/2} at every tilt c, and the drift is mu^2 (c + 1/2).
# Guarantee: exact.
# Reference: Balle, Wang 2018, Lemma 6 (the loss is normal).


def square_bounds(pair: GaussianPair) -> tuple[float, float]:
    """Doubles around mu^2."""
    with working_precision(BITS_START):
        square = pair.ball_mu() ** 2
        return lower_float(square), upper_float(square)


@dataclass(frozen=True)
class GaussianTilted:
    """A normal loss of variance mu^2."""

    log_mgf: Enclosure
    drift: Enclosure
    square: Enclosure

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        import numpy as np

        return bell(self.square * float(count), step * np.arange(nodes, dtype=np.float64))


@dataclass(frozen=True)
class GaussianBallTilted:
    """The same in balls."""

    log_mgf: arb
    drift: arb
    square: arb

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        times = [arb(step) * index for index in range(nodes)]
        return [acb(-self.square * t * t / 2, self.drift * t).exp() for t in times]


@dataclass(frozen=True)
class GaussianDecay:
    """The modulus itself: it falls with t."""

    least_square: float

    def log_bound(self, radius: float) -> float:
        return round_down(-0.5 * self.least_square * radius * radius, FEW)


@dataclass(frozen=True)
class GaussianBallDecay:
    """The same in balls."""

    square: arb

    def log_bound(self, radius: float) -> float:
        with working_precision(BITS_START):
            return upper_float(-self.square * arb(radius) ** 2 / 2)


@dataclass(frozen=True)
class GaussianCgf(Cgf):
    """K of a Gaussian pair."""

    pair: GaussianPair

    def cumulants(self, tilt: float) -> Cumulants:
        square = sum(count * (shift / sigma) ** 2 for sigma, shift, count in self.pair.shifts)
        return Cumulants(0.5 * square * tilt * (1.0 + tilt), square * (tilt + 0.5), square)

    def log_mgf_above(self, tilt: float) -> float:
        return round_up(0.5 * square_bounds(self.pair)[1] * tilt * (1.0 + tilt), FEW)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return 1

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> Tilted:

        square = enclosing(*square_bounds(self.pair))
        return GaussianTilted(square * (0.5 * tilt) * (1.0 + tilt), square * (tilt + 0.5), square)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        square = self.pair.ball_mu() ** 2
        return GaussianBallTilted(square * tilt * (1 + arb(tilt)) / 2, square * (arb(tilt) + arb(0.5)), square)

    def cf_decay(self, tilt: float) -> CfDecay:
        return GaussianDecay(square_bounds(self.pair)[0])

    def ball_cf_decay(self, tilt: float) -> CfDecay:
        with working_precision(BITS_START):
            return GaussianBallDecay(self.pair.ball_mu() ** 2)


def mu_bounds(pair: GaussianPair) -> tuple[float, float]:
    """Doubles around mu."""
    with working_precision(BITS_START):
        mu = pair.ball_mu()
        return lower_float(mu), upper_float(mu)


def mu_value(pair: GaussianPair) -> float:
    """mu, approximately."""
    return math.hypot(*(math.sqrt(count) * (shift / sigma) for sigma, shift, count in pair.shifts))


# Gaussian shifts: Y = e^{mu x - mu^2/2} with x normal, and psi(s) = E e^{-s (Y - 1)} on a vertical line.
#
# The line of integration is moved to x - i theta, 0 <= theta <= arg(s)/(2 mu), so that the integrand falls before it
# turns: with beta = arg(s) - mu theta
#     E e^{-s Y} = int n(x) e^{theta^2/2 + i theta x} e^{-|s| e^{i beta} Y(x)} dx,    n the normal density.
# At x + i y, |y| <= b, its modulus is at most n(x) e^{(y - theta)^2/2} as long as |beta + mu y| <= pi/2. The sum over
# x = j h, |j| <= J, with Z = (J + 1/2) h misses the integral by at most
#     (e^{(b - theta)^2/2} + e^{(b + theta)^2/2})/(e^{2 pi b/h} - 1)           the strip
#     + 4 b n(Z) max(e^{theta^2/2}, e^{(b + theta)^2/2 - 2 pi b/h})            its ends
#     + e^{theta^2/2} P[|x| > Z]                                             what lies outside.
# Guarantee: enclosed. Proof: docs/proofs/allocation_transform.md, sections 2 and 3.

RATIO_TURN_MAX = 4.0  # the line is moved by no more: e^{theta^2/2} costs digits
RATIO_TURNS = 5  # lines that are tried for a bound, to either side
RATIO_ROUGH_POINTS, RATIO_ROUGH_REACH = 80, 10.0  # of a sum in floats
RATIO_SPARE_NATS = 4.0  # asked for beyond the wanted error
RATIO_SPARE_BITS = 32
RATIO_RATE_MAX = 300.0  # beyond, what is left is small enough
RATIO_POINT_WORK, RATIO_BIT_WORK = 500.0, 8.0  # units of work of a point, and for each bit
RATIO_REAL_NATS = 30.0  # of psi at a real number, relative


class TurnedStrip(NamedTuple):
    """Points j step, |j| <= half, and how far from the real line the integrand is bounded."""

    step: arb
    half: int
    width: arb
    weights: list[arb]  # n(x) step
    ratios: list[arb]  # Y(x)


@dataclass(frozen=True)
class GaussianRatio:
    """psi of a Gaussian pair."""

    pair: GaussianPair

    def value_work(self, real: float, log_error: float) -> float:
        nats = RATIO_SPARE_NATS - log_error + real
        return (2 * _spacing(self._mu, nats).half + 1) * (RATIO_POINT_WORK + RATIO_BIT_WORK * _bits(nats))

    def values(self, real: arb, step: arb, nodes: int, log_error: float) -> list[acb]:
        mu = self.pair.ball_mu()
        nats = RATIO_SPARE_NATS - log_error + float(real.mid())
        with working_precision(_bits(nats)):
            strip = _strip(mu, nats)
            return [_turned(acb(real, step * n), mu, strip, nats) for n in range(nodes)]

    def fall(self, real: arb, least: arb) -> RatioDecay:
        """|E e^{-s Y}| <= e^{theta^2/2} E e^{-r Y}, r = c cos(mu theta) + v sin(mu theta), for 0 <= mu theta <= pi/2.

        It falls with v. E e^{-r Y} <= E[1/Y]/(e r) = e^{mu^2 - 1}/r.
        """
        with working_precision(BITS_START):
            mu = self.pair.ball_mu()
            most = math.pi / 2.0 / float(mu.mid())
            near = min(float((mu * least).mid()), most)  # the best one where Y - 1 is about normal
            turns = [min(near * 2.0 ** (0.5 * j), most) for j in range(-RATIO_TURNS, RATIO_TURNS)] + [
                0.7 * most,
                0.9 * most,
            ]
            rough = [(self._rough_decay(float(real.mid()), float(least.mid()), theta), theta) for theta in turns]
            theta = arb(min(rough)[1])
            level = real + theta * theta / 2
            rate = (real * (mu * theta).cos() + least * (mu * theta).sin()).lower()
            slope = (level + mu * mu - 1).exp() / (mu * theta).sin()
            return RatioDecay(level + self._real(rate).upper().log(), slope)

    def _rough_decay(self, real: float, least: float, theta: float) -> float:
        mu = self._mu
        rate = real * math.cos(mu * theta) + least * math.sin(mu * theta)
        return real + 0.5 * theta * theta + max(self.log_rough(rate) - rate, -RATIO_RATE_MAX)

    def _real(self, rate: arb) -> arb:
        """E e^{-rate Y}."""
        mu = self.pair.ball_mu()
        nats = RATIO_REAL_NATS + min(float(rate.mid()), RATIO_RATE_MAX)
        return _sum(acb(rate), mu, _strip(mu, nats), nats).real

    def log_rough(self, real: float) -> float:
        least = self._rough[0][1]
        total = sum(weight * math.exp(-real * (more - least)) for weight, more in self._rough)
        return math.log(total) - real * least

    def spread(self) -> float:
        return math.sqrt(math.expm1(min(self._mu**2, 700.0)))

    @cached_property
    def _mu(self) -> float:
        with working_precision(BITS_START):
            return float(self.pair.ball_mu().mid())

    @cached_property
    def _rough(self) -> list[tuple[float, float]]:
        """Weights, and Y - 1."""
        step = 2.0 * RATIO_ROUGH_REACH / RATIO_ROUGH_POINTS
        points = [step * index - RATIO_ROUGH_REACH for index in range(RATIO_ROUGH_POINTS + 1)]
        norm = step / math.sqrt(2.0 * math.pi)
        mu = self._mu
        return [(norm * math.exp(-0.5 * x * x), math.expm1(min(mu * x - 0.5 * mu * mu, 700.0))) for x in points]


class StripSpacing(NamedTuple):
    """Between points, and how many there are on one side."""

    step: float
    half: int


def _bits(nats: float) -> int:
    return math.ceil(nats / math.log(2.0)) + RATIO_SPARE_BITS


def _spacing(mu: float, nats: float) -> StripSpacing:
    """For an error of about e^-nats."""
    width = min(math.pi / 4.0 / mu, RATIO_TURN_MAX)
    step = 2.0 * math.pi * width / (nats + 2.0 * width * width + 2.0)
    return StripSpacing(step, math.ceil(math.sqrt(2.0 * nats + width * width + 2.0) / step))


def _strip(mu: arb, nats: float) -> TurnedStrip:
    """Points for an error of about e^-nats."""
    step, half = _spacing(float(mu.mid()), nats)
    h = arb(step)
    points = [h * j for j in range(-half, half + 1)]
    norm = h / (2 * arb.pi()).sqrt()
    weights = [(-x * x / 2).exp() * norm for x in points]
    b = (arb.pi() / 4 / mu).min(arb(RATIO_TURN_MAX)).lower()
    return TurnedStrip(h, half, b, weights, [(mu * x - mu * mu / 2).exp() for x in points])


def _turned(s: acb, mu: arb, strip: TurnedStrip, nats: float) -> acb:
    return _sum(s, mu, strip, nats) * s.exp()


def _sum(s: acb, mu: arb, strip: TurnedStrip, nats: float) -> acb:
    """E e^{-s Y}, Re s > 0 and Im s >= 0."""
    angle = s.arg() if not s.imag.is_zero() else arb(0)
    theta = (angle / (2 * mu)).min(arb(RATIO_TURN_MAX)).max(arb(0)).mid()
    turned = -(s * acb(0, -mu * theta).exp())
    growth = (theta * theta / 2).exp()
    error = _missed(theta, strip) if _within(angle - mu * theta, mu * strip.width) else arb.pos_inf()
    total, phase, turn = acb(0), acb(0, -theta * strip.step * strip.half).exp(), acb(0, theta * strip.step).exp()
    most = (nats + RATIO_SPARE_NATS) / max(float(-turned.real.mid()), 1e-300)
    for weight, ratio in zip(strip.weights, strip.ratios, strict=True):
        if ratio < most:
            total += phase * weight * (turned * ratio).exp()
        else:
            error += weight * (turned.real * ratio).exp() * growth
        phase *= turn
    error = error.upper()
    return total * growth + acb(arb(0, error), arb(0, error))


def _within(beta: arb, reach: arb) -> bool:
    """Whether the exponent falls in the whole strip."""
    return bool(beta + reach < arb.pi() / 2 and reach - beta < arb.pi() / 2)


def _missed(theta: arb, strip: TurnedStrip) -> arb:
    """By the sum over the points, of the integral."""
    b, h = strip.width, strip.step
    end = h * (2 * strip.half + 1) / 2
    periods = 2 * arb.pi() * b / h
    near, far, growth = ((b - theta) ** 2 / 2).exp(), ((b + theta) ** 2 / 2).exp(), (theta * theta / 2).exp()
    sides = 4 * b * (-end * end / 2).exp() / (2 * arb.pi()).sqrt() * growth.max(near).max(far * (-periods).exp())
    return (near + far) / periods.expm1() + sides + growth * erfc(end / arb(2).sqrt())
