"""Logistic shifts: M(z) = sinh(w e)/(2 w sinh(e/2)), w = z + 1/2, for all complex z.

With A = (c + 1/2) e and T = t e: phi(t) = (cos T + i coth A sin T)/(1 + i T/A), which falls as kernels.sinhc has it.
Everything is evaluated in balls, also for float64: a node is a formula and not a sum.
Guarantee: exact. Proof: docs/proofs/contour.md, section 9.
Reference: Zhu, Dong, Wang 2021, Sec. 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import acb, arb

from ...errors import UnsupportedMechanism
from ...facets.cgf import BallTilted, Cgf, Cumulants, Decay, Tilted
from ...kernels.ball import BITS_START, upper_float, working_precision
from ...kernels.sinhc import log_fall, log_sinhc
from .pair import LogisticPair

if TYPE_CHECKING:
    from ...kernels.contour_sum import Factor
    from ...kernels.enclosure import Enclosure

EDGE_MOST = 1e4
NODE_POINTS = 1000  # how a node counts against the work allowed: it takes about 30 microseconds


def logistic_cgf(pair: LogisticPair) -> LogisticCgf:
    """The cgf of a logistic pair whose losses are not huge."""
    if not pair.epsilon < EDGE_MOST:
        raise UnsupportedMechanism(repr(pair), "its losses are too large for a contour; try engine='lattice'")
    return LogisticCgf(pair)


@dataclass(frozen=True)
class LogisticBallTilted(BallTilted):
    """A logistic loss in balls."""

    edge: float
    tilt: float

    @property
    def log_mgf(self) -> arb:
        reach, start = self.reach, arb(self.edge) / 2
        return (reach.sinh() / reach).log() - (start.sinh() / start).log()

    @property
    def reach(self) -> arb:
        """A = (c + 1/2) e."""
        return (arb(self.tilt) + arb(0.5)) * arb(self.edge)

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        reach, coth = self.reach, self.reach.coth()
        values = []
        for index in range(nodes):
            turn = arb(step) * index * arb(self.edge)
            sine, cosine = turn.sin_cos()
            values.append(acb(cosine, coth * sine) / acb(1, turn / reach))
        return values


@dataclass(frozen=True)
class LogisticTilted(Tilted):
    """A logistic loss in float64, each number rounded from a ball."""

    law: LogisticBallTilted
    centre: float

    @property
    def log_mgf(self) -> Enclosure:
        from ...kernels.enclosure import enclosed

        with working_precision(BITS_START):
            return enclosed([self.law.log_mgf])[0]

    @property
    def drift(self) -> Enclosure:
        from ...kernels.enclosure import exact

        return exact(self.centre)

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        """Powers are taken in balls and their angle reduced there, so that errors do not grow with the count."""
        import numpy as np

        from ...kernels.contour_sum import Factor
        from ...kernels.enclosure import enclosed

        with working_precision(BITS_START + 2 * count.bit_length()):
            logs, phases, circle = [], [], 2 * arb.pi()
            for index, value in enumerate(self.law.phi(step, nodes)):
                log = value.log()
                angle = count * (log.imag - arb(step) * index * arb(self.centre))
                turns = (angle / circle + arb(0.5)).mid().floor()
                logs.append(count * log.real)
                phases.append(angle - turns * circle)
            modulus, phase = enclosed(logs), enclosed(phases)
        rounding = 1.01 * (modulus.radius + phase.radius)
        reach = modulus.value + 2.0 * rounding + 1e-15 * abs(modulus.value)
        return Factor(modulus.value, phase.value, reach, np.zeros_like(reach), rounding)


@dataclass(frozen=True)
class LogisticDecay:
    """The modulus itself up to a quarter turn, its envelope beyond."""

    law: LogisticBallTilted

    def log_bound(self, radius: float) -> float:
        with working_precision(BITS_START):
            return min(upper_float(log_fall(self.law.reach, arb(radius) * arb(self.law.edge))), 0.0)


@dataclass(frozen=True)
class LogisticCgf(Cgf):
    """K of a logistic pair."""

    pair: LogisticPair

    def cumulants(self, tilt: float) -> Cumulants:
        edge = self.pair.epsilon
        log, slope, curve = log_sinhc((tilt + 0.5) * edge)
        return Cumulants(log - log_sinhc(0.5 * edge)[0], edge * slope, edge * edge * curve)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return NODE_POINTS

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> Tilted:
        return LogisticTilted(self._law(tilt), self.cumulants(tilt).mean)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        return self._law(tilt)

    def ball_decay(self, tilt: float) -> Decay:
        return LogisticDecay(self._law(tilt))

    def _law(self, tilt: float) -> LogisticBallTilted:
        return LogisticBallTilted(self.pair.epsilon, tilt)
