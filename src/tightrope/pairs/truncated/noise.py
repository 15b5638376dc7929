"""Symmetric log-concave noise around 0, and around a shift D > 0: what truncated pairs are read from.

Before any truncation the loss l(x) = log(f(x - D) / f(x)) of an output x never falls with x, so that {l > t} is a
half-line {x > c(t)}. Outputs rounded up to whole numbers k have the loss L(k) of the cell (k-1, k]: e^L is an average
of e^l over the cell, so l(k-1) <= L(k) <= l(k), and again {L > t} = {x > c(t)}, with a whole c(t).
Guarantee: masses in float64 to MASS_ERROR, balls exact. Proof: docs/proofs/truncated.md, lemmas 1 and 2.
Reference: Dong, Roth, Su 2021, Prop. A.3 (location families of log-concave noise).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb

from ...errors import UnsupportedMechanism
from ...facets.lattice import ratio_ball
from ...kernels.ball import BITS_START, erfc, floors, working_precision
from ...kernels.enclosure import Enclosure, FloatArray
from ...kernels.normal import normal_tails
from ...kernels.twofold import Twofold, twofold
from ..gaussian.pair import GaussianPair
from ..laplace.pair import LaplacePair

# A place on the line in balls; the two infinities are floats, because infinite balls forget their sign.
Place = arb | float

# Relative error of a mass in float64 where it is above 1e-300: normal tails cancel by a factor of 5 at most.
MASS_ERROR = 4e-14


class ShiftedNoise(ABC):
    """Noise around 0 (the second law of the pair) and around `shift` (the first)."""

    shift: Fraction
    whole: bool

    @abstractmethod
    def masses(self, start: Twofold, stop: Twofold) -> FloatArray:
        """P[start < noise <= stop] for start <= stop, which may be infinite."""

    @abstractmethod
    def crossing(self, t: Twofold) -> Twofold:
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
    def ball_power_mass(self, order: arb, start: Place, stop: Place) -> arb:
        """The integral of f(x - D)^(order + 1) f(x)^(-order) from start to stop."""

    @abstractmethod
    def profile(self, epsilon: Enclosure) -> Enclosure:
        """H(e^epsilon) of the shifted noise against the noise, not rounded and not truncated."""

    def sure_crossings(self, t: FloatArray) -> list[Place | None]:
        """c(t) where float64 can tell which one it is and balls would take long; None elsewhere."""
        return [None] * len(t)

    def ball_moved_mass(self, start: Place, stop: Place) -> arb:
        """The mass under the first law, around D."""
        return self.ball_mass(moved(start, -self.ball_shift), moved(stop, -self.ball_shift))

    def rho(self) -> arb | None:
        """K(c) <= c (c + 1) rho of the noise against the shifted noise, where its loss is unbounded."""
        return None

    @property
    def ball_shift(self) -> arb:
        """D as a ball."""
        return ratio_ball(self.shift)


@dataclass(frozen=True)
class GaussianNoise(ShiftedNoise):
    """l(x) = D (2x - D) / (2 sigma^2)."""

    sigma: float
    shift: Fraction
    whole: bool

    def masses(self, start: Twofold, stop: Twofold) -> FloatArray:
        """A difference of tails where it cannot cancel, Gauss-Legendre around the middle where it could.

        Narrow means width w <= 1 and m w <= 2 for the middle m, in sigmas; with v in [-1, 1] the mass is
        phi(m) (w/2) times the integral of cosh(m w v / 2) e^(-(w v)^2 / 8).
        """
        a, b = start / self.sigma, stop / self.sigma
        with np.errstate(all="ignore"):
            width = np.nan_to_num((b - a).collapse(), nan=0.0, posinf=np.inf)
            middle = (a + b) / 2.0
            reach = np.abs(middle.collapse())
            narrow = (width <= 1.0) & (reach * width <= 2.0)
            a_above, a_below = normal_tails(a)
            b_above, b_below = normal_tails(b)
            right, left = a.hi >= 0.0, b.hi <= 0.0
            wide = np.where(right, a_above - b_above, np.where(left, b_below - a_below, 1.0 - a_below - b_above))
            density = ((middle * middle) * -0.5).exp().collapse() * INVERSE_ROOT_TWO_PI
            total = np.zeros_like(width)
            for node, weight in zip(NODES, WEIGHTS, strict=True):
                total += weight * np.cosh(0.5 * node * reach * width) * np.exp(-0.125 * (node * width) ** 2)
            return np.where(narrow, density * width * total, wide)

    def profile(self, epsilon: Enclosure) -> Enclosure:
        return GaussianPair(((self.sigma, float(self.shift), 1),)).profile(epsilon)

    def crossing(self, t: Twofold) -> Twofold:
        shift = split(self.shift)
        square = twofold(self.sigma) * twofold(self.sigma)
        even = t * square / shift + shift / 2.0
        if not self.whole:
            return even
        far = 40.0 * self.sigma + float(self.shift)  # beyond, both laws are below the smallest double
        before = np.clip(even.floor(), -far, far)
        return twofold(np.where(self._cell_exceeds(np.floor(before), t), np.floor(before), np.floor(before) + 1.0))

    def sure_crossings(self, t: FloatArray) -> list[Place | None]:
        if not self.whole or not self._by_series:
            return [None] * len(t)
        crossing = self.crossing(twofold(t)).hi
        # The true crossing is the one whose two cells have losses on either side of t, with room for rounding.
        margin = 1e-12 * np.abs(t)
        before, after = self._cell_loss(crossing - 1.0).collapse(), self._cell_loss(crossing).collapse()
        sure = (before < t - margin) & (after > t + margin) & (np.abs(crossing) < 40.0 * self.sigma)
        return [arb(float(x)) if known else None for x, known in zip(crossing, sure, strict=True)]

    @property
    def _by_series(self) -> bool:
        return self.sigma >= CELLS_BY_SERIES_FROM and float(self.shift) <= self.sigma**2

    def _cell_exceeds(self, before: FloatArray, t: Twofold) -> np.ndarray:
        """Whether the cell (before, before + 1] has a loss above t."""
        if self._by_series:
            return np.asarray((self._cell_loss(before) - t).collapse() > 0.0)
        place = np.clip(before - self._table_start, 0, len(self._table.hi) - 1).astype(np.int64)
        return np.asarray((self._table[place] - t).collapse() > 0.0)

    def _cell_loss(self, before: FloatArray) -> Twofold:
        """l(m) + log(A(y - D s) / A(y)) for the middle m of the cell, s = sigma^-2, y = m s.

        A(y) is the integral of cosh(y u) e^(-s u^2 / 2) over [0, 1/2]; A(y1) - A(y2) is that of
        2 sinh((y1 + y2) u / 2) sinh((y1 - y2) u / 2) e^(-s u^2 / 2), so the correction, at most 1/(12 sigma^2) of l(m),
        has full relative precision.
        """
        middle, shift = before + 0.5, split(self.shift)
        inverse = 1.0 / (twofold(self.sigma) * twofold(self.sigma))
        main = (twofold(middle) * 2.0 - shift) * shift * inverse / 2.0
        s, size = 1.0 / self.sigma**2, float(self.shift)
        fall, base = np.zeros_like(middle), np.zeros_like(middle)
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            for u in (0.25 * (1.0 + node), 0.25 * (1.0 - node)):
                bump = weight * np.exp(-0.5 * s * u * u)
                fall += bump * 2.0 * np.sinh((2.0 * middle - size) * s * u / 2.0) * np.sinh(size * s * u / 2.0)
                base += bump * np.cosh(middle * s * u)
        return main + np.log1p(-fall / base)

    @property
    def _table_start(self) -> int:
        return -math.ceil(41.0 * self.sigma)

    @cached_property
    def _table(self) -> Twofold:
        """Losses of all cells that either law can see in float64, for a small sigma."""
        cells = range(self._table_start, math.ceil(41.0 * self.sigma) + int(self.shift) + 1)
        if len(cells) > TABLE_MOST:
            raise UnsupportedMechanism(
                f"more than {TABLE_MOST} outputs matter; divide the query, sigma, bounds and sensitivity"
            )
        with working_precision(BITS_START):
            balls = [self._ball_cell_loss(before) for before in cells]
            return from_balls(balls)

    def ball_mass(self, start: Place, stop: Place) -> arb:
        if start == math.inf or stop == -math.inf:
            return arb(0)
        unit = arb(self.sigma) * arb(2).sqrt()
        if isinstance(stop, float):
            return arb(1) if isinstance(start, float) else erfc(start / unit) / 2
        if isinstance(start, float):
            return erfc(-stop / unit) / 2 if stop < 0 else 1 - erfc(stop / unit) / 2
        a, b = start / unit, stop / unit
        if a > 0:
            return (erfc(a) - erfc(b)) / 2
        if b < 0:
            return (erfc(-b) - erfc(-a)) / 2
        return (b.erf() - a.erf()) / 2

    def ball_crossings(self, t: arb) -> list[Place]:
        even = t * arb(self.sigma) ** 2 / self.ball_shift + self.ball_shift / 2
        if not self.whole:
            return [even]
        found: list[Place] = []
        for before in floors(even):
            loss = self._ball_cell_loss(before)
            if not loss <= t:
                found.append(arb(before))
            if not loss > t:
                found.append(arb(before + 1))
        return found or [(even - 1).union(even + 1)]

    def _ball_cell_loss(self, before: int) -> arb:
        # Neighbouring erfc agree in about log2(x / sigma^2) bits more than their size tells.
        with working_precision(BITS_START + 64 + 4 * max(abs(before).bit_length(), 1)):
            start, stop = arb(before), arb(before + 1)
            return (self.ball_moved_mass(start, stop) / self.ball_mass(start, stop)).log()

    def ball_loss_at(self, x: Place) -> arb:
        if isinstance(x, float):
            return arb.pos_inf() if x > 0 else arb.neg_inf()
        shift = self.ball_shift
        return shift * (2 * x - shift) / (2 * arb(self.sigma) ** 2)

    def ball_power_mass(self, order: arb, start: Place, stop: Place) -> arb:
        """Again a Gaussian, around (order + 1) D."""
        shift = self.ball_shift
        centre = -(order + 1) * shift
        return (order * (order + 1) * self.rho()).exp() * self.ball_mass(moved(start, centre), moved(stop, centre))

    def rho(self) -> arb:
        return (self.ball_shift / arb(self.sigma)) ** 2 / 2


@dataclass(frozen=True)
class LaplaceNoise(ShiftedNoise):
    """l(x) = (2x - D) / scale from 0 to D, constant beyond; the cell (k-1, k] there has (2k - 1 - D) / scale."""

    scale: float
    shift: Fraction
    whole: bool

    def masses(self, start: Twofold, stop: Twofold) -> FloatArray:
        a, b = start / self.scale, stop / self.scale
        with np.errstate(all="ignore"):
            gap = b - a
            share = -np.where(np.isnan(gap.hi), 0.0, (-gap).expm1().collapse())
            right, left = a.hi >= 0.0, b.hi <= 0.0
            near = Twofold(
                np.where(right, -a.hi, np.minimum(b.hi, 0.0)), np.where(right, -a.lo, np.where(left, b.lo, 0.0))
            )
            beside = near.exp().collapse() * share / 2.0
            across = -((-b).expm1().collapse() + a.expm1().collapse()) / 2.0
            return np.where(right | left, beside, across)

    def profile(self, epsilon: Enclosure) -> Enclosure:
        return LaplacePair(self.scale, float(self.shift)).profile(epsilon)

    def crossing(self, t: Twofold) -> Twofold:
        shift = split(self.shift)
        edge = shift / self.scale
        with np.errstate(all="ignore"):
            over, under = (t - edge).collapse() >= 0.0, (t + edge).collapse() < 0.0
            even = (t * self.scale + shift) / 2.0
            if self.whole:
                even = twofold(np.clip((even + 0.5).floor(), 0.0, float(self.shift)))
            hi = np.where(over, np.inf, np.where(under, -np.inf, even.hi))
            return Twofold(hi, np.where(over | under, 0.0, even.lo))

    def ball_mass(self, start: Place, stop: Place) -> arb:
        """The smaller tails on either side of 0, subtracted on one side and added up across."""
        before, after = self._ball_beyond(start), self._ball_beyond(stop)
        if start >= 0:
            return before - after
        if stop <= 0:
            return after - before
        if start <= 0 and stop >= 0:
            return 1 - before - after
        return self._ball_below(stop) - self._ball_below(start)

    def _ball_beyond(self, x: Place) -> arb:
        """The mass beyond a place, on its side of 0."""
        return arb(0) if isinstance(x, float) else (-abs(x / arb(self.scale))).exp() / 2

    def _ball_below(self, x: Place) -> arb:
        if isinstance(x, float):
            return arb(1) if x > 0 else arb(0)
        z = x / arb(self.scale)
        return z.min(arb(0)).exp() / 2 + (1 - (-z.max(arb(0))).exp()) / 2

    def ball_crossings(self, t: arb) -> list[Place]:
        edge, shift = self.ball_shift / arb(self.scale), self.ball_shift
        found: list[Place] = [] if t >= -edge else [-math.inf]
        if not t < edge:
            found.append(math.inf)
        if t >= edge or t < -edge:
            return found
        even = ((t * arb(self.scale) + shift) / 2).max(arb(0)).min(shift)
        if not self.whole:
            return [*found, even]
        cells = floors((t * arb(self.scale) + shift + 1) / 2)
        return found + ([arb(min(max(k, 0), int(self.shift))) for k in cells] or [arb(0).union(shift)])

    def ball_loss_at(self, x: Place) -> arb:
        shift = self.ball_shift
        if isinstance(x, float):
            return (shift if x > 0 else -shift) / arb(self.scale)
        return (2 * x - shift).max(-shift).min(shift) / arb(self.scale)

    def ball_power_mass(self, order: arb, start: Place, stop: Place) -> arb:
        """e^(order l) times the first law: constant loss on both sides, e^((2 order + 1) x / scale) between."""
        shift, scale = self.ball_shift, arb(self.scale)
        edge, zero = shift / scale, arb(0)
        left = self.ball_moved_mass(within(start, -math.inf, zero), within(stop, -math.inf, zero))
        right = self.ball_moved_mass(within(start, shift, math.inf), within(stop, shift, math.inf))
        rate = (2 * order + 1) / scale
        first, last = within(start, zero, shift), within(stop, zero, shift)
        middle = (-(order + 1) * edge).exp() * ((rate * last).exp() - (rate * first).exp()) / (2 * (2 * order + 1))
        return (-order * edge).exp() * left + middle + (order * edge).exp() * right


TABLE_MOST = 100_000
CELLS_BY_SERIES_FROM = 16.0
INVERSE_ROOT_TWO_PI = 0.3989422804014327
# Gauss-Legendre with 14 nodes on [-1, 1], the positive half: below 1e-17 relative on every use here.
_LEGENDRE = np.polynomial.legendre.leggauss(14)
NODES: tuple[float, ...] = tuple(float(node) for node in _LEGENDRE[0][7:])
WEIGHTS: tuple[float, ...] = tuple(float(weight) for weight in _LEGENDRE[1][7:])


def moved(x: Place, step: arb) -> Place:
    """x + step."""
    return x if isinstance(x, float) else x + step


def within(x: Place, low: Place, high: Place) -> Place:
    """x confined to [low, high], of which at most one is infinite on the side where x is too."""
    if isinstance(x, float):
        return low if x < 0 else high
    x = x if isinstance(low, float) else x.max(low)
    return x if isinstance(high, float) else x.min(high)


def split(number: Fraction) -> Twofold:
    """The two doubles nearest to an exact number."""
    high = float(number)
    return Twofold(np.asarray(high), np.asarray(float(number - Fraction(high))))


def from_balls(balls: list[arb]) -> Twofold:
    """Heads and tails of narrow balls."""
    high = np.array([float(ball.mid()) for ball in balls])
    low = np.array([float((ball - head).mid()) for ball, head in zip(balls, high, strict=True)])
    return Twofold(high, low)
