"""Powers of transforms in float64, each node rounded from a ball.

Powers are taken in balls and their angle is reduced there, so that errors do not grow with the count. Where a ball
holds zero, nothing but its size is known: the power counts as zero, and all of it as an error.
Guarantee: exact. Proof: docs/proofs/contour.md, section 9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import arb

from ..numerics.balls import BITS_START, upper_float, working_precision
from ..numerics.contour_sum import Factor
from ..numerics.enclosures import enclosed

if TYPE_CHECKING:
    from ..numerics.enclosures import Enclosure
    from .cgf import BallTilted


@dataclass(frozen=True)
class PowerTilted:
    """A tilted loss in float64, its drift a double."""

    log_mgf: Enclosure
    drift: Enclosure
    law: BallTilted

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        """(phi(t) e^{-i t m})^count at the nodes."""
        import numpy as np

        lost: dict[int, float] = {}
        with working_precision(BITS_START + 2 * count.bit_length()):
            logs, phases, circle, centre = [], [], 2 * arb.pi(), arb(float(self.drift.value))
            for index, value in enumerate(self.law.phi(step, nodes)):
                if value.contains(0):
                    lost[index] = upper_float(count * value.abs_upper().log())
                    logs.append(arb(0))
                    phases.append(arb(0))
                    continue
                log = value.log()
                angle = count * (log.imag - arb(step) * index * centre)
                turns = (angle / circle + arb(0.5)).mid().floor()
                logs.append(count * log.real)
                phases.append(angle - turns * circle)
            modulus, phase = enclosed(logs), enclosed(phases)
        rounding = 1.01 * (modulus.radius + phase.radius)
        reach = modulus.value + 2.0 * rounding + 1e-15 * abs(modulus.value)
        log_modulus = modulus.value
        for index, most in lost.items():
            log_modulus[index], reach[index], rounding[index] = -math.inf, most, math.inf
        return Factor(log_modulus, phase.value, reach, np.zeros_like(reach), rounding)
