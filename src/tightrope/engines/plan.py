"""Chooses the engine and asks it: (terms, question) in, a certified interval out.

Every engine bounds delta at an epsilon; an epsilon is found by a certified search on those bounds. The engines are
tried from the cheapest on, each in float64 and then in balls where it has them, until the interval is as narrow as
asked or the work is used up; what is too wide everywhere is answered by the narrowest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from flint import arb

from .. import compute_budget
from ..bound import ErrorBreakdown, error_lines
from ..errors import InvalidParameter, Refusal, UnsupportedMechanism, WorkExhausted, agreed
from ..kernels import fp_environment
from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ..operators import finite_law, has_bracket_only
from ..question import AUTO, Question
from . import fallback_bounds
from .answer import Answer, Point, answered, common, exact, from_edges, nothing_known
from .evaluation import Evaluator, SelfInverse, Term, inverse
from .extremes_of_loss import loss_extremes, rest_above
from .normal_form import FINITE_LOSSES, ONE_SAMPLE, SIMPLER_PAIRS, Rule
from .parameter_binning import BinnedPlanners
from .selection import ENGINE_NAMES, FALLBACK, Candidate, Engine, Promise, candidates
from .tuning import (
    AHEAD,
    DEAR,
    DEAR_COST,
    DEAR_SHARE,
    FALLBACK_TOLERANCE,
    FIRST_WIDTH,
    NEXT_TO_NOTHING,
    PLAIN_SHARE,
    REUSED,
    ROUGHLY,
    SMALL,
)


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
            from .chernoff import delta_above

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
        from .concentrated import above_by_rho

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
        from .chernoff import delta_above

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
