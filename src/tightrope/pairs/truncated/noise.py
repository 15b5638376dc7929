"""Symmetric log-concave noise around 0, and around a shift D > 0: what truncated pairs are read from.

Before any truncation the loss l(x) = log(f(x - D) / f(x)) of an output x never falls with x, so that {l > t} is a
half-line {x > c(t)}. Outputs rounded up to whole numbers k have the loss L(k) of the cell (k-1, k]: e^L is an average
of e^l over the cell, so l(k-1) <= L(k) <= l(k), and again {L > t} = {x > c(t)}, with a whole c(t).
Guarantee: masses in float64 to MASS_ERROR, balls exact. Proof: docs/proofs/truncated.md, lemmas 1 and 2.
Reference: Dong, Roth, Su 2021, Prop. A.3 (location families of log-concave noise).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ...facets.lattice import ratio_ball
from ...kernels.double_double import DoubleDouble
from ...kernels.enclosure import Enclosure, FloatArray

if TYPE_CHECKING:
    from .density_segment import DensitySegment
    from .losses import Losses

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
