"""The part of a loss that has a density, along a stretch from `low` to `high`: its moments, tilted or not.

Normal: the loss of Gaussian noise is N(mu^2/2, mu^2) under the first law, so that between two losses
M(z) = e^{z(z+1) mu^2/2} [Phi(b(z)) - Phi(a(z))]/kept, with (loss - mu^2 (z + 1/2))/mu at the two ends.
Exponential: the density e^{(y - e)/2}/4 of Laplace noise gives M(z) = e^{sm - e/2} h sinh(sh)/(sh)/(2 kept),
s = z + 1/2, m the middle and h the half-width. Both hold at every complex z.
Guarantee: exact. Proof: docs/proofs/truncated.md, "Moments".
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from flint import acb, arb

from ...kernels.ball import BITS_START
from .noise import Place
from .segment_decay import ExponentialDecay, NormalDecay, SegmentDecay


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
