"""The intersection of what several grids and the events say: each interval holds, so all of them do.

lower = max of the lower ends, upper = min of the upper ones.
Guarantee: upper and lower, as those of its parts. Proof: docs/proofs/lattice.md, lemma 11.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ...bound import ErrorBreakdown, error_lines
from ...errors import agreed
from ...kernels.search import Inverse
from ..evaluation import Evaluation, Evaluator, SelfInverse, Term, inverse
from ..events import lower_by_events
from .tuning import NEWTON_STEPS


@dataclass(frozen=True)
class Narrowest(SelfInverse):
    """Evaluators of one composition; events are asked where these leave more than `wanted` of delta open."""

    evaluators: tuple[Evaluator, ...]
    terms: tuple[Term, ...]
    wanted: float
    near: float  # an epsilon close to the question
    slope: float  # about that of -log delta there
    finest: float  # relative width that a search for epsilon aims at in any case

    @property
    def arithmetic(self) -> str:
        return "float64" if any(evaluator.arithmetic == "float64" for evaluator in self.evaluators) else "ball"

    @property
    def parameters(self) -> Mapping[str, object]:
        """Those of the evaluator with the best upper end; of another one with the best lower end, under that name."""
        first, *others = self.evaluators
        lower = [{"arithmetic": evaluator.arithmetic, **evaluator.parameters} for evaluator in others[-1:]]
        return {**first.parameters, **({"lower": lower[0]} if lower else {})}

    def quickly(self, epsilon: float) -> Evaluation:
        return self._met(epsilon, math.inf)

    def delta(self, epsilon: float) -> Evaluation:
        return self._met(epsilon, self.wanted)

    def _met(self, epsilon: float, wanted: float) -> Evaluation:
        """With events where more than wanted is open."""
        found = [evaluator.delta(epsilon) for evaluator in self.evaluators]
        high, low = (
            min(found, key=lambda evaluation: evaluation.upper),
            max(found, key=lambda evaluation: evaluation.lower),
        )
        upper, lower, lower_lines = high.upper, low.lower, low.budget.lower
        if upper - lower > wanted * upper:
            event = lower_by_events(self.terms, epsilon)
            if event > lower:
                lower, lower_lines = event, error_lines()
        agreed(lower, upper, "one grid", "another grid")
        if high is low and lower == low.lower:
            return high
        # Ends of different origin: neither knows the other's errors, so the whole width is put down to the grids.
        width = error_lines(discretisation=max(upper - lower, 0.0))
        return Evaluation(lower, upper, ErrorBreakdown(_wider(high.budget.upper, width), _wider(lower_lines, width)))

    def inverse(self, delta: float, ceiling: float, accuracy: float) -> Inverse[Evaluation]:
        tolerance = min(self.finest, accuracy / 8.0)
        high = self._end(delta, 0.0, ceiling, tolerance, self.near, upper=True)
        low = None if high is None else self._end(delta, 0.0, high[0], tolerance, high[0], upper=False)
        if high is None or low is None:
            return inverse(self, delta, ceiling, tolerance, self.near)
        return Inverse(low[0], high[0], low[1], high[1])

    def _end(
        self, delta: float, low: float, high: float, tolerance: float, start: float, upper: bool
    ) -> tuple[float, Evaluation] | None:
        """The innermost epsilon found between low and high that proves one end, by Newton; None where none was found.

        With the upper end of delta at or below the level, epsilon is at most the point; with its lower end above the
        level, at least.
        """
        side = 1.0 if upper else -1.0
        point, slope = start, self.slope
        before: tuple[float, float] | None = None
        best: tuple[float, Evaluation] | None = None
        for _ in range(NEWTON_STEPS):
            value = self.quickly(point) if upper else self.delta(point)  # events tell nothing of upper ends
            end = value.upper if upper else value.lower
            if not (end > 0.0 and delta > 0.0):
                break
            gap = math.log(end) - math.log(delta)
            if before is not None and point != before[0]:
                secant = (before[1] - gap) / (point - before[0])
                slope = min(max(secant, slope / 16.0), slope * 16.0)
            margin = max(tolerance * point * slope / 4.0, 1e-13)  # of log delta: where to aim beyond the level
            proven = value.upper <= delta if upper else value.lower > delta
            if proven:
                best = point, value
            if proven and abs(gap) <= 2.0 * margin:
                break
            if gap > 0.0:
                low = max(low, point)
            else:
                high = min(high, point)
            before = point, gap
            point += (gap + side * margin) / slope
            if not low < point < high:
                point = low + (high - low) / 2.0 if high < math.inf else 2.0 * low
            if not low < point < high:
                break
        return best


def _wider(lines: Mapping[str, float], least: Mapping[str, float]) -> Mapping[str, float]:
    return error_lines(**{name: max(value, least[name]) for name, value in lines.items()})


def best_ends(evaluators: tuple[Evaluator, ...], epsilon: float) -> tuple[Evaluator, ...]:
    """The evaluator with the least upper end at epsilon, and the one with the largest lower end."""
    values = [(evaluator, evaluator.delta(epsilon)) for evaluator in evaluators]
    high, low = min(values, key=lambda each: each[1].upper), max(values, key=lambda each: each[1].lower)
    return (high[0],) if high[0] is low[0] else (high[0], low[0])


def relative_width(value: Evaluation) -> float:
    """(upper - lower) / upper; 0 where delta is known to be 0."""
    return (value.upper - value.lower) / value.upper if value.upper > 0.0 else 0.0


def rounding_rules(value: Evaluation) -> bool:
    """Whether rounding is the widest line of the interval: then a finer grid does not help."""
    upper, lower = value.budget.upper, value.budget.lower
    rounding = upper["rounding"] + lower["rounding"]
    return not math.isfinite(rounding) or rounding > max(upper["discretisation"], lower["discretisation"])
