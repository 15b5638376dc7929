"""Laplace shifts in float64: pairs.bounded_loss with both atoms, where a node is a formula.

With q and D as there and s' = s + it
phi(t) e^{-ite} - 1 = (1 - q)/D (1/(2 s') - 1/(2 s)) + q/D (e^{-2ite} - 1) (1 - 1/(2 s')): nothing cancels.
Guarantee: exact. Proof: docs/proofs/contour.md, section 14.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import Refusal, UnsupportedMechanism
from ...kernels.ball import BITS_START, working_precision
from ...kernels.directed import THOUSANDS, round_up
from ..bounded_loss import BoundedLossBallTilted, BoundedLossCgf

if TYPE_CHECKING:
    from ...kernels.contour_sum import Factor
    from ...kernels.enclosure import Enclosure
    from ...kernels.quadrature import Transform

ROUNDINGS = 64.0  # of each of the two parts of a node, more than there are


@dataclass(frozen=True)
class LaplaceTilted:
    """A Laplace loss in float64, its drift the edge."""

    log_mgf: Enclosure
    drift: Enclosure
    law: BoundedLossBallTilted

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        from ...kernels.contour_sum import power

        return power(self.transform(step, nodes), float(count))

    def transform(self, step: float, nodes: int) -> Transform:
        """phi(t) e^{-ite} - 1 at t = 0, step, ..., (nodes - 1) step."""
        import numpy as np

        from ...kernels.enclosure import enclosed
        from ...kernels.quadrature import Transform
        from ...kernels.ulps import ANGLE_MAX, UNIT

        t, edge, s = step * np.arange(nodes, dtype=np.float64), self.drift, self.law.tilt + 0.5
        if not float(t[-1]) * float(edge.upper) < ANGLE_MAX:
            raise UnsupportedMechanism("its angles are too large for float64; try proof", Refusal.NEEDS_BALLS)
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
        rounding = ROUNDINGS * UNIT * (between.value * slipped + below.value * turned) + round_up(known, THOUSANDS)
        return Transform(deviation, np.zeros_like(t), rounding + 1e-300)


@dataclass(frozen=True)
class LaplaceCgf(BoundedLossCgf):
    """K of a Laplace pair."""

    node_points = 10

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> LaplaceTilted:
        from ...kernels.enclosure import enclosed

        law = BoundedLossBallTilted(self.pair, tilt)
        with working_precision(BITS_START):
            known = enclosed([law.log_mgf, self.pair.ball_edge()])
        return LaplaceTilted(known[0], known[1], law)
