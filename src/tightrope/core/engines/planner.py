"""Chooses the engine and asks it: (terms, question) in, a certified interval out.

Every engine bounds delta at an epsilon; an epsilon is found by a certified search on those bounds. The engines are
tried from the cheapest on, each in float64 and then in balls where it has them, until the interval is as narrow as
asked or the work is used up; what is too wide everywhere is answered by the narrowest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from flint import arb

from ..losses.operators.registered import finite_law, has_bracket_only, of_bounds
from ..numerics import fp_environment
from ..numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ..numerics.rounding import next_up
from ..values import compute_budget
from ..values.bound import ErrorBreakdown, error_lines
from ..values.errors import InvalidParameter, Refusal, UnsupportedMechanism, WorkExhausted, agreed
from ..values.question import AUTO, PROBABILITIES, SIGNED, Question
from . import fallback_bounds
from .loss_extremes import LossExtremes, loss_extremes, rest_above
from .normal_form import COMBINED_KINDS, FINITE_LOSSES, NEXT_KINDS, ONE_SAMPLE, SIMPLER_PAIRS, Rule, Terms
from .selection import (
    CLOSED_FORM,
    ENGINE_NAMES,
    FALLBACK,
    Candidate,
    Engine,
    Evaluator,
    Promise,
    SelfInverse,
    Term,
    candidates,
    inverse,
)
from .tuning import (
    AHEAD,
    BINNING_AIM,
    BINNING_SHARE,
    BINNING_WIDE,
    DEAR,
    DEAR_COST,
    DEAR_SHARE,
    FALLBACK_TOLERANCE,
    FIRST_WIDTH,
    KIND_UNITS,
    KINDS_MIN,
    NEXT_TO_NOTHING,
    PARAMETER_BINS,
    PLAIN_SHARE,
    REUSED,
    ROUGHLY,
    SMALL,
    WIDE_EPSILON,
)

# One value of a question, one direction's answer to it, and the answers that need no engine.


@dataclass(frozen=True, slots=True)
class Point:
    """One value of a question: its quantity at the given value of what question.ARGUMENTS names."""

    quantity: str
    given: float


@dataclass(frozen=True, slots=True)
class Answer:
    """One direction's interval and how it came about."""

    lower: float
    upper: float
    engine: Engine
    arithmetic: str
    reason: str
    parameters: Mapping[str, object]
    budget: ErrorBreakdown

    @property
    def width(self) -> float:
        """upper - lower."""
        return self.upper - self.lower

    @property
    def final(self) -> bool:
        """Whether no other engine can say more: an exact formula in balls."""
        return self.engine.promises(Promise.LAST_WORD) and self.arithmetic == "ball"

    def wide_epsilon(self, point: Point) -> bool:
        """Whether the engine missed where epsilon lies: its lower end is then a better place to aim at."""
        return point.quantity == "epsilon" and 0.0 < self.lower < (1.0 - WIDE_EPSILON) * self.upper < math.inf

    @property
    def relative_width(self) -> float:
        """width / upper; inf where the upper end is infinite."""
        return self.width / self.upper if 0.0 < self.upper < math.inf else math.inf if self.upper else 0.0

    def tells(self, point: Point) -> bool:
        """Whether this says more than that delta is a probability, or that epsilon is not negative."""
        return self.lower > 0.0 or self.upper < (1.0 if point.quantity == "delta" else math.inf)

    def mirrored(self, epsilon: float) -> Answer:
        """delta of (P, Q) at -epsilon, where this is delta of (Q, P) at epsilon >= 0.

        H_a(P||Q) = 1 - a + a H_{1/a}(Q||P), a = e^-epsilon; nothing cancels. Guarantee: each end keeps its side.
        Proof: docs/proofs/mirror.md.
        """
        with working_precision(BITS_START):
            rest, alpha = -(-arb(epsilon)).expm1(), (-arb(epsilon)).exp()
            low, high = rest + alpha * self.lower, rest + alpha * self.upper
            lower, upper = lower_float(low), min(upper_float(high), 1.0)  # the truth is at most 1
            above = {name: upper_float(alpha * line) for name, line in self.budget.upper.items()}
            below = {name: upper_float(alpha * line) for name, line in self.budget.lower.items()}
            above["rounding"] = next_up(above["rounding"] + max(upper_float(upper - high), 0.0))
            below["rounding"] = next_up(below["rounding"] + max(upper_float(low - lower), 0.0))
        reason = f"{self.reason}; below 0 by the mirror of the reversed pair"
        return replace(self, lower=lower, upper=upper, reason=reason, budget=ErrorBreakdown(above, below))

    def meets(self, accuracy: float, quantity: str) -> bool:
        """Whether this interval is as narrow as asked, or as doubles are."""
        return next_up(self.lower) >= self.upper or meets(self.lower, self.upper, accuracy, quantity)


