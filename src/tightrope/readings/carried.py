"""The error budget of a number that is read off deltas, in its own unit."""

from __future__ import annotations

import math

from ..bound import Bound, Budget
from ..kernels.directed import FEW, raised


def carried(of: Bound, scale: float, lower: float, upper: float, swapped: bool = False) -> Budget:
    """The lines of a delta times scale, and as discretisation what they leave of the width.

    swapped: the reading falls where delta rises. Guarantee: the lines of either side add up to the width at least.
    """
    budget = Budget() if of.certificate is None else of.certificate.budget
    sides = (budget.lower, budget.upper) if swapped else (budget.upper, budget.lower)
    width = raised(upper - lower, FEW) if lower < upper else 0.0
    above, below = (
        _completed({name: raised(scale * line, FEW) for name, line in side.items()}, width) for side in sides
    )
    return Budget(above, below)


def _completed(lines: dict[str, float], width: float) -> dict[str, float]:
    rest = width - math.fsum(lines.values())
    if rest > 0.0:
        lines["discretisation"] = raised(lines.get("discretisation", 0.0) + rest, FEW)
    return lines
