"""K(z) = -z log r - log(1 - zD)/2, D = r^2 - 1, for Re z on the side of 0 of the pole 1/D.

Tilted by e^{cl} the loss is -log r + bX, X a gamma variable of shape 1/2, b = D/(1 - cD): mean b/2 - log r, variance
b^2/2, and with the drift m = b/2 - log r = (D - log(1 + D) + c D b)/2
log phi(t) e^{-itm} = -log(1 + x^2)/4 + i (atan x - x)/2, x = bt. The modulus falls with t, like |t|^(-1/2).
Guarantee: exact. Proof: docs/proofs/gaussian_variance.md, section 6.
Reference: Zhu, Dong, Wang 2021, Sec. 4 (characteristic functions).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from flint import acb, arb, ctx

from ...errors import UnsupportedMechanism
from ...facets.cgf import Cgf, Cumulants, beyond_pole
from ...kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ...kernels.directed import FEW, round_down
from .pair import CONSTANT_BITS, GaussianVariancePair

if TYPE_CHECKING:
    from ...kernels.contour_sum import Factor
    from ...kernels.enclosure import Enclosure, FloatArray

GAMMA_POINTS = 8  # of a sum that take as long as one node
SMALL_TURN = 0.3  # |x| up to which atan x - x is a series
SERIES_TERMS = 17  # of it: 0.09^17 is below 1e-17
TURN_ROUNDINGS = 64.0  # of a phase and of a modulus, more than there are


class Slope(NamedTuple):
    """Of the tilted loss, at the working precision."""

    log_mgf: arb
    drift: arb
    scale: arb  # b


def slope_at(pair: GaussianVariancePair, tilt: float) -> Slope:
    """Raises UnsupportedMechanism from the pole on."""
    with working_precision(ctx.prec + CONSTANT_BITS):  # both cancel where the deviations are close
        growth, log, c = pair.ratio.ball_growth(), pair.ratio.ball_log(), arb(tilt)
        left = 1 - c * growth
        if not left > 0:
            raise UnsupportedMechanism(f"its moment of order {tilt!r} is infinite")
        scale = growth / left
        return Slope(-c * log - left.log() / 2, scale / 2 - log, scale)


@dataclass(frozen=True)
class GaussianVarianceTilted:
    """A shifted gamma variable in float64."""

    log_mgf: Enclosure
    drift: Enclosure
    scale: Enclosure

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        import numpy as np

        from ...kernels.contour_sum import Factor
        from ...kernels.ulps import UNIT

        uses, x = float(count), float(self.scale.value) * (step * np.arange(nodes, dtype=np.float64))
        square = x * x
        log, turn = np.log1p(square), _turn(x, square)
        # x is off by a share e of itself: log is by 2e square/(1 + square), the turn by e |x| square/(1 + square).
        share = 4.0 * UNIT + 1.01 * float(self.scale.radius) / abs(float(self.scale.value))
        settled = square / (1.0 + square)
        off_log = TURN_ROUNDINGS * UNIT * log + 2.02 * share * settled
        reached = np.where(abs(x) < SMALL_TURN, abs(turn), abs(x) + 2.0)
        off_turn = TURN_ROUNDINGS * UNIT * reached + 1.01 * share * abs(x) * settled
        rounding = uses * (off_log + off_turn) + 1e-300
        modulus = -0.25 * uses * log
        return Factor(modulus, 0.5 * uses * turn, modulus + rounding, np.zeros_like(x), rounding)


def _turn(x: FloatArray, square: FloatArray) -> FloatArray:
    """atan x - x."""
    import numpy as np

    series = np.zeros_like(x)
    for n in range(SERIES_TERMS, 0, -1):
        series = 1.0 / (2 * n + 1) - square * series
    return np.where(abs(x) < SMALL_TURN, -x * square * series, np.arctan2(x, 1.0) - x)


@dataclass(frozen=True)
class GaussianVarianceBallTilted:
    """The same in balls."""

    pair: GaussianVariancePair
    tilt: float

    @property
    def log_mgf(self) -> arb:
        return slope_at(self.pair, self.tilt).log_mgf

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        scale, log = slope_at(self.pair, self.tilt).scale, self.pair.ratio.ball_log()
        times = [arb(step) * index for index in range(nodes)]
        return [acb(0, -t * log).exp() * acb(1, -t * scale).rsqrt() for t in times]


@dataclass(frozen=True)
class GaussianVarianceDecay:
    """The modulus itself: it falls with t."""

    least_scale: float

    def log_bound(self, radius: float) -> float:
        x = self.least_scale * radius
        return round_down(-0.25 * math.log1p(round_down(x * x, FEW)), FEW)


@dataclass(frozen=True)
class GaussianVarianceBallDecay:
    """The same in balls."""

    scale: arb

    def log_bound(self, radius: float) -> float:
        with working_precision(BITS_START):
            return upper_float(-((self.scale * arb(radius)) ** 2).log1p() / 4)


@dataclass(frozen=True)
class GaussianVarianceCgf(Cgf):
    """K of a pair of deviations."""

    pair: GaussianVariancePair

    @cached_property
    def _plain(self) -> tuple[float, float]:
        """D, and D - log(1 + D), about."""
        with working_precision(CONSTANT_BITS):
            growth = self.pair.ratio.ball_growth()
            return float(growth.mid()), float((growth - 2 * self.pair.ratio.ball_log()).mid())

    def cumulants(self, tilt: float) -> Cumulants:
        growth, excess = self._plain
        left = 1.0 - tilt * growth
        if left <= 0.0:
            return beyond_pole(tilt, 1.0 / growth)
        scale = growth / left
        value = 0.5 * (tilt * excess + _above_log(-tilt * growth))
        return Cumulants(value, 0.5 * (excess + tilt * growth * scale), 0.5 * scale * scale)

    def log_mgf_above(self, tilt: float) -> float:
        with working_precision(BITS_START):
            try:
                return upper_float(slope_at(self.pair, tilt).log_mgf)
            except UnsupportedMechanism:
                return math.inf

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return GAMMA_POINTS

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> GaussianVarianceTilted:
        from ...kernels.enclosure import enclosed

        with working_precision(BITS_START):
            known = enclosed(slope_at(self.pair, tilt))
        return GaussianVarianceTilted(known[0], known[1], known[2])

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> GaussianVarianceBallTilted:
        return GaussianVarianceBallTilted(self.pair, tilt)

    def cf_decay(self, tilt: float) -> GaussianVarianceDecay:
        with working_precision(BITS_START):
            return GaussianVarianceDecay(lower_float(abs(slope_at(self.pair, tilt).scale)))

    def ball_cf_decay(self, tilt: float) -> GaussianVarianceBallDecay:
        with working_precision(BITS_START):
            return GaussianVarianceBallDecay(slope_at(self.pair, tilt).scale)


def _above_log(x: float) -> float:
    """x - log(1 + x), about."""
    if abs(x) < 1e-4:
        return x * x * (0.5 - x / 3.0)
    return x - math.log1p(x)
