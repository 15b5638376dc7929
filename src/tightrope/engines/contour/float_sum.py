"""The contour evaluator in float64: milliseconds, every rounding inside a radius.

Guarantee: lower <= delta <= upper under the constants of kernels.ulps.
Proof: docs/proofs/contour.md, sections 2, 3, 6 and 7.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ...bound import Budget, budget_lines
from ...facets.cgf import LOG_TOLERANCE
from ...facets.quadrature import LawTilted
from ...kernels.contour_hits import hits, together
from ...kernels.contour_kernel import Kernel, smooth
from ...kernels.contour_sum import ContourSum, NodeSpectrum, PlainSum, contour_sum, multiply, power
from ...kernels.directed import TINIEST, exp_down, exp_up, log_expm1, over_expm1
from ...kernels.enclosure import count_enclosure, exact
from ...kernels.plain import softplus
from ...kernels.quadrature import transform
from ..evaluation import Evaluation
from .chernoff import log_above, log_mgf_above
from .newton import ContourEvaluator
from .parts import Parts
from .plan import ContourPlan


@dataclass(frozen=True)
class FloatContour(ContourEvaluator):
    """delta at any epsilon from one set of nodes."""

    plan: ContourPlan
    spectrum: NodeSpectrum
    mass: tuple[float, float]
    log_alias_mgf: float
    rare: float = 0.0
    body: tuple[float, float] | None = None  # s and log E[e^{sL}; body], where only hits are summed

    @property
    def arithmetic(self) -> str:
        return "float64"

    @property
    def parameters(self) -> Mapping[str, object]:
        return self.plan.parameters

    @property
    def start(self) -> float:
        return self.plan.saddle.epsilon

    @property
    def floor(self) -> float:
        return self.mass[1]

    @cached_property
    def _smooth(self) -> Kernel:
        """The kernel at epsilon 0."""
        return smooth(self.spectrum.tilt, self.spectrum.times, 0.0)

    @cached_property
    def _plain(self) -> PlainSum:
        return PlainSum.of(self.spectrum, self._smooth)

    def slope(self, epsilon: float) -> tuple[float, float]:
        if self.plan.period is None:
            return self._plain.log_and_rate(epsilon)
        found = self._sum(epsilon)
        if not found.value > 0.0:
            return -math.inf, -self.plan.saddle.tilt
        return float(found.log_scale.value) + math.log(found.value), found.slope / found.value

    def _sum(self, epsilon: float) -> ContourSum:
        plan = self.plan
        if plan.period is None:
            return contour_sum(self.spectrum, replace(self._smooth, at=exact(epsilon)))
        made = plan.period.kernel(self.spectrum.tilt, plan.cycle, plan.nodes, epsilon)
        return contour_sum(self.spectrum, made.kernel(plan.step.step))

    def delta(self, epsilon: float) -> Evaluation:
        found = self._sum(epsilon)
        log = self.plan.log_truncation
        truncation = math.exp(log) if log < 700.0 else math.inf
        error = (truncation + found.quadrature + found.rounding) * (1.0 + 1e-12)
        high = exp_up(float(found.log_scale.upper), found.value + error) + found.moved
        low = exp_down(float(found.log_scale.lower), found.value - error) - found.moved
        aliases, left_out = self._aliases(epsilon), self._left_out(epsilon)
        upper = min(1.0, math.nextafter(math.nextafter(self.mass[1] + high, math.inf) + left_out, math.inf))
        lower = max(self.mass[0], math.nextafter(math.nextafter(low - aliases, -math.inf) + self.mass[0], -math.inf))
        return Evaluation(min(lower, upper), upper, self._budget(found, truncation, aliases, left_out))

    def _aliases(self, epsilon: float) -> float:
        """What the aliases add at most: 1/(e^{cL} - 1) + kappa e^{K(s) - s eps}/(e^{(s-c)L} - 1), L = 2 pi/h."""
        c, s = self.plan.saddle.tilt, self.plan.step.alias_tilt
        period = 2.0 * math.pi / self.plan.step.step * (1.0 - 1e-14)
        left = -c * period
        right = log_above(self.log_alias_mgf, s, epsilon) - (s - c) * period
        total = over_expm1(left, c * period) + over_expm1(right, (s - c) * period)
        return total * (1.0 + 1e-9) + TINIEST

    def _left_out(self, epsilon: float) -> float:
        """What rare outputs, and uses without a hit, add to delta at most."""
        if self.body is None:
            return self.rare
        s, log_mgf = self.body
        return math.nextafter(self.rare + exp_up(log_above(log_mgf, s, epsilon), 1.0), math.inf)

    def _budget(self, found: ContourSum, truncation: float, aliases: float, left_out: float) -> Budget:
        scale = math.exp(min(700.0, float(found.log_scale.upper)))
        spread = math.expm1(min(700.0, 2.0 * float(found.log_scale.radius)))
        lines = {
            "truncation": scale * truncation,
            "quadrature": scale * found.quadrature,
            "rounding": scale * (found.rounding + spread * abs(found.value)),
        }
        above = {**lines, "truncation": lines["truncation"] + left_out}
        return Budget(budget_lines(**above), budget_lines(**lines, wrap_around=aliases))


def float_contour(parts: Parts, plan: ContourPlan, mass: tuple[float, float]) -> FloatContour:
    """Evaluates every cgf on the nodes of the plan."""
    import numpy as np

    c, step, nodes = plan.saddle.tilt, plan.step.step, plan.nodes
    times = step * np.arange(nodes, dtype=np.float64)
    log_scale, drift, factors, found = exact(0.0), exact(0.0), [], []
    for index, (cgf, count) in enumerate(parts.terms):
        tolerance = LOG_TOLERANCE + math.log(count)
        tilted = cgf.tilted(c, step * nodes, tolerance)
        log_scale = log_scale + tilted.log_mgf * count_enclosure(count)
        drift = drift + tilted.drift * count_enclosure(count)
        hit = parts.hits[index] if parts.hits else None
        if hit is None:
            factors.append(tilted.factor(step, nodes, count))
            continue
        assert isinstance(tilted, LawTilted)
        other = hit.tilted(c, step * nodes, LOG_TOLERANCE)
        at_body, at_hits = transform(tilted.law, step, nodes), transform(other.law, step, nodes)
        factors.append(power(at_body, float(count)))
        log_ratio, lead = other.log_mgf - tilted.log_mgf, other.drift - tilted.drift
        found.append(hits(at_body, at_hits, log_ratio, lead, times, float(count)))
    spectrum = NodeSpectrum(c, times, step, log_scale, drift, multiply(factors), together(found) if found else None)
    s = plan.step.alias_tilt
    log_alias = _hits_above(parts, s) if found else log_mgf_above(parts.terms, s)
    body = (parts.body_tilt, log_mgf_above(parts.terms, parts.body_tilt)) if found else None
    return FloatContour(plan, spectrum, mass, log_alias, parts.rare_above(), body)


def _hits_above(parts: Parts, s: float) -> float:
    """At or above the log of prod (A + B)^k - prod A^k at a real tilt."""
    total = 0.0
    for (cgf, count), hit in zip(parts.terms, parts.hits, strict=True):
        if hit is not None:
            above, below = (part.tilted(s, 0.0, LOG_TOLERANCE).log_mgf for part in (hit, cgf))
            total += count * softplus(float((above - below).upper))
    return log_mgf_above(parts.terms, s) + log_expm1(total)
