"""Chooses the engine and asks it: (terms, question) in, a certified interval out.

Every engine bounds delta at an epsilon; an epsilon is found by a certified search on those bounds. The engines are
tried from the cheapest on, each in float64 and then in balls where it has them, until the interval is as narrow as
asked; what is too wide everywhere is answered by the narrowest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Protocol

from flint import arb

from ..bound import Budget, budget_lines
from ..errors import InvalidParameter, Refusal, UnsupportedMechanism
from ..kernels import conditions
from ..kernels.ball import lower_float, upper_float
from . import closed_form
from .edges import Edges, edges
from .evaluation import Evaluator, SelfInverse, Term, inverse, named


class Prepare(Protocol):
    """An engine's way to prepare for one question; it refuses with UnsupportedMechanism."""

    def __call__(
        self, terms: Sequence[Term], *, epsilon: float | None, delta: float | None, accuracy: float
    ) -> Evaluator: ...


@dataclass(frozen=True, slots=True)
class Rung:
    """One engine in one arithmetic, and when it is the one to ask."""

    engine: str
    prepare: Prepare
    ball: bool
    reason: str


HITS, CONTOUR, LATTICE, BUCKETS = "hits", "contour", "lattice", "buckets"


def _late(engine: str, **options: bool) -> Prepare:
    """The engine's prepare, imported when it is first asked: exact answers need no other engine."""

    def prepare(terms: Sequence[Term], *, epsilon: float | None, delta: float | None, accuracy: float) -> Evaluator:
        asked = import_module(f".{engine}", __package__).prepare
        made: Evaluator = asked(terms, epsilon=epsilon, delta=delta, accuracy=accuracy, **options)
        return made

    return prepare


# From the cheapest on.
LADDER = (
    Rung(closed_form.NAME, closed_form.prepare, False, "an exact formula covers every term"),
    Rung(closed_form.NAME, partial(closed_form.prepare, proof=True), True, "an exact formula covers every term"),
    Rung(HITS, _late(HITS), False, "few hits decide, or every hit is seen"),
    Rung(HITS, _late(HITS, proof=True), True, "every hit is seen"),
    Rung(CONTOUR, _late(CONTOUR), False, "every term has a cgf, and the integral is proven to converge"),
    Rung(CONTOUR, _late(CONTOUR, proof=True), True, "every term has a cgf, and the integral converges"),
    Rung(LATTICE, _late(LATTICE), False, "any pair can be put on a grid"),
    Rung(LATTICE, _late(LATTICE, proof=True), True, "any pair can be put on a grid"),
)
# The historical reference answers when asked by name.
ON_REQUEST = (Rung(BUCKETS, _late(BUCKETS), False, "privacy buckets as published"),)
ENGINES = ("auto", *dict.fromkeys(rung.engine for rung in LADDER + ON_REQUEST))

# What a search on a cheap engine aims at in any case; the interval ends where its rounding does.
FLOAT_TOLERANCE = 1e-12

# Good enough to see that one direction is not the worse one.
LOOSE = 0.02

# Of epsilon: an engine that leaves so much open did not aim well.
WIDE = 0.01


@dataclass(frozen=True, slots=True)
class Question:
    """quantity (epsilon or delta) at the given value of the other one."""

    quantity: str
    given: float


@dataclass(frozen=True, slots=True)
class Answer:
    """One direction's interval and how it came about."""

    lower: float
    upper: float
    engine: str
    arithmetic: str
    reason: str
    parameters: Mapping[str, object]
    budget: Budget

    @property
    def width(self) -> float:
        """upper - lower."""
        return self.upper - self.lower

    def wide_epsilon(self, question: Question) -> bool:
        """Whether the engine missed where epsilon lies: its lower end is then a better place to aim at."""
        return question.quantity == "epsilon" and 0.0 < self.lower < (1.0 - WIDE) * self.upper < math.inf

    def meets(self, accuracy: float, quantity: str) -> bool:
        """Whether this interval is as narrow as asked."""
        return meets(self.lower, self.upper, accuracy, quantity)


