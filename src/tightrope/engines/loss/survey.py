"""P[l <= t] at many t, as a picture needs them: roughly everywhere first, then finer while work is left.

What was prepared for one t is read at the others, from the middle of each gap on, so that little is open wherever work
ends. Where preparing again no longer helps, next to atoms for one, reading goes on.
P[l <= t] rises with t, so the largest lower end on the left and the smallest upper end on the right hold too.
Guarantee: lower <= P[l <= t] <= upper at every t. Proof: docs/proofs/loss.md, section 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ... import compute_budget
from ..answer import Answer
from . import tuning
from .tails import LossTails, Wish, common


def survey(laws: Sequence[LossTails], places: Sequence[float]) -> list[list[Answer]]:
    """One answer for each place, of every law: all of them roughly before one is refined."""
    order = sorted(range(len(places)), key=lambda index: -(index & -index or len(places)))  # 0, the middle, quarters
    found: list[dict[int, Answer]] = [{} for _ in laws]
    for enough in tuning.SURVEY_WIDTHS:
        for done, (law, known) in enumerate(zip(laws, found, strict=True)):
            todo = [index for index in order if index not in known or known[index].width > enough]
            with compute_budget.part(1.0 / (len(laws) - done)):
                _pass(law, places, todo, enough, known)
    return [_rising(places, [known[index] for index in range(len(places))]) for known in found]


def _pass(
    law: LossTails, places: Sequence[float], todo: Sequence[int], enough: float, found: dict[int, Answer]
) -> None:
    """Every place once more, with an equal share of the work at least for each that is left."""
    missed = 0
    for done, index in enumerate(todo):
        wish = Wish(enough, enough=enough, again=missed >= tuning.SURVEY_MISSES)
        with compute_budget.part(1.0 / (len(todo) - done) if done else tuning.SURVEY_FIRST):
            answer = law.tail(places[index], True, wish)
        before = found.get(index)
        if answer.width > enough and (before is None or answer.width > before.width / 2.0):
            missed += 1
        found[index] = answer if before is None else common(before, answer)


def _rising(places: Sequence[float], answers: Sequence[Answer]) -> list[Answer]:
    """What the neighbours say as well."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    made, lowest, highest = list(answers), 0.0, 1.0
    for index in order:
        lowest = max(lowest, made[index].lower)
        made[index] = replace(made[index], lower=lowest)
    for index in reversed(order):
        highest = min(highest, made[index].upper)
        made[index] = replace(made[index], upper=highest)
    return made
