"""delta's bounds from one sum over the nodes of a contour, put together in balls whatever arithmetic made the sum.

    upper = w + scale (S + truncation) + rare + body,   scale = e^{K(c) - c l},
    lower = w + scale (S - truncation) - aliases.
Guarantee: lower <= delta <= upper where the node sum holds. Proof: docs/proofs/contour.md, sections 2, 3, 10 and 12.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from flint import arb

from ...bound import Budget, budget_lines
from ...kernels.ball import lower_float, upper_float, working_precision
from ..chernoff import chernoff
from ..evaluation import Evaluation
from .newton import ContourEvaluator
from .plan import ContourPlan


@dataclass(frozen=True, slots=True)
class NodeSum:
    """S at one epsilon: within `quadrature` of the ball `value`.

    at: the point l that the terms turn around, epsilon or the first loss of a lattice from there on.
    moved: what is to be added to the radius of scale S.
    """

    at: arb
    value: arb
    quadrature: arb
    moved: arb


@dataclass(frozen=True)
class Nodes(ABC):
    """A law on the nodes of a contour, in float64 or in balls; all that a bound needs besides what was left out.

    log_scale: K(c). log_alias: at or above K(s) at the tilt that bounds aliases.
    log_body: where only hits are summed, at or above log E[e^{sL}; no hit] at the tilt of the body.
    """

    plan: ContourPlan
    bits: int
    log_scale: arb
    log_alias: arb
    log_body: arb | None

    arithmetic: ClassVar[str]  # float64 or ball

    @abstractmethod
    def sum(self, epsilon: float) -> NodeSum:
        """S at epsilon, at the working precision."""

    @abstractmethod
    def slope(self, epsilon: float) -> tuple[float, float]:
        """log of scale S, and its derivative by epsilon, approximately."""


@dataclass(frozen=True)
class ContourBound(ContourEvaluator):
    """delta at any epsilon from the nodes of one contour.

    mass: w. rare: at or above the probability of what was cut off.
    """

    nodes: Nodes
    mass: arb
    rare: arb
    body_tilt: float

    @property
    def arithmetic(self) -> str:
        return self.nodes.arithmetic

    @property
    def parameters(self) -> Mapping[str, object]:
        bits = {"bits": self.nodes.bits} if self.arithmetic == "ball" else {}
        return {**self.nodes.plan.parameters, **bits}

    @property
    def start(self) -> float:
        return self.nodes.plan.saddle.epsilon

    @cached_property
    def floor(self) -> float:
        return upper_float(self.mass)

    def slope(self, epsilon: float) -> tuple[float, float]:
        return self.nodes.slope(epsilon)

    def delta(self, epsilon: float) -> Evaluation:
        with working_precision(self.nodes.bits):
            found = self.nodes.sum(epsilon)
            scale = (self.nodes.log_scale - self._tilt * found.at).exp()
            truncation, aliases, left_out = self._truncation, self._aliases(epsilon), self._left_out(epsilon)
            error = truncation + found.quadrature
            upper = self.mass + scale * (found.value + error) + left_out + found.moved
            lower = self.mass + scale * (found.value - error) - aliases - found.moved
            lines = {
                "truncation": upper_float(scale * truncation),
                "quadrature": upper_float(scale * found.quadrature),
                "rounding": upper_float(scale * found.value.rad() + scale.rad() * abs(found.value)),
            }
            above = {**lines, "truncation": upper_float(scale * truncation + left_out)}
            budget = Budget(budget_lines(**above), budget_lines(**lines, wrap_around=upper_float(aliases)))
            least, most = max(lower_float(self.mass), 0.0), min(upper_float(upper), 1.0)
            return Evaluation(min(max(lower_float(lower), least), most), most, budget)

    @property
    def _tilt(self) -> arb:
        return arb(self.nodes.plan.saddle.tilt)

    @cached_property
    def _truncation(self) -> arb:
        """What the nodes that were left out add at most, relative to the scale."""
        plan, c = self.nodes.plan, self._tilt
        if plan.complete:
            return arb(0)
        decay, hits = arb(0), arb(0)
        for bound, count, ratio in plan.log_bounds:
            if ratio is None:
                decay += count * arb(bound)
            else:
                hits += count * (arb(ratio) + arb(bound)).exp().log1p()
        product = decay.exp() * (1 if self.nodes.log_body is None else hits.expm1())
        if plan.period is None:
            return product * arb.atan2(c, arb(plan.height)) / (arb.pi() * c)
        width = plan.period.step.ball()
        near, far = c * width, (c + 1) * width
        rising = ((near + far) / 2).exp() * (arb.pi() * (plan.nodes - 1) / plan.cycle).cot() / (2 * arb.pi())
        return product * -(-width).expm1() * rising.min(1 / ((-near).expm1() * (-far).expm1()))

    def _left_out(self, epsilon: float) -> arb:
        """What rare outputs, and uses without a hit, add to delta at most."""
        if self.nodes.log_body is None:
            return self.rare
        return self.rare + chernoff(arb(self.body_tilt), self.nodes.log_body, arb(epsilon))

    def _aliases(self, epsilon: float) -> arb:
        """What the aliases add at most: 1/(e^{cL} - 1) + kappa e^{K(s) - s eps}/(e^{(s-c)L} - 1), L = 2 pi/h."""
        plan, c, s = self.nodes.plan, self._tilt, arb(self.nodes.plan.step.alias_tilt)
        if plan.period is None:
            period = 2 * arb.pi() / arb(plan.step.step)
        else:
            period = plan.cycle * plan.period.step.ball()
        height = chernoff(s, self.nodes.log_alias, arb(epsilon))
        return 1 / (c * period).expm1() + height / ((s - c) * period).expm1()
