"""Laplace noise around 0 and around a shift.

Guarantee: masses in float64 to MASS_ERROR, balls exact. Proof: docs/proofs/truncated.md, lemma 3 and "Tails".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from ...numerics.balls import floors
from ...numerics.double_double import DoubleDouble, double_double
from ...numerics.enclosures import Enclosure, FloatArray
from ..capabilities import mu_of_laplace, rho_of_laplace
from ..laplace import LaplacePair
from .segments import End, ExponentialSegment, Losses, Place, ShiftedNoise, split, within


@dataclass(frozen=True)
class LaplaceNoise(ShiftedNoise):
    """l(x) = (2x - D) / scale from 0 to D, constant beyond; the cell (k-1, k] there has (2k - 1 - D) / scale."""

    scale: float
    shift: Fraction
    whole: bool

    def moving(self, shift: Fraction) -> LaplaceNoise:
        return LaplaceNoise(self.scale, shift, self.whole)

    def masses(self, start: DoubleDouble, stop: DoubleDouble) -> FloatArray:
        a, b = start / self.scale, stop / self.scale
        with np.errstate(all="ignore"):
            gap = b - a
            share = -np.where(np.isnan(gap.hi), 0.0, (-gap).expm1().collapse())
            right, left = a.hi >= 0.0, b.hi <= 0.0
            near = DoubleDouble(
                np.where(right, -a.hi, np.minimum(b.hi, 0.0)), np.where(right, -a.lo, np.where(left, b.lo, 0.0))
            )
            beside = near.exp().collapse() * share / 2.0
            across = -((-b).expm1().collapse() + a.expm1().collapse()) / 2.0
            return np.where(right | left, beside, across)

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        return LaplacePair(self.scale, float(self.shift)).hockey_stick(epsilon)

    def crossing(self, t: DoubleDouble) -> DoubleDouble:
        shift = split(self.shift)
        edge = shift / self.scale
        with np.errstate(all="ignore"):
            over, under = (t - edge).collapse() >= 0.0, (t + edge).collapse() < 0.0
            even = (t * self.scale + shift) / 2.0
            if self.whole:
                even = double_double(np.clip((even + 0.5).floor(), 0.0, float(self.shift)))
            hi = np.where(over, np.inf, np.where(under, -np.inf, even.hi))
            return DoubleDouble(hi, np.where(over | under, 0.0, even.lo))

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

    def ball_losses(self, start: Place, stop: Place, kept: arb) -> Losses:
        """An atom on each side, where the loss is constant, and a stretch from 0 to D."""
        shift, edge, zero = self.ball_shift, self.ball_size(), arb(0)
        beside = (
            (within(start, -math.inf, zero), within(stop, -math.inf, zero), -edge),
            (within(start, shift, math.inf), within(stop, shift, math.inf), edge),
        )
        atoms = [(self.ball_moved_mass(first, last) / kept, loss) for first, last, loss in beside if not first >= last]
        first, last = within(start, zero, shift), within(stop, zero, shift)
        if first >= last:
            return Losses(tuple(atoms), None)
        low, high = self.ball_loss_at(first), self.ball_loss_at(last)
        return Losses(tuple(atoms), ExponentialSegment(edge, low, high, kept))

    def count_corners(self, first: Fraction | None, last: Fraction | None) -> float:
        return float(self.shift)

    def corners(self, first: End, last: End) -> list[Fraction]:
        """From 0 to D: the loss is constant beyond."""
        return [Fraction(k) for k in range(int(max(first, 0)), int(min(last, self.shift)) + 1)]

    def cell_loss(self, start: End, stop: End) -> Fraction | None:
        if stop <= 0 or start >= self.shift:
            return (self.shift if stop > 0 else -self.shift) / Fraction(self.scale)
        if isinstance(start, float) or isinstance(stop, float) or start < 0 or stop > self.shift or stop - start != 1:
            return None
        return (start + stop - self.shift) / Fraction(self.scale)

    def ball_size(self) -> arb:
        return self.ball_shift / arb(self.scale)

    def zcdp_rho(self) -> arb:
        return rho_of_laplace(self.ball_size())

    def gdp_mu(self) -> arb:
        return mu_of_laplace(self.ball_size())