def common(answers: Sequence[Answer], terms: Iterable[Term]) -> Answer:
    """Each holds of these terms, so what they have in common does: the narrowest of them with the ends of all.

    Where terms stand for many laws, upper ends may be those of each law, by its moments, and lower ends those of the
    pair of all, which may lose more: these are then no lower ends of any law.
    """
    below, above = max(answers, key=lambda answer: answer.lower), min(answers, key=lambda answer: answer.upper)
    lower, upper = below.lower, above.upper
    if lower > upper and any(of_bounds(pair) for pair, _ in terms):
        lower = upper
    agreed(lower, upper, below.engine.name, above.engine.name)
    return replace(min(answers, key=lambda answer: (answer.width, -answer.lower)), lower=lower, upper=upper)


def meets(lower: float, upper: float, accuracy: float, quantity: str) -> bool:
    """Whether an interval is as narrow as asked; near epsilon 0 a width of 1e-12 will do."""
    if lower == upper:
        return True
    width, size = upper - lower, max(abs(lower), abs(upper))
    near_zero = quantity in ("epsilon", "loss_quantile") and size <= 1e-3 and width <= 1e-12
    return width < math.inf and (width <= accuracy * size or near_zero)


def from_edges(ends: LossExtremes, point: Point) -> Answer | None:
    """Answers that need no engine: beyond the supremum of the loss, below the infinite mass, at delta 0 and 1."""
    if point.quantity == "delta":
        if ends.supremum <= point.given or point.given == math.inf:
            return exact(ends.mass, ends.mass, "epsilon is at or above every finite loss", most=1.0)
        return None
    if ends.mass > point.given:
        return exact(arb.pos_inf(), arb.pos_inf(), ends.why_infinite(point.given))
    if ends.never_reached(point.given):
        return exact(arb.pos_inf(), arb.pos_inf(), ends.why_never(point.given))
    if point.given >= 1.0:
        return exact(arb(0), arb(0), "delta 1 promises nothing")
    if ends.mass <= point.given and ends.supremum <= 0:
        return exact(arb(0), arb(0), "no finite loss is above 0")
    if point.given == 0.0:
        upper = ends.supremum if ends.mass.is_zero() else arb.pos_inf()
        return exact(ends.supremum, upper, "delta 0 asks for the supremum of the loss")
    return None


def nothing_known(point: Point) -> Answer:
    """Probabilities lie in [0, 1], epsilon is not negative, a quantile is anywhere."""
    upper = 1.0 if point.quantity in PROBABILITIES else math.inf
    lower = -math.inf if point.quantity in SIGNED else 0.0
    return Answer(lower, upper, FALLBACK, "ball", "nothing was proven in the time that was given", {}, ErrorBreakdown())


def exact(lower: arb, upper: arb, reason: str, most: float = math.inf) -> Answer:
    """A formula in balls; most: no truth is above, though a ball may be, such as 1 of a mass."""
    low, high = max(lower_float(lower), 0.0), min(max(upper_float(upper), 0.0), most)
    lines = error_lines(rounding=high - low if math.isfinite(high) else 0.0)
    return Answer(low, high, CLOSED_FORM, "ball", reason, {}, ErrorBreakdown(lines, lines))


