"""Discrete Gaussians: K(c) = D^2 c (1 + c)/(2 s^2) + log T(m, 0)/T(0, 0), m = D (1 + c), T of theta.

Under the tilt e^{c l} the output x has the weights e^{-(x-m)^2/(2 s^2)}, and the loss is (D/s^2)(x - D/2); so
phi(t) = e^{i t d} T(m, theta)/T(m, 0) with theta = t D/s^2 and the drift d = (D/s^2)(m - D/2).
|phi| has the period 2 pi s^2/D. Within half of it |phi(t)| <= T(0, theta)/T(m, 0), which falls.
Guarantee: exact. Proof: docs/proofs/contour.md, section 13.
Reference: Canonne, Kamath, Steinke 2020, Def. 1 and Thm 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from flint import acb, arb

from ...facets.cgf import BallTilted, CfDecay, Cumulants, LatticeCgf, Tilted, point_cumulants
from ...facets.lattice import Lattice, ratio_ball
from ...kernels.ball import BITS_START, upper_float, working_precision
from .pair import DiscreteGaussianPair
from .theta import DUAL_MIN, theta_ball

if TYPE_CHECKING:
    from ...kernels.contour_sum import Factor
    from ...kernels.enclosure import Enclosure
    from ...kernels.quadrature import TiltedLaw

THETA_POINTS = 24  # points of a sum that take as long as one theta function in balls


@dataclass(frozen=True)
class Centred:
    """The tilted outputs around the whole number next to their centre, at the working precision: a tilted loss."""

    pair: DiscreteGaussianPair
    tilt: float

    @cached_property
    def centre(self) -> Fraction:
        """m."""
        return self.pair.sensitivity * (1 + Fraction(self.tilt))

    @property
    def nearest(self) -> int:
        """The whole number next to m."""
        return round(self.centre)

    @property
    def place(self) -> Fraction:
        """m less that number."""
        return self.centre - self.nearest

    @property
    def half(self) -> Fraction:
        """D/2."""
        return Fraction(self.pair.sensitivity, 2)

    @property
    def variance(self) -> arb:
        """s^2."""
        return arb(self.pair.sigma) ** 2

    @property
    def step(self) -> arb:
        """D/s^2."""
        return self.pair.sensitivity / self.variance

    def total(self) -> arb:
        """T(m, 0)."""
        return theta_ball(self.variance, ratio_ball(self.place), arb(0)).real

    @property
    def log_mgf(self) -> arb:
        return self.pair.moments().log_moment(acb(self.tilt)).real

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        place, lead, total = ratio_ball(self.place), ratio_ball(self.nearest - self.half), self.total()
        angles = [self.step * step * index for index in range(nodes)]
        return [theta_ball(self.variance, place, angle) / total * acb(0, angle * lead).exp() for angle in angles]


@dataclass(frozen=True)
class ThetaTilted:
    """A large sigma in float64: a normal transform, its neighbours two periods off."""

    log_mgf: Enclosure
    drift: Enclosure
    at: Centred

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        import numpy as np

        from ...kernels.enclosure import enclosed
        from .theta import theta_factor

        with working_precision(BITS_START):
            variance, width = enclosed([self.at.variance])[0], float(self.at.step.mid())
        return theta_factor(variance, self.at.place, width * (step * np.arange(nodes, dtype=np.float64)), count)


@dataclass(frozen=True)
class ThetaDecay:
    """T(0, theta)/T(m, 0), or from two neighbouring outputs sqrt(1 - 4 u sin^2(theta/2)), up to half a period."""

    at: Centred

    def log_bound(self, radius: float) -> float:
        with working_precision(BITS_START):
            at, total = self.at, self.at.total()
            angle = (at.step * arb(radius)).min(arb.pi())
            bound = upper_float((theta_ball(at.variance, arb(0), angle).real / total).log())
            place = ratio_ball(at.place)
            weights = [(-((x - place) ** 2) / (2 * at.variance)).exp() for x in range(-2, 3)]
            shared = sum((one * other for one, other in pairwise(weights)), arb(0))
            inner = -4 * shared / (total * total) * (angle / 2).sin() ** 2
            return min(0.0, bound, upper_float(inner.log1p() / 2))


@dataclass(frozen=True)
class DiscreteGaussianCgf(LatticeCgf):
    """K of a discrete Gaussian pair."""

    pair: DiscreteGaussianPair

    def cumulants(self, tilt: float) -> Cumulants:
        shift, sigma = self.pair.sensitivity, self.pair.sigma
        square = (shift / sigma) ** 2
        if sigma >= DUAL_MIN:
            return Cumulants(0.5 * square * tilt * (1.0 + tilt), square * (tilt + 0.5), square)
        centre = shift * (1.0 + tilt)
        nearest, step = round(centre), shift / sigma**2
        points = [
            (math.exp(((nearest - centre) ** 2 - (x - centre) ** 2) / (2.0 * sigma**2)), x - nearest)
            for x in range(nearest - 12, nearest + 13)
        ]
        tilted = point_cumulants(points, 0.0)
        log = tilted.value - (nearest - centre) ** 2 / (2.0 * sigma**2) - self._log_norm
        mean = step * (tilted.mean + nearest - shift / 2.0)
        return Cumulants(0.5 * square * tilt * (1.0 + tilt) + log, mean, step**2 * tilted.variance)

    @cached_property
    def _log_norm(self) -> float:
        return math.log(math.fsum(math.exp(-(x**2) / (2.0 * self.pair.sigma**2)) for x in range(-12, 13)))

    def log_mgf_above(self, tilt: float) -> float:
        with working_precision(BITS_START):
            return upper_float(Centred(self.pair, tilt).log_mgf)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return THETA_POINTS

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> Tilted:
        from ...kernels.enclosure import enclosed

        at = Centred(self.pair, tilt)
        if self.pair.sigma < DUAL_MIN:
            return _listed(at, log_tolerance)
        with working_precision(BITS_START):
            known = enclosed([at.log_mgf, at.step * ratio_ball(at.centre - at.half)])
        return ThetaTilted(known[0], known[1], at)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        return Centred(self.pair, tilt)

    def own_period_cf_decay(self, tilt: float, own: Lattice) -> CfDecay:
        return ThetaDecay(Centred(self.pair, tilt))


def _listed(at: Centred, log_tolerance: float) -> TiltedLaw:
    """A small sigma in float64: the outputs next to the centre, and how much lies beyond."""
    from ...kernels.contour_kernel import TIME_ERROR
    from ...kernels.enclosure import enclosed
    from ...kernels.quadrature import QuadratureError, TiltedLaw, blurred

    sigma = at.pair.sigma
    reach = math.ceil(math.sqrt(0.25 + 2.0 * sigma**2 * (log_tolerance + 4.0))) + 1
    with working_precision(BITS_START):
        place, variance = ratio_ball(at.place), at.variance
        outputs = range(-reach, reach + 1)
        # Relative to the nearest one, so that none underflows that counts.
        weights = [(-(x * x - 2 * x * place) / (2 * variance)).exp() for x in outputs]
        # At a distance y they are at most e^{-y (y - 1)/(2 s^2)}, and neighbours have a ratio of e^{-y/s^2}.
        dropped = 2 * (-reach * (reach + 1) / (2 * variance)).exp() / -(-(reach + 1) / variance).expm1()
        offsets = enclosed([at.step * x for x in outputs])
        drift = enclosed([at.step * ratio_ball(at.nearest - at.half)])[0]
        log_mgf = enclosed([at.log_mgf])[0]
        law = TiltedLaw(drift, log_mgf, offsets, enclosed(weights), QuadratureError(upper_float(dropped), ()))
    return blurred(law, TIME_ERROR)
