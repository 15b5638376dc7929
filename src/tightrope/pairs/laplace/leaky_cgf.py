"""K of Laplace noise or a leak: that of a Laplace pair, moved by m, and times 1 - w where the first side leaks.

K(z) = K_h(z) + m (1 + z), mirrored K_h(z) - m z. Tilted by e^{cl} the loss is the tilted one of edge h, moved, so that
nothing but its drift and the angle of its transform change.
Guarantee: exact. Proof: docs/proofs/stability.md, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import acb, arb

from ...facets.cgf import CfDecay, Cgf, Cumulants
from ...kernels.ball import BITS_START, working_precision
from .cgf import LaplaceCgf

if TYPE_CHECKING:
    from ...kernels.contour_sum import Factor
    from ...kernels.enclosure import Enclosure
    from ..bounded_loss import BoundedLossBallTilted
    from .cgf import LaplaceTilted
    from .leaky import LeakyLaplacePair


@dataclass(frozen=True)
class MovedTilted:
    """The loss of edge h, moved, in float64."""

    log_mgf: Enclosure
    drift: Enclosure
    still: LaplaceTilted

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        return self.still.factor(step, nodes, count)


@dataclass(frozen=True)
class MovedBallTilted:
    """The same in balls."""

    pair: LeakyLaplacePair
    still: BoundedLossBallTilted

    @property
    def log_mgf(self) -> arb:
        return self.pair.moments().log_moment(acb(self.still.tilt)).real

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        moved = self.pair.moved() * arb(step)
        return [value * acb(0, index * moved).exp() for index, value in enumerate(self.still.phi(step, nodes))]


@dataclass(frozen=True)
class LeakyLaplaceCgf(Cgf):
    """K of such a pair."""

    pair: LeakyLaplacePair

    @property
    def _still(self) -> LaplaceCgf:
        return LaplaceCgf(self.pair.edges)

    def cumulants(self, tilt: float) -> Cumulants:
        with working_precision(BITS_START):
            moved, lost = float(self.pair.moved().mid()), float(self.pair.leak.move().mid())
        value, mean, variance = self._still.cumulants(tilt)
        return Cumulants(value + moved * tilt + (0.0 if self.pair.flipped else lost), mean + moved, variance)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return self._still.points(tilt, reach, log_tolerance)

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> MovedTilted:
        from ...kernels.enclosure import enclosed

        with working_precision(BITS_START):
            drift = self.pair.edges.ball_edge() + self.pair.moved()
            known = enclosed([self.ball_tilted(tilt, reach, log_tolerance).log_mgf, drift])
        return MovedTilted(known[0], known[1], self._still.tilted(tilt, reach, log_tolerance))

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> MovedBallTilted:
        return MovedBallTilted(self.pair, self._still.ball_tilted(tilt, reach, log_tolerance))

    def ball_cf_decay(self, tilt: float) -> CfDecay:
        return self._still.ball_cf_decay(tilt)
