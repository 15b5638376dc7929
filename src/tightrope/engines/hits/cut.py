"""Few hits: losses that decide alone are cut off exactly, and what is left is short enough for one fine grid.

Beyond the windows of ends.py delta is linear in the outcome, so chords there add nothing, and merged cells lose
nothing: each term needs points on its window only. The tilt is the saddle of the law that is left. A cut made for an
epsilon is exact for every smaller one and valid for every larger one: the place of epsilon is looked for on coarse
grids, and one fine grid a little above it serves the certified search.
Guarantee: upper and lower, as lattice grids of any range. Proof: docs/proofs/hits.md, section 2.
Reference: Meiser, Mohammadi 2018, Def. 3 (buckets); Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, Alg. 1 (chords).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ... import compute_budget
from ...bound import ErrorBreakdown, error_lines
from ...errors import UnsupportedMechanism, WorkExhausted, agreed
from ...kernels.double_double import double_double
from ...pair import Pair
from ..evaluation import Evaluation, Evaluator
from ..lattice import masses as lattice_masses
from ..lattice.compose import Total, compose
from ..lattice.grid import infinite_ends, lower_laws
from ..lattice.law import Side, tilted
from ..lattice.narrowest import Narrowest, relative_width, rounding_rules
from ..lattice.plan import GridPlan, Ruler
from ..lattice.tail_sum import LowerSum, ends, lower_sum_at, upper_sum_at
from . import tuning
from .ends import CutQuestion
from .tilt import choose_tilt, sketched


@dataclass(frozen=True)
class CutEvaluator(Evaluator):
    """Three composed laws on cut grids: one above, and P and Q of the merged cells below."""

    arithmetic = "float64"
    upper: Total
    below: tuple[Total, Total] | None  # None where nothing is left after rounding
    infinite: tuple[float, float]  # at or below the true infinite mass; at or above what the upper law put there
    plan: GridPlan  # exact up to the epsilon that it is near

    @property
    def parameters(self) -> Mapping[str, object]:
        return {
            "way": "cut",
            "theta": self.plan.theta,
            "step": self.plan.step,
            "points": [ruler.size for ruler in self.plan.rulers],
            "length": len(self.upper.masses),
        }

    def delta(self, epsilon: float) -> Evaluation:
        # delta falls with epsilon: far from the tilt a nearer epsilon may say more.
        near, reach = self.plan.near, tuning.NEAR_WIDTHS / self.plan.theta
        high = upper_sum_at(self.upper, min(epsilon, near + reach), self.plan.unit)
        low = LowerSum(0.0, 0.0, 0.0, 0.0)
        if self.below is not None:
            low = lower_sum_at(*self.below, max(epsilon, near - reach))
        lower, upper = ends(self.infinite, low, high)
        gap = max((high.value - low.value) + (self.infinite[1] - self.infinite[0]), 0.0)
        above = error_lines(discretisation=gap, truncation=high.lost, wrap_around=high.outside, rounding=high.rounding)
        under = error_lines(discretisation=gap, truncation=low.lost, wrap_around=low.outside, rounding=low.rounding)
        return Evaluation(*agreed(lower, upper, "the grid below", "the grid above"), ErrorBreakdown(above, under))


def prepare(asked: CutQuestion, epsilon: float | None, delta: float | None, accuracy: float) -> Narrowest:
    """An evaluator for one direction and one question; UnsupportedMechanism where a cut would not pay."""
    if epsilon is not None:
        asked.check(epsilon)
        return _refined(asked, epsilon, epsilon, accuracy, float(asked.single(np.array([epsilon]))[0]))
    assert delta is not None
    return _for_epsilon(asked, delta, accuracy)


def _for_epsilon(asked: CutQuestion, delta: float, accuracy: float) -> Narrowest:
    """Looks for the place of epsilon on coarse grids, then makes a fine one there."""
    near, coarse = _place(asked, delta)
    if not near > 0.0:
        return _narrowest(asked, coarse, math.inf, 0.0)
    low, high = (coarse.delta(near * factor).middle for factor in (1.0 - tuning.HIT_ROOM, 1.0 + tuning.HIT_ROOM))
    slope = math.log(low / high) / (2.0 * tuning.HIT_ROOM) if low > high > 0.0 else 1.0  # of log delta, per log epsilon
    accuracy = max(accuracy, tuning.CUT_ZERO_WIDTH / near) if near < tuning.NEAR_ZERO else accuracy
    try:
        wanted = min(accuracy * slope, tuning.COARSE_WIDTH)
        made = _refined(asked, near, coarse.plan.near, wanted, delta, _points_for(coarse.delta(near), wanted))
    except WorkExhausted:
        made = _narrowest(asked, coarse, math.inf, near)
    return replace(made, slope=slope / near)


def _place(asked: CutQuestion, delta: float) -> tuple[float, CutEvaluator]:
    """About where epsilon lies, from that of a single use on; and the last coarse grid, which reaches beyond it."""
    near = asked.single_epsilon(delta)
    coarse: CutEvaluator | None = None
    for _ in range(tuning.SEARCHES_MAX):
        asked.check(near)
        reach = near * (1.0 + tuning.HIT_ROOM)
        try:
            coarse = evaluator(asked, reach, tuning.FIRST_POINTS, tuning.COARSE_WIDTH, delta)
        except WorkExhausted:
            if coarse is None:
                raise
            break
        if coarse.delta(near).lower > tuning.TOGETHER * delta:
            raise UnsupportedMechanism("many hits count together: there is nothing to cut off")
        inverse = _narrowest(asked, coarse, math.inf, near).inverse(delta, math.inf, 1e-3)
        before, near = near, inverse.lower + (min(inverse.upper, 2.0 * reach) - inverse.lower) / 2.0
        if not near > 0.0 or abs(near - before) < tuning.HIT_ROOM * near:
            break
    assert coarse is not None
    return near, coarse


def _points_for(coarse: Evaluation, wanted: float) -> int:
    """How many points suffice, as a grid of FIRST_POINTS suggests: its discretisation falls like their square."""
    open_part = max(coarse.budget.upper["discretisation"], 0.0) / max(coarse.upper, 5e-324)
    points = tuning.FIRST_POINTS * tuning.FINER * math.sqrt(open_part / (tuning.HAIR * wanted))
    return math.ceil(max(points, tuning.FIRST_POINTS)) if points <= tuning.CUT_POINTS_MAX else tuning.FIRST_POINTS


def _refined(
    asked: CutQuestion,
    epsilon: float,
    reach: float,
    wanted: float,
    delta: float,
    points: int = tuning.FIRST_POINTS,
) -> Narrowest:
    """Grids of more points until delta at epsilon is as narrow as wanted, or the next one would take too long."""
    best: tuple[float, CutEvaluator] | None = None
    for _ in range(tuning.ROUNDS_MAX):
        try:
            made = evaluator(asked, reach, points, wanted, delta)
        except WorkExhausted:
            if best is None:
                raise
            break
        value = made.delta(epsilon)
        width = relative_width(value)
        if best is None or width < best[0]:
            best = width, made
        finer = tuning.FINER * math.sqrt(width / (tuning.HAIR * wanted))
        if width <= tuning.HAIR * wanted or points * finer > tuning.CUT_POINTS_MAX or rounding_rules(value):
            break
        delta = max(value.lower, 0.1 * value.upper, 5e-324)
        points = math.ceil(points * max(finer, tuning.FINER_MIN))
    assert best is not None
    return _narrowest(asked, best[1], wanted, epsilon)


def _narrowest(asked: CutQuestion, made: CutEvaluator, wanted: float, near: float) -> Narrowest:
    return Narrowest((made,), asked.terms, wanted, near, made.plan.theta, math.inf)


def evaluator(asked: CutQuestion, epsilon: float, points: int, wanted: float, delta: float) -> CutEvaluator:
    """The three laws composed on grids whose longest has so many points; delta: about, and wanted its width."""
    grid = _grid(asked, epsilon, points)
    compute_budget.spend(tuning.POINT_WORK * sum(ruler.size for ruler in grid.rulers))
    counts = [count for _, count in asked.terms]
    laws = [_above(pair, grid, ruler) for (pair, _), ruler in zip(asked.terms, grid.rulers, strict=True)]
    drawn = [(ruler.points(grid.unit), law.masses) for ruler, law in zip(grid.rulers, laws, strict=True)]
    tilt = choose_tilt(sketched(drawn, counts), epsilon, delta, tuning.OUTSIDE_SHARE * wanted)
    made = replace(grid, theta=tilt.theta, tilt=tilt.theta)
    parts = [
        (tilted(law.masses, ruler.start, ruler.step, made.theta * made.step, Side.UP), count)
        for law, ruler, count in zip(laws, made.rulers, counts, strict=True)
    ]
    compute_budget.spend(tuning.ENTRY_WORK * 4.0 * points * len(parts))
    upper = compose(parts, tilt.tolerance)
    compute_budget.spend(tuning.ENTRY_WORK * len(upper.masses) * len(parts))
    below = lower_laws(asked.terms, made, tilt.tolerance)
    leaked = [(law.infinite, count) for law, count in zip(laws, counts, strict=True)]
    return CutEvaluator(upper, below, infinite_ends(asked.terms, leaked), made)


def _grid(asked: CutQuestion, epsilon: float, points: int) -> GridPlan:
    """One ruler per term on its window, all of one step; no tilt yet."""
    windows = asked.windows(epsilon)
    longest_range = max(window.length for window in windows)
    largest = max(max(abs(window.bottom), abs(window.top)) for window in windows) + longest_range
    if not 0.0 < longest_range < math.inf:
        raise UnsupportedMechanism("its losses are all alike")
    unit = 2.0 ** (math.ceil(math.log2(largest)) - 51)
    step = max(2 * round(longest_range / (points - 1) / unit / 2.0), 2)
    rulers = []
    for window in windows:
        size = math.ceil(window.length / unit / step) + 2
        # A point lies on the end where most of the law is: the infimum of a removal, the supremum of an addition.
        last = math.ceil(window.top / unit) + 1
        start = math.floor(window.bottom / unit) if window.at_low else last - (size - 1) * step
        rulers.append(Ruler(start, step, size, 0))
    return GridPlan(tuple(rulers), unit, step * unit, theta=0.0, near=epsilon, tilt=0.0)


def _above(pair: Pair, grid: GridPlan, ruler: Ruler) -> lattice_masses.Above:
    points = ruler.points(grid.unit)
    some = points[:: max(ruler.size // tuning.MEDIAN_POINTS, 1)]
    median = float(some[min(int(np.searchsorted(pair.tails(double_double(some)).p_below, 0.5)), len(some) - 1)])
    return lattice_masses.above(pair, points, grid.step, median)
