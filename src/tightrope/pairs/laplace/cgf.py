"""Laplace shifts: M(z) = e^{-e/2} (cosh(e s) + sinh(e s)/(2 s)), s = z + 1/2, for all complex z.

Two atoms and a density that grows like e^{s x} between them. With q = e^{-2es} at s = c + 1/2 and D = 1 + q +
(1 - q)/(2s), their tilted masses are 1/D at e, q/D at -e and (1 - q)/(2 s D) between, and with s' = s + it
phi(t) e^{-ite} - 1 = (1 - q)/D (1/(2 s') - 1/(2 s)) + q/D (e^{-2ite} - 1) (1 - 1/(2 s')): nothing cancels.
|phi| falls to what the two atoms weigh together.
Guarantee: exact, upper for decay. Proof: docs/proofs/contour.md, section 14.
Reference: Zhu, Dong, Wang 2021, Table 3 (Laplace).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import acb, arb

from ...errors import Refusal, UnsupportedMechanism
from ...facets.cgf import BallTilted, Cgf, Cumulants, Decay, Tilted
from ...kernels.ball import BITS_START, upper_float, working_precision
from ...kernels.directed import THOUSANDS, raised
from ...kernels.sinhc import log_fall, log_sinhc
from .pair import LaplacePair

if TYPE_CHECKING:
    from ...kernels.contour_sum import Factor
    from ...kernels.enclosure import Enclosure
    from ...kernels.quadrature import Transform

NODE_POINTS = 10  # points of a sum that take as long as one node in balls
ROUNDINGS = 64.0  # of each of the two parts of a node, more than there are


@dataclass(frozen=True)
class LaplaceBallTilted(BallTilted):
    """A Laplace loss in balls."""

    pair: LaplacePair
    tilt: float

    @property
    def log_mgf(self) -> arb:
        return self.pair.log_moment(acb(self.tilt)).real

    @property
    def growth(self) -> arb:
        """s."""
        return arb(self.tilt) + arb(0.5)

    def shares(self) -> tuple[arb, arb]:
        """(1 - q)/D and q/D."""
        s = self.growth
        fallen = -2 * self.pair.ball_edge() * s
        q, rest = fallen.exp(), -fallen.expm1()
        total = 1 + q + rest / (2 * s)
        return rest / total, q / total

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        edge, values = self.pair.ball_edge(), []
        for index in range(nodes):
            s = acb(self.growth, arb(step) * index)
            sinh, cosh = (edge * s).sinh_cosh()
            values.append(cosh + sinh / (2 * s))
        return [value / values[0].real for value in values]


@dataclass(frozen=True)
class LaplaceTilted(Tilted):
    """A Laplace loss in float64, its drift the edge."""

    law: LaplaceBallTilted

    @property
    def log_mgf(self) -> Enclosure:
        from ...kernels.enclosure import enclosed

        with working_precision(BITS_START):
            return enclosed([self.law.log_mgf])[0]

    @property
    def drift(self) -> Enclosure:
        from ...kernels.enclosure import enclosed

        with working_precision(BITS_START):
            return enclosed([self.law.pair.ball_edge()])[0]

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        from ...kernels.contour_sum import power

        return power(self.transform(step, nodes), float(count))

    def transform(self, step: float, nodes: int) -> Transform:
        """phi(t) e^{-ite} - 1 at t = 0, step, ..., (nodes - 1) step."""
        import numpy as np

        from ...kernels.enclosure import enclosed
        from ...kernels.quadrature import Transform
        from ...kernels.ulps import ANGLE_MOST, UNIT

        t, edge, s = step * np.arange(nodes, dtype=np.float64), self.drift, self.law.tilt + 0.5
        if not float(t[-1]) * float(edge.upper) < ANGLE_MOST:
            raise UnsupportedMechanism(
                "this composition", "its angles are too large for float64; try proof", Refusal.NEEDS_BALLS
            )
        with working_precision(BITS_START):
            shares = enclosed(self.law.shares())
        between, below, square = shares[0], shares[1], s * s + t * t
        half = float(edge.value) * t
        turn = -2.0 * np.sin(half) * (np.sin(half) + 1j * np.cos(half))  # e^{-2ite} - 1
        lean = (s * self.law.tilt + t * t) / square + 0.5j * t / square  # 1 - 1/(2 s')
        slip = -0.5 * t / square * (t / s + 1j)  # 1/(2 s') - 1/(2 s)
        deviation = between.value * slip + below.value * (turn * lean)
        slipped, leaned = abs(slip), (s * abs(self.law.tilt) + t * t + 0.5 * t) / square
        turned = leaned * np.minimum(2.0 * half, 2.0)
        known = between.radius * slipped + below.radius * turned
        known += 2.0 * t * leaned * below.value * (edge.radius + UNIT * edge.value)
        rounding = ROUNDINGS * UNIT * (between.value * slipped + below.value * turned) + raised(known, THOUSANDS)
        return Transform(deviation, np.zeros_like(t), rounding + 1e-300)


@dataclass(frozen=True)
class LaplaceDecay:
    """What the atoms weigh, and how the transform of what lies between falls."""

    law: LaplaceBallTilted

    def log_bound(self, radius: float) -> float:
        with working_precision(BITS_START):
            edge, s = self.law.pair.ball_edge(), self.law.growth
            fall = log_fall(edge * s, edge * arb(radius))
            return min(0.0, upper_float((self.law.shares()[0] / (2 * s) * fall.expm1()).log1p()))


@dataclass(frozen=True)
class LaplaceCgf(Cgf):
    """K of a Laplace pair."""

    pair: LaplacePair

    def cumulants(self, tilt: float) -> Cumulants:
        edge, s = self.pair.sensitivity / self.pair.scale, tilt + 0.5
        rest = -math.expm1(-2.0 * edge * s)
        total = 2.0 - rest + 0.5 * rest / s
        _, slope, curve = log_sinhc(edge * s)
        parts = [(1.0 / total, edge, 0.0), ((1.0 - rest) / total, -edge, 0.0)]
        parts.append((0.5 * rest / s / total, edge * slope, edge * edge * curve))
        mean = sum(mass * place for mass, place, _ in parts)
        variance = sum(mass * ((place - mean) ** 2 + own) for mass, place, own in parts)
        return Cumulants(tilt * edge + math.log(0.5 * total), mean, variance)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return NODE_POINTS

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> Tilted:
        return LaplaceTilted(LaplaceBallTilted(self.pair, tilt))

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        return LaplaceBallTilted(self.pair, tilt)

    def ball_decay(self, tilt: float) -> Decay:
        return LaplaceDecay(LaplaceBallTilted(self.pair, tilt))