def answered(candidate: Candidate, evaluator: Evaluator, lower: float, upper: float, budget: ErrorBreakdown) -> Answer:
    """What an evaluator said."""
    reason = evaluator.reason or candidate.reason
    return Answer(lower, upper, candidate.engine, evaluator.arithmetic, reason, dict(evaluator.parameters), budget)


# Compositions of thousands of kinds, between two of a few hundred.
#
# Where a call has not the time for as many cgfs as there are kinds, the families pool them (normal_form.py):
# uses that are dominated have the lower end, uses that dominate the upper one. First by combinations of two kinds,
# whose
# distance falls with the square of the number of cells; where these tell little, by the next kind on either side, which
# every engine knows.
# Guarantee: lower <= truth <= upper. Proof: docs/proofs/pools.md.

Make = Callable[[Sequence[Term]], "Planner"]


class BinnedPlanners:
    """The planners of what is below and above."""

    def __init__(self, terms: Terms, make: Make) -> None:
        self._terms, self._make = terms, make
        self._made: dict[bool, tuple[Planner, Planner] | None] = {}

    def wanted(self) -> bool:
        """Whether there are more kinds than there is time for, and they can be pooled."""
        many = len(self._terms) >= KINDS_MIN and compute_budget.left() < KIND_UNITS * len(self._terms)
        return many and any(self.sides(mixed) is not None for mixed in PARAMETER_BINS)

    def sides(self, mixed: bool) -> tuple[Planner, Planner] | None:
        """Made once, also where there are none, or no time for them."""
        if mixed not in self._made:
            self._made[mixed] = None
            with suppress(WorkExhausted):
                sides = (COMBINED_KINDS if mixed else NEXT_KINDS).sides(self._terms)
                if sides is not None:
                    self._made[mixed] = self._make(sides.below[0]), self._make(sides.above)
        return self._made[mixed]

    @property
    def above(self) -> Planner:
        """That of uses which dominate, by kinds that every engine knows."""
        found = self.sides(False) or self.sides(True)
        assert found is not None
        return found[1]

    def answer(self, point: Point, accuracy: float) -> Answer:
        """The closer pools, and the simpler ones where those stay wide."""
        found: list[Answer] = []
        for mixed in PARAMETER_BINS:
            sides = self.sides(mixed)
            if sides is None:
                continue
            refused = suppress(UnsupportedMechanism) if mixed and self.sides(False) else nullcontext()
            with refused, compute_budget.part(BINNING_SHARE if mixed else 1.0, clock=True):
                found.append(_between(*sides, point, max(accuracy, BINNING_AIM)))
                if found[-1].relative_width <= BINNING_WIDE:
                    break
        return common(found, self._terms)


def _between(below: Planner, above: Planner, point: Point, accuracy: float) -> Answer:
    """The lower end of the one and the upper end of the other; what lies between them is in the budget."""
    with compute_budget.part(0.5, clock=True):
        most = above.answer(point, accuracy)
    least = below.answer(point, accuracy)
    lower, upper = agreed(least.lower, most.upper, "pools from below", "pools from above")
    gap = upper - lower
    if point.quantity == "epsilon":
        gap = 0.0
        with suppress(UnsupportedMechanism, WorkExhausted, OverflowError):
            gap = above.answer(Point("delta", lower), ROUGHLY).upper - point.given
    lines = {**least.budget.lower, "discretisation": least.budget.lower["discretisation"] + max(gap, 0.0)}
    reason = f"{most.reason}, between pools of kinds that are alike"
    return replace(most, lower=lower, reason=reason, budget=ErrorBreakdown(most.budget.upper, lines))


