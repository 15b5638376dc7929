"""The contour evaluator in balls: the same sum, every rounding enclosed by construction.

Guarantee: lower <= delta <= upper. Proof: docs/proofs/contour.md, sections 2, 3 and 6.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from flint import acb, arb

from ...bound import Budget, budget_lines
from ...kernels.ball import lower_float, upper_float, working_precision
from ..evaluation import Evaluation
from .cgf import LOG_TOLERANCE, Terms
from .newton import ContourEvaluator
from .plan import Plan

BITS_LEAST = 88  # 1e-14 after the loss in long sums and large angles
TOLERANCE_SPARE = 20.0


@dataclass(frozen=True)
class BallContour(ContourEvaluator):
    """delta at any epsilon from one set of nodes; terms[j] = prod phi_i(t_j)^{k_i}."""

    plan: Plan
    bits: int
    mass: arb
    log_scale: arb
    log_alias_mgf: arb
    terms: tuple[acb, ...]

    @property
    def arithmetic(self) -> str:
        return "ball"

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**self.plan.parameters, "bits": self.bits}

    @property
    def start(self) -> float:
        return self.plan.saddle.epsilon

    @property
    def floor(self) -> float:
        return upper_float(self.mass)

    def slope(self, epsilon: float) -> tuple[float, float]:
        with working_precision(self.bits):
            value, slope = self._sums(arb(epsilon))
            total = (self.log_scale - arb(self.plan.saddle.tilt) * arb(epsilon)).exp() * value
            if not total > 0:
                return -math.inf, -self.plan.saddle.tilt
            return float(total.log().mid()), float((slope / value).mid())

    def delta(self, epsilon: float) -> Evaluation:
        with working_precision(self.bits):
            value, _ = self._sums(arb(epsilon))
            scale = (self.log_scale - arb(self.plan.saddle.tilt) * arb(epsilon)).exp()
            truncation = self._truncation()
            aliases = self._aliases(arb(epsilon))
            upper = self.mass + scale * (value + truncation)
            lower = self.mass + scale * (value - truncation) - aliases
            rounding = upper_float(scale * value.rad() + scale.rad() * abs(value))
            lines = {"truncation": upper_float(scale * truncation), "rounding": rounding}
            budget = Budget(budget_lines(**lines), budget_lines(**lines, wrap_around=upper_float(aliases)))
            least = max(lower_float(self.mass), 0.0)
            return Evaluation(max(lower_float(lower), least), min(upper_float(upper), 1.0), budget)

    def _sums(self, epsilon: arb) -> tuple[arb, arb]:
        """S at epsilon, and the derivative of scale S divided by the scale."""
        c, step = arb(self.plan.saddle.tilt), arb(self.plan.step.step)
        value, slope = arb(0), arb(0)
        for index, term in enumerate(self.terms):
            z = acb(c, step * index)
            # Each turn on its own: a running product of boxes would widen by a factor at every step.
            sloping = term * acb(0, -step * index * epsilon).exp() / (z + 1)
            weight = arb(0.5) if index == 0 else arb(1)
            value += weight * (sloping / z).real
            slope -= weight * sloping.real
        return value * step / arb.pi(), slope * step / arb.pi()

    def _truncation(self) -> arb:
        c = arb(self.plan.saddle.tilt)
        decay = sum((count * arb(bound) for bound, count in self.plan.log_bounds), arb(0))
        return decay.exp() * arb.atan2(c, arb(self.plan.height)) / (arb.pi() * c)

    def _aliases(self, epsilon: arb) -> arb:
        c, s = arb(self.plan.saddle.tilt), arb(self.plan.step.alias_tilt)
        period = 2 * arb.pi() / arb(self.plan.step.step)
        height = self.log_alias_mgf - s * epsilon + s * s.log() - (1 + s) * (1 + s).log()
        return 1 / (c * period).expm1() + height.exp() / ((s - c) * period).expm1()


def ball_contour(terms: Terms, plan: Plan, mass: arb) -> BallContour:
    """Evaluates every cgf on the nodes of the plan."""
    c, step, nodes = plan.saddle.tilt, plan.step.step, plan.nodes
    lost = plan.saddle.cancellation
    bits = BITS_LEAST + math.ceil(1.45 * lost + math.log2(max(count for _, count in terms)))
    with working_precision(bits):
        log_scale, alias, product = arb(0), arb(0), [acb(1)] * nodes
        for cgf, count in terms:
            tilted = cgf.ball_tilted(c, step * nodes, LOG_TOLERANCE + TOLERANCE_SPARE + lost + math.log(count))
            log_scale += count * tilted.log_mgf
            alias += count * cgf.ball_tilted(plan.step.alias_tilt, 0.0, LOG_TOLERANCE).log_mgf
            product = [whole * phi**count for whole, phi in zip(product, tilted.phi(step, nodes), strict=True)]
        return BallContour(plan, bits, mass, log_scale, alias, tuple(product))
