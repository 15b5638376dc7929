"""Logistic shifts in float64: pairs.edged without atoms, each node rounded from a ball.

Guarantee: exact. Proof: docs/proofs/contour.md, section 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import arb

from ...errors import UnsupportedMechanism
from ...facets.cgf import Tilted
from ...kernels.ball import BITS_START, working_precision
from ..edged import EdgedBallTilted, EdgedCgf
from .pair import LogisticPair

if TYPE_CHECKING:
    from ...kernels.contour_sum import Factor
    from ...kernels.enclosure import Enclosure

EDGE_MOST = 1e4
NODE_POINTS = 1000  # how a node counts against the work allowed: it takes about 30 microseconds


def logistic_cgf(pair: LogisticPair) -> LogisticCgf:
    """The cgf of a logistic pair whose losses are not huge."""
    if not pair.epsilon < EDGE_MOST:
        raise UnsupportedMechanism("its losses are too large for a contour; try engine='lattice'")
    return LogisticCgf(pair)


@dataclass(frozen=True)
class LogisticTilted(Tilted):
    """A logistic loss in float64, each number rounded from a ball."""

    law: EdgedBallTilted
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
class LogisticCgf(EdgedCgf):
    """K of a logistic pair."""

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return NODE_POINTS

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> Tilted:
        return LogisticTilted(EdgedBallTilted(self.pair, tilt), self.cumulants(tilt).mean)
