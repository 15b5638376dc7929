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

from flint import acb, arb

from ...losses.cgf import LOG_TOLERANCE
from ...numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ...numerics.contour_sum import (
    Kernel,
    NodeErrors,
    NodeSpectrum,
    PlainSum,
    contour_sum,
    hits,
    multiply,
    power,
    ramp,
    smooth,
    together,
)
from ...numerics.enclosures import count_enclosure, enclosing, exact
from ...numerics.quadrature import transform
from ...numerics.rounding import next_down
from ...numerics.search import Inverse
from ...values.bound import ErrorBreakdown, error_lines
from ...values.errors import agreed
from .. import tuning
from ..decided import DecidedMass
from ..saddle import Parts, chernoff, log_mgf_above
from ..selection import Evaluation, SelfInverse
from .way import ContourPlan, Period, numerator


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


# The node sum of a contour in balls: every rounding enclosed by construction.
#
# Guarantee: exact. Proof: docs/proofs/contour.md, sections 2, 3 and 6.


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


# The node sum of a contour in float64: milliseconds, every rounding inside a radius.
#
# Guarantee: the sum holds under the constants of kernels.ulps. Proof: docs/proofs/contour.md, sections 6, 7 and 11.


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
