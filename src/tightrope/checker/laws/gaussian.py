"""Gaussian noise, and Gaussian noise on a Poisson sample.

The output x has the standard deviation 1, and the mean mu with the record, 0 without it. A record that takes part with
probability r has the likelihood ratio g(x) = 1 - r + r e^{mu x - mu^2/2}, and pi(x) = 1 - (1 - r)/g(x) is the chance
that it took part; both rise with x. n is the standard normal density. Proof: docs/proofs/checker.md, sections 4 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from flint import acb, acb_mat, arb, ctx

from ..law import CheckedLaw, ceiling, exact, precision

SHIFTS = ((Fraction(1, 10), Fraction(3, 10)), (Fraction(7, 20), Fraction(4, 5)))  # any choice is sound
DECAY_BITS = 64
CELLS_PER_UNIT = 32
DECAY_CELLS_MAX = 40_000
MATRIX_MAX = 1_500_000  # for each of two matrices: some seconds, some hundred MB


def above(x: arb) -> arb:
    """The chance that a standard normal number exceeds x."""
    return (x / arb(2).sqrt()).erfc() / 2


def density(x: arb) -> arb:
    """n(x)."""
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def aimed() -> arb:
    """Minus the log of the error that a rule aims at: a choice, and what it comes to is counted."""
    return arb.const_log2() * ctx.prec


@dataclass(frozen=True)
class GaussianLaw(CheckedLaw):
    """The loss is normal with mean mu^2/2 and variance mu^2 under P; square is mu^2."""

    square: Fraction

    def tails(self, x: arb) -> tuple[arb, arb]:
        mu = exact(self.square).sqrt()
        return above(x / mu - mu / 2), above(x / mu + mu / 2)

    def reversed(self) -> GaussianLaw:
        return self

    def moments(self, tilt: arb, step: arb, count: int) -> list[acb]:
        points = [acb(tilt, step * j) for j in range(count)]
        return [(z * (z + 1) * exact(self.square) / 2).exp() for z in points]

    def decay(self, tilt: arb, reach: arb) -> arb:
        return (-exact(self.square) * reach * reach / 2).exp()

    def shifted(self, size: int) -> GaussianLaw:
        return GaussianLaw(self.square * size * size)


class HiddenShiftLaw(CheckedLaw):
    """Gaussian noise whose mean with the record is drawn: moments and decay, by the likelihood ratio g."""

    added: bool

    def tilted(self, tilt: arb) -> TiltedShift:
        """f = n g^a, a = 1 + z (-z for added)."""
        raise NotImplementedError

    def moments(self, tilt: arb, step: arb, count: int) -> list[acb] | None:
        """The trapezoid rule for the integral of f = n g^a, a = 1 + z (-z for added), with all its errors."""
        tilted = self.tilted(tilt)
        wanted = aimed()
        shift = tilted.shift(wanted)
        width = (2 * arb.pi() * shift / (wanted + tilted.growth(shift, step * count))).mid()
        first, last = tilted.ends(wanted)
        size, block = ceiling((last - first) / width) + 1, isqrt(count) + 1
        if size * block > MATRIX_MAX:
            return None
        places = [first + width * j for j in range(size)]
        masses = [tilted.density(x) * width for x in places]
        angles = [tilted.log(x) * (-step if self.added else step) for x in places]
        dropped = tilted.outside(places[0], width) + tilted.outside(places[-1], width)
        gap = (2 * arb.pi() * shift / width).expm1()
        known = 1 - 2 * tilted.growth(shift, arb(0)).exp() / gap
        whole = (sum(masses, arb(0)) + dropped) / known if known > 0 else arb("inf")  # >= integral f
        found = []
        for j, kept in enumerate(_turned(masses, angles, block)[:count]):
            miss = 2 * tilted.growth(shift, step * j).exp() / gap
            error = arb(0, (whole * miss + dropped).upper())
            found.append(kept + acb(error, error))
        return found

    def decay(self, tilt: arb, reach: arb) -> arb:
        """The least bound of a few shifted paths; 1 where none is better."""
        with precision(DECAY_BITS):
            tilted, moments = self.tilted(tilt), self.moments(tilt, arb(0), 1)
            if moments is None:
                return arb(1)
            whole = moments[0].real
            return min((tilted.shifted(reach, whole, *shift) for shift in SHIFTS), key=lambda value: value.mid())


@dataclass(frozen=True)
class SampledGaussianLaw(HiddenShiftLaw):
    """P is (1 - r) N(0, 1) + r N(mu, 1) and Q = N(0, 1), 0 < r < 1; added: the other way round.

    batch: of a fixed size, in which the records of a group are not independent.
    """

    square: Fraction
    rate: Fraction
    added: bool = False
    batch: bool = False

    def reversed(self) -> SampledGaussianLaw:
        return SampledGaussianLaw(self.square, self.rate, not self.added, self.batch)

    def tilted(self, tilt: arb) -> TiltedShift:
        power = -tilt if self.added else 1 + tilt
        return SampledTilted(exact(self.square).sqrt(), power, exact(self.rate))

    def tails(self, x: arb) -> tuple[arb, arb]:
        """l > x where g > e^x, or for added g < e^-x."""
        mu, rate = exact(self.square).sqrt(), exact(self.rate)
        excess = (-x if self.added else x).exp() - 1 + rate  # r (e^{mu cut - mu^2/2}) at the cut
        without, with_it = arb(0), arb(0)  # P and Q of outputs below the cut
        if not excess <= 0:
            cut = ((excess if excess > 0 else excess.upper()) / rate).log() / mu + mu / 2
            without, with_it = above(-cut), above(mu - cut)
        if not (excess > 0 or excess <= 0):  # the cut lies anywhere below
            without, with_it = without.union(arb(0)), with_it.union(arb(0))
        mixed = (1 - rate) * without + rate * with_it
        return (without, mixed) if self.added else (1 - mixed, 1 - without)


def _turned(masses: list[arb], angles: list[arb], block: int) -> list[acb]:
    """sum over k of mass_k e^{i j angle_k} for j < block^2, as a product of two matrices: j = block a + b."""
    size, both = len(masses), list(zip(masses, angles, strict=True))
    if block == 1:
        return [acb(sum(masses, arb(0)))]
    slow = [mass * acb(0, angle * (block * a)).exp() for a in range(block) for mass, angle in both]
    fast = [acb(0, angle * b).exp() for angle in angles for b in range(block)]
    return (acb_mat(block, size, slow) * acb_mat(size, block, fast)).entries()


@dataclass(frozen=True)
class TiltedShift:
    """f = n g^power on the real axis, and what its analytic continuation costs. Its integral is at least 1.

    mu is the largest shift; share(x) is the slope of log g over mu, in [0, 1], and rises.
    """

    mu: arb
    power: arb

    def log(self, x: arb) -> arb:
        """log g(x)."""
        raise NotImplementedError

    def share(self, x: arb) -> arb:
        """The mean of the shift over mu, given x."""
        raise NotImplementedError

    def rotated(self, cell: arb, log: arb, share: arb, y: arb) -> tuple[arb, arb]:
        """log |g(x + iy)/g(x)| and arg g(x + iy) for all x of a cell, 0 <= y <= pi/(2 mu), log g and share there."""
        raise NotImplementedError

    def ends(self, wanted: arb) -> tuple[arb, arb]:
        """Where f is about e^-wanted: a choice."""
        raise NotImplementedError

    def density(self, x: arb) -> arb:
        return density(x) * (self.power * self.log(x)).exp()

    def outside(self, end: arb, width: arb | None = None) -> arb:
        """At least the integral of f outside an end, or its sum over places a width apart times the width.

        log f has the slope -x + power mu pi(x): on the right it falls at least by x - max(power, 0) mu per unit, on
        the left by -x + min(power, 0) mu pi(end).
        """
        pull = self.power.max(arb(0)) if end > 0 else self.power.min(arb(0)) * self.share(end)
        fall = (end - pull * self.mu) * (1 if end > 0 else -1)
        if not fall > 0:
            return arb("inf")
        f = self.density(end)
        return f / fall if width is None else f * width / (fall * width).expm1()

    def shift(self, wanted: arb) -> arb:
        """How far off the axis the error of the rule is read: a choice in (0, pi/mu)."""
        free = 2 * wanted / (1 + (-self.power).max(arb(0)) * self.mu * self.mu / 4)
        return free.sqrt().min(3 / (2 * self.mu)).mid()

    def growth(self, shift: arb, reach: arb) -> arb:
        """At least log of integral |f(x + i shift)|/integral f with the power moved by up to i reach."""
        lost = self.power * (self.mu * shift / 2).cos().log() if self.power < 0 else arb(0)
        return shift * shift / 2 + reach * self.mu * shift + lost

    def shifted(self, reach: arb, whole: arb, fraction: Fraction, eager: Fraction) -> arb:
        """At least |phi(t)| for t >= reach: E[e^U] under f/whole, U what the path x + i y(x) costs and gains."""
        mu = self.mu
        height, pace = exact(fraction) * arb.pi() / mu, exact(eager) * reach * mu
        height = (height.min(reach / (-self.power * mu)) if self.power < 0 else height).mid()
        most = self.growth(height, arb(0)) + (pace * mu * pace * mu / 16).log1p() / 2  # of U anywhere
        left, last = self.ends(arb.const_log2() * DECAY_BITS + most)
        width = (1 / (CELLS_PER_UNIT * (1 + mu))).mid()
        count = ceiling((last - left) / width)
        if count > DECAY_CELLS_MAX:
            return arb(1)
        change, changed, ends = arb(0), arb(0), self.outside(left)
        before = self.share(left), self.log(left)
        for _ in range(count):
            right = (left + width).mid()
            after = self.share(right), self.log(right)
            share, log = before[0].union(after[0]), before[1].union(after[1])
            late = -pace / height * share
            y, slope = -height * late.expm1(), pace * mu * share * (1 - share) * late.exp()
            modulus, turn = self.rotated(left.union(right), log, share, y)
            gain = y * y / 2 + (slope * slope).log1p() / 2 + self.power * modulus - reach * turn
            mass = density(left.union(right)) * (self.power * log).exp() * (right - left)
            change, changed = change + mass * gain.expm1(), changed + mass * gain.exp()
            left, before = right, after
        ends = (ends + self.outside(left)) * most.exp()
        return (1 + (change + ends) / whole).upper().min(((changed + ends) / whole).upper()).min(arb(1))


@dataclass(frozen=True)
class SampledTilted(TiltedShift):
    """g = 1 - r + r e^{mu x - mu^2/2}."""

    rate: arb

    def log(self, x: arb) -> arb:
        return ((self.mu * (x - self.mu / 2)).expm1() * self.rate).log1p()

    def share(self, x: arb) -> arb:
        """pi(x)."""
        return 1 / (1 + (1 - self.rate) / self.rate * (-self.mu * (x - self.mu / 2)).exp())

    def rotated(self, cell: arb, log: arb, share: arb, y: arb) -> tuple[arb, arb]:
        half = (self.mu * y / 2).sin()
        turn = arb.atan2(share * (self.mu * y).sin(), 1 - share + share * (self.mu * y).cos())
        return (-4 * share * (1 - share) * half * half).log1p() / 2, turn

    def ends(self, wanted: arb) -> tuple[arb, arb]:
        """Where f is about e^-wanted: a choice."""
        if self.power < 0:
            far = (2 * (wanted + self.power * (-self.rate).log1p())).sqrt().mid()
            return -far, far
        right = self.power * self.mu + (2 * (wanted - self.power * self.rate.log())).sqrt()
        return -(2 * wanted).sqrt().mid(), right.mid()
