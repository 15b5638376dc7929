"""Compositions of thousands of kinds, between two of a few hundred.

Where a call has not the time for as many cgfs as there are kinds, the families pool them (normal_form.py):
uses that are dominated have the lower end, uses that dominate the upper one. First by combinations of two kinds, whose
distance falls with the square of the number of cells; where these tell little, by the next kind on either side, which
every engine knows.
Guarantee: lower <= truth <= upper. Proof: docs/proofs/pools.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from .. import compute_budget
from ..bound import ErrorBreakdown
from ..errors import UnsupportedMechanism, WorkExhausted, agreed
from .answer import Answer, Point, common
from .evaluation import Term
from .normal_form import COMBINED_KINDS, NEXT_KINDS, Terms
from .tuning import BINNING_AIM, BINNING_SHARE, BINNING_WIDE, KIND_UNITS, KINDS_MIN, PARAMETER_BINS, ROUGHLY

if TYPE_CHECKING:
    from .plan import Planner

Make = Callable[[Sequence[Term]], "Planner"]


class BinnedPlanners:
    """The planners of what is below and above."""

    def __init__(self, terms: Terms, make: Make) -> None:
        self._terms, self._make = terms, make
        self._made: dict[bool, tuple[Planner, Planner] | None] = {}

    def wanted(self) -> bool:
        """Whether there are more kinds than there is time for, and they can be pooled."""
        many = len(self._terms) >= KINDS_MIN and compute_budget.left() < KIND_UNITS * len(self._terms)
        return many and any(self.sides(mixed) is not None for mixed in PARAMETER_BINS)

    def sides(self, mixed: bool) -> tuple[Planner, Planner] | None:
        """Made once, also where there are none, or no time for them."""
        if mixed not in self._made:
            self._made[mixed] = None
            with suppress(WorkExhausted):
                sides = (COMBINED_KINDS if mixed else NEXT_KINDS).sides(self._terms)
                if sides is not None:
                    self._made[mixed] = self._make(sides.below[0]), self._make(sides.above)
        return self._made[mixed]

    @property
    def above(self) -> Planner:
        """That of uses which dominate, by kinds that every engine knows."""
        found = self.sides(False) or self.sides(True)
        assert found is not None
        return found[1]

    def answer(self, point: Point, accuracy: float) -> Answer:
        """The closer pools, and the simpler ones where those stay wide."""
        found: list[Answer] = []
        for mixed in PARAMETER_BINS:
            sides = self.sides(mixed)
            if sides is None:
                continue
            refused = suppress(UnsupportedMechanism) if mixed and self.sides(False) else nullcontext()
            with refused, compute_budget.part(BINNING_SHARE if mixed else 1.0, clock=True):
                found.append(_between(*sides, point, max(accuracy, BINNING_AIM)))
                if found[-1].relative_width <= BINNING_WIDE:
                    break
        return common(found, self._terms)


def _between(below: Planner, above: Planner, point: Point, accuracy: float) -> Answer:
    """The lower end of the one and the upper end of the other; what lies between them is in the budget."""
    with compute_budget.part(0.5, clock=True):
        most = above.answer(point, accuracy)
    least = below.answer(point, accuracy)
    lower, upper = agreed(least.lower, most.upper, "pools from below", "pools from above")
    gap = upper - lower
    if point.quantity == "epsilon":
        gap = 0.0
        with suppress(UnsupportedMechanism, WorkExhausted, OverflowError):
            gap = above.answer(Point("delta", lower), ROUGHLY).upper - point.given
    lines = {**least.budget.lower, "discretisation": least.budget.lower["discretisation"] + max(gap, 0.0)}
    reason = f"{most.reason}, between pools of kinds that are alike"
    return replace(most, lower=lower, reason=reason, budget=ErrorBreakdown(most.budget.upper, lines))
