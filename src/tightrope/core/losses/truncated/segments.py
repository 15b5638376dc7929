"""All finite losses of truncated noise, and of others like it: a few atoms, and a stretch with a density.

M(z) = sum of m e^{z l} over atoms of mass m at the loss l, plus the moment of the stretch. Under the tilt c the atoms
weigh a in all and the stretch 1 - a, so that |phi(t)| <= a + (1 - a) |f(t)|, f the transform of the stretch.
Guarantee: exact, upper for decay. Proof: docs/proofs/truncated.md, "Moments" and "Decay".
Reference: Meiser, Mohammadi 2018, Sec. 5.1, 5.2 and 7.1 (the noise); Zhu, Dong, Wang 2021, Sec. 4 (its transform).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np
from flint import acb, arb, ctx

from ...numerics.balls import BITS_START, complex_log, lower_float, upper_float, working_precision
from ...numerics.double_double import DoubleDouble
from ...numerics.enclosures import Enclosure, FloatArray, enclosed, exact
from ...values.errors import UnsupportedMechanism
from ..atoms import ratio_ball
from ..cgf import CfDecay, Cgf, Cumulants
from ..node_powers import PowerTilted

# How the transform of a stretch falls: bounds of |f(t)| for every t from a radius R on.
#
# Normal: with the density n(v)/Z between two ends in units of mu, integration by parts gives |f| <= V/(R mu), V the
# total
# variation, twice the largest density, as there is one mode. Where the mode lies inside, f is also the bell less two
# tails: |f| <= [e^{-R^2 mu^2/2} + sum of min(T, 2 n/(R mu))]/Z, T and n the mass beyond an end and the density there.
# With g the smaller of these, which never rises, 1 - |f(t)|^2 >= (1 - |f(2^k t)|^2)/4^k gives
# |f(t)|^2 <= 1 - (1 - g(2^k R)^2)/4^k for every k.
# Exponential: the formula of losses between two edges (docs/proofs/contour.md, section 9).
# Guarantee: upper. Proof: docs/proofs/truncated.md, "Decay".

DOUBLINGS = 10


class SegmentDecay(ABC):
    """Bounds of a transform."""

    @abstractmethod
    def beyond(self, radius: arb) -> arb:
        """At or above |f(t)| for every t >= radius >= 0."""


@dataclass(frozen=True)
class NormalDecay(SegmentDecay):
    """peak: the largest density. share: 1/Z. tails: mass and density at each end; None unless the mode is inside.

    All but mu and the share are divided by Z.
    """

    mu: arb
    peak: arb
    share: arb
    tails: tuple[tuple[arb, arb], ...] | None

    def beyond(self, radius: arb) -> arb:
        square, scale = arb(1), arb(1)
        if not radius > 0:
            return arb(1)
        for _ in range(DOUBLINGS):
            direct = self._direct(radius).min(arb(1))
            square = square.min(1 - (1 - direct * direct) * scale)
            radius, scale = 2 * radius, scale / 4
        return square.sqrt()

    def _direct(self, radius: arb) -> arb:
        turn = radius * self.mu
        value = 2 * self.peak / turn
        if self.tails is None:
            return value
        bell = self.share * (-turn * turn / 2).exp()
        return value.min(bell + sum((mass.min(2 * density / turn) for mass, density in self.tails), arb(0)))


@dataclass(frozen=True)
class ExponentialDecay(SegmentDecay):
    """growth: of the density, at or above 0. half: half the width."""

    growth: arb
    half: arb

    def beyond(self, radius: arb) -> arb:
        turn = self.half * radius
        ripple, slope = turn.min(arb.pi() / 2).sin() / (self.half * self.growth).sinh(), radius / self.growth
        return ((1 + ripple * ripple) / (1 + slope * slope)).sqrt().min(arb(1))


# Symmetric log-concave noise around 0, and around a shift D > 0: what truncated pairs are read from.
#
# Before any truncation the loss l(x) = log(f(x - D) / f(x)) of an output x never falls with x, so that {l > t} is a
# half-line {x > c(t)}. Outputs rounded up to whole numbers k have the loss L(k) of the cell (k-1, k]: e^L is an average
# of e^l over the cell, so l(k-1) <= L(k) <= l(k), and again {L > t} = {x > c(t)}, with a whole c(t).
# Guarantee: masses in float64 to MASS_ERROR, balls exact. Proof: docs/proofs/truncated.md, lemmas 1 and 2.
# Reference: Dong, Roth, Su 2021, Prop. A.3 (location families of log-concave noise).

# A place on the line in balls; the two infinities are floats, because infinite balls forget their sign.
Place = arb | float
End = Fraction | float  # the same, exactly

# Relative error of a mass in float64 where it is above 1e-300: normal tails cancel by a factor of 5 at most.
MASS_ERROR = 4e-14


class ShiftedNoise(ABC):
    """Noise around 0 (the second law of the pair) and around `shift` (the first)."""

    shift: Fraction
    whole: bool

    @abstractmethod
    def moving(self, shift: Fraction) -> ShiftedNoise:
        """The same noise with another shift, a double."""

    @abstractmethod
    def masses(self, start: DoubleDouble, stop: DoubleDouble) -> FloatArray:
        """P[start < noise <= stop] for start <= stop, which may be infinite."""

    @abstractmethod
    def crossing(self, t: DoubleDouble) -> DoubleDouble:
        """c(t), the end of the outputs whose loss is at most t; -inf and inf where there are none or no others."""

    @abstractmethod
    def ball_mass(self, start: Place, stop: Place) -> arb:
        """The same mass as a ball."""

    @abstractmethod
    def ball_crossings(self, t: arb) -> list[Place]:
        """Places, of which one contains c(t)."""

    @abstractmethod
    def ball_loss_at(self, x: Place) -> arb:
        """l(x) of an output that is not rounded."""

    @abstractmethod
    def ball_losses(self, start: Place, stop: Place, kept: arb) -> Losses:
        """The losses of outputs between two places, under the first law over `kept`."""

    @abstractmethod
    def count_corners(self, first: Fraction | None, last: Fraction | None) -> float:
        """How many corners there are between two ends, at most; None is an end that is infinitely far."""

    @abstractmethod
    def corners(self, first: End, last: End) -> list[Fraction]:
        """Whole numbers from first to last between which the loss of all cells is the same."""

    def cell_loss(self, start: End, stop: End) -> Fraction | None:
        """The loss of what lies between two corners, where it is a fraction."""
        return None

    @property
    def has_moments(self) -> bool:
        """Whether moments are known as `rounded` needs them."""
        return not self.whole

    def rounded(self, stretch: DensitySegment) -> DensitySegment:
        """What becomes of a stretch between whole numbers where outputs are rounded."""
        return stretch

    @abstractmethod
    def ball_size(self) -> arb:
        """The shift in units of the noise."""

    @abstractmethod
    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        """H(e^epsilon) of the shifted noise against the noise, not rounded and not truncated."""

    def sure_crossings(self, t: FloatArray) -> list[Place | None]:
        """c(t) where float64 can tell which one it is and balls would take long; None elsewhere."""
        return [None] * len(t)

    def ball_moved_mass(self, start: Place, stop: Place) -> arb:
        """The mass under the first law, around D."""
        return self.ball_mass(moved(start, -self.ball_shift), moved(stop, -self.ball_shift))

    def zcdp_rho(self) -> arb | None:
        """K(c) <= c (c + 1) rho of the noise against the shifted noise, where more is known than by its losses."""
        return None

    def gdp_mu(self) -> arb | None:
        """A mu whose Gaussian pair dominates the noise against the shifted noise, likewise."""
        return None

    @property
    def ball_shift(self) -> arb:
        """D as a ball."""
        return ratio_ball(self.shift)


def moved(x: Place, step: arb) -> Place:
    """x + step."""
    return x if isinstance(x, float) else x + step


def within(x: Place, low: Place, high: Place) -> Place:
    """x confined to [low, high], of which at most one is infinite on the side where x is too."""
    if isinstance(x, float):
        return low if x < 0 else high
    x = x if isinstance(low, float) else x.max(low)
    return x if isinstance(high, float) else x.min(high)


def split(number: Fraction) -> DoubleDouble:
    """The two doubles nearest to an exact number."""
    high = float(number)
    return DoubleDouble(np.asarray(high), np.asarray(float(number - Fraction(high))))


def from_balls(balls: list[arb]) -> DoubleDouble:
    """Heads and tails of narrow balls."""
    high = np.array([float(ball.mid()) for ball in balls])
    low = np.array([float((ball - head).mid()) for ball, head in zip(balls, high, strict=True)])
    return DoubleDouble(high, low)


# The part of a loss that has a density, along a stretch from `low` to `high`: its moments, tilted or not.
#
# Normal: the loss of Gaussian noise is N(mu^2/2, mu^2) under the first law, so that between two losses
# M(z) = e^{z(z+1) mu^2/2} [Phi(b(z)) - Phi(a(z))]/kept, with (loss - mu^2 (z + 1/2))/mu at the two ends.
# Exponential: the density e^{(y - e)/2}/4 of Laplace noise gives M(z) = e^{sm - e/2} h sinh(sh)/(sh)/(2 kept),
# s = z + 1/2, m the middle and h the half-width. Both hold at every complex z.
# Guarantee: exact. Proof: docs/proofs/truncated.md, "Moments".


class PartShape(NamedTuple):
    """log of the moment, a centre, what the mean is beyond it, and three central moments, under a tilt."""

    log: arb
    centre: arb
    beyond: arb
    second: arb
    third: arb
    fourth: arb


class DensitySegment(ABC):
    """A part of the loss with a density; balls at the working precision."""

    @abstractmethod
    def moment(self, z: acb) -> acb:
        """E[e^{z l}] of this part."""

    @abstractmethod
    def shape(self, tilt: float) -> PartShape:
        """The tilted part: its moment, and how it lies."""

    @abstractmethod
    def cf_decay(self, tilt: float) -> SegmentDecay:
        """How the transform of the tilted part, divided by its mass, falls."""

    def horizon(self) -> arb | None:
        """Up to when the bounds of its fall hold; None where that is for ever."""
        return None

    @abstractmethod
    def spare_bits(self, tilt: float, time: float) -> int:
        """Bits that a moment at tilt + i time loses, about."""


@dataclass(frozen=True)
class NormalSegment(DensitySegment):
    """Of Gaussian noise: what lies between two losses, over `kept`."""

    mu: arb
    low: Place
    high: Place
    kept: arb

    def moment(self, z: acb) -> acb:
        return (z * (z + 1) * (self.mu * self.mu / 2)).exp() * normal_between(*self._ends(z)) / self.kept

    def shape(self, tilt: float) -> PartShape:
        """By E v^k = (k - 1) E v^(k-2) + (a^(k-1) n(a) - b^(k-1) n(b))/Z in units of the tilted normal law."""
        a, b = self._real_ends(tilt)
        mass = normal_between(a, b).real
        ends = [
            (end.real, sign * normal_density(end.real) / mass) for end, sign in ((a, 1), (b, -1)) if end is not None
        ]
        powers = [arb(1)]
        for k in range(1, 5):
            before = (k - 1) * powers[k - 2] if k > 1 else arb(0)
            powers.append(sum((end ** (k - 1) * density for end, density in ends), before))
        log = tilt * (1 + arb(tilt)) * self.mu**2 / 2 + mass.log() - self.kept.log()
        return PartShape(log, self.mu**2 * (arb(tilt) + arb(0.5)), *central(powers, self.mu))

    def cf_decay(self, tilt: float) -> NormalDecay:
        a, b = self._real_ends(tilt)
        mass = normal_between(a, b).real
        nearest = arb(0)
        if a is not None:
            nearest = nearest.max(a.real)
        if b is not None:
            nearest = nearest.min(b.real)
        inside = (a is None or a.real < 0) and (b is None or b.real > 0)
        ends = [abs(end.real) for end in (a, b) if end is not None]
        tails = tuple((normal_tail(end) / mass, normal_density(end) / mass) for end in ends) if inside else None
        return NormalDecay(self.mu, normal_density(nearest) / mass, 1 / mass, tails)

    def spare_bits(self, tilt: float, time: float) -> int:
        ends = [end.real for end in self._ends(acb(tilt)) if end is not None]
        far = sum((abs(end) for end in ends), 1 + arb(time) * self.mu)
        narrow = bits_of(1 / abs(ends[1] - ends[0])) if len(ends) == 2 else 0
        return 40 + 2 * bits_of(far) + 2 * narrow

    def _real_ends(self, tilt: float) -> tuple[acb | None, acb | None]:
        a, b = (None if end is None else acb(end.real) for end in self._ends(acb(tilt)))
        return a, b

    def _ends(self, z: acb) -> tuple[acb | None, acb | None]:
        """The two ends in units of the tilted normal law; None where they are infinite."""
        centre = self.mu * self.mu * (z + arb(0.5))
        a, b = (None if isinstance(end, float) else (end - centre) / self.mu for end in (self.low, self.high))
        return a, b


@dataclass(frozen=True)
class ExponentialSegment(DensitySegment):
    """Of Laplace noise: what lies between two losses in [-edge, edge], over `kept`."""

    edge: arb
    low: arb
    high: arb
    kept: arb

    @property
    def half(self) -> arb:
        """Half its width."""
        return (self.high - self.low) / 2

    def moment(self, z: acb) -> acb:
        s = z + arb(0.5)
        rising = (s * ((self.high + self.low) / 2) - self.edge / 2).exp()
        return rising * (acb(0, 1) * s * self.half).sinc() * (self.half / (2 * self.kept))

    def shape(self, tilt: float) -> PartShape:
        """By the integral of v^k e^{xv} over [-1, 1], J_k = (e^x - (-1)^k e^-x - k J_(k-1))/x, x = sh."""
        x, middle = (arb(tilt) + arb(0.5)) * self.half, (self.high + self.low) / 2
        values = [(x.exp() - (-x).exp()) / x]
        for k in range(1, 5):
            values.append((x.exp() - (-1) ** k * (-x).exp() - k * values[-1]) / x)
        return PartShape(
            self.moment(acb(tilt)).real.log(), middle, *central([value / values[0] for value in values], self.half)
        )

    def cf_decay(self, tilt: float) -> ExponentialDecay:
        return ExponentialDecay(abs(arb(tilt) + arb(0.5)), abs(self.half))

    def spare_bits(self, tilt: float, time: float) -> int:
        size, least = (abs(arb(tilt)) + time + 1) * self.edge, abs(arb(tilt) + arb(0.5)) * self.half
        return 24 + bits_of(size) + 6 * bits_of(1 / least)


def bits_of(size: arb) -> int:
    """Bits before the point, about; many where that cannot be told."""
    log = float(size.mid().log().mid())
    return math.ceil(max(0.0, log / math.log(2.0))) if math.isfinite(log) else BITS_START


def central(powers: list[arb], unit: arb) -> tuple[arb, arb, arb, arb]:
    """What the mean is beyond the centre, and central moments 2, 3 and 4, of E v^k = powers[k] in this unit."""
    _, m, second, third, fourth = powers
    square, unit_square = m * m, unit * unit
    return (
        m * unit,
        (second - square) * unit_square,
        (third - 3 * m * second + 2 * m * square) * unit * unit_square,
        (fourth - 4 * m * third + 6 * square * second - 3 * square * square) * unit_square * unit_square,
    )


def normal_density(x: arb) -> arb:
    """Of the standard normal law."""
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def normal_tail(x: arb) -> arb:
    """P[N > x]."""
    return (x / arb(2).sqrt()).erfc() / 2


def normal_between(a: acb | None, b: acb | None) -> acb:
    """Phi(b) - Phi(a) at complex points, by the tails that are small; None stands for -inf and inf."""
    root = arb(2).sqrt()
    if a is not None and b is not None:
        if a.real.mid() > 0:
            return ((a / root).erfc() - (b / root).erfc()) / 2
        if b.real.mid() < 0:
            return ((-b / root).erfc() - (-a / root).erfc()) / 2
    if a is not None and b is None and a.real.mid() > 0:
        return (a / root).erfc() / 2
    if b is not None and a is None and b.real.mid() < 0:
        return (-b / root).erfc() / 2
    rest = acb(1)
    if a is not None:
        rest -= (-a / root).erfc() / 2
    if b is not None:
        rest -= (b / root).erfc() / 2
    return rest


NODE_POINTS = 15000  # a node takes 50 to 200 microseconds; where thousands are needed a lattice is as fast
LEAST_VARIANCE = 1e-300
SPARE_STEP = 64  # bits: what is worked out at one precision serves many tilts


class Spread(NamedTuple):
    """K, the mean, and central moments 2 and 4 of a tilted loss."""

    log: arb
    mean: arb
    second: arb
    fourth: arb


@dataclass(frozen=True)
class Losses:
    """atoms: mass under the first law, and loss."""

    atoms: tuple[tuple[arb, arb], ...]
    segment: DensitySegment | None

    def moment(self, z: acb) -> acb:
        """M(z)."""
        value = acb(0) if self.segment is None else self.segment.moment(z)
        return sum((mass * (z * loss).exp() for mass, loss in self.atoms), value)

    def spare_bits(self, tilt: float, time: float) -> int:
        """Bits that M(tilt + i time) loses, about."""
        size = sum((abs(loss) for _, loss in self.atoms), arb(1))
        known = 24 + bits_of((abs(arb(tilt)) + time + 1) * size)
        most = known if self.segment is None else max(known, self.segment.spare_bits(tilt, time))
        return SPARE_STEP * math.ceil(most / SPARE_STEP)

    def spread(self, tilt: float) -> Spread:
        """How the tilted loss lies, atoms and stretch together."""
        none = arb(0)
        parts = [
            PartShape(mass.log() + tilt * loss, loss, none, none, none, none) for mass, loss in self.atoms if mass > 0
        ]
        if self.segment is not None:
            parts.append(self.segment.shape(tilt))
        top = max((part.log.mid() for part in parts), key=float)
        weights = [(part.log - top).exp() for part in parts]
        total = sum(weights, none)
        shares = [(weight / total, part) for weight, part in zip(weights, parts, strict=True)]
        mean = sum((share * (part.centre + part.beyond) for share, part in shares), none)
        second, fourth = none, none
        for share, part in shares:
            d = part.centre + part.beyond - mean
            square = d * d
            second += share * (part.second + square)
            fourth += share * (part.fourth + 4 * d * part.third + 6 * square * part.second + square * square)
        return Spread(top + total.log(), mean, second, fourth)


class Exact(Protocol):
    """What knows all its finite losses."""

    def exact_losses(self) -> Losses:
        """At the working precision."""


@dataclass(frozen=True)
class LossesBallTilted:
    """The tilted loss in balls."""

    pair: Exact
    tilt: float

    @property
    def log_mgf(self) -> arb:
        with working_precision(ctx.prec + self.pair.exact_losses().spare_bits(self.tilt, 0.0)):
            return self.pair.exact_losses().moment(acb(self.tilt)).real.log()

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        reach = float((arb(step) * nodes).mid())
        with working_precision(ctx.prec + self.pair.exact_losses().spare_bits(self.tilt, reach)):
            losses = self.pair.exact_losses()
            whole = losses.moment(acb(self.tilt)).real
            return [losses.moment(acb(self.tilt, arb(step) * index)) / whole for index in range(nodes)]


@dataclass(frozen=True)
class LossesDecay:
    """share: that of the stretch. early: how the whole loss falls at small times, where that is known."""

    share: arb
    fall: SegmentDecay
    early: Early | None
    bits: int

    def log_bound(self, radius: float) -> float:
        with working_precision(self.bits):
            value = self._log_by_fall(arb(radius))
            if self.early is not None:
                gone, later = self.early.until(arb(radius))
                value = value.min(self._log_by_fall(later).max((-gone).log1p() / 2))
            return min(0.0, upper_float(value))

    def _log_by_fall(self, radius: arb) -> arb:
        return (self.share * (self.fall.beyond(radius) - 1)).log1p()


@dataclass(frozen=True)
class Early:
    """1 - |phi(t)|^2 >= q(t^2), q(x) = V x - W x^2, V the variance and W = E(L - L')^4/24 = (mu_4 + 3 V^2)/12."""

    second: arb
    quarter: arb

    def until(self, radius: arb) -> tuple[arb, arb]:
        """At or below q from the radius on up to a later time: it is concave, so its ends tell."""
        square = radius * radius
        later = (self.second / self.quarter - square).lower()
        if not later > square:
            return arb(0), radius
        return self._gone(square).min(self._gone(later)).max(arb(0)), later.sqrt().lower()

    def _gone(self, square: arb) -> arb:
        """q."""
        return square * (self.second - self.quarter * square)


@dataclass(frozen=True)
class LossesCgf(Cgf):
    """K of truncated noise."""

    pair: Exact

    def cumulants(self, tilt: float) -> Cumulants:
        with working_precision(BITS_START):
            spare = self.pair.exact_losses().spare_bits(tilt, 0.0)
        with working_precision(BITS_START + spare):
            log, mean, second, _ = (float(value.mid()) for value in self.pair.exact_losses().spread(tilt))
        if not math.isfinite(log + mean + second):
            raise UnsupportedMechanism("its losses cannot be told apart under this tilt; try engine='lattice'")
        return Cumulants(log, mean, max(second, LEAST_VARIANCE))

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return NODE_POINTS

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> PowerTilted:

        law = LossesBallTilted(self.pair, tilt)
        with working_precision(BITS_START):
            return PowerTilted(enclosed([law.log_mgf])[0], exact(self.cumulants(tilt).mean), law)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> LossesBallTilted:
        return LossesBallTilted(self.pair, tilt)

    def horizon(self) -> float:
        with working_precision(BITS_START):
            stretch = self.pair.exact_losses().segment
            ends = None if stretch is None else stretch.horizon()
            return math.inf if ends is None else lower_float(ends)

    def ball_cf_decay(self, tilt: float) -> CfDecay:
        with working_precision(BITS_START):
            bits = BITS_START + self.pair.exact_losses().spare_bits(tilt, 0.0)
        with working_precision(bits):
            losses = self.pair.exact_losses()
            if losses.segment is None:
                return Cgf.ball_cf_decay(self, tilt)
            share = losses.segment.moment(acb(tilt)).real / losses.moment(acb(tilt)).real
            _, _, second, fourth = losses.spread(tilt)
            early = Early(second, (fourth + 3 * second * second) / 12) if losses.segment.horizon() is None else None
            return LossesDecay(share, losses.segment.cf_decay(tilt), early, bits)


def log_moment(losses: Callable[[], Losses], z: acb) -> acb:
    """K(z) by the formula."""
    spare = losses().spare_bits(float(z.real.mid()), abs(float(z.imag.mid())))
    with working_precision(ctx.prec + spare):
        value = losses().moment(z)
        return acb(value.real.log()) if z.imag.is_zero() else complex_log(value)
