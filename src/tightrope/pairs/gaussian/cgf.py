"""Gaussian shifts: K(z) = mu^2 (z + z^2)/2 for all complex z.

|phi(t)| = e^{-mu^2 t^2/2} at every tilt c, and the drift is mu^2 (c + 1/2).
Guarantee: exact.
Reference: Balle, Wang 2018, Lemma 6 (the loss is normal).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import acb, arb

from ...facets.cgf import BallTilted, CfDecay, Cgf, Cumulants, Tilted
from ...kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ...kernels.directed import FEW, round_down, round_up
from .pair import GaussianPair

if TYPE_CHECKING:
    from ...kernels.contour_sum import Factor
    from ...kernels.enclosure import Enclosure


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

        from ...kernels.contour_sum import bell

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
        from ...kernels.enclosure import enclosing

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
