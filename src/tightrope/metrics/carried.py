"""The error budget of a number that is read off deltas, in its own unit."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..bound import Bound, ErrorBreakdown, error_lines
from ..kernels.directed import FEW, round_up


def carried(
    of: Bound, scale: float, ends: tuple[float, float], theorem: float = 0.0, swapped: bool = False
) -> ErrorBreakdown:
    """The lines of a delta times scale, and as discretisation what they leave of the width between the ends.

    theorem: what lies between real neighbours and the dominating pair: either end may be that far from the truth.
    swapped: the reading falls where delta rises. Guarantee: the lines of either side add up to the width at least.
    """
    budget = ErrorBreakdown() if of.certificate is None else of.certificate.budget
    width = round_up(ends[1] - ends[0], FEW)
    above = _completed(budget.upper, scale, width, theorem)
    below = _completed(budget.lower, scale, width, theorem)
    return ErrorBreakdown(below, above) if swapped else ErrorBreakdown(above, below)


def _completed(side: Mapping[str, float], scale: float, width: float, theorem: float) -> Mapping[str, float]:
    lines = {name: round_up(scale * line, FEW) for name, line in {**error_lines(), **side}.items()}
    lines["theorem"] += theorem
    rest = width - math.fsum(lines.values())
    if rest > 0.0:
        lines["discretisation"] = round_up(lines["discretisation"] + rest, FEW)
    return lines
