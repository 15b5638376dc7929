"""delta's bounds from one sum over the nodes of a contour, put together in balls whatever arithmetic made the sum.

    upper = w + scale (S + truncation) + rare + body,   scale = e^{K(c) - c l},
    lower = w + scale (S - truncation) - aliases.
Where what is rare decides alone, both ends have what it adds (engines/decided.py).
epsilon of a delta: Newton on log delta, then two evaluations that prove the interval, delta_up(e) <= delta above it and
delta_low(e) > delta below.
Guarantee: lower <= delta <= upper where the node sum holds. Proof: docs/proofs/contour.md, sections 2, 3, 10, 12, 16.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple

from flint import arb

from ...bound import ErrorBreakdown, error_lines
from ...errors import agreed
from ...kernels.ball import lower_float, upper_float, working_precision
from ...kernels.directed import next_down
from ...kernels.search import Inverse
from ..chernoff import chernoff
from ..decided import DecidedMass
from ..evaluation import Evaluation, SelfInverse
from . import tuning
from .plan import ContourPlan


def _tail_above(s: arb, log_mgf: arb, at: arb) -> arb:
    """e^{K(s) - s x}, at or above P[l > x]."""
    return (log_mgf - s * at).exp()


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
    def ramp(self, at: float, gap: float, second: bool) -> NodeSum:
        """The sum with the kernel of a secant from `at` to at + gap; not for a period. At the working precision."""

    @abstractmethod
    def size(self) -> arb:
        """At or above the sum of prod |phi_i|^{k_i} over the nodes, at the working precision."""

    @abstractmethod
    def slope(self, epsilon: float) -> tuple[float, float]:
        """log of scale S, and its derivative by epsilon, approximately."""


class Found(NamedTuple):
    """An epsilon, log of delta without its infinite mass and its derivative there, approximately, and its bounds."""

    epsilon: float
    log_delta: float
    rate: float
    value: Evaluation


@dataclass(frozen=True)
class ContourBound(SelfInverse):
    """delta at any epsilon from the nodes of one contour.

    mass: w. rare: at or above the probability of what was cut off. decided: what it adds, where it decides alone.
    """

    nodes: Nodes
    mass: arb
    rare: arb
    body_tilt: float
    decided: DecidedMass | None = None

    @property
    def arithmetic(self) -> str:
        return self.nodes.arithmetic

    @property
    def parameters(self) -> Mapping[str, object]:
        step, bits = self.nodes.plan.step, {"bits": self.nodes.bits} if self.arithmetic == "ball" else {}
        chosen = {"tilt": self.nodes.plan.saddle.tilt, "alias_tilt": step.alias_tilt, "step": step.step}
        return {**chosen, "nodes": self.nodes.plan.nodes, **bits}

    def delta(self, epsilon: float) -> Evaluation:
        known = self._last.get(epsilon)  # asked by the engine, and then by whoever asked it
        if known is not None:
            return known
        with working_precision(self.nodes.bits):
            node_sum = self.nodes.sum(epsilon)
            aliases, (certain, left_out) = self._aliases(epsilon, chernoff), self._left_out(epsilon)
            made = self._bounded(node_sum, self._truncation, aliases, left_out, self.mass + certain)
        self._last.clear()
        self._last[epsilon] = made
        return made

    def secant(self, x: float, y: float, second: bool) -> Evaluation:
        """The secant as one sum: what H has left to be desired is not divided by a small distance.

        Where y - x is no double it ends before y. Proof: docs/proofs/loss.md, section 6.
        """
        gap, plan = y - x, self.nodes.plan
        gap = gap if Fraction(x) + Fraction(gap) <= Fraction(y) else next_down(gap)
        if plan.period is not None or not 0.0 < plan.height * gap < tuning.TURN_MAX:
            return super().secant(x, y, second)
        with working_precision(self.nodes.bits):
            node_sum, width = self.nodes.ramp(x, gap, second), arb(gap)
            fall = (-(self._tilt if second else self._tilt + 1) * width).exp()
            truncation = self._truncation * (1 + fall) / (width.expm1() if second else -(-width).expm1())
            left_out = self.rare + (0 if self.nodes.log_body is None else self._moment(self.nodes.log_body, x))
            mass = arb(0) if second else self.mass
            return self._bounded(node_sum, truncation, self._aliases(x, _tail_above), left_out, mass, second)

    def _moment(self, log_body: arb, at: float) -> arb:
        return _tail_above(arb(self.body_tilt), log_body, arb(at))

    def _bounded(
        self, node_sum: NodeSum, truncation: arb, aliases: arb, left_out: arb, mass: arb, second: bool = False
    ) -> Evaluation:
        """The sum with its errors, and a mass that is certain; a tail of the second law is e^-x times as large."""
        unit = (-node_sum.at).exp() if second else arb(1)
        scale = (self.nodes.log_scale - self._tilt * node_sum.at).exp() * unit
        aliases, left_out, moved = aliases * unit, left_out * unit, node_sum.moved * unit
        error = truncation + node_sum.quadrature
        upper = mass + scale * (node_sum.value + error) + left_out + moved
        lower = mass + scale * (node_sum.value - error) - aliases - moved
        least, most = max(lower_float(mass), 0.0), min(upper_float(upper), 1.0)
        rounding = scale * node_sum.value.rad() + scale.rad() * abs(node_sum.value) + moved + mass.rad()
        lines = {
            "truncation": upper_float(scale * truncation),
            "quadrature": upper_float(scale * node_sum.quadrature),
            "rounding": upper_float(rounding + arb(math.ulp(most))),  # of the sum, and of each end to a double
        }
        above = {**lines, "truncation": upper_float(scale * truncation + left_out)}
        budget = ErrorBreakdown(error_lines(**above), error_lines(**lines, wrap_around=upper_float(aliases)))
        return Evaluation(*agreed(max(lower_float(lower), least), most, "a contour", "the same contour"), budget)

    @property
    def _tilt(self) -> arb:
        return arb(self.nodes.plan.saddle.tilt)

    @cached_property
    def _truncation(self) -> arb:
        """What the nodes that were left out add at most, relative to the scale."""
        plan, c = self.nodes.plan, self._tilt
        if plan.period is not None and 2 * plan.nodes > plan.cycle:
            return arb(0)  # none was
        decay, hits = arb(0), arb(0)
        for bound, count, ratio in plan.log_bounds:
            if ratio is None:
                decay += count * arb(bound)
            else:
                hits += count * (arb(ratio) + arb(bound)).exp().log1p()
        product = decay.exp() * (1 if self.nodes.log_body is None else hits.expm1())
        if plan.period is None:
            return product * arb.atan2(c, arb(plan.height)) / (arb.pi() * c) + self._returns()
        width = plan.period.step.ball()
        near, far = c * width, (c + 1) * width
        rising = ((near + far) / 2).exp() * (arb.pi() * (plan.nodes - 1) / plan.cycle).cot() / (2 * arb.pi())
        return product * -(-width).expm1() * rising.min(1 / ((-near).expm1() * (-far).expm1()))

    def _returns(self) -> arb:
        """What nodes beyond the horizon H add at most: (1 + pi^2/6)/(pi H^2) times h sum of tri(t_j/H) psi(t_j).

        psi = prod |phi_i|^{k_i} over even counts k_i: what a transform does around any time it does around 0.
        """
        plan = self.nodes.plan
        if plan.horizon == math.inf:
            return arb(0)
        even = sum((2 * (count // 2) * arb(bound) for bound, count, _ in plan.log_bounds), arb(0)).exp()
        size = self.nodes.size() if all(count % 2 == 0 for _, count, _ in plan.log_bounds) else arb(plan.nodes)
        horizon = arb(plan.horizon)
        window = 2 * arb(plan.step.step) * size + 2 * horizon * even
        return (1 + arb.pi() ** 2 / 6) * window / (arb.pi() * horizon * horizon)

    def _left_out(self, epsilon: float) -> tuple[arb, arb]:
        """What rare outputs, and uses without a hit, add to delta at least, and how much more at most."""
        least, most = (arb(0), self.rare) if self.decided is None else self.decided.at(epsilon)
        more = (most - least).max(arb(0))
        if self.nodes.log_body is None:
            return least, more
        return least, more + chernoff(arb(self.body_tilt), self.nodes.log_body, arb(epsilon))

    def _aliases(self, epsilon: float, above: Callable[[arb, arb, arb], arb]) -> arb:
        """What the aliases add at most: 1/(e^{cL} - 1) + kappa e^{K(s) - s eps}/(e^{(s-c)L} - 1), L = 2 pi/h.

        above: kappa e^{K(s) - s eps}, or without kappa where a tail is summed.
        """
        plan, c, s = self.nodes.plan, self._tilt, arb(self.nodes.plan.step.alias_tilt)
        if plan.period is None:
            period = 2 * arb.pi() / arb(plan.step.step)
        else:
            period = plan.cycle * plan.period.step.ball()
        height = above(s, self.nodes.log_alias, arb(epsilon))
        return 1 / (c * period).expm1() + height / ((s - c) * period).expm1()

    @cached_property
    def _last(self) -> dict[float, Evaluation]:
        return {}

    @cached_property
    def _solutions(self) -> dict[float, Found]:
        return {}

    @cached_property
    def _floor(self) -> float:
        """The infinite mass, approximately."""
        return upper_float(self.mass)

    def at(self, epsilon: float) -> Found:
        """All that is known at an epsilon."""
        return Found(epsilon, *self._slope(epsilon), self.delta(epsilon))

    def _slope(self, epsilon: float) -> tuple[float, float]:
        """log of delta without its infinite mass, and its derivative, approximately."""
        log, rate = self.nodes.slope(epsilon)
        if self.decided is None:
            return log, rate
        value, slope = self.decided.about(epsilon)
        summed = math.exp(log) if math.isfinite(log) else 0.0
        total = summed + value
        return (math.log(total), (summed * rate + slope) / total) if total > 0.0 else (log, rate)

    def solution(self, delta: float) -> Found:
        """The same at the epsilon of this delta, which is looked for once."""
        if delta not in self._solutions:
            self._solutions[delta] = self.at(self._solve(delta))
        return self._solutions[delta]

    def _solve(self, delta: float) -> float:
        """The epsilon >= 0 of this delta, approximately."""
        target = math.log(delta - self._floor) if delta > self._floor else -math.inf
        start = self.nodes.plan.saddle.epsilon
        centre, low, high = max(start, 0.0), 0.0, math.inf
        for _ in range(2 * tuning.STEPS_MAX):
            log, rate = self._slope(centre)
            # Where the sum is lost in its own errors, the side that the contour was made for tells.
            above = log > target if math.isfinite(log) else centre < start
            low, high = (max(low, centre), high) if above else (low, min(high, centre))
            following = centre + (target - log) / rate if math.isfinite(log) and rate < 0.0 else math.nan
            if not low <= following <= high:
                # Past zero, or where the sum is lost in its own errors, halving still finds the way.
                following = 0.5 * (low + high) if high < math.inf else 2.0 * centre + 1.0
            if not following < tuning.EPSILON_MAX:
                break
            moved, centre = abs(following - centre), following
            sure = abs(target - log) <= tuning.CLOSE_LOG or moved <= 2.0 * math.ulp(centre)
            if sure and moved <= tuning.CLOSE * (centre + 1e-3):
                break
        return centre

    def inverse(self, delta: float, ceiling: float, accuracy: float) -> Inverse[Evaluation]:
        centre, _, rate, here = self.solution(delta)
        # Aliases and what is left out are on one side only: each side has a step of its own.
        unit, steepness = max(delta - self._floor, 5e-324), max(-rate, 1e-300) / tuning.BESIDE
        least = max(tuning.LOPSIDED * ((here.upper - here.lower) / unit) / steepness, 2.0 * math.ulp(centre))
        low, at_low = self._below(delta, centre, max((delta - here.lower) / unit / steepness, least))
        high, at_high = self._above(delta, centre, max((here.upper - delta) / unit / steepness, least))
        return Inverse(low, high, at_low, at_high)

    def _below(self, delta: float, centre: float, step: float) -> tuple[float, Evaluation | None]:
        for _ in range(tuning.STEPS_MAX):
            if not centre - step > 0.0:
                break
            trial = self.delta(centre - step)
            if trial.lower > delta:
                return centre - step, trial
            step *= 2.0
        return 0.0, None

    def _above(self, delta: float, centre: float, step: float) -> tuple[float, Evaluation | None]:
        if centre == 0.0:
            trial = self.delta(0.0)
            if trial.upper <= delta:
                return 0.0, trial
        for _ in range(tuning.STEPS_MAX):
            if not centre + step < tuning.EPSILON_MAX:
                break
            trial = self.delta(centre + step)
            if trial.upper <= delta:
                return centre + step, trial
            step *= 2.0
        return math.inf, None
