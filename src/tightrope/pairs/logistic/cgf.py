"""Logistic shifts in float64: pairs.edged without atoms, each node rounded from a ball.

Guarantee: exact. Proof: docs/proofs/contour.md, section 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import arb

from ...kernels.ball import BITS_START, working_precision
from ..edged import EdgedBallTilted, EdgedCgf

if TYPE_CHECKING:
    from ...kernels.contour_sum import Factor
    from ...kernels.enclosure import Enclosure


@dataclass(frozen=True)
class LogisticTilted:
    """A logistic loss in float64, each number rounded from a ball."""

    log_mgf: Enclosure
    drift: Enclosure  # a double
    law: EdgedBallTilted

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        """Powers are taken in balls and their angle reduced there, so that errors do not grow with the count."""
        import numpy as np

        from ...kernels.contour_sum import Factor
        from ...kernels.enclosure import enclosed

        with working_precision(BITS_START + 2 * count.bit_length()):
            logs, phases, circle, centre = [], [], 2 * arb.pi(), arb(float(self.drift.value))
            for index, value in enumerate(self.law.phi(step, nodes)):
                log = value.log()
                angle = count * (log.imag - arb(step) * index * centre)
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

    node_points = 1000  # a node takes about 30 microseconds

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> LogisticTilted:
        from ...kernels.enclosure import enclosed, exact

        law = EdgedBallTilted(self.pair, tilt)
        with working_precision(BITS_START):
            return LogisticTilted(enclosed([law.log_mgf])[0], exact(self.cumulants(tilt).mean), law)