class Selection:
    """Answers questions about terms as they are by the cheapest engine; what was prepared for one serves the next if it
    can.

    unfinished names the engines that time or memory ended, skipped those that were not expected to pay.
    """

    def __init__(self, terms: Sequence[Term], question: Question, several: bool) -> None:
        engine = question.engine_name
        if engine not in ENGINE_NAMES:
            raise InvalidParameter(f"engine must be one of {', '.join(ENGINE_NAMES)}, not {engine!r}")
        self.terms, self._question = tuple(terms), question
        self.unfinished: set[Engine] = set()
        self.skipped: set[Engine] = set()
        # Where float64 is not what its bounds rest on, balls answer.
        self._proof, self._auto = question.proof or not fp_environment.trusted(), engine == AUTO
        # The law of a product is for one engine, which asks the others.
        self._bracketed = any(has_bracket_only(pair) for pair, _ in terms)
        self._ladder = candidates(engine, self._bracketed, self._proof)
        demand_normal(self.terms)
        self._edges = loss_extremes(terms)
        self._several = several
        self._last: tuple[Candidate, Evaluator] | None = None
        self._served = 0.0, 0.0  # the epsilon that it was prepared at, and the largest that it served

    def answer(self, point: Point, accuracy: float) -> Answer:
        """The straight path."""
        demand_normal(point)
        return self._by_candidates(point, accuracy)

    def _by_candidates(self, point: Point, accuracy: float) -> Answer:
        """Known edges, then the ladder of engines until one is narrow enough."""
        known = self._known(point, accuracy)
        if known is not None:
            return known
        best: Answer | None = None
        early: Answer | None = None  # should time run out
        refusals: list[UnsupportedMechanism] = []
        refused: set[Engine] = set()
        for candidate in self._ladder:
            if (
                best is not None
                and best.engine == candidate.engine
                and (best.arithmetic == "ball" or candidate.engine.promises(Promise.OWN_BALLS))
            ):
                continue  # it went to balls by itself where that helps
            if candidate.engine in refused:
                continue  # what is not proven to converge is not in balls either
            if best is None and candidate.engine.takes == "beat" and self._dear(accuracy):
                first = self._tried(candidate, point, FIRST_WIDTH, math.inf)
                early = first if isinstance(first, Answer) else None
            found = self._tried(candidate, point, accuracy, math.inf if best is None else best.relative_width)
            if isinstance(found, UnsupportedMechanism):
                refusals.append(found)
                refused |= set() if found.kind is Refusal.NEEDS_BALLS else {candidate.engine}
            elif found is not None:
                best = found if best is None or found.width < best.width else best
                if found.final or best.meets(accuracy, point.quantity):
                    return best
        best = best or early
        if self.unfinished or self.skipped or (best is None and self._auto):
            rough = self._fall_back(point, best)
            if self.unfinished or self.skipped or rough.tells(point):
                return rough
        if best is not None:
            return best
        hint = "it has no ball arithmetic; leave out proof, or choose another engine"
        last = refusals[-1] if refusals else UnsupportedMechanism(hint)
        last.rename(engine=None if self._auto else self._question.engine_name)
        raise last

    def _dear(self, accuracy: float) -> bool:
        """Whether one question takes so long that there should be an answer before, should time run out."""
        cost = sum(pair.hockey_stick_cost() for pair, _ in self.terms if finite_law(pair) is None)
        return not (self._several or self._proof) and accuracy <= DEAR_SHARE * FIRST_WIDTH and cost >= DEAR_COST

    def _tried(
        self, candidate: Candidate, point: Point, accuracy: float, beat: float
    ) -> Answer | UnsupportedMechanism | None:
        """One rung's answer, or its refusal; None where time or memory ended it."""
        try:
            with compute_budget.part(1.0 if candidate is self._ladder[-1] else compute_budget.ENGINE_SHARE, clock=True):
                return self._climb(candidate, point, accuracy, beat)
        except UnsupportedMechanism as refusal:
            if refusal.kind is Refusal.TOO_MUCH_WORK:
                self.skipped.add(candidate.engine)
            return refusal
        except OverflowError:
            return UnsupportedMechanism("its numbers leave the range of float64", Refusal.NEEDS_BALLS)
        except WorkExhausted:
            self.unfinished.add(candidate.engine)
            return None

    def _known(self, point: Point, accuracy: float) -> Answer | None:
        """What needs no engine, or none again."""
        with suppress(WorkExhausted):
            return (
                from_edges(self._edges, point)
                or self._again(point, accuracy)
                or self._next_to_nothing(point)
                or self._conditioned_on_finite_loss(point, accuracy)
                or self._rewritten(point, accuracy)
            )
        return None

    def _rewritten(self, point: Point, accuracy: float) -> Answer | None:
        """By terms in their place, where a rule says so."""
        return None

    def _conditioned_on_finite_loss(self, point: Point, accuracy: float) -> Answer | None:
        """epsilon where delta is next to the infinite mass: that of the composition without its leaks."""
        levels = rest_above(self._edges.mass, point.given) if point.quantity == "epsilon" else None
        sides = None if levels is None else FINITE_LOSSES.sides(self.terms)
        if levels is None or sides is None:
            return None
        inner = type(self)(sides.above, self._question, several=False)
        with suppress(UnsupportedMechanism):
            answer = inner.answer(Point("epsilon", levels[0]), accuracy)
            other = answer if levels[1] == levels[0] else inner.answer(Point("epsilon", levels[1]), accuracy)
            self._heard(inner)
            lower, upper = agreed(other.lower, answer.upper, "the rest rounded up", "the rest rounded down")
            return replace(answer, lower=lower, upper=upper)
        return None

    def _heard(self, *others: Selection) -> None:
        """What other planners did not finish, this one did not either."""
        self.unfinished |= {engine for other in others for engine in other.unfinished}
        self.skipped |= {engine for other in others for engine in other.skipped}

    def _next_to_nothing(self, point: Point) -> Answer | None:
        """Epsilon where it is 0, or too small to matter, by two bounds that cost little.

        The total variation of a composition is at most the sum of those of its parts; where delta is at least that,
        epsilon is 0. Where moments show that delta is met at NEXT_TO_NOTHING already, nobody asks for more.
        """
        dear = self._bracketed and any(
            has_bracket_only(pair) and pair.hockey_stick_cost() > DEAR for pair, _ in self.terms
        )
        if point.quantity == "delta" or dear:
            return None
        variation = arb(0)
        with working_precision(BITS_START):
            for pair, count in self.terms:
                try:
                    variation += count * pair.ball_hockey_stick(arb(0))
                except UnsupportedMechanism:
                    return None  # a product is known by its engine only
                if not (variation <= point.given or variation < SMALL):
                    return None
        if variation <= point.given:
            return exact(arb(0), arb(0), "delta is at least the total variation of all parts together")
        if self._auto and not self._proof:
            from .saddle import delta_above

            with Candidate(FALLBACK, "float64").running():
                if delta_above(self.terms, NEXT_TO_NOTHING, upper_float(self._edges.mass), point.given) <= point.given:
                    lines = error_lines(truncation=point.given)
                    return answered(
                        Candidate(FALLBACK, "float64"),
                        fallback_bounds.prepare(self.terms),
                        0.0,
                        NEXT_TO_NOTHING,
                        ErrorBreakdown(lines, lines),
                    )
        return None

    def _climb(self, candidate: Candidate, point: Point, accuracy: float, beat: float) -> Answer:
        """One rung's answer; an engine that missed where epsilon lies is asked once more at its lower end."""
        if candidate.engine.promises(Promise.MOMENTS) and self._ahead(point) > 0.0:
            with suppress(UnsupportedMechanism, OverflowError, WorkExhausted):
                answer = self._ask(candidate, point, accuracy, near=point.given + self._ahead(point))
                if answer.meets(accuracy, point.quantity):
                    return answer
        answer = self._ask(candidate, point, accuracy, beat=beat)
        if not (candidate.engine.promises(Promise.SECOND_AIM) and answer.wide_epsilon(point)):
            return answer
        with suppress(UnsupportedMechanism, OverflowError, WorkExhausted):
            return min(answer, self._ask(candidate, point, accuracy, near=answer.lower), key=lambda each: each.width)
        return answer

    def _ahead(self, point: Point) -> float:
        """How far beyond this epsilon to prepare: what serves there serves on both sides, as the one before did."""
        return AHEAD * (self._served[1] - self._served[0]) if self._several and point.quantity == "delta" else 0.0

    def _fall_back(self, point: Point, best: Answer | None) -> Answer:
        """What the evaluators that were prepared, and the outline, say together; from what was kept for that."""
        known = [] if best is None else [best]
        with compute_budget.grace():
            if self._last is not None:
                candidate, evaluator = self._last
                with suppress(WorkExhausted, UnsupportedMechanism, OverflowError), candidate.running():
                    known.append(self._read(candidate, evaluator, point, FALLBACK_TOLERANCE))
            if best is None or not best.width < math.inf:
                candidate = Candidate(FALLBACK, "ball" if self._proof else "float64")
                with suppress(WorkExhausted, UnsupportedMechanism, OverflowError), candidate.running():
                    rough = fallback_bounds.prepare(self.terms, proof=self._proof)
                    known.append(self._read(candidate, rough, point, FALLBACK_TOLERANCE))
        if best is None or not best.width < math.inf:
            with compute_budget.uncounted():
                known.append(self._unknown(point))
        return common(known, self.terms)

    def _unknown(self, point: Point) -> Answer:
        """What holds without any engine: the infinite mass, the supremum of the loss, and what zCDP says."""

        nothing, mass = nothing_known(point), self._edges.mass
        above = min(nothing.upper, above_by_rho(self.terms, point, upper_float(mass)))
        if point.quantity == "delta":
            lower = max(lower_float(mass), 0.0)
            lower, above = agreed(lower, above, "the infinite mass", "zCDP")
            return replace(nothing, lower=lower, upper=above)
        bounded = mass <= point.given and self._edges.supremum.is_finite()
        return replace(nothing, upper=min(above, upper_float(self._edges.supremum)) if bounded else above)

    def stays_below(self, point: Point, other: Answer) -> bool:
        """Whether one loose evaluation proves that the answer is at or below the lower end of another direction's."""
        if point.quantity == "epsilon" and other.lower == 0.0:
            known = self._known(point, ROUGHLY)
            return known is not None and known.upper <= other.lower  # else what is small is cheaper found than compared
        for_delta = point.quantity == "delta"
        epsilon, delta = (point.given, other.lower) if for_delta else (other.lower, point.given)
        if epsilon == math.inf and not for_delta:
            return True
        known = from_edges(self._edges, Point("delta", epsilon))  # as beyond every loss
        if (known is not None and known.upper <= delta) or self._seen_below(epsilon, delta):
            return True
        if other.engine.promises(Promise.MOMENTS) and other.arithmetic == "float64":
            # The moments cost a fraction of a contour, and mostly they are enough; if not, a contour as there is.
            if self.below_by_moments(epsilon, delta, other.parameters.get("tilt")):
                return True
            with (
                suppress(WorkExhausted, UnsupportedMechanism, OverflowError),
                compute_budget.part(compute_budget.ENGINE_SHARE),
            ):
                rough = self._climb(Candidate(other.engine, "float64"), Point("delta", epsilon), ROUGHLY, math.inf)
                if rough.upper <= delta:
                    return True
        return self.answer(Point("delta", epsilon), ROUGHLY).upper <= delta

    def _seen_below(self, epsilon: float, delta: float) -> bool:
        """Whether the evaluator that served last proves that so much delta will do."""
        if self._last is None or not self._last[0].sound or epsilon == math.inf:
            return False
        with suppress(WorkExhausted, UnsupportedMechanism, OverflowError), self._last[0].running():
            return self._last[1].delta(epsilon).upper <= delta
        return False

    def below_by_moments(self, epsilon: float, delta: float, near: object = None) -> bool:
        """Whether moments prove that delta at epsilon is at most this; near: a tilt that may be close to the best."""
        from .saddle import delta_above

        start, mass = near if isinstance(near, float) else 1.0, upper_float(self._edges.mass)
        with suppress(WorkExhausted, UnsupportedMechanism, OverflowError), Candidate(FALLBACK, "float64").running():
            return not self._proof and delta_above(self.terms, epsilon, mass, delta, start) <= delta
        return False

    def _again(self, point: Point, accuracy: float) -> Answer | None:
        """The answer of the evaluator that served last, if it is narrow enough here too."""
        if self._last is None:
            return None
        candidate, evaluator = self._last
        if not candidate.sound or (point.quantity == "epsilon" and not isinstance(evaluator, SelfInverse)):
            return None
        found = None
        with suppress(UnsupportedMechanism, OverflowError), candidate.running():
            found = self._read(candidate, evaluator, point, accuracy)
        # It may have been made loosely, to compare directions: what counts as narrow next to 0 is not narrow for it.
        if found is None or not (found.meets(accuracy, point.quantity) and found.relative_width <= accuracy):
            return None
        if point.quantity == "delta":
            self._served = self._served[0], max(self._served[1], point.given)
        return found

    def _ask(
        self, candidate: Candidate, point: Point, accuracy: float, near: float | None = None, beat: float = math.inf
    ) -> Answer:
        """The engine's answer, prepared at an epsilon that is near if there is one."""
        epsilon = point.given if near is None and point.quantity == "delta" else near
        with candidate.running():
            evaluator = candidate.prepare(
                self.terms,
                beat,
                epsilon=epsilon,
                delta=point.given if epsilon is None else None,
                accuracy=min(REUSED[0] * accuracy, REUSED[1]) if self._several else accuracy,
                **self._question.settings,
            )
            self._last = candidate, evaluator
            self._served = (epsilon, epsilon) if epsilon is not None else (0.0, 0.0)
            return self._read(candidate, evaluator, point, accuracy)

    def _read(self, candidate: Candidate, evaluator: Evaluator, point: Point, accuracy: float) -> Answer:
        """What a prepared evaluator says."""
        if point.quantity == "delta":
            value = evaluator.delta(point.given)
            return answered(candidate, evaluator, value.lower, value.upper, value.budget)
        ends = self._edges
        ceiling = upper_float(ends.supremum) if ends.mass <= point.given else math.inf
        if isinstance(evaluator, SelfInverse):
            found = evaluator.inverse(point.given, ceiling, accuracy)
        else:
            found = inverse(evaluator, point.given, ceiling, min(candidate.engine.finest, accuracy / 8.0))
        nothing = ErrorBreakdown()
        budget = ErrorBreakdown(
            (found.at_upper.budget if found.at_upper else nothing).upper,
            (found.at_lower.budget if found.at_lower else nothing).lower,
        )
        return answered(candidate, evaluator, found.lower, min(found.upper, ceiling), budget)


