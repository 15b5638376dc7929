"""Lower ends by what real neighbours lose, where no pair of them attains the dominating pair.

A transformation may dominate by a pair that no neighbours have, and know pairs that some neighbours do have (floors).
Then the upper end is that of the dominating pair and the lower end the largest over the floors; the gap between is the
theorem's, and named so in the budget.
Guarantee: each lower end is at or below the truth, for whatever choice of floors: each is a run of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from . import work
from .bound import Budget, budget_lines
from .engines.answer import Answer, Point
from .engines.evaluation import Term
from .engines.plan import Planner
from .engines.tuning import ROUGHLY
from .errors import UnsupportedMechanism, WorkExhausted
from .question import Question
from .transforms.terms import Choice, fixed_choices


@dataclass(frozen=True)
class Floor:
    """A run of real pairs in one direction, by the planner that answers for it."""

    planner: Planner
    question: Question
    several: bool

    def mirrored(self) -> Floor:
        """That of the reversed pairs."""
        terms = tuple((pair.reversed(), count) for pair, count in self.planner.terms)
        return replace(self, planner=Planner(terms, self.question, self.several))


def floors_of(choices: Sequence[Choice], terms: Sequence[Term], question: Question, several: bool) -> tuple[Floor, ...]:
    """What lower ends are asked of; nothing where the floors are the pairs themselves."""
    runs = dict.fromkeys(fixed_choices(choices))
    if list(runs) == [tuple(terms)]:
        return ()
    return tuple(Floor(Planner(run, question, several), question, several) for run in runs)


def lowered(chosen: Answer, floors: Sequence[Floor], point: Point, aim: float, mirror: bool) -> Answer:
    """The answer of the dominating pair with the lower end of the floors; 0 where none of them answered.

    The floors' upper ends count for nothing: they speak of some neighbours only.
    """
    best: Answer | None = None
    for done, floor in enumerate(floors):
        with suppress(UnsupportedMechanism, WorkExhausted), work.part(1.0 / (len(floors) - done)):
            found = floor.planner.answer(point, aim)
            found = found.mirrored(point.given) if mirror else found
            best = found if best is None or found.lower > best.lower else best
    lower = 0.0 if best is None else min(best.lower, chosen.upper)
    below = {} if best is None else dict(best.budget.lower)
    return replace(chosen, lower=lower, budget=Budget(chosen.budget.upper, budget_lines(**below)))


def parted(chosen: Answer, of_pair: Answer, planner: Planner, point: Point) -> Answer:
    """The same answer, with what the theorem may give away in its budget: delta of the pair over that of the floors."""
    given_away = of_pair.lower - chosen.lower
    if point.quantity == "epsilon" and chosen.lower < math.inf:
        with suppress(UnsupportedMechanism, WorkExhausted):
            given_away = planner.answer(Point("delta", chosen.lower), ROUGHLY).lower - point.given
    below = {**chosen.budget.lower, "theorem": max(given_away, 0.0)}
    return replace(chosen, budget=Budget(chosen.budget.upper, below))