def meets(lower: float, upper: float, accuracy: float, quantity: str) -> bool:
    """Whether an interval is as narrow as asked; near epsilon 0 a width of 1e-12 will do."""
    if lower == upper:
        return True
    width = upper - lower
    near_zero = quantity == "epsilon" and upper <= 1e-3 and width <= 1e-12
    return width < math.inf and (width <= accuracy * upper or near_zero)


class Planner:
    """Answers questions about one direction of one composition; what was prepared for one serves the next if it can."""

    def __init__(self, terms: Sequence[Term], proof: bool, engine: str, several: bool) -> None:
        if engine not in ENGINES:
            raise InvalidParameter(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
        self.terms = tuple(terms)
        asked = LADDER if engine == "auto" else [rung for rung in LADDER + ON_REQUEST if rung.engine == engine]
        # Without proof the lattice ends the ladder: in exact integers it has fewer points and is wider still.
        escalating = [rung for rung in asked if not (rung.ball and rung.engine == LATTICE)]
        # Where float64 is not what its bounds rest on, balls answer.
        self._ladder = [rung for rung in asked if rung.ball] if proof or not conditions.hold() else escalating
        conditions.demand_normal(self.terms)
        self._edges = edges(terms)
        # Half of the width is kept for the questions that follow.
        self._share = 0.5 if several else 1.0
        self._last: tuple[Rung, Evaluator] | None = None

    def answer(self, question: Question, accuracy: float) -> Answer:
        """The straight path: known edges, then the ladder of engines until one is narrow enough."""
        conditions.demand_normal(question)
        known = _from_edges(self._edges, question) or self._again(question, accuracy)
        if known is not None:
            return known
        best: Answer | None = None
        refusals: list[UnsupportedMechanism] = []
        refused: set[str] = set()
        for rung in self._ladder:
            if (
                best is not None
                and best.engine == rung.engine
                and (best.arithmetic == "ball" or rung.engine == CONTOUR)
            ):
                continue  # it went to balls by itself where that helps
            if rung.engine in refused:
                continue  # what is not proven to converge is not in balls either
            try:
                found = self._ask(rung, question, accuracy)
                if rung.engine == LATTICE:
                    found = self._aimed_again(rung, question, accuracy, found)
            except UnsupportedMechanism as refusal:
                refusals.append(refusal)
                if refusal.kind is not Refusal.NEEDS_BALLS:
                    refused.add(rung.engine)
                continue
            except OverflowError:
                refusals.append(UnsupportedMechanism(named(self.terms), "its numbers leave the range of float64"))
                continue
            if best is None or found.width < best.width:
                best = found
            exact = (found.engine, found.arithmetic) == (closed_form.NAME, "ball")
            if exact or best.meets(accuracy, question.quantity):
                break  # exact formulas in balls are the last word
        if best is None:
            raise (
                refusals[-1]
                if refusals
                else UnsupportedMechanism(
                    named(self.terms), "this engine has no ball arithmetic; leave out proof, or choose another engine"
                )
            )
        return best

    def stays_below(self, question: Question, other: Answer) -> bool:
        """Whether one loose evaluation proves that the answer is at or below the lower end of another direction's."""
        for_delta = question.quantity == "delta"
        epsilon, delta = (question.given, other.lower) if for_delta else (other.lower, question.given)
        if epsilon == math.inf and not for_delta:
            return True
        # The moments of many terms cost a tenth of their contours; one term takes milliseconds either way.
        many = len(self.terms) > 1 and (other.engine, other.arithmetic) == (CONTOUR, "float64")
        if many and self._last is None:
            from .contour.chernoff import delta_above

            with conditions.float64():
                if delta_above(self.terms, epsilon, upper_float(self._edges.mass)) <= delta:
                    return True
        return self.answer(Question("delta", epsilon), LOOSE).upper <= delta

    def _again(self, question: Question, accuracy: float) -> Answer | None:
        """delta from the evaluator that served last, if it is narrow enough here too."""
        if self._last is None or question.quantity != "delta":
            return None
        rung, evaluator = self._last
        if not (rung.ball or conditions.hold()):
            return None
        with _arithmetic(rung):
            value = evaluator.delta(question.given)
        if not meets(value.lower, value.upper, accuracy, "delta"):
            return None
        return _answer(rung, evaluator, value.lower, value.upper, value.budget)

    def _aimed_again(self, rung: Rung, question: Question, accuracy: float, found: Answer) -> Answer:
        """The engine's answer, asked once more at its lower end where it missed epsilon."""
        if not found.wide_epsilon(question):
            return found
        with suppress(UnsupportedMechanism, OverflowError):
            return min(found, self._ask(rung, question, accuracy, near=found.lower), key=lambda each: each.width)
        return found

    def _ask(self, rung: Rung, question: Question, accuracy: float, near: float | None = None) -> Answer:
        """The engine's answer; for epsilon, prepared at an epsilon that is near if there is one."""
        with _arithmetic(rung):
            return self._asked(rung, question, accuracy, near)

    def _asked(self, rung: Rung, question: Question, accuracy: float, near: float | None) -> Answer:
        for_delta = question.quantity == "delta"
        epsilon = question.given if for_delta else near
        evaluator = rung.prepare(
            self.terms,
            epsilon=epsilon,
            delta=question.given if epsilon is None else None,
            accuracy=accuracy * self._share,
        )
        self._last = rung, evaluator
        if for_delta:
            value = evaluator.delta(question.given)
            return _answer(rung, evaluator, value.lower, value.upper, value.budget)
        ends = self._edges
        ceiling = upper_float(ends.supremum) if ends.mass <= question.given else math.inf
        if isinstance(evaluator, SelfInverse):
            found = evaluator.inverse(question.given, ceiling, accuracy)
        else:
            found = inverse(evaluator, question.given, ceiling, min(FLOAT_TOLERANCE, accuracy / 8.0))
        nothing = Budget()
        budget = Budget(
            (found.at_upper.budget if found.at_upper else nothing).upper,
            (found.at_lower.budget if found.at_lower else nothing).lower,
        )
        return _answer(rung, evaluator, found.lower, min(found.upper, ceiling), budget)


def _arithmetic(rung: Rung) -> AbstractContextManager[None]:
    """float64 where it can be trusted; the lattice in integers takes its grid from it, other balls do without."""
    if not rung.ball:
        return conditions.float64()
    return conditions.quiet() if rung.engine == LATTICE else nullcontext()


def _from_edges(ends: Edges, question: Question) -> Answer | None:
    """Answers that need no engine: beyond the supremum of the loss, below the infinite mass, at delta 0 and 1."""
    if question.quantity == "delta":
        if ends.supremum <= question.given:
            return _exact(ends.mass, ends.mass, "epsilon is at or above every finite loss")
        return None
    if ends.mass > question.given:
        return _exact(arb.pos_inf(), arb.pos_inf(), "the infinite loss has more mass than delta")
    if question.given >= 1.0:
        return _exact(arb(0), arb(0), "delta 1 promises nothing")
    if ends.mass <= question.given and ends.supremum <= 0:
        return _exact(arb(0), arb(0), "no finite loss is above 0")
    if question.given == 0.0:
        upper = ends.supremum if ends.mass.is_zero() else arb.pos_inf()
        return _exact(ends.supremum, upper, "delta 0 asks for the supremum of the loss")
    return None


def _exact(lower: arb, upper: arb, reason: str) -> Answer:
    low, high = max(lower_float(lower), 0.0), max(upper_float(upper), 0.0)
    lines = budget_lines(rounding=high - low if math.isfinite(high) else 0.0)
    return Answer(low, high, closed_form.NAME, "ball", reason, {}, Budget(lines, lines))


def _answer(rung: Rung, evaluator: Evaluator, lower: float, upper: float, budget: Budget) -> Answer:
    return Answer(lower, upper, rung.engine, evaluator.arithmetic, rung.reason, dict(evaluator.parameters), budget)
