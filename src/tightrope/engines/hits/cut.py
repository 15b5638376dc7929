"""Few hits: losses that decide alone are cut off exactly, and what is left is short enough for one fine grid.

Beyond the windows of ends.py delta is linear in the outcome, so chords there add nothing, and merged cells lose
nothing: each term needs points on its window only. The tilt is the saddle of the law that is left.
Guarantee: upper and lower, as lattice grids of any range. Proof: docs/proofs/hits.md, section 2.
Reference: Meiser, Mohammadi 2018, Def. 3 (buckets); Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, Alg. 1 (chords).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ... import work
from ...bound import Budget, budget_lines
from ...errors import UnsupportedMechanism
from ...kernels.ball import BITS_START, lower_float, working_precision
from ...kernels.enclosure import FloatArray
from ...kernels.twofold import twofold
from ...pair import Pair
from ..evaluation import Evaluation, Evaluator
from ..lattice import masses as lattice_masses
from ..lattice.compose import Part, Total, compose, compose_alike, longest
from ..lattice.law import Side, tilted
from ..lattice.plan import Ruler
from ..lattice.tail_sum import LowerSum, ends, infinite_mass, lower_sum_at, upper_sum_at
from . import tuning
from .ends import CutQuestion
from .tilt import Tilt, choose_tilt, sketched


@dataclass(frozen=True)
class CutGrid:
    """One ruler per term, all of one step; points are whole multiples of the unit, within 52 bits."""

    rulers: tuple[Ruler, ...]
    unit: float

    @property
    def width(self) -> float:
        """The step."""
        return self.rulers[0].step * self.unit


@dataclass(frozen=True)
class CutEvaluator(Evaluator):
    """Three composed laws on cut grids: one above, and P and Q of the merged cells below."""

    arithmetic = "float64"
    upper: Total
    below: tuple[Total, Total] | None  # None where nothing is left after rounding
    infinite: tuple[float, float]  # at or below the true infinite mass; at or above what the upper law put there
    near: float  # the epsilon that the cut is made for: it is exact up to there
    theta: float
    grid: CutGrid

    @property
    def parameters(self) -> Mapping[str, object]:
        return {
            "way": "cut",
            "theta": self.theta,
            "step": self.grid.width,
            "points": [ruler.size for ruler in self.grid.rulers],
            "length": len(self.upper.masses),
        }

    def delta(self, epsilon: float) -> Evaluation:
        # delta falls with epsilon: far from the tilt a nearer epsilon may say more.
        reach = tuning.NEAR / self.theta
        high = upper_sum_at(self.upper, min(epsilon, self.near + reach), self.grid.unit)
        low = LowerSum(0.0, 0.0, 0.0, 0.0)
        if self.below is not None:
            low = lower_sum_at(*self.below, max(epsilon, self.near - reach))
        leaked_low, leaked_high = self.infinite
        lower, upper = ends(self.infinite, low, high)
        gap = max((high.value - low.value) + (leaked_high - leaked_low), 0.0)
        above = budget_lines(discretisation=gap, truncation=high.lost, wrap_around=high.outside, rounding=high.rounding)
        under = budget_lines(discretisation=gap, truncation=low.lost, wrap_around=low.outside, rounding=low.rounding)
        return Evaluation(min(float(lower), float(upper)), float(upper), Budget(above, under))


def evaluator(asked: CutQuestion, epsilon: float, points: int, wanted: float, delta: float) -> CutEvaluator:
    """The three laws composed on grids whose longest has so many points; delta: about, and wanted its width."""
    grid = _grid(asked, epsilon, points)
    work.spend(tuning.POINT_WORK * sum(ruler.size for ruler in grid.rulers))
    counts = [count for _, count in asked.terms]
    laws = [_above(pair, grid, ruler) for (pair, _), ruler in zip(asked.terms, grid.rulers, strict=True)]
    rough = sketched(
        [(ruler.points(grid.unit), law.masses) for ruler, law in zip(grid.rulers, laws, strict=True)], counts
    )
    tilt = choose_tilt(rough, epsilon, delta, tuning.OUTSIDE_SHARE * wanted)
    parts = [
        _tilted(law.masses, ruler, tilt.theta * grid.width, Side.UP, count)
        for law, ruler, count in zip(laws, grid.rulers, counts, strict=True)
    ]
    work.spend(tuning.ENTRY_WORK * 4.0 * points * len(parts))
    upper = compose(parts, tilt.tolerance)
    work.spend(tuning.ENTRY_WORK * len(upper.masses) * len(parts))
    with working_precision(BITS_START):
        leaked = [(max(lower_float(pair.infinite_mass()), 0.0), count) for pair, count in asked.terms]
    infinite = (
        infinite_mass(leaked, upward=False),
        infinite_mass([(law.infinite, count) for law, count in zip(laws, counts, strict=True)], upward=True),
    )
    return CutEvaluator(upper, _below(asked, grid, tilt), infinite, epsilon, tilt.theta, grid)


def _grid(asked: CutQuestion, epsilon: float, points: int) -> CutGrid:
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
    return CutGrid(tuple(rulers), unit)


def _above(pair: Pair, grid: CutGrid, ruler: Ruler) -> lattice_masses.Above:
    points = ruler.points(grid.unit)
    some = points[:: max(ruler.size // tuning.MEDIAN_POINTS, 1)]
    median = float(some[min(int(np.searchsorted(pair.tails(twofold(some)).p_below, 0.5)), len(some) - 1)])
    return lattice_masses.above(pair, points, grid.width, median)


def _below(asked: CutQuestion, grid: CutGrid, tilt: Tilt) -> tuple[Total, Total] | None:
    """P and Q of the merged cells, on one window; None where nothing is left of them."""
    p_parts: list[Part] = []
    q_parts: list[Part] = []
    try:
        for (pair, count), ruler in zip(asked.terms, grid.rulers, strict=True):
            found = lattice_masses.below(pair, ruler.points(grid.unit), grid.width)
            p_parts.append(_tilted(found.p, ruler, tilt.theta * grid.width, Side.DOWN, count))
            q_parts.append(_tilted(found.q, ruler, (tilt.theta + 1.0) * grid.width, Side.UP, count))
        p = compose(p_parts, tilt.tolerance, least=longest(q_parts))
        return p, compose_alike(q_parts, p)
    except UnsupportedMechanism:
        return None


def _tilted(masses: FloatArray, ruler: Ruler, slope: float, side: Side, count: int) -> Part:
    return tilted(masses, ruler.start, ruler.step, slope, side), count
