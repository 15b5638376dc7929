"""Uses that are one pair whose profile lies between two numbers that do not meet.

delta is read at epsilon. The smallest epsilon for a delta is searched for twice: above it every upper end that is at
most delta is an upper end of epsilon, and every lower end that is above delta a lower one.
Guarantee: lower and upper, as those of the pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...bound import ErrorBreakdown, error_lines
from ...errors import agreed
from ...facets.bounds import ProfileBounds
from ...kernels.search import Compared, Inverse, compare, invert
from ..evaluation import Evaluation, SelfInverse
from . import tuning


@dataclass
class BoundsEvaluator(SelfInverse):
    """What the pair says, each number once."""

    bounds: ProfileBounds
    _lower: dict[float, float] = field(default_factory=dict)
    _upper: dict[float, float] = field(default_factory=dict)

    arithmetic = "ball"

    @property
    def parameters(self) -> Mapping[str, object]:
        return self.bounds.parameters

    def lower(self, epsilon: float) -> float:
        """At or below delta, and not below 0."""
        if epsilon not in self._lower:
            self._lower[epsilon] = max(self.bounds.lower(epsilon), 0.0)
        return self._lower[epsilon]

    def upper(self, epsilon: float) -> float:
        """At or above delta, and at most 1."""
        if epsilon not in self._upper:
            self._upper[epsilon] = min(self.bounds.upper(epsilon), 1.0)
        return self._upper[epsilon]

    def delta(self, epsilon: float) -> Evaluation:
        lower, upper = agreed(self.lower(epsilon), self.upper(epsilon), "a polynomial below", "a polynomial above")
        lines = error_lines(discretisation=upper - lower)
        return Evaluation(lower, upper, ErrorBreakdown(lines, lines))

    def inverse(self, delta: float, ceiling: float, accuracy: float) -> Inverse[Evaluation]:
        def above(epsilon: float) -> Compared[float]:
            value = self.upper(epsilon)
            return compare(value, value, delta, value)

        def below(epsilon: float) -> Compared[float]:
            value = self.lower(epsilon)
            return compare(value, value, delta, value)

        tolerance = min(max(accuracy / 8.0, tuning.BOUNDS_FINEST), tuning.BOUNDS_ROUGHEST)
        upper = invert(above, ceiling, tolerance)
        lower = invert(below, ceiling, tolerance, start=upper.upper)
        low, high = agreed(lower.lower, upper.upper, "a polynomial below", "a polynomial above")
        ends = (None if end is None else self.delta(at) for end, at in ((lower.at_lower, low), (upper.at_upper, high)))
        return Inverse(low, high, *ends)
