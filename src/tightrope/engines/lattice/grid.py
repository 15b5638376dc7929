"""One grid for a composition: each pair is put on it twice, from different formulas and into different arrays.

By chords for the upper end and by merged cells for the lower one; the laws are tilted to where the question lies,
composed by transforms, and summed.
Guarantee: upper and lower; what discretisation, windows, wrap-around and rounding cost is inside the interval.
Proof: docs/proofs/lattice.md.
Reference: Meiser, Mohammadi 2018 (privacy buckets); Koskela, Jaelkoe, Honkela 2020 (Fourier accountant).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...bound import ErrorBreakdown, error_lines
from ...errors import UnsupportedMechanism
from ...kernels.ball import BITS_START, lower_float, working_precision
from ..evaluation import Evaluation, Evaluator, Term
from . import masses as lattice_masses
from .aim import Aim
from .compose import Part, Total, compose, compose_alike, evolve, longest
from .law import LatticeLaw, Side, coarsened_by_chords, coarsened_by_merging, tilted
from .plan import GridPlan, Ruler, blown_up
from .sketch import Sketch
from .tail_sum import LowerSum, ends, infinite_mass, lower_sum_at, upper_sum_at
from .tuning import CUT_ROOM, GRID_GROWTH, HALVING_ROOM, NEAR_FOLDS


@dataclass(frozen=True)
class LatticeEvaluator(Evaluator):
    """Three composed laws: one above, and P and Q of the merged cells below."""

    arithmetic = "float64"
    upper: Total
    below: tuple[Total, Total] | None  # None where nothing is left after rounding
    infinite: tuple[float, float]  # at or below the true infinite mass; at or above what the upper law put there
    plan: GridPlan
    grids: tuple[int, ...]
    noise: float  # tilted mass that rounding added on the levels before the last
    uses: int
    known: dict[float, Evaluation] = field(default_factory=dict, compare=False, repr=False)  # what was asked before

    @property
    def blur(self) -> float:
        """What that mass is to delta, relatively."""
        return self.noise * blown_up(self.plan.tilt)

    @property
    def parameters(self) -> Mapping[str, object]:
        return {
            "theta": self.plan.theta,
            **self.plan.parameters,
            "grids": list(self.grids),
            "length": len(self.upper.masses),
        }

    def delta(self, epsilon: float) -> Evaluation:
        evaluation = self.known.get(epsilon)
        if evaluation is None:
            evaluation = self.known[epsilon] = self._delta(epsilon)
        return evaluation

    def _delta(self, epsilon: float) -> Evaluation:
        # delta falls with epsilon: far from the tilt a nearer epsilon may say more.
        near, reach = self.plan.near, NEAR_FOLDS / self.plan.theta
        high = upper_sum_at(self.upper, epsilon, self.plan.unit)
        if epsilon > near + reach:
            high = min(high, upper_sum_at(self.upper, near + reach, self.plan.unit), key=lambda each: each.upper)
        low = LowerSum(0.0, 0.0, 0.0, 0.0)
        if self.below is not None:
            low = self._lower_at(epsilon)
            if epsilon < near - reach:
                low = max(low, self._lower_at(near - reach), key=lambda each: each.lower)
        leaked_low, leaked_high = self.infinite
        lower, upper = ends(self.infinite, low, high)
        gap = max(high.value - low.value, 0.0)
        return Evaluation(
            lower,
            upper,
            ErrorBreakdown(
                error_lines(
                    discretisation=gap,
                    truncation=leaked_high - leaked_low + high.lost,
                    wrap_around=high.outside,
                    rounding=high.rounding + self.noise * max(high.value, 0.0),
                ),
                error_lines(
                    discretisation=gap,
                    truncation=low.lost,
                    wrap_around=low.outside,
                    rounding=low.rounding + self.blur * max(low.value, 0.0),
                ),
            ),
        )

    def _lower_at(self, epsilon: float) -> LowerSum:
        """Half a step per use is how far a label may be from the loss of its cell: no event needs to start below."""
        assert self.below is not None
        p, q = self.below
        ahead = math.floor((epsilon / self.plan.unit - p.start) / p.step) - self.uses - CUT_ROOM
        return lower_sum_at(p, q, epsilon, max(ahead, 0) if ahead < len(p.masses) else 0)


def grid_evaluator(terms: Sequence[Term], target: Aim, made: GridPlan) -> LatticeEvaluator:
    """Every law on its grid, composed."""
    upper, grids, leaked, noise = upper_law(terms, target.sketches.each, made, target.tolerance)
    below = lower_laws(terms, made, target.tolerance, HALVING_ROOM)
    uses = sum(count for _, count in terms)
    return LatticeEvaluator(upper, below, infinite_ends(terms, leaked), made, grids, noise, uses)


def infinite_ends(terms: Sequence[Term], above: Sequence[tuple[float, int]]) -> tuple[float, float]:
    """At or below the infinite mass of the terms, and at or above what laws above put there."""
    with working_precision(BITS_START):
        below = [(max(lower_float(pair.infinite_mass()), 0.0), count) for pair, count in terms]
    return infinite_mass(below, upward=False), infinite_mass(above, upward=True)


def upper_law(
    terms: Sequence[Term], sketches: Sequence[Sketch], made: GridPlan, tolerance: float
) -> tuple[Total, tuple[int, ...], list[tuple[float, int]], float]:
    """The law above, its grids, what went to infinite loss per term, and the noise of all levels."""
    parts: list[Part] = []
    grids: list[int] = []
    leaked = []
    noise = 0.0

    def coarsen(fine: LatticeLaw, factor: int) -> LatticeLaw:
        return coarsened_by_chords(fine, factor, fine.step * made.unit)

    for (pair, count), sketch, ruler in zip(terms, sketches, made.rulers, strict=True):
        width = ruler.step * made.unit
        above = lattice_masses.above(pair, ruler.points(made.unit), width, sketch.median)
        leaked.append((above.infinite, count))
        law = tilted(above.masses, ruler.start, ruler.step, _slope(made, made.theta, ruler), Side.UP)

        evolved = evolve(law, count, ruler.levels, tolerance / len(terms), coarsen)
        parts += evolved.parts
        grids += [len(law.masses), *evolved.grids] if evolved.grids else []
        noise += evolved.noise
    total = compose(parts, tolerance, room=HALVING_ROOM)
    return total, (*grids, len(total.masses)), leaked, noise


def lower_laws(
    terms: Sequence[Term], made: GridPlan, tolerance: float, room: float = 1.0
) -> tuple[Total, Total] | None:
    """P and Q of the merged cells, on one window; None where a cut window takes more off each entry than there is."""
    p_parts: list[Part] = []
    q_parts: list[Part] = []
    share = tolerance / len(terms)
    try:
        for (pair, count), ruler in zip(terms, made.rulers, strict=True):
            below = lattice_masses.below(pair, ruler.points(made.unit), ruler.step * made.unit)
            for masses, theta, side, parts in (
                (below.p, made.theta, Side.DOWN, p_parts),
                (below.q, made.theta + 1.0, Side.UP, q_parts),
            ):
                law = tilted(masses, ruler.start, ruler.step, _slope(made, theta, ruler), side)
                parts += evolve(law, count, ruler.levels, share, coarsened_by_merging).parts
        p = compose(p_parts, tolerance, least=longest(q_parts), room=room)
        return p, compose_alike(q_parts, p)
    except UnsupportedMechanism:
        return None


def _slope(made: GridPlan, theta: float, ruler: Ruler) -> float:
    """theta per point; a power of two below that of the common step, so that coarsening meets it exactly."""
    return theta * made.step / float(GRID_GROWTH**ruler.levels)
