"""Logistic shifts in float64: pairs.bounded_loss without atoms, each node rounded from a ball.

Guarantee: exact. Proof: docs/proofs/contour.md, section 9.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...kernels.ball import BITS_START, working_precision
from ..bounded_loss import BoundedLossBallTilted, BoundedLossCgf
from ..node_powers import PowerTilted


@dataclass(frozen=True)
class LogisticCgf(BoundedLossCgf):
    """K of a logistic pair."""

    node_points = 1000  # a node takes about 30 microseconds

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> PowerTilted:
        from ...kernels.enclosure import enclosed, exact

        law = BoundedLossBallTilted(self.pair, tilt)
        with working_precision(BITS_START):
            return PowerTilted(enclosed([law.log_mgf])[0], exact(self.cumulants(tilt).mean), law)
