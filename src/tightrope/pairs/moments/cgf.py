"""K as it was claimed, on the nodes of a contour: each is one ball, and float64 is rounded from it.

Guarantee: exact where the claims hold. Proof: docs/proofs/moments.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from flint import acb, arb

from ...facets.cgf import Cgf, Cumulants
from ...kernels.ball import BITS_START, upper_float, working_precision
from ..node_powers import PowerTilted
from .pair import MomentPair

CLAIMED_POINTS = 1000  # points of a sum that take as long as one node of a short formula


@dataclass(frozen=True)
class MomentBallTilted:
    """The tilted loss in balls."""

    pair: MomentPair
    tilt: float

    @property
    def log_mgf(self) -> arb:
        return self.pair.moments().log_moment(acb(self.tilt)).real

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        whole, tilt = self.log_mgf, arb(self.tilt)
        return [(self.pair.moments().log_moment(acb(tilt, arb(step) * index)) - whole).exp() for index in range(nodes)]


@dataclass(frozen=True)
class MomentDecay:
    """The fall that is claimed."""

    pair: MomentPair
    tilt: float

    def log_bound(self, radius: float) -> float:
        with working_precision(BITS_START):
            return self.pair.claims.log_fall(self.pair.place(acb(self.tilt)).real, arb(radius))


@dataclass(frozen=True)
class MomentCgf(Cgf):
    """K of a pair that is known by it."""

    pair: MomentPair
    _slopes: dict[float, Cumulants] = field(default_factory=dict, compare=False, repr=False)

    def cumulants(self, tilt: float) -> Cumulants:
        if tilt not in self._slopes:
            flipped = self.pair.flipped
            value, mean, variance = self.pair.claims.slopes(-1.0 - tilt if flipped else tilt)
            self._slopes[tilt] = Cumulants(value, -mean if flipped else mean, variance)
        return self._slopes[tilt]

    def log_mgf_above(self, tilt: float) -> float:
        with working_precision(BITS_START):
            return upper_float(MomentBallTilted(self.pair, tilt).log_mgf)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return CLAIMED_POINTS

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> PowerTilted:
        from ...kernels.enclosure import enclosed, exact

        law = MomentBallTilted(self.pair, tilt)
        with working_precision(BITS_START):
            return PowerTilted(enclosed([law.log_mgf])[0], exact(self.cumulants(tilt).mean), law)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> MomentBallTilted:
        return MomentBallTilted(self.pair, tilt)

    def ball_cf_decay(self, tilt: float) -> MomentDecay:
        return MomentDecay(self.pair, tilt)
