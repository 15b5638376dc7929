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
from typing import NamedTuple

import numpy as np

from ...losses.atoms import Atoms
from ...losses.pair import TAIL_ERROR, Pair
from ...numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ...numerics.double_double import double_double
from ...numerics.enclosures import UNDERFLOW, Enclosure, FloatArray, exact
from ...numerics.rounding import UNIT, round_down, round_up
from ...values import compute_budget
from ...values.bound import ErrorBreakdown, error_lines
from ...values.errors import UnsupportedMechanism
from .. import tuning
from ..selection import Evaluation, Evaluator, Term
from ..tuning import CUT_ROOM, GRID_GROWTH, HALVING_ROOM, HOCKEY_STICK_UNITS, NEAR_FOLDS, TAILS_UNITS
from .compose import (
    LatticeLaw,
    LowerSum,
    Part,
    Side,
    Total,
    coarsened_by_chords,
    coarsened_by_merging,
    compose,
    compose_alike,
    ends,
    evolve,
    infinite_mass,
    longest,
    lower_sum_at,
    tilted,
    upper_sum_at,
)
from .grid_plan import Aim, GridPlan, Ruler, Sketch, aim, blown_up, loss_ranges

# One use of a pair on a grid: a law that dominates it, and two that speak of merged cells.
#
# Above, chords: the profile H is replaced by its chord between neighbouring points l_0 < l_1 < ..., by a constant after
# the last
# and by the line to (0, 1) before the first. The mass at l_i and beyond becomes H_i + (H_(i-1) - H_i) / (1 - e^-h), the
# mass before
# l_i becomes e^(l_(i-1)) (R_i - R_(i-1)) / (1 - e^-h) with R_i the profile of the reversed pair at -l_i.
# Below, cells (l_i - h/2, l_i + h/2]: P rounded so that it moves down the labels, Q so that it moves up; an increasing
# event of labels
# then has at least the P-mass and at most the Q-mass computed.
# Masses are differences of tails that were rounded to their side first: nothing is gained or lost, some of it moves.
# Guarantee: above dominates; below P down, Q up. Proof: docs/proofs/lattice.md, lemmas 1 to 3.
# Reference: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, Alg. 1 (chords); Meiser, Mohammadi 2018, Def. 3
# (buckets).

TAIL_FLOOR = 1e-312  # absolute error of a tail below 1e-300


class Above(NamedTuple):
    """Masses at the points that dominate the pair, and the mass that went to infinite loss."""

    masses: FloatArray
    infinite: float


class Below(NamedTuple):
    """P-masses and Q-masses of the cells around the points."""

    p: FloatArray
    q: FloatArray


def masses_above(pair: Pair, points: FloatArray, step: float, median: float) -> Above:
    """Chords on the points l_0 + i step, exact doubles; the median only tells which tails to use where."""
    compute_budget.spend(HOCKEY_STICK_UNITS * len(points))
    listed = pair.atoms()
    if listed is not None:
        return _split_atoms(listed, points, step)
    pivot = int(np.clip(np.searchsorted(points, median), 0, len(points) - 1))
    span = -exact(-step).expm1()
    profile = pair.hockey_stick(exact(points[pivot:]))
    infinite = min(float(profile.upper[-1]), 1.0)
    suffix = rounded_chord(profile[1:] + (profile[:-1] - profile[1:]) / span, upward=True)
    mirror = pair.reversed().hockey_stick(exact(-points[: pivot + 1]))
    prefix = rounded_chord(exact(points[:pivot]).exp() * (mirror[1:] - mirror[:-1]) / span, upward=False)
    suffix = np.minimum(np.maximum.accumulate(np.append(suffix, infinite)[::-1])[::-1], 1.0)
    prefix = np.minimum.accumulate(np.append(prefix, np.inf)[::-1])[::-1][:-1]
    prefix = np.insert(np.clip(prefix, 0.0, max(1.0 - suffix[0], 0.0)), 0, 0.0)
    middle = max(1.0 - prefix[-1] - suffix[0], 0.0) + 4.0 * UNIT
    return Above(np.concatenate([np.diff(prefix), [middle], -np.diff(suffix)]), infinite)


def rounded_chord(tail: Enclosure, upward: bool) -> FloatArray:
    """The end of the chord's own error: the difference of two profiles cancels to a few units over h."""
    return tail.upper if upward else tail.lower


