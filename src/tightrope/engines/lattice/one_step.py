"""The upper end on one grid whose step somebody else chose: all multiples of it, and chords between them.

Nothing is refined, so that what the step costs can be seen. Mass beyond the grid goes to infinite loss, mass before it
to the first point; both are a share of delta that no digit shows (tuning.TOP_SHARE).
Guarantee: upper, as of any grid. Proof: docs/proofs/lattice.md.
Reference: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, Alg. 1 (chords).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...errors import UnsupportedMechanism
from ..evaluation import Term
from . import tuning
from .aim import aim
from .grid import LatticeEvaluator, infinite_ends, upper_law
from .plan import GridPlan, Ruler, loss_ranges

STEP_ACCURACY = 1e-6  # relative: what windows and ends may cost beside the step


def chords_at(terms: Sequence[Term], step: float, epsilon: float | None, delta: float | None) -> LatticeEvaluator:
    """delta at or below what it gives, tilted to where the question lies; refused where the grid would be too long."""
    target = aim(terms, epsilon, delta, STEP_ACCURACY)
    ends = loss_ranges(terms, target)
    longest = max(target.window, *(high - low for low, high in ends))
    if longest > tuning.GRID_POINTS_MAX * step:
        raise UnsupportedMechanism(f"a grid of step {step:g} would need {longest / step:.1g} points")
    unit = 2.0 ** (math.ceil(math.log2(max(max(abs(low), abs(high)) for low, high in ends) + longest)) - 50)
    width = max(2 * round(step / unit / 2.0), 2)
    rulers = []
    for low, high in ends:
        first, last = math.floor(low / unit / width), math.ceil(high / unit / width)
        rulers.append(Ruler(first * width, width, max(last - first, 1) + 1, 0))
    point = target.point
    made = GridPlan(tuple(rulers), unit, width * unit, target.theta, point.epsilon, point.tilt)
    upper, grids, leaked, noise = upper_law(terms, target.sketches.each, made, target.tolerance)
    uses = sum(count for _, count in terms)
    return LatticeEvaluator(upper, None, infinite_ends(terms, leaked), made, grids, noise, uses)
