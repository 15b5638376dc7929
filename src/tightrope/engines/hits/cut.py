"""Few hits: losses that decide alone are cut off exactly, and what is left is short enough for one fine grid.

With infima a_i and suprema b_i of the losses, A = sum k_i a_i and B = sum k_i b_i, a use of term i above
    top_i = eps - (A - a_i)   makes the total exceed eps whatever the others do, and one below
    bottom_i = eps - (B - b_i)   keeps it at or below eps.
Beyond these ends delta is linear in the outcome, so chords there add nothing, and merged cells lose nothing: each term
needs points on [bottom_i, top_i] only. The tilt is the saddle of the law that is left, which lives near eps.
Guarantee: upper and lower, as lattice grids of any range. Proof: docs/proofs/hits.md, section 2.
Reference: Meiser, Mohammadi 2018, Def. 3 (buckets); Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, Alg. 1 (chords).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ... import work
from ...bound import Budget, budget_lines
from ...errors import Refusal, UnsupportedMechanism, WorkExhausted
from ...kernels.ball import BITS_START, lower_float, working_precision
from ...kernels.enclosure import FloatArray, exact
from ...kernels.twofold import twofold
from ...pair import Pair
from ..evaluation import Evaluation, Evaluator, Term, named
from ..lattice import masses as lattice_masses
from ..lattice.compose import Part, Total, compose, compose_alike, longest
from ..lattice.law import Side, tilted
from ..lattice.narrowest import Narrowest, relative_width, rounding_rules
from ..lattice.plan import Ruler
from ..lattice.tail_sum import LowerSum, infinite_mass, lower_sum_at, upper_sum_at

TERMS_MOST = 8
HITS_MOST = 0.4  # expected in all, about; with more the contour's integrand falls soon
BODY_POINTS_MOST = 3e5  # times the losses without a hit: larger hits are told apart by the contour
BODY_MOST = 8.0  # times epsilon: what all uses lose without a hit; beyond, sums of many small losses reach it
WINDOWS_MOST = 64.0  # times the longest law: what a transform is to hold
NEXT_TO_END = 0.25  # of a window: where at least half of a law is to be
FIRST_POINTS, POINTS_MOST = 1 << 11, 5 << 14
MEDIAN_POINTS = 257
ROUNDS_MOST = 4
HAIR = 0.7  # of the width asked for: what a search for epsilon adds must fit too
OUTSIDE_SHARE = 1e-2  # of the width asked for: what may lie outside of a window
FLOOR = 1e-17  # of the tilted law: nothing below is told from rounding
NEAR = 5.0  # in 1/theta: delta changes by e^5
SHARES = np.geomspace(0.2, 4.0, 40)  # of the saddle's tilt
UNKNOWN = 1e-3  # of Chernoff's bound: about delta, where nothing else tells
STEEPEST = 600.0  # log of the weights at both ends of a law
THINNED = 4  # points of a sketch, for choices only
LEAST = 1e-9  # of epsilon, for the same: at 0 nothing cancels that a tilt could mend
NOISE, NOISY_USES = 1e-13, 20.0  # of the tilted law: what rounding hides, and the uses that double it
NEAR_ZERO, ZERO_WIDTH = 1e-3, 5e-13  # below this epsilon so much is narrow enough
TOGETHER = 1e10  # times delta, where one use alone has delta: several uses make epsilon
SEARCHES_MOST = 6  # for the place of epsilon, on coarse grids
ROOM = 1e-3  # of epsilon: how far above its place the cut stays exact
POINT_WORK, ENTRY_WORK = 600.0, 250.0  # units: one point of a law, one entry of a transform, all three laws


@dataclass(frozen=True)
class CutQuestion:
    """A composition, its ends, and the width of delta that is wanted."""

    terms: tuple[Term, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]

    @staticmethod
    def of(terms: Sequence[Term]) -> CutQuestion:
        """The ends of the losses of every term, as doubles."""
        with working_precision(BITS_START):
            ranges = [pair.loss_range() for pair, _ in terms]
            lows, highs = (
                tuple(float(each.mid()) for each in ends)
                for ends in ([one.lowest for one in ranges], [one.highest for one in ranges])
            )
        return CutQuestion(tuple(terms), lows, highs)

    def window(self, index: int, epsilon: float) -> tuple[float, float]:
        """[bottom, top] of a term, about: any range is valid, and one that is a hair too short costs a hair."""
        others = [count - (each == index) for each, (_, count) in enumerate(self.terms)]
        least = sum(count * low for count, low in zip(others, self.lows, strict=True) if count)
        most = sum(count * high for count, high in zip(others, self.highs, strict=True) if count)
        return max(self.lows[index], epsilon - most), min(self.highs[index], epsilon - least)

    def short(self) -> bool:
        """Whether few hits are to be expected: what all uses without a hit lose or gain together is small."""
        if len(self.terms) > TERMS_MOST:
            return False
        counts = [count for _, count in self.terms]
        least, most = (sum(map(operator.mul, counts, ends)) for ends in (self.lows, self.highs))
        return bool(least >= -HITS_MOST or most <= HITS_MOST)

    def check(self, epsilon: float) -> None:
        """Raises UnsupportedMechanism where an even grid of the windows would not pay."""
        windows = [self.window(index, epsilon) for index in range(len(self.terms))]
        ends = [
            low if bottom == low else high
            for (bottom, _), low, high in zip(windows, self.lows, self.highs, strict=True)
        ]
        # An addition loses at most what epsilon is compared with, so that it is short in any case.
        body = sum(
            count * abs(low)
            for (_, count), (bottom, _), low in zip(self.terms, windows, self.lows, strict=True)
            if bottom == low
        )
        if not (body <= BODY_MOST * epsilon and all(bottom < top < math.inf for bottom, top in windows)):
            raise UnsupportedMechanism(named(self.terms), "many small losses count: there is nothing to cut off")
        if not max(top - bottom for bottom, top in windows) <= POINTS_MOST * epsilon:
            raise UnsupportedMechanism(named(self.terms), "epsilon is shorter than a step of the finest grid")
        if not max(top - bottom for bottom, top in windows) <= BODY_POINTS_MOST * max(map(abs, ends)):
            raise UnsupportedMechanism(named(self.terms), "its hits are too large beside its other losses")
        for (pair, _), (bottom, top), low in zip(self.terms, windows, self.lows, strict=True):
            edge = bottom + NEXT_TO_END * (top - bottom)
            if bottom == low and float(pair.tails(twofold(np.array([edge]))).p_below[0]) < 0.5:
                raise UnsupportedMechanism(named(self.terms), "its losses are spread out: there is nothing to cut off")

    def single(self, epsilon: FloatArray) -> FloatArray:
        """About the delta of one use among all, the others without loss."""
        total = np.zeros_like(epsilon)
        for pair, count in self.terms:
            total = total + count * pair.profile(exact(epsilon)).value
        return np.minimum(total, 1.0)


@dataclass(frozen=True)
class CutEvaluator(Evaluator):
    """Three composed laws on cut grids: one above, and P and Q of the merged cells below."""

    upper: Total
    below: tuple[Total, Total] | None  # None where nothing is left after rounding
    infinite: tuple[float, float]  # at or below the true infinite mass; at or above what the upper law put there
    near: float  # the epsilon that the cut is made for: it is exact up to there
    theta: float
    step: float
    unit: float
    points: tuple[int, ...]

    @property
    def arithmetic(self) -> str:
        return "float64"

    @property
    def parameters(self) -> Mapping[str, object]:
        return {
            "way": "cut",
            "theta": self.theta,
            "step": self.step,
            "points": list(self.points),
            "length": len(self.upper.masses),
        }

    def delta(self, epsilon: float) -> Evaluation:
        # delta falls with epsilon: far from the tilt a nearer epsilon may say more.
        reach = NEAR / self.theta
        high = upper_sum_at(self.upper, min(epsilon, self.near + reach), self.unit)
        low = LowerSum(0.0, 0.0, 0.0, 0.0)
        if self.below is not None:
            low = lower_sum_at(*self.below, max(epsilon, self.near - reach))
        leaked_low, leaked_high = self.infinite
        total = leaked_high + high.upper
        upper = math.nextafter(total, math.inf) if total < 1.0 else 1.0  # also where nothing is known
        lower = max(math.nextafter(leaked_low + low.lower, -math.inf), 0.0) if leaked_low else low.lower
        gap = max((high.value - low.value) + (leaked_high - leaked_low), 0.0)
        above = budget_lines(discretisation=gap, truncation=high.lost, wrap_around=high.outside, rounding=high.rounding)
        under = budget_lines(discretisation=gap, truncation=low.lost, wrap_around=low.outside, rounding=low.rounding)
        return Evaluation(min(float(lower), float(upper)), float(upper), Budget(above, under))


def prepare(terms: Sequence[Term], epsilon: float | None, delta: float | None, accuracy: float) -> Narrowest:
    """An evaluator for one direction and one question; UnsupportedMechanism where hits are many or have no ends."""
    asked = CutQuestion.of(terms)
    if not asked.short():
        raise UnsupportedMechanism(named(terms), "it has many hits, or losses without ends that would cut them short")
    if epsilon is not None:
        asked.check(epsilon)
        return _refined(asked, epsilon, epsilon, accuracy, float(asked.single(np.array([epsilon]))[0]))
    assert delta is not None
    return _for_epsilon(asked, delta, accuracy)


def _for_epsilon(asked: CutQuestion, delta: float, accuracy: float) -> Narrowest:
    """Looks for the place of epsilon on coarse grids, then makes a fine one there."""
    near = _single_epsilon(asked, delta)
    coarse: CutEvaluator | None = None
    for _ in range(SEARCHES_MOST):
        asked.check(near)
        reach = near * (1.0 + ROOM)
        try:
            coarse = grid(asked, reach, FIRST_POINTS, 0.1, delta)
        except WorkExhausted:
            if coarse is None:
                raise
            break
        if coarse.delta(near).lower > TOGETHER * delta:
            raise UnsupportedMechanism(named(asked.terms), "many hits count together: there is nothing to cut off")
        found = Narrowest((coarse,), asked.terms, math.inf, near, coarse.theta, math.inf).inverse(delta, math.inf, 1e-3)
        before, near = near, found.lower + (min(found.upper, 2.0 * reach) - found.lower) / 2.0
        if not near > 0.0 or (found.upper <= reach and abs(near - before) < ROOM * near):
            break
    assert coarse is not None
    if not near > 0.0:
        return Narrowest((coarse,), asked.terms, math.inf, 0.0, coarse.theta, math.inf)
    low, high = (coarse.delta(near * factor).middle for factor in (1.0 - ROOM, 1.0 + ROOM))
    slope = math.log(low / high) / (2.0 * ROOM) if low > high > 0.0 else 1.0  # of log delta, per log epsilon
    accuracy = max(accuracy, ZERO_WIDTH / near) if near < NEAR_ZERO else accuracy
    wanted = min(accuracy * slope, 0.1)
    try:
        made = _refined(asked, near, reach, wanted, delta)
    except WorkExhausted:
        made = Narrowest((coarse,), asked.terms, math.inf, near, coarse.theta, math.inf)
    return replace(made, slope=slope / near)


def _single_epsilon(asked: CutQuestion, delta: float) -> float:
    """The epsilon where one use among all has about this delta."""
    low, high = 1e-12, 1.0
    while float(asked.single(np.array([high]))[0]) > delta and high < 1e15:
        high *= 16.0
    for _ in range(12):
        points = np.geomspace(low, high, 17)
        place = int(np.clip(np.searchsorted(-asked.single(points), -delta), 1, 16))
        low, high = float(points[place - 1]), float(points[place])
        if high / low < 1.0 + 1e-3:
            break
    return high


def _refined(asked: CutQuestion, epsilon: float, reach: float, wanted: float, delta: float) -> Narrowest:
    """Grids of more points until delta at epsilon is as narrow as wanted, or the next one would take too long."""
    points = FIRST_POINTS
    best: tuple[float, CutEvaluator] | None = None
    for _ in range(ROUNDS_MOST):
        try:
            made = grid(asked, reach, points, wanted, delta)
        except WorkExhausted:
            if best is None:
                raise
            break
        value = made.delta(epsilon)
        width = relative_width(value)
        if best is None or width < best[0]:
            best = width, made
        finer = 1.1 * math.sqrt(width / (HAIR * wanted))
        if width <= HAIR * wanted or points * finer > POINTS_MOST or rounding_rules(value):
            break
        delta = max(value.lower, 0.1 * value.upper, 5e-324)
        points = math.ceil(points * max(finer, 1.5))
    assert best is not None
    return Narrowest((best[1],), asked.terms, wanted, epsilon, best[1].theta, math.inf)


def grid(asked: CutQuestion, epsilon: float, points: int, wanted: float, delta: float) -> CutEvaluator:
    """The three laws composed on grids whose longest has so many points."""
    windows = [asked.window(index, epsilon) for index in range(len(asked.terms))]
    longest_range = max(top - bottom for bottom, top in windows)
    largest = max(max(abs(bottom), abs(top)) for bottom, top in windows) + longest_range
    if not 0.0 < longest_range < math.inf:
        raise UnsupportedMechanism(named(asked.terms), "its losses are all alike")
    unit = 2.0 ** (math.ceil(math.log2(largest)) - 51)
    step = max(2 * round(longest_range / (points - 1) / unit / 2.0), 2)
    rulers = []
    for (bottom, top), low in zip(windows, asked.lows, strict=True):
        size = math.ceil((top - bottom) / unit / step) + 2
        # A point lies on the end where most of the law is: the infimum of a removal, the supremum of an addition.
        start = math.floor(bottom / unit) if bottom == low else math.ceil(top / unit) + 1 - (size - 1) * step
        rulers.append(Ruler(start, step, size, 0))
    work.spend(POINT_WORK * sum(ruler.size for ruler in rulers))
    laws = [_above(pair, ruler, unit) for (pair, _), ruler in zip(asked.terms, rulers, strict=True)]
    counts = [count for _, count in asked.terms]
    theta, tolerance = _tilt([(at, law.masses) for at, law in laws], counts, epsilon, delta, OUTSIDE_SHARE * wanted)
    slope = theta * step * unit
    parts: list[Part] = [
        (tilted(law.masses, ruler.start, step, slope, Side.UP), count)
        for (_, law), ruler, count in zip(laws, rulers, counts, strict=True)
    ]
    work.spend(ENTRY_WORK * 4.0 * points * len(parts))
    upper = compose(parts, tolerance)
    work.spend(ENTRY_WORK * len(upper.masses) * len(parts))
    with working_precision(BITS_START):
        leaked = [(max(lower_float(pair.infinite_mass()), 0.0), count) for pair, count in asked.terms]
    return CutEvaluator(
        upper,
        _below(asked, rulers, unit, theta, tolerance),
        (
            infinite_mass(leaked, upward=False),
            infinite_mass([(law.infinite, count) for (_, law), count in zip(laws, counts, strict=True)], upward=True),
        ),
        epsilon,
        theta,
        step * unit,
        unit,
        tuple(ruler.size for ruler in rulers),
    )


def _points(ruler: Ruler, unit: float) -> FloatArray:
    """Exact doubles: every point is within 52 bits of its unit."""
    return np.asarray((ruler.start + np.arange(ruler.size, dtype=np.int64) * ruler.step) * unit, dtype=np.float64)


def _above(pair: Pair, ruler: Ruler, unit: float) -> tuple[FloatArray, lattice_masses.Above]:
    points = _points(ruler, unit)
    some = points[:: max(ruler.size // MEDIAN_POINTS, 1)]
    median = float(some[min(int(np.searchsorted(pair.tails(twofold(some)).p_below, 0.5)), len(some) - 1)])
    return points, lattice_masses.above(pair, points, ruler.step * unit, median)


def _below(
    asked: CutQuestion, rulers: Sequence[Ruler], unit: float, theta: float, tolerance: float
) -> tuple[Total, Total] | None:
    """P and Q of the merged cells, on one window; None where nothing is left of them."""
    p_parts: list[Part] = []
    q_parts: list[Part] = []
    try:
        for (pair, count), ruler in zip(asked.terms, rulers, strict=True):
            found = lattice_masses.below(pair, _points(ruler, unit), ruler.step * unit)
            for masses, tilt, side, parts in (
                (found.p, theta, Side.DOWN, p_parts),
                (found.q, theta + 1.0, Side.UP, q_parts),
            ):
                parts.append((tilted(masses, ruler.start, ruler.step, tilt * ruler.step * unit, side), count))
        p = compose(p_parts, tolerance, least=longest(q_parts))
        return p, compose_alike(q_parts, p)
    except UnsupportedMechanism:
        return None


class Tilt(NamedTuple):
    """A tilt, and the share of the tilted law that may lie outside of a window."""

    theta: float
    tolerance: float


def _tilt(
    laws: Sequence[tuple[FloatArray, FloatArray]], counts: Sequence[int], epsilon: float, delta: float, share: float
) -> Tilt:
    """Of the tilts up to the saddle's, whose noise stays low enough, the one with the shortest window.

    share: what may be left out of delta, which is known about, or 0. By Chernoff at s > theta the window ends at
    (K(s) - K(theta) - log tolerance)/(s - theta); it begins at the least sum.
    """
    some = [(points[::THINNED], np.add.reduceat(masses, np.arange(0, len(masses), THINNED))) for points, masses in laws]

    def moments(theta: float) -> tuple[float, float]:
        value, mean = 0.0, 0.0
        for (points, masses), count in zip(some, counts, strict=True):
            ahead = points - points[-1]
            weights = masses * np.exp(theta * ahead)
            total = max(float(weights.sum()), 1e-300)
            value += count * (math.log(total) + theta * float(points[-1]))
            mean += count * (float(points[-1]) + float(np.dot(weights, ahead)) / total)
        return value, mean

    span = max(float(points[-1] - points[0]) for points, _ in laws)
    low, high = 1e-3 / span, STEEPEST / span
    for _ in range(20):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if moments(middle)[1] < epsilon else (low, middle)
    thetas = high * SHARES
    cgf = np.array([moments(float(theta))[0] for theta in thetas])
    log_delta = math.log(delta) if delta > 0.0 else float(np.min(cgf - thetas * epsilon)) + math.log(UNKNOWN)
    log_noise = math.log(
        NOISE * (1.0 + sum(counts) / NOISY_USES) / max(min(epsilon, 1.0), LEAST)
    )  # P - e^eps Q cancels
    choices = []
    for index in range(len(thetas) - 1):
        if SHARES[index] > 1.0:
            break
        log_tolerance = math.log(share) + log_delta - float(cgf[index] - thetas[index] * epsilon)
        gaps = thetas[index + 1 :] - thetas[index]
        end = float(np.min((cgf[index + 1 :] - cgf[index] - log_tolerance) / gaps))
        noisy = max(log_noise - log_tolerance, 0.0)
        choices.append((noisy, end, float(thetas[index]), log_tolerance))
    _, reach, theta, log_tolerance = min(choices)
    least, most = (
        sum(count * float(points[end]) for (points, _), count in zip(laws, counts, strict=True)) for end in (0, -1)
    )
    if min(reach, most) - least > WINDOWS_MOST * span:
        raise UnsupportedMechanism("this composition", "its sums reach too far for one grid", Refusal.TOO_MUCH_WORK)
    return Tilt(theta, math.exp(min(max(log_tolerance, math.log(FLOOR)), math.log(1e-3))))