class SidePlanners(NamedTuple):
    """Planners of terms below, the most telling first, and of terms above."""

    below: tuple[Planner, ...]
    above: Planner


class Planner(Selection):
    """Answers questions about one direction of one composition: puts it into its normal form, then selects."""

    @cached_property
    def _made(self) -> dict[str, SidePlanners | None]:
        return {}

    @cached_property
    def _pooling(self) -> BinnedPlanners:
        return BinnedPlanners(self.terms if self._auto else (), self._like)

    def answer(self, point: Point, accuracy: float) -> Answer:
        """The straight path; what is wide is also held against simpler pairs, where there are any."""
        if self._pooling.wanted():
            demand_normal(point)
            return self._pooling.answer(point, accuracy)
        answer = super().answer(point, accuracy)
        return self._within(answer, point) if self._bracketed and answer.relative_width > ROUGHLY else answer

    def stays_below(self, point: Point, other: Answer) -> bool:
        if self._pooling.wanted():
            return self._pooling.above.stays_below(point, other)
        return super().stays_below(point, other)

    def takes_long(self) -> bool:
        """Whether its answers may take so long that there are simpler pairs to fall back on."""
        return self._bracketed and any(SIMPLER_PAIRS.concerns(pair) for pair, _ in self.terms)

    def _like(self, terms: Sequence[Term]) -> Planner:
        """Who answers the same questions about other terms."""
        return Planner(terms, self._question, self._several)

    def _sides(self, rule: Rule) -> SidePlanners | None:
        """Who answers for what a rule puts in the place of the terms; None where they stay as they are."""
        if rule.name not in self._made:
            sides = rule.sides(self.terms)
            if sides is None:
                self._made[rule.name] = None
            else:
                planners = {row: self._like(row) for row in dict.fromkeys((*sides.below, sides.above))}
                self._made[rule.name] = SidePlanners(tuple(planners[row] for row in sides.below), planners[sides.above])
        return self._made[rule.name]

    def _rewritten(self, point: Point, accuracy: float) -> Answer | None:
        """Samples of samples as one: the rate is between two doubles, so the answer is between theirs."""
        sides = self._sides(ONE_SAMPLE)
        if sides is None:
            return None
        low, high = sides.below[0], sides.above
        with suppress(UnsupportedMechanism):
            with compute_budget.part(1.0 if high is low else 0.5):
                below = low.answer(point, accuracy)
            above = below if high is low else high.answer(point, accuracy)
            self._heard(low, high)
            lower, upper = agreed(below.lower, above.upper, "the lower rate", "the higher rate")
            return replace(above, lower=lower, upper=upper)
        return None

    def _within(self, wide: Answer, point: Point) -> Answer:
        """Cut to what simpler pairs above and below say, the one above first; from what was kept for that."""
        with suppress(WorkExhausted), compute_budget.grace():
            sides = None if compute_budget.over() else self._sides(SIMPLER_PAIRS)
            for index, planner in enumerate(() if sides is None else (sides.above, *sides.below)):
                with (
                    suppress(WorkExhausted, UnsupportedMechanism, OverflowError),
                    compute_budget.part(PLAIN_SHARE, clock=True),
                ):
                    answer = planner.answer(point, ROUGHLY)
                    if index == 0:
                        wide = replace(wide, upper=min(wide.upper, answer.upper))
                    else:
                        wide = replace(wide, lower=max(wide.lower, answer.lower))
                    agreed(wide.lower, wide.upper, "a simpler pair below", "a simpler pair above")
        return wide


