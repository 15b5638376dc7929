"""Ends of a divergence, and how they came about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from flint import arb

from .. import compute_budget
from ..errors import agreed
from ..kernels.ball import lower_float, upper_float, working_precision

TOTAL_BITS = 640


class Divergence(NamedTuple):
    """lower <= D <= upper. rows: of the finite pairs used, 0 where none was; balls: whether nothing else was used."""

    lower: float
    upper: float
    rows: int = 0
    balls: bool = True

    @property
    def relative(self) -> float:
        """Width over the upper end."""
        if self.lower >= self.upper:
            return 0.0
        return (self.upper - self.lower) / self.upper if self.upper < math.inf else math.inf

    def narrowed(self, other: Divergence) -> Divergence:
        """What both say; how, as far as the other one says more."""
        if other.lower <= self.lower and other.upper >= self.upper:
            return self
        lower, upper = agreed(max(self.lower, other.lower), min(self.upper, other.upper))
        return Divergence(lower, upper, max(self.rows, other.rows), self.balls and other.balls)


def ends(lower: arb, upper: arb, rows: int = 0, balls: bool = True) -> Divergence:
    """From balls, rounded outward; a divergence is never below 0."""
    return Divergence(max(lower_float(lower), 0.0), max(upper_float(upper), 0.0), rows, balls)


def total(parts: Sequence[tuple[Divergence, int]]) -> Divergence:
    """Divergences of a composition add up; also when time is up."""
    with compute_budget.uncounted(), working_precision(TOTAL_BITS):
        low, high = (sum((count * arb(divergence[side]) for divergence, count in parts), arb(0)) for side in (0, 1))
        return ends(
            low,
            high,
            max((divergence.rows for divergence, _ in parts), default=0),
            all(divergence.balls for divergence, _ in parts),
        )
