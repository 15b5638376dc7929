"""Lower ends by what real neighbours lose, where no pair of them attains the dominating pair.

A transformation may dominate by a pair that no neighbours have, and know pairs that some neighbours do have (floors).
Then the upper end is that of the dominating pair and the lower end the largest over the floors; the gap between is the
theorem's, and named so in the budget.
Guarantee: each lower end is at or below the truth, for whatever choice of floors: each is a run of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..engines.planner import Answer, Planner, Point, nothing_known
from ..engines.selection import Term
from ..engines.tuning import ROUGHLY
from ..mechanisms.composition import Choice, fixed_choices
from ..values import compute_budget
from ..values.bound import ErrorBreakdown, error_lines
from ..values.errors import UnsupportedMechanism, WorkExhausted, agreed
from ..values.question import AUTO, Question

if TYPE_CHECKING:
    from .adaptive_bound import Everywhere


WITNESS_AIM = 1e-5  # relative width of several uses: the theorem mostly gives away more


@dataclass(frozen=True)
class WitnessRun:
    """A run of real pairs in one direction, by the planner that answers for it."""

    planner: Planner
    question: Question
    several: bool

    def mirrored(self) -> WitnessRun:
        """That of the reversed pairs."""
        terms = tuple((pair.reversed(), count) for pair, count in self.planner.terms)
        return replace(self, planner=Planner(terms, self.question, self.several))

    def answer(self, point: Point, aim: float, best: Answer) -> Answer:
        """The better of what there is and of what this run says."""
        single = sum(count for _, count in self.planner.terms) == 1  # which floors may attain
        free = self.question.engine == AUTO and self.question.accuracy is None and not single
        answer = self.planner.answer(point, max(aim, WITNESS_AIM) if free else aim)
        return answer if answer.lower > best.lower else best


@dataclass(frozen=True)
class Adaptive:
    """Runs of real pairs that are chosen anew at each use, from what was seen before it."""

    choices: tuple[Choice, ...]
    proof: bool
    several: bool
    _game: list[Everywhere] = field(default_factory=list, compare=False, repr=False)  # one serves many points

    def mirrored(self) -> Adaptive:
        """That of the reversed pairs."""
        choices = tuple((tuple(pair.reversed() for pair in pairs), count) for pairs, count in self.choices)
        return Adaptive(choices, self.proof, self.several)

    def answer(self, point: Point, aim: float, best: Answer) -> Answer:
        """What there is, with the lower end of the best policy found."""
        from .adaptive_bound import Everywhere, delta_at_least, epsilon_at_least

        if point.quantity == "epsilon":
            lower = epsilon_at_least(self.choices, point.given, known=best.lower, proof=self.proof)
        elif self.several:
            self._game.extend([Everywhere(self.choices, self.proof)][len(self._game) :])
            lower = self._game[0].delta_at_least(point.given)
        else:
            lower = delta_at_least(self.choices, point.given, known=best.lower, proof=self.proof)
        return replace(best, lower=lower) if lower > best.lower else best


def witness_runs(
    choices: Sequence[Choice], terms: Sequence[Term], question: Question, several: bool
) -> tuple[WitnessRun | Adaptive, ...]:
    """What lower ends are asked of; nothing where the floors are the pairs themselves."""
    runs = dict.fromkeys(fixed_choices(choices))
    if list(runs) == [tuple(terms)]:
        return ()
    from .adaptive_bound import adapts

    fixed = tuple(WitnessRun(Planner(run, question, several), question, several) for run in runs)
    if question.engine != AUTO or not adapts(choices):
        return fixed
    return *fixed, Adaptive(tuple(choices), question.proof, several)


def highest(floors: Sequence[WitnessRun | Adaptive], point: Point, aim: float, known: Answer | None = None) -> Answer:
    """The largest lower end of what is known and of these floors; nothing where none of them answered."""
    best = nothing_known(point) if known is None else known
    for done, floor in enumerate(floors):
        with suppress(UnsupportedMechanism, WorkExhausted), compute_budget.part(1.0 / (len(floors) - done)):
            best = floor.answer(point, aim, best)
    return best


def with_witnessed_lower_end(chosen: Answer, best: Answer, point: Point, mirror: bool) -> Answer:
    """The answer of the dominating pair with the lower end of the floors.

    The floors' upper ends count for nothing: they speak of some neighbours only.
    """
    if mirror:
        answer, best = best, replace(best, lower=0.0)
        for time in (nullcontext(), compute_budget.grace()):
            with suppress(WorkExhausted), time:
                best = answer.mirrored(point.given)
                break
    # Real neighbours are below what dominates them; whichever end is wrong where they are not, neither is an answer.
    lower, upper = agreed(best.lower, chosen.upper, "what real neighbours lose", "the dominating pair")
    return replace(
        chosen,
        lower=lower,
        upper=upper,
        budget=ErrorBreakdown(chosen.budget.upper, error_lines(**dict(best.budget.lower))),
    )


def parted(chosen: Answer, of_pair: Answer, planner: Planner, point: Point) -> Answer:
    """The same answer, with what the theorem may give away in its budget: delta of the pair over that of the floors."""
    given_away = of_pair.lower - chosen.lower
    if point.quantity == "epsilon" and chosen.lower < math.inf:
        with suppress(UnsupportedMechanism, WorkExhausted):
            given_away = planner.answer(Point("delta", chosen.lower), ROUGHLY).lower - point.given
    below = {**chosen.budget.lower, "theorem": max(given_away, 0.0)}
    return replace(chosen, budget=ErrorBreakdown(chosen.budget.upper, below))
