"""Answers about the privacy loss of one direction: its distribution, its quantiles, probabilistic DP.

    pdp(epsilon)      P[l > epsilon]
    loss_cdf(t)       P[l <= t]
    loss_quantile(p)  the smallest t with P[l <= t] >= p: -inf for p = 0, inf where p is above 1 - P[l = inf]
A quantile is at or below every t with P[l <= t] >= p, and above every t with P[l <= t] < p: two tails prove it.
Guarantee: lower <= truth <= upper. Proof: docs/proofs/loss.md, section 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from flint import arb

from ..numerics.balls import upper_float, working_precision
from ..numerics.search import Compared, compare, invert
from ..values import compute_budget
from ..values.bound import ErrorBreakdown, error_lines
from ..values.errors import WorkExhausted
from ..values.question import Question
from . import tuning
from .loss_extremes import EXTREME_BITS
from .loss_tails import LossTails, Terms, Wish, common
from .planner import Answer, Point, demand_normal, exact, nothing_known
from .selection import Engine
from .tuning import BALL_TOLERANCE, LOSS_NEAR_ZERO

BELOW = "loss_cdf"


class LossPlanner:
    """The readings of one direction."""

    def __init__(self, terms: Terms, question: Question) -> None:
        self.terms = terms
        self.law = LossTails(terms, question)

    @property
    def skipped(self) -> set[Engine]:
        """The engines that were not expected to pay."""
        return self.law.skipped

    def answer(self, point: Point, accuracy: float) -> Answer:
        """The interval of one reading."""
        demand_normal(point)
        if point.quantity != "loss_quantile":
            return self.law.tail(point.given, point.quantity == BELOW, Wish(accuracy))
        try:
            return self._quantile(point.given, accuracy)
        except WorkExhausted:
            return nothing_known(point)

    def roughly(self, p: float, accuracy: float) -> Answer:
        """A quantile by what is prepared next to 0, on both sides: the ends of a picture."""
        try:
            for t in (0.0, -2.0 * LOSS_NEAR_ZERO):
                self.law.tail(t, True, Wish(accuracy, again=True))
            return self._quantile(p, accuracy, again=True)
        except WorkExhausted:
            return nothing_known(Point("loss_quantile", p))

    def _quantile(self, p: float, accuracy: float, again: bool = False) -> Answer:
        edges = self.law.edges
        with working_precision(EXTREME_BITS):
            rest = 1 - arb(p)
            if edges.mass > rest:
                return exact(arb.pos_inf(), arb.pos_inf(), f"the loss is infinite too often for a quantile at {p!r}")
            if p == 0.0:
                return replace(exact(arb(0), arb(0), "every t will do"), lower=-math.inf, upper=-math.inf)
            if p == 1.0:
                upper = edges.supremum if edges.mass.is_zero() else arb.pos_inf()
                return exact(edges.supremum, upper, "all of the loss is at or below its supremum")
            ceiling = upper_float(edges.supremum) if edges.mass <= rest else math.inf
        return _Search(self.law, p, accuracy, again).answer(-self.law.reach, ceiling)


class _Search:
    """A quantile between two points that are proven; what was proven stays where the work ends early."""

    def __init__(self, law: LossTails, p: float, accuracy: float, again: bool) -> None:
        self._law, self._p, self._wish = law, p, Wish(accuracy, p, again=again)
        self._tolerance = min(BALL_TOLERANCE, accuracy / 8.0) if law.sharp else accuracy / 8.0
        self._low: tuple[float, Answer] | None = None
        self._high: tuple[float, Answer] | None = None

    def answer(self, lowest: float, highest: float) -> Answer:
        """From 0 upwards where P[l <= 0] < p, downwards where it is not, both ways where that is not known."""
        with suppress(WorkExhausted):
            self._compared(0.0)
            if self._high is None:
                invert(self._compared, highest, self._tolerance)
            if self._low is None:
                invert(self._mirrored, -lowest, self._tolerance)
        low, high = self._low or (lowest, None), self._high or (highest, None)
        told = high[1] or low[1] or nothing_known(Point("loss_quantile", self._p))
        budget = ErrorBreakdown(
            high[1].budget.upper if high[1] else error_lines(), low[1].budget.lower if low[1] else error_lines()
        )
        return replace(told, lower=low[0] + 0.0, upper=high[0] + 0.0, budget=budget)

    def _compared(self, t: float) -> Compared[Answer]:
        """Whether P[l <= t] < p, or at least p, for certain; by P[l > t] where that tells more."""
        p, below = self._p, self._p <= 0.5
        answer = self._law.tail(t, below, self._wish)
        if below:
            about = compare(answer.lower, answer.upper, p, answer)
            less, reached, log = answer.upper < p, answer.lower >= p, -about.log
        else:  # 1 - p is a double
            about = compare(answer.lower, answer.upper, 1.0 - p, answer)
            less, reached, log = answer.lower > 1.0 - p, answer.upper <= 1.0 - p, about.log
        if less and (self._low is None or t > self._low[0]):
            self._low = t, answer
        if reached and (self._high is None or t < self._high[0]):
            self._high = t, answer
        return Compared(less, reached, log, about.noise, answer)

    def _mirrored(self, s: float) -> Compared[Answer]:
        """The same at -s, which falls with s."""
        compared = self._compared(-s)
        return Compared(compared.met, compared.above, -compared.log, compared.noise, compared.value)


# P[l <= t] at many t, as a picture needs them: roughly everywhere first, then finer while work is left.
#
# What was prepared for one t is read at the others, from the middle of each gap on, so that little is open wherever
# work
# ends. Where preparing again no longer helps, next to atoms for one, reading goes on.
# P[l <= t] rises with t, so the largest lower end on the left and the smallest upper end on the right hold too.
# Guarantee: lower <= P[l <= t] <= upper at every t. Proof: docs/proofs/loss.md, section 7.


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
