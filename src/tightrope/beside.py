"""What zCDP says of a run beside the pairs of its parts.

The composition of the pairs is an upper bound, and loose where no mechanism has one of the pairs: each use of the
exponential mechanism has another worst neighbour at each epsilon. rho is a number that adds up without such a loss.
Guarantee: the upper end holds for every run with these parts, the lower end is what real uses of such parts lose.
Reference: Bun, Steinke 2016, Lemma 2.3 (rho adds up). Proof: docs/proofs/exponential.md, section 6; groups:
docs/proofs/group.md, section 9.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from . import compute_budget
from .bound import ErrorBreakdown, error_lines
from .engines.answer import Answer, Point
from .engines.plan import Planner
from .errors import UnsupportedMechanism, WorkExhausted
from .mechanisms.base import Mechanism
from .question import AUTO, OF_LOSS, Question
from .relation import Direction
from .transforms.terms import concentrated, terms_of

REASON = "the parts are zCDP, and their rho add up; the lower end is what real uses lose"


@dataclass(frozen=True)
class ZcdpBounds:
    """Planners of an upper and of a lower end; the pairs of both are their own reverse."""

    above: Planner
    below: Planner

    @staticmethod
    def of(law: Mechanism, question: Question) -> ZcdpBounds | None:
        """None where it says nothing more, or where an engine is insisted on: it would be asked about another law."""
        if question.engine != AUTO or question.quantity in OF_LOSS or (law.parts == ((law, 1),) and law.attained_once):
            return None
        found = concentrated(law)
        if found is None:
            return None
        above, below = (Planner(terms_of(mechanism, Direction.REMOVE), question, several=False) for mechanism in found)
        return ZcdpBounds(above, below)

    def answers(self, point: Point, aim: float) -> tuple[Answer, Answer] | None:
        """What holds above, and what real uses have; None where one of them came to no end."""
        with suppress(UnsupportedMechanism, WorkExhausted), compute_budget.part(compute_budget.FLOOR_SHARE):
            above, below = self.above.answer(point, aim), self.below.answer(point, aim)
            lines = error_lines(**{**below.budget.lower, "theorem": max(above.lower - below.lower, 0.0)})
            return replace(above, reason=REASON), replace(below, budget=ErrorBreakdown(above.budget.upper, lines))
        return None
