"""Answers about the privacy loss of one direction: its distribution, its quantiles, probabilistic DP.

    pdp(epsilon)      P[l > epsilon]
    loss_cdf(t)       P[l <= t]
    loss_quantile(p)  the smallest t with P[l <= t] >= p: -inf for p = 0, inf where p is above 1 - P[l = inf]
A quantile is at or below every t with P[l <= t] >= p, and above every t with P[l <= t] < p: two tails prove it.
Guarantee: lower <= truth <= upper. Proof: docs/proofs/loss.md, section 4.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

from flint import arb

from ...bound import ErrorBreakdown, error_lines
from ...errors import WorkExhausted
from ...kernels.ball import upper_float, working_precision
from ...kernels.search import Compared, compare, invert
from ...question import Question
from ..answer import Answer, Point, exact, nothing_known
from ..extremes_of_loss import EXTREME_BITS
from ..plan import demand_normal
from ..selection import Engine
from ..tuning import BALL_TOLERANCE
from .tails import LossTails, Terms, Wish
from .tuning import NEAR_ZERO

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
            for t in (0.0, -2.0 * NEAR_ZERO):
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
