"""What an engine gives back: a way to bound delta at any epsilon."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from flint import arb

from ..bound import ErrorBreakdown, error_lines
from ..errors import agreed
from ..kernels.ball import BITS_START, enclose, lower_float, refine, upper_float, working_precision
from ..kernels.search import Compared, Inverse, compare, invert
from ..pair import Pair
from .tuning import BALL_TOLERANCE

EXCESS_BITS = 160  # absolute accuracy of delta / level - 1: decides next to a delta of 1 too

Term = tuple[Pair, int]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """lower <= delta(epsilon) <= upper, and what the interval allows for."""

    lower: float
    upper: float
    budget: ErrorBreakdown

    @property
    def middle(self) -> float:
        """A point inside, for searches."""
        return self.lower + (self.upper - self.lower) / 2.0


class Evaluator(ABC):
    """delta as a function of epsilon, for one direction of one composition."""

    @property
    @abstractmethod
    def arithmetic(self) -> str:
        """float64 or ball."""

    @property
    def reason(self) -> str | None:
        """Why it may answer, where its engine has several ways; None for what the ladder says."""
        return None

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, object]:
        """What the certificate tells about how it was computed."""

    @abstractmethod
    def delta(self, epsilon: float) -> Evaluation:
        """Bounds delta at a finite epsilon >= 0."""

    def tail(self, t: float) -> Evaluation | None:
        """P[l > t] at a t >= 0, where it is known without secants of delta; None where it is not."""
        return None

    def quickly(self, epsilon: float) -> Evaluation:
        """The same, without what takes long and helps where delta is small only: for secants, which are many."""
        return self.delta(epsilon)

    def secant(self, x: float, y: float, second: bool) -> Evaluation:
        """Bounds a number between P[l >= y] and P[l > x], or the same of the second law.

        S(x, y) = (H(e^x) - e^(x-y) H(e^y)) / (1 - e^(x-y)), or (H(e^x) - H(e^y)) / (e^y - e^x) where second.
        Proof: docs/proofs/loss.md, section 1.
        """
        near, far = self.quickly(x), self.quickly(y)
        with working_precision(BITS_START):
            gap = arb(y) - arb(x)
            share, width = (arb(1), arb(x).exp() * gap.expm1()) if second else ((-gap).exp(), -(-gap).expm1())
            low = (arb(near.lower) - share * arb(far.upper)) / width
            high = (arb(near.upper) - share * arb(far.lower)) / width

            def scaled(one: Mapping[str, float], other: Mapping[str, float]) -> Mapping[str, float]:
                return error_lines(**{name: upper_float((one[name] + share * other[name]) / width) for name in one})

            budget = ErrorBreakdown(
                scaled(near.budget.upper, far.budget.lower), scaled(near.budget.lower, far.budget.upper)
            )
            lower, upper = max(lower_float(low), 0.0), min(upper_float(high), 1.0)
            return Evaluation(*agreed(lower, upper, "a secant", "the same secant"), budget)


class SelfInverse(Evaluator):
    """An evaluator that knows a better way to epsilon than a search."""

    @abstractmethod
    def inverse(self, delta: float, ceiling: float, accuracy: float) -> Inverse[Evaluation]:
        """An interval around the smallest epsilon with delta(epsilon) <= delta, which is at most ceiling."""


class BallFormula(SelfInverse):
    """delta as a formula in balls, at whatever precision is current: it can be compared with a level beyond doubles."""

    arithmetic = "ball"

    @abstractmethod
    def ball(self, epsilon: arb) -> arb:
        """delta at epsilon, at the working precision."""

    def delta(self, epsilon: float) -> Evaluation:
        low, high = enclose(lambda: self.ball(arb(epsilon)))
        low, high = max(low, 0.0), min(high, 1.0)
        lines = error_lines(rounding=high - low)
        return Evaluation(*agreed(low, high, "a formula", "the same formula"), ErrorBreakdown(lines, lines))

    def inverse(self, delta: float, ceiling: float, accuracy: float) -> Inverse[Evaluation]:
        found = invert(lambda point: self.against(point, delta), ceiling, min(BALL_TOLERANCE, accuracy / 8.0))
        ends = (None if end is None else self.delta(end) for end in (found.at_lower, found.at_upper))
        return Inverse(found.lower, found.upper, *ends)

    def against(self, epsilon: float, level: float) -> Compared[float]:
        """delta(epsilon) / level - 1, whose sign is decided before anything is rounded to a double."""

        def excess() -> arb:
            return (self.ball(arb(epsilon)) - arb(level)) / arb(level)

        value = refine(excess, EXCESS_BITS)
        middle = float(value.mid()) if value.is_finite() else math.nan
        log = math.log1p(middle) if middle > -1.0 else -math.inf
        return Compared(bool(value > 0), bool(value <= 0), log, float(value.rad()), epsilon)


def inverse(
    evaluator: Evaluator, delta: float, ceiling: float, tolerance: float, start: float = 1.0
) -> Inverse[Evaluation]:
    """The smallest epsilon with delta(epsilon) <= delta, by search from start; delta(ceiling) <= delta is known."""

    def against(epsilon: float) -> Compared[Evaluation]:
        value = evaluator.delta(epsilon)
        return compare(value.lower, value.upper, delta, value)

    return invert(against, ceiling, tolerance, start)
