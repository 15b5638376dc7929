"""One value of a question, one direction's answer to it, and the answers that need no engine."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from flint import arb

from ..bound import ErrorBreakdown, error_lines
from ..errors import agreed
from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ..kernels.directed import next_up
from ..operators import of_bounds
from ..question import PROBABILITIES, SIGNED
from .evaluation import Evaluator, Term
from .extremes_of_loss import LossExtremes
from .selection import CLOSED_FORM, FALLBACK, Candidate, Engine, Promise
from .tuning import WIDE_EPSILON


@dataclass(frozen=True, slots=True)
class Point:
    """One value of a question: its quantity at the given value of what question.ARGUMENTS names."""

    quantity: str
    given: float


@dataclass(frozen=True, slots=True)
class Answer:
    """One direction's interval and how it came about."""

    lower: float
    upper: float
    engine: Engine
    arithmetic: str
    reason: str
    parameters: Mapping[str, object]
    budget: ErrorBreakdown

    @property
    def width(self) -> float:
        """upper - lower."""
        return self.upper - self.lower

    @property
    def final(self) -> bool:
        """Whether no other engine can say more: an exact formula in balls."""
        return self.engine.promises(Promise.LAST_WORD) and self.arithmetic == "ball"

    def wide_epsilon(self, point: Point) -> bool:
        """Whether the engine missed where epsilon lies: its lower end is then a better place to aim at."""
        return point.quantity == "epsilon" and 0.0 < self.lower < (1.0 - WIDE_EPSILON) * self.upper < math.inf

    @property
    def relative_width(self) -> float:
        """width / upper; inf where the upper end is infinite."""
        return self.width / self.upper if 0.0 < self.upper < math.inf else math.inf if self.upper else 0.0

    def tells(self, point: Point) -> bool:
        """Whether this says more than that delta is a probability, or that epsilon is not negative."""
        return self.lower > 0.0 or self.upper < (1.0 if point.quantity == "delta" else math.inf)

    def mirrored(self, epsilon: float) -> Answer:
        """delta of (P, Q) at -epsilon, where this is delta of (Q, P) at epsilon >= 0.

        H_a(P||Q) = 1 - a + a H_{1/a}(Q||P), a = e^-epsilon; nothing cancels. Guarantee: each end keeps its side.
        Proof: docs/proofs/mirror.md.
        """
        with working_precision(BITS_START):
            rest, alpha = -(-arb(epsilon)).expm1(), (-arb(epsilon)).exp()
            low, high = rest + alpha * self.lower, rest + alpha * self.upper
            lower, upper = lower_float(low), min(upper_float(high), 1.0)  # the truth is at most 1
            above = {name: upper_float(alpha * line) for name, line in self.budget.upper.items()}
            below = {name: upper_float(alpha * line) for name, line in self.budget.lower.items()}
            above["rounding"] = next_up(above["rounding"] + max(upper_float(upper - high), 0.0))
            below["rounding"] = next_up(below["rounding"] + max(upper_float(low - lower), 0.0))
        reason = f"{self.reason}; below 0 by the mirror of the reversed pair"
        return replace(self, lower=lower, upper=upper, reason=reason, budget=ErrorBreakdown(above, below))

    def meets(self, accuracy: float, quantity: str) -> bool:
        """Whether this interval is as narrow as asked, or as doubles are."""
        return next_up(self.lower) >= self.upper or meets(self.lower, self.upper, accuracy, quantity)


def common(answers: Sequence[Answer], terms: Iterable[Term]) -> Answer:
    """Each holds of these terms, so what they have in common does: the narrowest of them with the ends of all.

    Where terms stand for many laws, upper ends may be those of each law, by its moments, and lower ends those of the
    pair of all, which may lose more: these are then no lower ends of any law.
    """
    below, above = max(answers, key=lambda answer: answer.lower), min(answers, key=lambda answer: answer.upper)
    lower, upper = below.lower, above.upper
    if lower > upper and any(of_bounds(pair) for pair, _ in terms):
        lower = upper
    agreed(lower, upper, below.engine.name, above.engine.name)
    return replace(min(answers, key=lambda answer: (answer.width, -answer.lower)), lower=lower, upper=upper)


def meets(lower: float, upper: float, accuracy: float, quantity: str) -> bool:
    """Whether an interval is as narrow as asked; near epsilon 0 a width of 1e-12 will do."""
    if lower == upper:
        return True
    width, size = upper - lower, max(abs(lower), abs(upper))
    near_zero = quantity in ("epsilon", "loss_quantile") and size <= 1e-3 and width <= 1e-12
    return width < math.inf and (width <= accuracy * size or near_zero)


def from_edges(ends: LossExtremes, point: Point) -> Answer | None:
    """Answers that need no engine: beyond the supremum of the loss, below the infinite mass, at delta 0 and 1."""
    if point.quantity == "delta":
        if ends.supremum <= point.given or point.given == math.inf:
            return exact(ends.mass, ends.mass, "epsilon is at or above every finite loss", most=1.0)
        return None
    if ends.mass > point.given:
        return exact(arb.pos_inf(), arb.pos_inf(), ends.why_infinite(point.given))
    if ends.never_reached(point.given):
        return exact(arb.pos_inf(), arb.pos_inf(), ends.why_never(point.given))
    if point.given >= 1.0:
        return exact(arb(0), arb(0), "delta 1 promises nothing")
    if ends.mass <= point.given and ends.supremum <= 0:
        return exact(arb(0), arb(0), "no finite loss is above 0")
    if point.given == 0.0:
        upper = ends.supremum if ends.mass.is_zero() else arb.pos_inf()
        return exact(ends.supremum, upper, "delta 0 asks for the supremum of the loss")
    return None


def nothing_known(point: Point) -> Answer:
    """Probabilities lie in [0, 1], epsilon is not negative, a quantile is anywhere."""
    upper = 1.0 if point.quantity in PROBABILITIES else math.inf
    lower = -math.inf if point.quantity in SIGNED else 0.0
    return Answer(lower, upper, FALLBACK, "ball", "nothing was proven in the time that was given", {}, ErrorBreakdown())


def exact(lower: arb, upper: arb, reason: str, most: float = math.inf) -> Answer:
    """A formula in balls; most: no truth is above, though a ball may be, such as 1 of a mass."""
    low, high = max(lower_float(lower), 0.0), min(max(upper_float(upper), 0.0), most)
    lines = error_lines(rounding=high - low if math.isfinite(high) else 0.0)
    return Answer(low, high, CLOSED_FORM, "ball", reason, {}, ErrorBreakdown(lines, lines))


def answered(candidate: Candidate, evaluator: Evaluator, lower: float, upper: float, budget: ErrorBreakdown) -> Answer:
    """What an evaluator said."""
    reason = evaluator.reason or candidate.reason
    return Answer(lower, upper, candidate.engine, evaluator.arithmetic, reason, dict(evaluator.parameters), budget)
