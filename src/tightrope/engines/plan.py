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

from flint import arb

from .. import work
from ..bound import Budget, budget_lines
from ..derived.plain import plain_ends
from ..derived.poisson import sampled_once
from ..derived.product import unfolded
from ..errors import InvalidParameter, Refusal, UnsupportedMechanism, WorkExhausted, agreed
from ..kernels import conditions
from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ..question import AUTO, Question
from . import outline
from .answer import Answer, Point, answered, common, exact, from_edges, nothing_known
from .edges import edges, rest_above, sealed
from .evaluation import Evaluator, SelfInverse, Term, inverse
from .ladder import ENGINE_NAMES, OUTLINE, Engine, Rung, ladder
from .pooling import Pooling
from .tuning import (
    AHEAD,
    DEAR,
    DEAR_COST,
    DEAR_SHARE,
    FIRST_WIDTH,
    NEXT_TO_NOTHING,
    OUTLINE_TOLERANCE,
    PLAIN_SHARE,
    REUSED,
    ROUGHLY,
    SMALL,
)


class Planner:
    """Answers questions about one direction of one composition; what was prepared for one serves the next if it can.

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
        self._proof, self._auto = question.proof or not conditions.hold(), engine == AUTO
        # The law of a product is for one engine, which asks the others.
        self._bracketed = any(pair.bracketed() for pair, _ in terms)
        self._ladder = ladder(engine, self._bracketed, self._proof)
        demand_normal(self.terms)
        self._edges = edges(terms)
        self._several = several
        self._sides: tuple[Planner, ...] | None = None
        self._plain: tuple[Planner, ...] | None = None
        self._pooling = Pooling(self.terms if self._auto else (), lambda side: Planner(side, question, several))
        self._last: tuple[Rung, Evaluator] | None = None
        self._served = 0.0, 0.0  # the epsilon that it was prepared at, and the largest that it served

    def answer(self, point: Point, accuracy: float) -> Answer:
        """The straight path; what is wide is also held against simpler pairs, where there are any."""
        demand_normal(point)
        if self._pooling.wanted():
            return self._pooling.answer(point, accuracy)
        found = self._laddered(point, accuracy)
        return self._within(found, point) if self._bracketed and found.relative_width > ROUGHLY else found

    def _laddered(self, point: Point, accuracy: float) -> Answer:
        """Known edges, then the ladder of engines until one is narrow enough."""
        known = self._known(point, accuracy)
        if known is not None:
            return known
        best: Answer | None = None
        early: Answer | None = None  # should time run out
        refusals: list[UnsupportedMechanism] = []
        refused: set[Engine] = set()
        for rung in self._ladder:
            if best is not None and best.engine == rung.engine and (best.arithmetic == "ball" or rung.engine.settles):
                continue  # it went to balls by itself where that helps
            if rung.engine in refused:
                continue  # what is not proven to converge is not in balls either
            if best is None and rung.engine.weighs and self._dear(accuracy):
                first = self._tried(rung, point, FIRST_WIDTH, math.inf)
                early = first if isinstance(first, Answer) else None
            found = self._tried(rung, point, accuracy, math.inf if best is None else best.relative_width)
            if isinstance(found, UnsupportedMechanism):
                refusals.append(found)
                refused |= set() if found.kind is Refusal.NEEDS_BALLS else {rung.engine}
            elif found is not None:
                best = found if best is None or found.width < best.width else best
                if found.final or best.meets(accuracy, point.quantity):
                    return best
        best = best or early
        if self.unfinished or self.skipped or (best is None and self._auto):
            rough = self._outlined(point, best)
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
        cost = sum(pair.profile_cost() for pair, _ in self.terms if pair.finite() is None)
        return not (self._several or self._proof) and accuracy <= DEAR_SHARE * FIRST_WIDTH and cost >= DEAR_COST

    def _tried(self, rung: Rung, point: Point, accuracy: float, beat: float) -> Answer | UnsupportedMechanism | None:
        """One rung's answer, or its refusal; None where time or memory ended it."""
        try:
            with work.part(1.0 if rung is self._ladder[-1] else work.ENGINE_SHARE, clock=True):
                return self._climb(rung, point, accuracy, beat)
        except UnsupportedMechanism as refusal:
            if refusal.kind is Refusal.TOO_MUCH_WORK:
                self.skipped.add(rung.engine)
            return refusal
        except OverflowError:
            return UnsupportedMechanism("its numbers leave the range of float64", Refusal.NEEDS_BALLS)
        except WorkExhausted:
            self.unfinished.add(rung.engine)
            return None

    def _known(self, point: Point, accuracy: float) -> Answer | None:
        """What needs no engine, or none again."""
        with suppress(WorkExhausted):
            return (
                from_edges(self._edges, point)
                or self._again(point, accuracy)
                or self._next_to_nothing(point)
                or self._sealed(point, accuracy)
                or self._joined(point, accuracy)
            )
        return None

    def _sealed(self, point: Point, accuracy: float) -> Answer | None:
        """epsilon where delta is next to the infinite mass: that of the composition without its leaks."""
        levels = rest_above(self._edges.mass, point.given) if point.quantity == "epsilon" else None
        terms = None if levels is None else sealed(self.terms)
        if levels is None or terms is None:
            return None
        inner = Planner(terms, self._question, several=False)
        with suppress(UnsupportedMechanism):
            found = inner.answer(Point("epsilon", levels[0]), accuracy)
            other = found if levels[1] == levels[0] else inner.answer(Point("epsilon", levels[1]), accuracy)
            self._heard(inner)
            lower, upper = agreed(other.lower, found.upper, "the rest rounded up", "the rest rounded down")
            return replace(found, lower=lower, upper=upper)
        return None

    def _heard(self, *others: Planner) -> None:
        """What other planners did not finish, this one did not either."""
        self.unfinished |= {engine for other in others for engine in other.unfinished}
        self.skipped |= {engine for other in others for engine in other.skipped}

    def _next_to_nothing(self, point: Point) -> Answer | None:
        """Epsilon where it is 0, or too small to matter, by two bounds that cost little.

        The total variation of a composition is at most the sum of those of its parts; where delta is at least that,
        epsilon is 0. Where moments show that delta is met at NEXT_TO_NOTHING already, nobody asks for more.
        """
        dear = self._bracketed and any(pair.bracketed() and pair.profile_cost() > DEAR for pair, _ in self.terms)
        if point.quantity == "delta" or dear:
            return None
        variation = arb(0)
        with working_precision(BITS_START):
            for pair, count in self.terms:
                try:
                    variation += count * pair.ball_profile(arb(0))
                except UnsupportedMechanism:
                    return None  # a product is known by its engine only
                if not (variation <= point.given or variation < SMALL):
                    return None
        if variation <= point.given:
            return exact(arb(0), arb(0), "delta is at least the total variation of all parts together")
        if self._auto and not self._proof:
            from .chernoff import delta_above

            with Rung(OUTLINE, False).arithmetic():
                if delta_above(self.terms, NEXT_TO_NOTHING, upper_float(self._edges.mass), point.given) <= point.given:
                    lines = budget_lines(truncation=point.given)
                    return answered(
                        Rung(OUTLINE, False), outline.prepare(self.terms), 0.0, NEXT_TO_NOTHING, Budget(lines, lines)
                    )
        return None

    def _joined(self, point: Point, accuracy: float) -> Answer | None:
        """Samples of samples as one: the rate is between two doubles, so the answer is between theirs."""
        if self._sides is None:
            joined = [(sampled_once(pair), count) for pair, count in self.terms]
            sides = [tuple((ends[side], count) for ends, count in joined) for side in (0, 1)]
            made = () if sides[0] == self.terms else dict.fromkeys(sides)
            self._sides = tuple(Planner(side, self._question, self._several) for side in made)
        if not self._sides:
            return None
        with suppress(UnsupportedMechanism):
            with work.part(1.0 / len(self._sides)):
                below = self._sides[0].answer(point, accuracy)
            above = self._sides[-1].answer(point, accuracy) if len(self._sides) > 1 else below
            self._heard(*self._sides)
            lower, upper = agreed(below.lower, above.upper, "the lower rate", "the higher rate")
            return replace(above, lower=lower, upper=upper)
        return None

    def _climb(self, rung: Rung, point: Point, accuracy: float, beat: float) -> Answer:
        """One rung's answer; an engine that missed where epsilon lies is asked once more at its lower end."""
        if rung.engine.moments and self._ahead(point) > 0.0:
            with suppress(UnsupportedMechanism, OverflowError, WorkExhausted):
                found = self._ask(rung, point, accuracy, near=point.given + self._ahead(point))
                if found.meets(accuracy, point.quantity):
                    return found
        found = self._ask(rung, point, accuracy, beat=beat)
        if not (rung.engine.aims and found.wide_epsilon(point)):
            return found
        with suppress(UnsupportedMechanism, OverflowError, WorkExhausted):
            return min(found, self._ask(rung, point, accuracy, near=found.lower), key=lambda each: each.width)
        return found

    def _ahead(self, point: Point) -> float:
        """How far beyond this epsilon to prepare: what serves there serves on both sides, as the one before did."""
        return AHEAD * (self._served[1] - self._served[0]) if self._several and point.quantity == "delta" else 0.0

    def _outlined(self, point: Point, best: Answer | None) -> Answer:
        """What the evaluators that were prepared, and the outline, say together; from what was kept for that."""
        known = [] if best is None else [best]
        with work.grace():
            if self._last is not None:
                rung, evaluator = self._last
                with suppress(WorkExhausted, UnsupportedMechanism, OverflowError), rung.arithmetic():
                    known.append(self._read(rung, evaluator, point, OUTLINE_TOLERANCE))
            if best is None or not best.width < math.inf:
                rung = Rung(OUTLINE, self._proof)
                with suppress(WorkExhausted, UnsupportedMechanism, OverflowError), rung.arithmetic():
                    rough = outline.prepare(self.terms, proof=self._proof)
                    known.append(self._read(rung, rough, point, OUTLINE_TOLERANCE))
        if best is None or not best.width < math.inf:
            with work.uncounted():
                known.append(self._unknown(point))
        return common(known, self.terms)

    def takes_long(self) -> bool:
        """Whether its answers may take so long that there are simpler pairs to fall back on."""
        return any(each.plainer() is not None for pair, _ in unfolded(self.terms) for each in (pair, *pair.bases()))

    def _within(self, wide: Answer, point: Point) -> Answer:
        """Cut to what simpler pairs above and below say; from what was kept for that."""
        with suppress(WorkExhausted), work.grace():
            for index, planner in enumerate(() if work.over() else self._plain_sides()):
                with (
                    suppress(WorkExhausted, UnsupportedMechanism, OverflowError),
                    work.part(PLAIN_SHARE, clock=True),
                ):
                    found = planner.answer(point, ROUGHLY)
                    if index == 0:
                        wide = replace(wide, upper=min(wide.upper, found.upper))
                    else:
                        wide = replace(wide, lower=max(wide.lower, found.lower))
                    agreed(wide.lower, wide.upper, "a simpler pair below", "a simpler pair above")
        return wide

    def _plain_sides(self) -> tuple[Planner, ...]:
        """Who answers for simpler pairs: one above, and some below; nobody where there are none."""
        if self._plain is None:
            ends = [(plain_ends(pair), count) for pair, count in unfolded(self.terms)]
            above = [(each.above, count) for each, count in ends]
            below = [
                [(each.below[min(index, len(each.below) - 1)], count) for each, count in ends]
                for index in range(max(len(each.below) for each, _ in ends))
            ]
            sides = [] if above == unfolded(self.terms) else [above, *below]
            self._plain = tuple(Planner(side, self._question, self._several) for side in sides)
        return self._plain

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
        if self._pooling.wanted():
            return self._pooling.above.stays_below(point, other)
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
        if other.engine.moments and other.arithmetic == "float64":
            # The moments cost a fraction of a contour, and mostly they are enough; if not, a contour as there is.
            if self.below_by_moments(epsilon, delta, other.parameters.get("tilt")):
                return True
            with suppress(WorkExhausted, UnsupportedMechanism, OverflowError), work.part(work.ENGINE_SHARE):
                rough = self._climb(Rung(other.engine, ball=False), Point("delta", epsilon), ROUGHLY, math.inf)
                if rough.upper <= delta:
                    return True
        return self.answer(Point("delta", epsilon), ROUGHLY).upper <= delta

    def _seen_below(self, epsilon: float, delta: float) -> bool:
        """Whether the evaluator that served last proves that so much delta will do."""
        if self._last is None or not (self._last[0].ball or conditions.hold()) or epsilon == math.inf:
            return False
        with suppress(WorkExhausted, UnsupportedMechanism, OverflowError), self._last[0].arithmetic():
            return self._last[1].delta(epsilon).upper <= delta
        return False

    def below_by_moments(self, epsilon: float, delta: float, near: object = None) -> bool:
        """Whether moments prove that delta at epsilon is at most this; near: a tilt that may be close to the best."""
        from .chernoff import delta_above

        start, mass = near if isinstance(near, float) else 1.0, upper_float(self._edges.mass)
        with suppress(WorkExhausted, UnsupportedMechanism, OverflowError), Rung(OUTLINE, False).arithmetic():
            return not self._proof and delta_above(self.terms, epsilon, mass, delta, start) <= delta
        return False

    def _again(self, point: Point, accuracy: float) -> Answer | None:
        """The answer of the evaluator that served last, if it is narrow enough here too."""
        if self._last is None:
            return None
        rung, evaluator = self._last
        if not (rung.ball or conditions.hold()) or (
            point.quantity == "epsilon" and not isinstance(evaluator, SelfInverse)
        ):
            return None
        found = None
        with suppress(UnsupportedMechanism, OverflowError), rung.arithmetic():
            found = self._read(rung, evaluator, point, accuracy)
        # It may have been made loosely, to compare directions: what counts as narrow next to 0 is not narrow for it.
        if found is None or not (found.meets(accuracy, point.quantity) and found.relative_width <= accuracy):
            return None
        if point.quantity == "delta":
            self._served = self._served[0], max(self._served[1], point.given)
        return found

    def _ask(
        self, rung: Rung, point: Point, accuracy: float, near: float | None = None, beat: float = math.inf
    ) -> Answer:
        """The engine's answer, prepared at an epsilon that is near if there is one."""
        epsilon = point.given if near is None and point.quantity == "delta" else near
        with rung.arithmetic():
            evaluator = rung.prepare(
                self.terms,
                beat,
                epsilon=epsilon,
                delta=point.given if epsilon is None else None,
                accuracy=min(REUSED[0] * accuracy, REUSED[1]) if self._several else accuracy,
                **self._question.settings,
            )
            self._last = rung, evaluator
            self._served = (epsilon, epsilon) if epsilon is not None else (0.0, 0.0)
            return self._read(rung, evaluator, point, accuracy)

    def _read(self, rung: Rung, evaluator: Evaluator, point: Point, accuracy: float) -> Answer:
        """What a prepared evaluator says."""
        if point.quantity == "delta":
            value = evaluator.delta(point.given)
            return answered(rung, evaluator, value.lower, value.upper, value.budget)
        ends = self._edges
        ceiling = upper_float(ends.supremum) if ends.mass <= point.given else math.inf
        if isinstance(evaluator, SelfInverse):
            found = evaluator.inverse(point.given, ceiling, accuracy)
        else:
            found = inverse(evaluator, point.given, ceiling, min(rung.engine.finest, accuracy / 8.0))
        nothing = Budget()
        budget = Budget(
            (found.at_upper.budget if found.at_upper else nothing).upper,
            (found.at_lower.budget if found.at_lower else nothing).lower,
        )
        return answered(rung, evaluator, found.lower, min(found.upper, ceiling), budget)


def demand_normal(value: object) -> None:
    """Refuses doubles that this thread would take for others."""
    if conditions.misread(value):
        hint = "it has a number below 2.3e-308, which this process flushes to zero; switch gradual underflow on"
        raise UnsupportedMechanism(hint)
