"""Few hits: losses that decide alone are cut off exactly, and what is left is short enough for one fine grid.

Beyond the windows of cut.py delta is linear in the outcome, so chords there add nothing, and merged cells lose
nothing: each term needs points on its window only. The tilt is the saddle of the law that is left. A cut made for an
epsilon is exact for every smaller one and valid for every larger one: the place of epsilon is looked for on coarse
grids, and one fine grid a little above it serves the certified search.
Guarantee: upper and lower, as lattice grids of any range. Proof: docs/proofs/hits.md, section 2.
Reference: Meiser, Mohammadi 2018, Def. 3 (buckets); Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, Alg. 1 (chords).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...losses.pair import Pair
from ...numerics.balls import BITS_START, working_precision
from ...numerics.double_double import double_double
from ...numerics.enclosures import FloatArray, exact
from ...values import compute_budget
from ...values.bound import ErrorBreakdown, error_lines
from ...values.errors import Refusal, UnsupportedMechanism, WorkExhausted, agreed
from .. import tuning
from ..lattice import grid as lattice_masses
from ..lattice.compose import LowerSum, Side, Total, compose, ends, lower_sum_at, tilted, upper_sum_at
from ..lattice.grid import infinite_ends, lower_laws
from ..lattice.grid_plan import GridPlan, Ruler, Sketches, gathered, sketch_of_atoms
from ..lattice.native import Narrowest, relative_width, rounding_rules
from ..selection import Evaluation, Evaluator, Term

# Which tilt, and which share of the tilted law a window may leave out: of the tilts up to the saddle's, whose noise
# stays low enough, the one with the shortest window.
#
# By Chernoff at s > theta a window that leaves out the share t ends at (K(s) - K(theta) - log t)/(s - theta); it begins
# at the least sum. What is left out of the tilted law weighs e^(K(theta) - theta eps) in delta.
# Guarantee: none needed. Every tilt and every window is valid; a bad one costs width or time only.
# Reference: Daniels 1954, Sec. 2 (saddle point).


class Tilt(NamedTuple):
    """A tilt, and the share of the tilted law that may lie outside of a window."""

    theta: float
    tolerance: float


def sketched(laws: Sequence[tuple[FloatArray, FloatArray]], counts: Sequence[int]) -> Sketches:
    """Laws of (points, masses), each thinned: enough for choices; their ends stay those of the points."""
    drawn = []
    for points, masses in laws:
        rough = sketch_of_atoms(
            points[:: tuning.THINNED], np.add.reduceat(masses, np.arange(0, len(masses), tuning.THINNED))
        )
        drawn.append(replace(rough, lowest=float(points[0]), highest=float(points[-1])))
    return gathered(drawn, counts)


def choose_tilt(laws: Sketches, epsilon: float, delta: float, share: float) -> Tilt:
    """share: what may be left out of delta, which is known about, or 0."""
    span = max(sketch.highest - sketch.lowest for sketch in laws.each)
    if not 0.0 < span < math.inf:
        raise UnsupportedMechanism("its losses are all alike, or without end")
    saddle = _saddle(laws, epsilon, span)
    shares = np.geomspace(*tuning.SHARES)
    thetas = saddle * shares
    cgf = np.array([float(np.dot(laws.counts, laws.cgf(float(theta)))) for theta in thetas])
    heights = cgf - thetas * epsilon
    log_delta = math.log(delta) if delta > 0.0 else float(np.min(heights)) + math.log(tuning.UNKNOWN)
    # P - e^eps Q cancels, the more the smaller epsilon is.
    log_noise = math.log(
        tuning.NOISE * (1.0 + float(laws.counts.sum()) / tuning.NOISY_USES) / max(min(epsilon, 1.0), tuning.RATE_MIN)
    )
    choices = []
    for index in np.flatnonzero(shares[:-1] <= 1.0):
        log_tolerance = math.log(share) + log_delta - float(heights[index])
        gaps = thetas[index + 1 :] - thetas[index]
        end = float(np.min((cgf[index + 1 :] - cgf[index] - log_tolerance) / gaps))
        choices.append((max(log_noise - log_tolerance, 0.0), end, float(thetas[index]), log_tolerance))
    _, reach, theta, log_tolerance = min(choices)
    least, most = (
        float(np.dot(laws.counts, [getattr(sketch, end) for sketch in laws.each])) for end in ("lowest", "highest")
    )
    if min(reach, most) - least > tuning.WINDOWS_MAX * span:
        raise UnsupportedMechanism("its sums reach too far for one grid", Refusal.TOO_MUCH_WORK)
    return Tilt(theta, math.exp(min(max(log_tolerance, math.log(tuning.FLOOR)), math.log(tuning.CEILING))))


def _saddle(laws: Sketches, epsilon: float, span: float) -> float:
    """The tilt whose law has its mean at epsilon."""
    low, high = tuning.FLATTEST / span, tuning.STEEPEST / span
    for _ in range(20):
        middle = math.sqrt(low * high)
        mean = float(np.dot(laws.counts, laws.moments(middle)[1]))
        low, high = (middle, high) if mean < epsilon else (low, middle)
    return high


# Where the losses of a composition end, what decides alone there, and whether that leaves a short law.
#
# With infima a_i and suprema b_i of the losses, A = sum k_i a_i and B = sum k_i b_i, a use of term i above
#     top_i = eps - (A - a_i)   makes the total exceed eps whatever the others do, and one below
#     bottom_i = eps - (B - b_i)   keeps it at or below eps.
# Guarantee: none needed. Any window is valid, and one that is a hair too short costs a hair.
# Proof: docs/proofs/hits.md, section 2.


@dataclass(frozen=True, slots=True)
class EndedTerm:
    """A term, and the infimum and the supremum of its losses as doubles."""

    pair: Pair
    count: int
    low: float
    high: float


class CutWindow(NamedTuple):
    """The losses of a term that do not decide alone, from bottom to top; at_low: they begin at its infimum."""

    bottom: float
    top: float
    at_low: bool

    @property
    def length(self) -> float:
        """top - bottom."""
        return self.top - self.bottom


@dataclass(frozen=True)
class CutQuestion:
    """A composition and its ends."""

    terms: tuple[Term, ...]
    ended: tuple[EndedTerm, ...]

    @staticmethod
    def of(terms: Sequence[Term]) -> CutQuestion:
        """The ends of the losses of every term."""
        with working_precision(BITS_START):
            ranges = [pair.loss_range() for pair, _ in terms]
            ends = [(float(each.lowest.mid()), float(each.highest.mid())) for each in ranges]
        return CutQuestion(tuple(terms), tuple(EndedTerm(*term, *end) for term, end in zip(terms, ends, strict=True)))

    def windows(self, epsilon: float) -> list[CutWindow]:
        """[bottom, top] of every term, about."""
        return [self._window(index, epsilon) for index in range(len(self.ended))]

    def _window(self, index: int, epsilon: float) -> CutWindow:
        own = self.ended[index]
        others = [(term, term.count - (place == index)) for place, term in enumerate(self.ended)]
        least = sum(count * term.low for term, count in others if count)
        most = sum(count * term.high for term, count in others if count)
        bottom = max(own.low, epsilon - most)
        return CutWindow(bottom, min(own.high, epsilon - least), bottom == own.low)

    def check_short(self) -> None:
        """Raises UnsupportedMechanism unless what all uses without a hit lose or gain together is small."""
        least = sum(term.count * term.low for term in self.ended)
        most = sum(term.count * term.high for term in self.ended)
        if len(self.ended) > tuning.HITS_TERMS_MAX or not (least >= -tuning.HITS_MAX or most <= tuning.HITS_MAX):
            raise UnsupportedMechanism("it has many hits, or losses without ends that would cut them short")

    def check(self, epsilon: float) -> None:
        """Raises UnsupportedMechanism where an even grid of the windows would not pay."""
        windows = self.windows(epsilon)
        cut = list(zip(self.ended, windows, strict=True))
        # An addition loses at most what epsilon is compared with, so that it is short in any case.
        body = sum(term.count * abs(term.low) for term, window in cut if window.at_low)
        if not (body <= tuning.BODY_MAX * epsilon and all(window.bottom < window.top < math.inf for window in windows)):
            raise UnsupportedMechanism("many small losses count: there is nothing to cut off")
        longest = max(window.length for window in windows)
        if not longest <= tuning.CUT_POINTS_MAX * epsilon:
            raise UnsupportedMechanism("epsilon is shorter than a step of the finest grid")
        if not longest <= tuning.BODY_POINTS_MAX * max(
            abs(term.low if window.at_low else term.high) for term, window in cut
        ):
            raise UnsupportedMechanism("its hits are too large beside its other losses")
        for ended_term, window in cut:
            edge = window.bottom + tuning.NEXT_TO_END * window.length
            if window.at_low and float(ended_term.pair.tails(double_double(np.array([edge]))).p_below[0]) < 0.5:
                raise UnsupportedMechanism("its losses are spread out: there is nothing to cut off")

    def single(self, epsilon: FloatArray) -> FloatArray:
        """About the delta of one use among all, the others without loss."""
        total = np.zeros_like(epsilon)
        for pair, count in self.terms:
            total = total + count * pair.hockey_stick(exact(epsilon)).value
        return np.minimum(total, 1.0)

    def single_epsilon(self, delta: float) -> float:
        """The epsilon where one use among all has about this delta."""
        low, high = 1e-12, 1.0
        while float(self.single(np.array([high]))[0]) > delta and high < 1e15:
            high *= 16.0
        for _ in range(12):
            points = np.geomspace(low, high, 17)
            place = int(np.clip(np.searchsorted(-self.single(points), -delta), 1, 16))
            low, high = float(points[place - 1]), float(points[place])
            if high / low < 1.0 + 1e-3:
                break
        return high


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
    accuracy = max(accuracy, tuning.CUT_ZERO_WIDTH / near) if near < tuning.HITS_NEAR_ZERO else accuracy
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
    return lattice_masses.masses_above(pair, points, grid.step, median)