def masses_below(pair: Pair, points: FloatArray, step: float) -> Below:
    """Merged cells around the points; the first and the last one reach to the ends of the finite losses."""
    compute_budget.spend(TAILS_UNITS * len(points))
    with working_precision(BITS_START):
        leaked = upper_float(pair.infinite_mass())
    edges = np.concatenate([[-np.inf], points[1:] - step / 2.0])
    tails = pair.tails(double_double(edges))
    p = _cells(
        _lower(tails.p_above[1:]) - leaked,
        _upper(tails.p_below[1:]),
        round_down(1.0 - leaked, 1.0),  # the difference is exact below 1/2, and off by half a unit above
        upward=False,
    )
    hidden = tails.q_below[0]  # Q where P = 0: outside of every event
    q = _cells(
        _upper(tails.q_above[1:]),
        _lower(tails.q_below[1:]) - (_upper(hidden) if hidden else 0.0),
        float(_upper(tails.q_above[0])),
        upward=True,
    )
    return Below(p, q)


def _cells(above_edge: FloatArray, below_edge: FloatArray, total: float, upward: bool) -> FloatArray:
    """Cell masses from both tails at the inner edges, already rounded to their side, with at most (least) the total."""
    pivot = int(np.searchsorted(below_edge - above_edge, 0.0))  # the cell that holds the median
    suffix, prefix = above_edge[pivot:], below_edge[:pivot]
    suffix = np.clip(np.maximum.accumulate(np.append(suffix, 0.0)[::-1])[::-1], 0.0, 1.0)
    prefix = np.minimum.accumulate(np.append(prefix, np.inf)[::-1])[::-1][:-1]
    prefix = np.insert(np.clip(prefix, 0.0, 1.0), 0, 0.0)
    # Both tails were rounded apart; the one that was rounded down makes room where they meet.
    if upward:
        prefix = np.minimum(prefix, max(total - suffix[0], 0.0))
    else:
        suffix = np.minimum(suffix, max(total - prefix[-1], 0.0))
    middle = total - prefix[-1] - suffix[0]
    middle = max(middle, 0.0) + 4.0 * UNIT if upward else max(middle - 4.0 * UNIT, 0.0)
    return np.concatenate([np.diff(prefix), [middle], -np.diff(suffix)])


def _upper(tail: FloatArray) -> FloatArray:
    return np.asarray(np.minimum(tail * (1.0 + 1.01 * TAIL_ERROR) + TAIL_FLOOR, 1.0))


def _lower(tail: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(tail * (1.0 - 1.01 * TAIL_ERROR) - TAIL_FLOOR, 0.0))


def _split_atoms(listed: Atoms, points: FloatArray, step: float) -> Above:
    """Chords for a law that is a list of atoms: each is split between its two neighbours, after being rounded up."""
    loss, mass = listed.loss.upper, listed.p.upper
    top = loss > points[-1]
    # What lies beyond the last point is split between it and +inf, as chords that end there are.
    over = loss[top] - points[-1]
    with np.errstate(under="ignore"):
        infinite = round_up(float(np.sum(mass[top] * -np.expm1(-over))), len(mass) + 24.0)
        infinite += float(listed.infinite.upper) + listed.left_out
        at_last = float(np.sum(round_up(mass[top] * np.exp(-over), 24.0 + 2.0 * over) + UNDERFLOW))
    loss, mass = np.maximum(loss[~top], points[0]), mass[~top]
    left = np.clip(((loss - points[0]) / step).astype(np.int64), 0, len(points) - 2)
    left -= points[left] > loss
    left += points[left + 1] < loss
    into, ahead = loss - points[left], points[left + 1] - loss
    # Negative exponents only, so that no step overflows; `into` is rounded, which moves e^-into by as many units.
    with np.errstate(under="ignore"):
        right_share = round_up(np.expm1(-into) / np.expm1(-step), 24.0)
        left_share = round_up(np.exp(-into) * np.expm1(-ahead) / np.expm1(-step), 24.0 + 2.0 * into)
        # A share above 0 stays above 0, whatever underflowed.
        left_parts = np.where((ahead > 0.0) & (mass > 0.0), mass * left_share + UNDERFLOW, 0.0)
        right_parts = np.where((into > 0.0) & (mass > 0.0), mass * right_share + UNDERFLOW, 0.0)
    left_masses = np.bincount(left, left_parts, len(points))
    right_masses = np.bincount(left + 1, right_parts, len(points))
    masses: FloatArray = (left_masses + right_masses).astype(np.float64)
    masses[-1] += at_last
    return Above(round_up(masses, len(listed.p.value) + 8.0), min(round_up(infinite, 8.0), 1.0))


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
        above = masses_above(pair, ruler.points(made.unit), width, sketch.median)
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
            below = masses_below(pair, ruler.points(made.unit), ruler.step * made.unit)
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


# The upper end on one grid whose step somebody else chose: all multiples of it, and chords between them.
#
# Nothing is refined, so that what the step costs can be seen. Mass beyond the grid goes to infinite loss, mass before
# it
# to the first point; both are a share of delta that no digit shows (tuning.TOP_SHARE).
# Guarantee: upper, as of any grid. Proof: docs/proofs/lattice.md.
# Reference: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, Alg. 1 (chords).

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
