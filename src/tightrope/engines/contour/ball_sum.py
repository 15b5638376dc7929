"""The node sum of a contour in balls: every rounding enclosed by construction.

Guarantee: exact. Proof: docs/proofs/contour.md, sections 2, 3 and 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from flint import acb, arb

from ...facets.cgf import LOG_TOLERANCE
from ...kernels.ball import working_precision
from ..parts import Parts
from . import tuning
from .bound import Nodes, NodeSum
from .period import Period, numerator
from .plan import ContourPlan


@dataclass(frozen=True)
class BallNodes(Nodes):
    """terms[j] = prod phi_i(t_j)^{k_i}."""

    arithmetic: ClassVar[str] = "ball"

    terms: tuple[acb, ...]

    def sum(self, epsilon: float) -> NodeSum:
        return self._sums(epsilon)[0]

    def ramp(self, at: float, gap: float, second: bool) -> NodeSum:
        c, step, width, value = arb(self.plan.saddle.tilt), arb(self.plan.step.step), arb(gap), arb(0)
        for index, term in enumerate(self.terms):
            z = acb(c, step * index)
            turned = term * acb(0, -step * index * arb(at)).exp() / (z * (z + 1))
            top = 1 - (-(z if second else z + 1) * width).exp()
            value += (arb(0.5) if index == 0 else arb(1)) * (turned * top).real
        bottom = width.expm1() if second else -(-width).expm1()
        return NodeSum(arb(at), value * step / (arb.pi() * bottom), arb(0), arb(0))

    def size(self) -> arb:
        return sum((abs(term) for term in self.terms), arb(0))

    def slope(self, epsilon: float) -> tuple[float, float]:
        with working_precision(self.bits):
            node_sum, slope = self._sums(epsilon)
            if not node_sum.value > 0:
                return -math.inf, -self.plan.saddle.tilt
            log = self.log_scale - arb(self.plan.saddle.tilt) * node_sum.at + node_sum.value.log()
            return float(log.mid()), float((slope / node_sum.value).mid())

    def _sums(self, epsilon: float) -> tuple[NodeSum, arb]:
        """S, and the derivative of scale S by epsilon over the scale."""
        if self.plan.period is not None:
            return self._period_sums(self.plan.period, epsilon)
        c, step, at = arb(self.plan.saddle.tilt), arb(self.plan.step.step), arb(epsilon)
        value, slope = arb(0), arb(0)
        for index, term in enumerate(self.terms):
            z = acb(c, step * index)
            # Each turn on its own: a running product of boxes would widen by a factor at every step.
            sloping = term * acb(0, -step * index * at).exp() / (z + 1)
            weight = arb(0.5) if index == 0 else arb(1)
            value += weight * (sloping / z).real
            slope -= weight * sloping.real
        return NodeSum(at, value * step / arb.pi(), arb(0), arb(0)), slope * step / arb.pi()

    def _period_sums(self, period: Period, epsilon: float) -> tuple[NodeSum, arb]:
        """The same over one period of a lattice."""
        c, width, first = arb(self.plan.saddle.tilt), period.step.ball(), period.first(epsilon)
        (a, b), last = numerator(width, first.beyond), (-first.beyond).exp()
        near, far = (-c * width).exp(), (-(c + 1) * width).exp()
        step = 2 * arb.pi() / self.plan.cycle
        value, slope = arb(0), arb(0)
        for index, term in enumerate(self.terms):
            turn = acb(0, -step * index).exp()
            sloping = term * acb(0, -step / width * index * first.point).exp() / (1 - far * turn)
            weight = arb(1) if index == 0 else arb(2)
            value += weight * (sloping * (a + b * near * turn) / (1 - near * turn)).real
            slope -= weight * (sloping * last).real
        return NodeSum(first.point, value / self.plan.cycle, arb(0), first.moved), slope / self.plan.cycle


def ball_nodes(parts: Parts, plan: ContourPlan) -> BallNodes:
    """Evaluates every cgf on the nodes of the plan."""
    c, nodes, lost = plan.saddle.tilt, plan.nodes, plan.saddle.cancellation
    if parts.splits:  # the difference of two powers is smaller than they are
        lost += max(0.0, parts.body.cumulants(c).value - plan.saddle.cumulants.value)
    bits = tuning.BITS_MIN + math.ceil(1.45 * lost + math.log2(max(count for _, count in parts.terms)))
    with working_precision(bits):
        step: float | arb = plan.step.step
        if plan.period is not None:
            step = 2 * arb.pi() / (plan.cycle * plan.period.step.ball())
        log_scale, alias, alias_hits, log_body = arb(0), arb(0), arb(0), arb(0)
        product, whole = [acb(1)] * nodes, [acb(1)] * nodes
        for index, (cgf, count) in enumerate(parts.terms):
            tolerance = LOG_TOLERANCE + tuning.TOLERANCE_SPARE + lost + math.log(count)
            tilted = cgf.ball_tilted(c, plan.step.step * nodes, tolerance)
            log_scale += count * tilted.log_mgf
            phis = tilted.phi(step, nodes)
            product = [power * phi**count for power, phi in zip(product, phis, strict=True)]
            alias += count * cgf.ball_tilted(plan.step.alias_tilt, 0.0, LOG_TOLERANCE).log_mgf
            if not parts.splits:
                continue
            log_body += count * cgf.ball_tilted(parts.body_tilt, 0.0, LOG_TOLERANCE).log_mgf
            split = parts.splits[index]
            if split is not None:
                hit = split.hit.ball_tilted(c, plan.step.step * nodes, tolerance)
                ratio = (hit.log_mgf - tilted.log_mgf).exp()
                phis = [phi + ratio * more for phi, more in zip(phis, hit.phi(step, nodes), strict=True)]
                alias_hits += count * split.ball_log_ratio(plan.step.alias_tilt).exp().log1p()
            whole = [power * phi**count for power, phi in zip(whole, phis, strict=True)]
        if not parts.splits:
            return BallNodes(plan, bits, log_scale, alias, None, tuple(product))
        terms = tuple(power - none for power, none in zip(whole, product, strict=True))
        return BallNodes(plan, bits, log_scale, alias + alias_hits.expm1().log(), log_body, terms)