def demand_normal(value: object) -> None:
    """Refuses doubles that this thread would take for others."""
    if fp_environment.misread(value):
        hint = "it has a number below 2.3e-308, which this process flushes to zero; switch gradual underflow on"
        raise UnsupportedMechanism(hint)


# What zCDP says of a composition: two formulas in balls, which hold without any engine.
#
# With K(c) <= c (c + 1) rho for all parts together (Moments.zcdp_rho) and w their infinite mass,
# delta(epsilon) <= w + e^(K(c) - c epsilon), at the best c at most w + e^(-(epsilon - rho)^2/(4 rho)) for epsilon >
# rho;
# so epsilon(delta) <= rho + 2 sqrt(rho log(1/(delta - w))) for delta > w.
# Guarantee: upper. Reference: Bun, Steinke 2016, Prop. 1.3.


def above_by_rho(terms: Sequence[Term], point: Point, mass: float) -> float:
    """At or above delta or epsilon at a point; mass is at or above the infinite mass; inf where nothing is known."""
    with suppress(UnsupportedMechanism, OverflowError), working_precision(BITS_START):
        rho = arb(0)
        for pair, count in terms:
            one = pair.moments().zcdp_rho()
            if one is None:
                return math.inf
            rho += count * one
        value = _delta(rho, arb(point.given), mass) if point.quantity == "delta" else _epsilon(rho, point.given, mass)
        return math.inf if value.is_nan() else max(upper_float(value), 0.0)
    return math.inf


def _delta(rho: arb, epsilon: arb, mass: float) -> arb:
    gap = epsilon - rho
    return mass + (-gap * gap / (4 * rho)).exp() if gap > 0 and rho > 0 else arb.pos_inf()


def _epsilon(rho: arb, delta: float, mass: float) -> arb:
    left = arb(delta) - arb(mass)
    return rho + 2 * (rho * -left.log()).sqrt() if left > 0 and rho >= 0 else arb.pos_inf()
