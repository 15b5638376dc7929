"""The node sum of a contour in float64: milliseconds, every rounding inside a radius.

Guarantee: the sum holds under the constants of kernels.ulps. Proof: docs/proofs/contour.md, sections 6, 7 and 11.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from flint import arb

from ...facets.cgf import LOG_TOLERANCE
from ...kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ...kernels.contour_kernel import Kernel, ramp, smooth
from ...kernels.contour_sum import NodeErrors, NodeSpectrum, PlainSum, contour_sum, hits, multiply, power, together
from ...kernels.enclosure import count_enclosure, enclosing, exact
from ...kernels.quadrature import transform
from ..chernoff import log_mgf_above
from ..parts import Parts
from .bound import Nodes, NodeSum
from .plan import ContourPlan


@dataclass(frozen=True)
class FloatNodes(Nodes):
    """The law on the nodes, as logs of moduli and phases with their radii."""

    arithmetic: ClassVar[str] = "float64"

    spectrum: NodeSpectrum

    def sum(self, epsilon: float) -> NodeSum:
        kernel, point, moved = self._kernel(epsilon)
        if self.plan.period is None:
            found = contour_sum(self.spectrum, kernel, exact(epsilon), self._errors)
        else:
            found = contour_sum(self.spectrum, kernel, enclosing(lower_float(point), upper_float(point)))
        return NodeSum(point, _ball(found.value, found.rounding), arb(found.quadrature), moved)

    def ramp(self, at: float, gap: float, second: bool) -> NodeSum:
        kernel = ramp(self.plan.saddle.tilt, self.spectrum.times, gap, second)
        found = contour_sum(self.spectrum, kernel, exact(at))
        return NodeSum(arb(at), _ball(found.value, found.rounding), arb(found.quadrature), arb(0))

    def size(self) -> arb:
        return sum((arb(float(reach)).exp() for reach in self.spectrum.product.reach), arb(0))

    def slope(self, epsilon: float) -> tuple[float, float]:
        tilt, at = self.plan.saddle.tilt, epsilon
        if self.plan.period is None:
            value, slope = self._plain.at(epsilon)
        else:
            with working_precision(self.bits):
                kernel, point, _ = self._kernel(epsilon)
                at = float(point.mid())
            value, slope = PlainSum.of(self.spectrum, kernel).at(at)
        if not value > 0.0:
            return -math.inf, -tilt
        return float(self.log_scale.mid()) - tilt * at + math.log(value), slope / value

    @cached_property
    def _smooth(self) -> Kernel:
        return smooth(self.plan.saddle.tilt, self.spectrum.times)

    @cached_property
    def _errors(self) -> NodeErrors:
        return NodeErrors.of(self.spectrum, self._smooth)

    @cached_property
    def _plain(self) -> PlainSum:
        return PlainSum.of(self.spectrum, self._smooth)

    def _kernel(self, epsilon: float) -> tuple[Kernel, arb, arb]:
        """The kernel, the point that its terms turn around, and what was moved to get there."""
        period = self.plan.period
        if period is None:
            return self._smooth, arb(epsilon), arb(0)
        first = period.first(epsilon)
        return period.kernel(self.plan, first.beyond), first.point, first.moved


def _ball(value: float, radius: float) -> arb:
    """The ball around a double; nothing is known where either is not finite."""
    return arb(value, radius) if math.isfinite(value) and math.isfinite(radius) else arb.nan()


def float_nodes(parts: Parts, plan: ContourPlan) -> FloatNodes:
    """Evaluates every cgf on the nodes of the plan."""
    import numpy as np

    c, step, nodes = plan.saddle.tilt, plan.step.step, plan.nodes
    times = step * np.arange(nodes, dtype=np.float64)
    scales, drift, factors, found = [], exact(0.0), [], []
    for index, (cgf, count) in enumerate(parts.terms):
        split = parts.splits[index] if parts.splits else None
        if split is None:
            tilted = cgf.tilted(c, step * nodes, LOG_TOLERANCE + math.log(count))
            factors.append(tilted.factor(step, nodes, count))
        else:
            tilted = body = split.body.tilted(c, step * nodes, LOG_TOLERANCE + math.log(count))
            hit = split.hit.tilted(c, step * nodes, LOG_TOLERANCE)
            at_body, at_hits = transform(body, step, nodes), transform(hit, step, nodes)
            factors.append(power(at_body, float(count)))
            log_ratio, lead = hit.log_mgf - body.log_mgf, hit.drift - body.drift
            found.append(hits(at_body, at_hits, log_ratio, lead, times, float(count)))
        scales.append((tilted.log_mgf, count))
        drift = drift + tilted.drift * count_enclosure(count)
    spectrum = NodeSpectrum(times, step, drift, multiply(factors), together(found) if found else None)
    with working_precision(BITS_START):
        log_scale = sum((count * _ball(float(log.value), float(log.radius)) for log, count in scales), arb(0))
        log_alias = _log_alias(parts, plan.step.alias_tilt)
        log_body = log_mgf_above(parts.terms, parts.body_tilt) if found else None
    return FloatNodes(plan, BITS_START, log_scale, log_alias, log_body, spectrum)


def _log_alias(parts: Parts, s: float) -> arb:
    """At or above the log of what is summed at a real tilt: of all, or of prod (A + B)^k - prod A^k."""
    body = log_mgf_above(parts.terms, s)
    if not parts.splits:
        return body
    ratios = ((arb(float(split.log_ratio(s).upper)), count) for split, count in parts.hits)
    return body + sum((count * ratio.exp().log1p() for ratio, count in ratios), arb(0)).expm1().log()
