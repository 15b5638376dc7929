"""The contour evaluator in float64: milliseconds, every rounding inside a radius.

Guarantee: lower <= delta <= upper under the constants of kernels.ulps.
Proof: docs/proofs/contour.md, sections 2, 3, 6 and 7.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ...bound import Budget, budget_lines
from ...kernels.approx import approx_count, exact
from ...kernels.contour_sum import ContourSum, Spectrum, contour_sum, multiply
from ..evaluation import Evaluation
from .cgf import LOG_TOLERANCE, Terms
from .chernoff import TINIEST, exp_up, log_above, log_mgf_above
from .newton import ContourEvaluator
from .plan import Plan
from .reach import log_truncation


@dataclass(frozen=True)
class FloatContour(ContourEvaluator):
    """delta at any epsilon from one set of nodes."""

    plan: Plan
    spectrum: Spectrum
    mass: tuple[float, float]
    log_alias_mgf: float

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

    def slope(self, epsilon: float) -> tuple[float, float]:
        found = contour_sum(self.spectrum, epsilon)
        log = float(found.log_scale.value)
        if not found.value > 0.0:
            return -math.inf, -self.plan.saddle.tilt
        return log + math.log(found.value), found.slope / found.value

    def delta(self, epsilon: float) -> Evaluation:
        found = contour_sum(self.spectrum, epsilon)
        truncation = math.exp(min(700.0, log_truncation(self.plan.log_bounds, self.plan.saddle.tilt, self.plan.height)))
        error = (truncation + found.quadrature + found.rounding) * (1.0 + 1e-12)
        high = exp_up(float(found.log_scale.upper), found.value + error)
        low = _exp_down(float(found.log_scale.lower), found.value - error)
        aliases = self._aliases(epsilon)
        upper = min(1.0, math.nextafter(self.mass[1] + high, math.inf))
        lower = max(self.mass[0], math.nextafter(math.nextafter(low - aliases, -math.inf) + self.mass[0], -math.inf))
        return Evaluation(min(lower, upper), upper, self._budget(found, truncation, aliases))

    def _aliases(self, epsilon: float) -> float:
        """What the aliases add at most: 1/(e^{cL} - 1) + kappa e^{K(s) - s eps}/(e^{(s-c)L} - 1), L = 2 pi/h."""
        c, s = self.plan.saddle.tilt, self.plan.step.alias_tilt
        period = 2.0 * math.pi / self.plan.step.step * (1.0 - 1e-14)
        left = -c * period
        right = log_above(self.log_alias_mgf, s, epsilon) - (s - c) * period
        total = _over_expm1(left, c * period) + _over_expm1(right, (s - c) * period)
        return total * (1.0 + 1e-9) + TINIEST

    def _budget(self, found: ContourSum, truncation: float, aliases: float) -> Budget:
        scale = math.exp(min(700.0, float(found.log_scale.upper)))
        spread = math.expm1(min(700.0, 2.0 * float(found.log_scale.radius)))
        lines = {
            "truncation": scale * truncation,
            "quadrature": scale * found.quadrature,
            "rounding": scale * (found.rounding + spread * abs(found.value)),
        }
        return Budget(budget_lines(**lines), budget_lines(**lines, wrap_around=aliases))


def float_contour(terms: Terms, plan: Plan, mass: tuple[float, float]) -> FloatContour:
    """Evaluates every cgf on the nodes of the plan."""
    import numpy as np

    c, step, nodes = plan.saddle.tilt, plan.step.step, plan.nodes
    log_scale, drift, factors = exact(0.0), exact(0.0), []
    for cgf, count in terms:
        tolerance = LOG_TOLERANCE + math.log(count)
        tilted = cgf.tilted(c, step * nodes, tolerance)
        log_scale = log_scale + tilted.log_mgf * approx_count(count)
        drift = drift + tilted.drift * approx_count(count)
        factors.append(tilted.factor(step, nodes, count))
    times = step * np.arange(nodes, dtype=np.float64)
    spectrum = Spectrum(c, times, step, log_scale, drift, multiply(factors))
    return FloatContour(plan, spectrum, mass, log_mgf_above(terms, plan.step.alias_tilt))


def _exp_down(log: float, factor: float) -> float:
    """At or below e^log factor."""
    if not factor > 0.0 or not math.isfinite(log):
        return 0.0 if factor > 0.0 or log == -math.inf else -math.inf
    total = log + math.log(factor)
    return max(0.0, math.exp(min(total - 1e-15 * (2.0 + abs(log) + abs(total)), 709.0)) * (1.0 - 1e-15) - TINIEST)


def _over_expm1(log: float, exponent: float) -> float:
    """e^log / (1 - e^-exponent), inf where the exponent is not positive."""
    if not exponent > 0.0 or log > 700.0:
        return math.inf
    return math.exp(log) / -math.expm1(-exponent)
