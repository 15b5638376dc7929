"""The contour evaluator in balls: the same sum, every rounding enclosed by construction.

Guarantee: lower <= delta <= upper. Proof: docs/proofs/contour.md, sections 2, 3 and 6.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from flint import acb, arb

from ...bound import Budget, budget_lines
from ...facets.cgf import LOG_TOLERANCE
from ...kernels.ball import lower_float, upper_float, working_precision
from ..evaluation import Evaluation
from .newton import ContourEvaluator
from .parts import Parts
from .period import Period, numerator
from .plan import ContourPlan

BITS_LEAST = 88  # 1e-14 after the loss in long sums and large angles
TOLERANCE_SPARE = 20.0


@dataclass(frozen=True)
class BallContour(ContourEvaluator):
    """delta at any epsilon from one set of nodes; terms[j] = prod phi_i(t_j)^{k_i}."""

    plan: ContourPlan
    bits: int
    mass: arb
    log_scale: arb
    log_alias_mgf: arb
    terms: tuple[acb, ...]
    rare: arb
    body: tuple[float, arb] | None  # s and log E[e^{sL}; body], where only hits are summed

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
            sums = self._sums(epsilon)
            total = sums.scale * sums.value
            if not total > 0:
                return -math.inf, -self.plan.saddle.tilt
            return float(total.log().mid()), float((sums.slope / sums.value).mid())

    def delta(self, epsilon: float) -> Evaluation:
        with working_precision(self.bits):
            scale, value, _, moved = self._sums(epsilon)
            truncation = self._truncation()
            aliases = self._aliases(arb(epsilon))
            left_out = self._left_out(arb(epsilon))
            upper = self.mass + scale * (value + truncation) + left_out + moved
            lower = self.mass + scale * (value - truncation) - aliases - moved
            rounding = upper_float(scale * value.rad() + scale.rad() * abs(value))
            lines = {"truncation": upper_float(scale * truncation), "rounding": rounding}
            above = {**lines, "truncation": upper_float(scale * truncation + left_out)}
            budget = Budget(budget_lines(**above), budget_lines(**lines, wrap_around=upper_float(aliases)))
            least = max(lower_float(self.mass), 0.0)
            return Evaluation(max(lower_float(lower), least), min(upper_float(upper), 1.0), budget)

    def _sums(self, epsilon: float) -> BallSums:
        """The sum at epsilon."""
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
        scale = (self.log_scale - c * at).exp()
        return BallSums(scale, value * step / arb.pi(), slope * step / arb.pi(), arb(0))

    def _period_sums(self, period: Period, epsilon: float) -> BallSums:
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
        scale = (self.log_scale - c * first.point).exp()
        return BallSums(scale, value / self.plan.cycle, slope / self.plan.cycle, first.moved)

    def _truncation(self) -> arb:
        if self.plan.complete:
            return arb(0)
        c = arb(self.plan.saddle.tilt)
        decay, hits = arb(0), arb(0)
        for bound, count, ratio in self.plan.log_bounds:
            if ratio is None:
                decay += count * arb(bound)
            else:
                hits += count * (arb(ratio) + arb(bound)).exp().log1p()
        product = decay.exp() * (hits.expm1() if self.body else 1)
        if self.plan.period is not None:
            width = self.plan.period.step.ball()
            near, far = c * width, (c + 1) * width
            rising = (
                ((near + far) / 2).exp() * (arb.pi() * (self.plan.nodes - 1) / self.plan.cycle).cot() / (2 * arb.pi())
            )
            return product * -(-width).expm1() * rising.min(1 / ((-near).expm1() * (-far).expm1()))
        return product * arb.atan2(c, arb(self.plan.height)) / (arb.pi() * c)

    def _left_out(self, epsilon: arb) -> arb:
        """What rare outputs, and uses without a hit, add to delta at most."""
        if self.body is None:
            return self.rare
        return self.rare + _chernoff(arb(self.body[0]), self.body[1], epsilon)

    def _aliases(self, epsilon: arb) -> arb:
        c, s = arb(self.plan.saddle.tilt), arb(self.plan.step.alias_tilt)
        period = 2 * arb.pi() / arb(self.plan.step.step)
        if self.plan.period is not None:
            period = self.plan.cycle * self.plan.period.step.ball()
        height = _chernoff(s, self.log_alias_mgf, epsilon)
        return 1 / (c * period).expm1() + height / ((s - c) * period).expm1()


class BallSums(NamedTuple):
    """e^{K(c) - c l} at the point l that the terms turn around, S, the derivative of scale S by epsilon over the scale.

    moved: what is to be added to the radius of scale S.
    """

    scale: arb
    value: arb
    slope: arb
    moved: arb


def _chernoff(s: arb, log_mgf: arb, epsilon: arb) -> arb:
    """kappa(s) e^{K(s) - s eps}."""
    return (log_mgf - s * epsilon + s * s.log() - (1 + s) * (1 + s).log()).exp()


def ball_contour(parts: Parts, plan: ContourPlan, mass: arb) -> BallContour:
    """Evaluates every cgf on the nodes of the plan."""
    c, nodes = plan.saddle.tilt, plan.nodes
    lost = plan.saddle.cancellation
    if parts.hits:  # the difference of two powers is smaller than they are
        lost += max(0.0, parts.body.cumulants(c).value - plan.saddle.cumulants.value)
    bits = BITS_LEAST + math.ceil(1.45 * lost + math.log2(max(count for _, count in parts.terms)))
    found = parts.hits or (None,) * len(parts.terms)
    with working_precision(bits):
        step: float | arb = plan.step.step
        if plan.period is not None:
            step = 2 * arb.pi() / (plan.cycle * plan.period.step.ball())
        log_scale, alias, alias_hits, body = arb(0), arb(0), arb(0), arb(0)
        product, whole = [acb(1)] * nodes, [acb(1)] * nodes
        for (cgf, count), hit in zip(parts.terms, found, strict=True):
            tolerance = LOG_TOLERANCE + TOLERANCE_SPARE + lost + math.log(count)
            tilted = cgf.ball_tilted(c, plan.step.step * nodes, tolerance)
            log_scale += count * tilted.log_mgf
            phis = tilted.phi(step, nodes)
            product = [power * phi**count for power, phi in zip(product, phis, strict=True)]
            alias_mgf = cgf.ball_tilted(plan.step.alias_tilt, 0.0, LOG_TOLERANCE).log_mgf
            if parts.hits:
                body += count * cgf.ball_tilted(parts.body_tilt, 0.0, LOG_TOLERANCE).log_mgf
                if hit is not None:
                    other = hit.ball_tilted(c, plan.step.step * nodes, tolerance)
                    ratio = (other.log_mgf - tilted.log_mgf).exp()
                    phis = [phi + ratio * more for phi, more in zip(phis, other.phi(step, nodes), strict=True)]
                    above = hit.ball_tilted(plan.step.alias_tilt, 0.0, LOG_TOLERANCE).log_mgf
                    alias_hits += count * (above - alias_mgf).exp().log1p()
                whole = [power * phi**count for power, phi in zip(whole, phis, strict=True)]
            alias += count * alias_mgf
        alias += alias_hits.expm1().log() if parts.hits else 0
        terms = [power - none for power, none in zip(whole, product, strict=True)] if parts.hits else product
        return BallContour(
            plan,
            bits,
            mass,
            log_scale,
            alias,
            tuple(terms),
            parts.rare_ball(),
            (parts.body_tilt, body) if parts.hits else None,
        )
