"""The contour engine: one integral of the cgf through its saddle point, every error term bounded.

For any c > 0 with K(c) finite, delta(eps) = w + (1/2 pi i) integral over Re z = c of e^{K(z) - z eps}/(z (z+1)) dz, and
the trapezoid rule with step h on c + i j h, j = -J..J, errs by aliases (never negative), truncation and node errors.
The cost does not depend on counts, and the precision is relative.
Each way to sum the law is tried, and tried again from what it found, until one is narrow enough. That is a choice: what
a way leaves out, the bound adds.
Guarantee: lower <= delta <= upper. Proof: docs/proofs/contour.md.
Reference: Zhu, Dong, Wang 2021, Alg. 1 (analytical Fourier accountant).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from ...losses.cgf import cgf_of
from ...losses.operators.registered import sampling_of
from ...numerics.balls import BITS_START, upper_float, working_precision
from ...values import compute_budget
from ...values.errors import Refusal, UnsupportedMechanism, WorkExhausted
from .. import tuning
from ..decided import decided_mass
from ..hits.engine import participation_visible
from ..loss_extremes import leaked
from ..saddle import Parts, Saddle
from ..selection import Term
from .sums import ContourBound, Nodes, ball_nodes, float_nodes
from .way import (
    QUICK,
    Approach,
    ContourLaw,
    ContourPlan,
    ContourTarget,
    Estimate,
    Way,
    falling_of,
    period_of,
    plan_contour,
    ways_of,
)


def prepare(
    terms: Sequence[Term],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    accuracy: float,
    proof: bool = False,
    second: bool | None = None,
    quick: bool = False,
) -> ContourBound:
    """An evaluator for one direction, its contour through the saddle of the question.

    second: where tails at epsilon are read off it, whether they are those of the second law. quick: of sampled uses,
    where the whole law takes little work; what is refused then is not refused for good.
    The law is summed whole where that is narrow enough, else in parts; in balls where float64 loses the digits.
    Raises UnsupportedMechanism where a cgf is unknown or the integrand is not proven to fall.
    """
    if quick and (all(sampling_of(pair) is None for pair, _ in terms) or participation_visible(terms, delta, accuracy)):
        raise UnsupportedMechanism("it has no hits, or hits that are counted")
    cgfs = [(cgf_of(pair), count) for pair, count in terms]
    with working_precision(BITS_START):
        infinite = leaked(terms)
        mass = upper_float(infinite)
    if epsilon is None and (delta is None or not delta > mass):
        raise UnsupportedMechanism("delta is not above its infinite mass")
    log_delta = None if delta is None else math.log(delta - mass)
    law = ContourLaw(cgfs, infinite, period_of(terms))
    target = ContourTarget(epsilon, delta, log_delta, accuracy, proof, second)
    return search(law, target, ways_of(law, quick))


@dataclass(frozen=True, slots=True)
class Trial:
    """A bound, what it found at the question, and how wide it is there.

    far: what it found is far from what its saddle promised. lost_digits: its own rounding is what makes it wide.
    """

    bound: ContourBound
    estimate: Estimate
    width: float
    far: bool
    lost_digits: bool


def search(law: ContourLaw, target: ContourTarget, to_try: Sequence[Way]) -> ContourBound:
    """The first bound that is narrow enough, or the narrowest."""
    best: Trial | None = None
    refusals: list[UnsupportedMechanism | WorkExhausted] = []
    ways = deque(to_try)
    seen: list[tuple[object, Trial]] = []
    while ways:
        way = ways.popleft()
        try:
            with compute_budget.part(compute_budget.WAY_SHARE, clock=True):
                trial = settled(Approach(law, target, way), seen)
        except (UnsupportedMechanism, WorkExhausted) as refusal:
            refusals.append(refusal)
            continue
        except OverflowError:
            hint = "its numbers leave the range of float64; try proof"
            refusals.append(UnsupportedMechanism(hint, Refusal.NEEDS_BALLS))
            continue
        best = narrower(best, trial)
        if best.width <= target.accuracy:
            break
        few = trial is best and trial.bound.nodes.plan.work <= tuning.BALLS_AT_ONCE
        if not way.retry_share:
            continue
        if trial.lost_digits and (few or way.retry_at_once):
            ways.appendleft(way.in_balls())
        elif trial.lost_digits:
            ways.append(way.in_balls())  # after all that is cheaper
    if best is None and to_try[0].name == QUICK[0].name:
        raise UnsupportedMechanism("no contour of it takes little work")  # others go on
    if best is None:
        raise next((each for each in refusals if isinstance(each, WorkExhausted)), refusals[0])
    return best.bound


def narrower(one: Trial | None, other: Trial) -> Trial:
    """The one that leaves less open."""
    return other if one is None or other.width < one.width else one


def settled(approach: Approach, seen: list[tuple[object, Trial]]) -> Trial:
    """Tries again from what was found, where that is wide and far from what the saddle promised.

    The saddle-point estimate fails where rare large losses and many small ones meet.
    """
    choose = approach.way.choose
    best = trial = once(approach, *choose(approach, None), seen)
    with suppress(UnsupportedMechanism, WorkExhausted, OverflowError):
        for _ in range(tuning.CORRECTIONS_MAX):
            if trial.width <= approach.accuracy or not trial.far:
                break
            trial, last = once(approach, *choose(approach, trial.estimate), seen), trial
            best = narrower(best, trial)
            if trial.width > tuning.IMPROVED * last.width:
                break
    return best


def once(approach: Approach, parts: Parts, saddle: Saddle, seen: list[tuple[object, Trial]]) -> Trial:
    """What was tried is not tried again: other ways may come to the same parts."""
    same = parts, saddle, approach.accuracy, approach.balls, approach.work_most
    for other, trial in seen:
        if other == same:
            return trial
    trial = tried(approach, parts, saddle)
    seen.append((same, trial))
    return trial


def tried(approach: Approach, parts: Parts, saddle: Saddle) -> Trial:
    """The bound whose contour runs through this saddle, and what it finds."""
    balls, law = approach.balls, approach.law
    units = tuning.BALL_UNITS if balls else tuning.FLOAT_UNITS
    most = min(approach.work_most, compute_budget.left() / units)
    falling = falling_of(parts, saddle.tilt, balls, law.period)
    plan = plan_contour(parts, falling, saddle, _tolerances(approach, saddle), most, law.period)
    compute_budget.spend(units * plan.work)
    nodes = nodes_of(parts, plan, balls)
    with working_precision(nodes.bits):
        rare = parts.rare_mass()
        decided = decided_mass(parts, balls) if parts.decided_tilt else None
    return _found(approach, ContourBound(nodes, law.mass, rare, parts.body_tilt, decided), saddle)


def _tolerances(approach: Approach, saddle: Saddle) -> list[float]:
    """Relative errors of delta to plan for: first what costs little, then what was asked."""
    share, accuracy = approach.target.sensitivity(saddle), approach.accuracy
    if approach.target.second is not None:  # what is left out counts as often as the distance of a secant is short
        share = max(approach.target.gap(saddle), tuning.RAMP_MIN / accuracy)
    aim = tuning.BALL_AIM if approach.balls else tuning.FLOAT_AIM
    first = accuracy if approach.target.accuracy >= tuning.LOOSE else min(accuracy, aim)
    rooms = [min(accuracy * share / room, tuning.TOLERANCE_MAX) for room in tuning.ROOMS]
    return [first * share / tuning.ROOMS[0], *rooms]


def nodes_of(parts: Parts, plan: ContourPlan, balls: bool) -> Nodes:
    """The law on the nodes of the plan."""
    if balls:
        return ball_nodes(parts, plan)

    return float_nodes(parts, plan)


def _found(approach: Approach, bound: ContourBound, saddle: Saddle) -> Trial:
    """What the bound says at the question, in plain floats."""
    epsilon, delta = approach.target.epsilon, approach.target.delta
    found = bound.at(saddle.epsilon) if epsilon is not None or delta is None else bound.solution(delta)
    at, log_delta, rate, value = found
    log_delta = min(log_delta, 0.0) if math.isfinite(log_delta) else saddle.log_delta - 10.0
    if approach.target.second is not None:
        value = bound.secant(at, at + approach.target.gap(saddle), approach.target.second)
    width = (value.upper - value.lower) / value.upper if value.upper > 0.0 else math.inf
    if epsilon is None:
        width = tuning.BESIDE * width / max(-rate * at, 1e-300) if width < 0.5 else math.inf
        if at < tuning.CONTOUR_NEAR_ZERO and width * at <= tuning.ZERO_WIDTH:
            width = 0.0
        if at == 0.0 and delta is not None and value.upper <= delta:
            width = 0.0  # the answer is 0
    off = abs(at - saddle.epsilon)
    missed = saddle.tilt * off + abs(log_delta - saddle.log_delta)
    share = tuning.CORRECTION_SHARE if bound.decided is None else tuning.CORRECTION_DECIDED
    far = missed > tuning.CORRECTION_MIN or off > share * saddle.epsilon
    lines = value.budget.upper
    others = max(lines[name] for name in lines if name != "rounding")
    lost_digits = not approach.balls and not lines["rounding"] < others
    return Trial(bound, Estimate(at, log_delta, saddle.epsilon), width, far, lost_digits)
