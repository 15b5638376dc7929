"""Chooses the engine and asks it: (terms, question) in, a certified interval out.

Every engine bounds delta at an epsilon; an epsilon is found by a certified search on those bounds. Where float64 is
too wide for the accuracy asked, balls take over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flint import arb

from ..bound import Budget, budget_lines
from ..errors import InvalidParameter
from ..kernels.ball import lower_float, upper_float
from ..kernels.search import invert
from . import closed_form
from .edges import Edges, edges
from .evaluation import Evaluator, Term

ENGINES = ("auto", closed_form.NAME)

# What a cheap engine aims at; the interval ends where its rounding does.
FLOAT_TOLERANCE = 1e-12
BALL_TOLERANCE = 1e-14


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

    def meets(self, accuracy: float, quantity: str) -> bool:
        """Whether this interval is as narrow as asked."""
        return meets(self.lower, self.upper, accuracy, quantity)


def meets(lower: float, upper: float, accuracy: float, quantity: str) -> bool:
    """Whether an interval is as narrow as asked; near epsilon 0 a width of 1e-12 will do."""
    if lower == upper:
        return True
    width = upper - lower
    return width < math.inf and (width <= accuracy * upper or (quantity == "epsilon" and width <= 1e-12))


def answer(terms: Sequence[Term], question: Question, accuracy: float, proof: bool, engine: str) -> Answer:
    """The straight path: known edges, then the closed form, in float64 and, if that is too wide, in balls."""
    if engine not in ENGINES:
        raise InvalidParameter(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    ends = edges(terms)
    known = _from_edges(ends, question)
    if known is not None:
        return known
    evaluator = closed_form.prepare(terms, proof)
    found = _ask(evaluator, ends, question, "an exact formula covers every term")
    if found.meets(accuracy, question.quantity) or evaluator.arithmetic == "ball":
        return found
    return _ask(closed_form.prepare(terms, proof=True), ends, question, "float64 was too wide for the accuracy")


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
    if question.given == 0.0:
        upper = ends.supremum if ends.mass.is_zero() else arb.pos_inf()
        return _exact(ends.supremum, upper, "delta 0 asks for the supremum of the loss")
    return None


def _exact(lower: arb, upper: arb, reason: str) -> Answer:
    low, high = max(lower_float(lower), 0.0), max(upper_float(upper), 0.0)
    lines = budget_lines(rounding=high - low if math.isfinite(high) else 0.0)
    return Answer(low, high, closed_form.NAME, "ball", reason, {}, Budget(lines, lines))


def _ask(evaluator: Evaluator, ends: Edges, question: Question, reason: str) -> Answer:
    if question.quantity == "delta":
        value = evaluator.delta(question.given)
        lower, upper, budget = value.lower, value.upper, value.budget
    else:
        ceiling = upper_float(ends.supremum) if ends.mass <= question.given else math.inf
        tolerance = BALL_TOLERANCE if evaluator.arithmetic == "ball" else FLOAT_TOLERANCE
        found = invert(evaluator.delta, question.given, ceiling, tolerance)
        lower, upper = found.lower, found.upper
        nothing = Budget()
        budget = Budget(
            (found.at_upper.budget if found.at_upper else nothing).upper,
            (found.at_lower.budget if found.at_lower else nothing).lower,
        )
    return Answer(lower, upper, closed_form.NAME, evaluator.arithmetic, reason, dict(evaluator.parameters), budget)
