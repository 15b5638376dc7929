"""How finely: range, step and levels of the grids for an aim, and the work that they take.

A chord adds theta (theta+1)/2 E[x (h-x)] to log delta per use, x the place in the cell, and merging takes about half
of that. Work is points times transforms, predicted from Chernoff windows of the sketches before anything is computed.
Guarantee: none needed. Every choice made here is valid; a bad one costs width or time only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...losses.cgf import Cumulants
from ...losses.pair import Pair
from ...numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ...numerics.convolution import GROUP, levels_of
from ...numerics.double_double import double_double
from ...numerics.enclosures import FloatArray
from ...values import compute_budget
from ...values.errors import UnsupportedMechanism
from .. import tuning
from ..saddle import Saddle, Shape, find_saddle, saddle_at
from ..selection import Term

# A rough picture of each pair: a few thousand cells of its loss, enough to choose a tilt and a grid.
#
# The sketches of all terms lie side by side in one table with a row per term, so that many terms cost few calls:
# K(theta) = sum over terms of count log E[e^(theta loss)], and its derivatives.
# Guarantee: none needed. Every choice made from a sketch is valid; a bad one costs width or time only.
# Reference: Zhu, Dong, Wang 2021, Sec. 5 (characteristic functions).


@dataclass(frozen=True, slots=True)
class Sketch:
    """Cells of a pair: P-mass, log of the ratio of masses, width; tails at the upper edges; median and ends of the
    loss."""

    loss: FloatArray
    mass: FloatArray
    log_mass: FloatArray
    width: FloatArray
    edge: FloatArray
    p_above: FloatArray
    q_below: FloatArray
    median: float
    lowest: float
    highest: float

    def hockey_stick(self, epsilon: float) -> float:
        """About H(e^epsilon)."""
        beyond = self.loss > epsilon
        return float(np.dot(self.mass[beyond], -np.expm1(epsilon - self.loss[beyond])))

    def cut(self, log_top: float) -> Sketch:
        """Without the losses whose tail under P is at most e^log_top: they will count as infinite."""
        # The tails fall along the cells.
        size = min(int(np.searchsorted(-self.p_above, -math.exp(min(log_top, 0.0)))) + 1, len(self.p_above))
        columns = ("loss", "mass", "log_mass", "width", "edge", "p_above", "q_below")
        return replace(self, **{column: getattr(self, column)[:size] for column in columns})

    def grain(self, theta: float, step: float) -> float:
        """The step below which the tilted law is smooth: its own atoms' distance where it consists of a few."""
        exponent = self.log_mass + theta * self.loss
        weights = np.exp(exponent - exponent.max())
        atoms = (weights > tuning.ATOM_SHARE * weights.sum()) & (self.width < step / 4.0)
        if 2.0 * weights[atoms].sum() < weights.sum():
            return step
        places = self.loss[atoms]
        return max(float(places[-1] - places[0]) / len(places), step)

    def gathered(self, theta: float, width: float) -> float:
        """The largest share of the tilted law that lies within the width."""
        exponent = self.log_mass + theta * self.loss
        running = np.concatenate([[0.0], np.cumsum(np.exp(exponent - exponent.max()))])
        last = np.searchsorted(self.loss, self.loss + width, side="right")
        return float(np.max(running[last] - running[:-1]) / running[-1])


def sketch(pair: Pair, cells: int = tuning.SKETCH_CELLS) -> Sketch:
    """Cells on an even grid over where P lives, and finer ones around its median; fewer than SKETCH_CELLS if told."""
    with working_precision(BITS_START):
        ends = pair.loss_range()
        lowest, highest = lower_float(ends.lowest), upper_float(ends.highest)
    median = _median(pair, [end for end in (lowest, highest) if math.isfinite(end)])
    fine = 4 if cells >= tuning.SKETCH_CELLS else 2
    powers = np.arange(-40 * fine, 45 * fine)
    spread = np.ldexp(1.0, powers // fine) * (1.0 + (powers % fine) / fine)
    points = np.unique(np.concatenate([median - spread, [median], median + spread]))
    tails = pair.tails(double_double(points))
    low = points[max(int(np.searchsorted(tails.p_below, 1e-60)) - 1, 0)]
    high = points[min(int(np.searchsorted(-tails.p_above, -tuning.SKETCH_TAIL)), len(points) - 1)]
    low, high = max(low, lowest), min(high, highest)
    room = 1e-12 * max(abs(low), abs(high), 1e-300)
    even = tuning.EVEN_CELLS if cells >= tuning.SKETCH_CELLS else max(cells // 2, tuning.EVEN_CELLS_MIN)
    points = np.unique(np.concatenate([points, np.linspace(low, high, even), [low - room, high + room]]))
    points = points[(points >= low - room) & (points <= high + room)]
    tails = pair.tails(double_double(points))
    mass = np.where(points[1:] > median, -np.diff(tails.p_above), np.diff(tails.p_below))
    other = np.where(points[1:] > median, -np.diff(tails.q_above), np.diff(tails.q_below))
    kept = mass > 0.0
    if not kept.any():
        raise UnsupportedMechanism("its losses are too large or too close together for a grid")
    with np.errstate(divide="ignore", invalid="ignore"):
        # The loss of the merged cell: the mean loss is far below its deviation, and midpoints would miss it.
        loss = np.clip(np.nan_to_num(np.log(mass / other)), points[:-1], points[1:])
    return Sketch(
        loss=loss[kept],
        mass=mass[kept],
        log_mass=np.log(mass[kept]),
        width=np.diff(points)[kept],
        edge=points[1:][kept],
        p_above=tails.p_above[1:][kept],
        q_below=tails.q_below[1:][kept],
        median=median,
        lowest=lowest,
        highest=highest,
    )


def _median(pair: Pair, ends: list[float]) -> float:
    """A loss with about half of P on each side; an atom there is met to the last digits."""
    spread = np.ldexp(1.0, np.arange(-60, 62) // 2)
    near = [end + side * abs(end) * 2.0**-51 for end in ends for side in (-1, 0, 1)]  # atoms like to sit there
    points = np.unique(np.concatenate([-spread, [0.0], spread, near]))
    half: float | None = None
    for _ in range(9):
        below = pair.tails(double_double(points)).p_below
        half = below[-1] / 2.0 if half is None else half  # an infinite loss has its own mass
        place = int(np.clip(np.searchsorted(below, half), 1, len(points) - 1))
        low, high = points[place - 1], points[place]
        if (
            high - low <= 1e-15 * max(abs(low), abs(high))
            or below[place] - below[place - 1] < tuning.MEDIAN_SMOOTH * half
        ):
            break
        points = np.linspace(low, high, 129)
    return float(high)


def sketch_of_atoms(loss: FloatArray, mass: FloatArray) -> Sketch:
    """A list of atoms is its own sketch."""
    kept = mass > 0.0
    if not kept.any():
        raise UnsupportedMechanism("its masses are below every double")
    nothing = np.zeros(int(kept.sum()))
    loss, mass = loss[kept], mass[kept]
    return Sketch(loss, mass, np.log(mass), nothing, loss, nothing, nothing, 0.0, float(loss[0]), float(loss[-1]))


@dataclass(frozen=True, slots=True, eq=False)
class Sketches(Shape):
    """One sketch and one count per term; rows of the table are filled up with cells of no mass."""

    each: tuple[Sketch, ...]
    counts: FloatArray
    loss: FloatArray
    log_mass: FloatArray
    width: FloatArray

    def cumulants(self, tilt: float) -> Cumulants:
        return Cumulants(*(float(np.dot(self.counts, moment)) for moment in self.moments(tilt)))

    def moments(self, theta: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """K, K' and K'' of one use of each term at theta: log moment, mean and variance of the tilted law."""
        weights, most = self._weights(theta)
        total = weights.sum(axis=1)
        mean = np.einsum("ij,ij->i", weights, self.loss) / total
        away = self.loss - mean[:, None]
        variance = np.einsum("ij,ij,ij->i", weights, away, away) / total
        return most + np.log(total), mean, variance

    def cgf(self, theta: float) -> FloatArray:
        """K of one use of each term at theta."""
        weights, most = self._weights(theta)
        return np.asarray(most + np.log(weights.sum(axis=1)))

    def tilted(self, theta: float) -> FloatArray:
        """The share of each cell in its tilted law."""
        weights, _ = self._weights(theta)
        return np.asarray(weights / weights.sum(axis=1)[:, None])

    def excess(self, shares: FloatArray, steps: FloatArray) -> FloatArray:
        """E[x (h - x)] under laws with such shares of their cells, with a grid point on each median; one h per term."""
        compute_budget.spend(tuning.CELL_UNITS * self.loss.size)
        step = steps[:, None]
        place = np.mod(self.loss - np.array([[one.median] for one in self.each]), step)
        cells = np.where(self.width > step / 4.0, step * step / 6.0, place * (step - place))
        return np.asarray(np.einsum("ij,ij->i", shares, cells))

    def _weights(self, theta: float) -> tuple[FloatArray, FloatArray]:
        compute_budget.spend(tuning.CELL_UNITS * self.loss.size)
        exponent = self.log_mass + theta * self.loss
        most = exponent.max(axis=1)
        return np.exp(exponent - most[:, None]), most

    def cut(self, log_top: float) -> Sketches:
        """Each without the losses whose tail under P is at most e^log_top: they will count as infinite."""
        return gathered([each.cut(log_top) for each in self.each], self.counts)

    def hockey_stick(self, epsilon: float) -> float:
        """About the sum of the deltas of single uses."""
        return float(
            sum(count * each.hockey_stick(epsilon) for each, count in zip(self.each, self.counts, strict=True))
        )


def gathered(sketches: Sequence[Sketch], counts: Sequence[int] | FloatArray) -> Sketches:
    """The table of some sketches."""
    length = max(len(one.loss) for one in sketches)
    compute_budget.hold(4.0 * 8.0 * length * len(sketches))
    loss, width = np.zeros((2, len(sketches), length))
    log_mass = np.full((len(sketches), length), -np.inf)
    for row, one in enumerate(sketches):
        loss[row, : len(one.loss)] = one.loss
        log_mass[row, : len(one.loss)] = one.log_mass
        width[row, : len(one.loss)] = one.width
    return Sketches(tuple(sketches), np.asarray(counts, dtype=np.float64), loss, log_mass, width)


def sketched(terms: Sequence[Term]) -> Sketches:
    """All terms sketched, as finely as their number allows."""
    cells = tuning.SKETCH_CELLS_MAX // len(terms)
    return gathered([sketch(pair, cells) for pair, _ in terms], [count for _, count in terms])


# Where to look: the saddle of a question, the losses that matter to it, and the tilt with the shortest window.
#
# The tilt theta solves K'(theta) - 1/theta - 1/(1+theta) = epsilon, K the cgf of the sketches.
# Guarantee: none needed. Every choice made here is valid; a bad one costs width or time only.
# Reference: Zhu, Dong, Wang 2021, Sec. 5 (characteristic functions); Daniels 1954, Sec. 2 (saddle point).

LOG_STEEPEST = math.log(tuning.STEEPEST_TILT)
LOG_DELTA_MIN = math.log(5e-324)  # below, no double is left to tell


def saddle(sketches: Sketches, epsilon: float | None, delta: float | None) -> Saddle:
    """The saddle of the question: epsilon given, or the epsilon where delta is met.

    Tilts come from a ladder: questions next to each other have the same one, and their grids the same step.
    """
    goal = math.log(delta) if delta else LOG_DELTA_MIN
    found = find_saddle(
        sketches, epsilon, goal, tuning.STEEPEST_TILT, log_least=LOG_DELTA_MIN, closeness=tuning.CLOSENESS
    )
    candidate = math.floor((math.log(found.tilt) - LOG_STEEPEST) / tuning.TILT_RUNG) + 0.5
    here = saddle_at(sketches, math.exp(LOG_STEEPEST + candidate * tuning.TILT_RUNG))
    if epsilon is None and found.epsilon > 0.0:
        return here
    here = replace(here, epsilon=found.epsilon)
    return replace(here, log_delta=here.estimate)


@dataclass(frozen=True, slots=True)
class Aim:
    """Where the question lies, how narrow its answer is to be, and the tilt and window that suit it."""

    sketches: Sketches  # as far as their losses matter
    point: Saddle  # of the question
    wanted: float  # width of log delta
    theta: float  # the tilt that needs the shortest window
    tolerance: float  # of the law so tilted: what may lie outside of the window
    window: float  # about the length of that window, as a loss
    plain: float  # the same without a tilt, with the tolerance of delta itself
    gaps: FloatArray  # tilts around theta, as distances from it
    rises: FloatArray  # of each sketch, how far its cgf lies above that at theta there
    variances: FloatArray  # of each sketch, tilted by theta

    def window_of(self, index: int, uses: int, tolerance: float) -> float:
        """The window that so many uses of one sketch need: by Chernoff at either end, by Bernstein, or all sums."""
        sketch, exponent = self.sketches.each[index], -math.log(tolerance)
        span = float(sketch.edge[-1] - sketch.edge[0] + sketch.width[0])
        normal = math.sqrt(2.0 * uses * float(self.variances[index]) * exponent)
        chernoff = _window(self.gaps, uses * self.rises[index], -exponent)
        return min(chernoff, 2.0 * (normal + span * exponent / 3.0), uses * span)


def aim(terms: Sequence[Term], epsilon: float | None, delta: float | None, accuracy: float) -> Aim:
    """Sketches every pair, finds the saddle, drops losses too rare to matter, and finds it again without them.

    Where one use alone may reach epsilon, the cgf bends upward in between and its saddle tells too large a delta; what
    single uses give is a floor, and losses are dropped by the smaller estimate.
    """
    uses = sum(count for _, count in terms)
    for_delta = epsilon is not None
    full = sketched(terms)
    if epsilon is not None:
        supremum = sum(count * sketch.highest for sketch, (_, count) in zip(full.each, terms, strict=True))
        epsilon = epsilon if epsilon < supremum else max(0.9 * supremum, 0.0)  # beyond, only infinite losses count
    point = saddle(full, epsilon, delta)
    estimate, settled = point.log_delta, False
    cut = full
    for _ in range(tuning.AIMS_MAX):
        wanted = _wanted(point, for_delta, accuracy)
        level = estimate + math.log(tuning.TOP_SHARE * min(wanted, 1.0) / max(uses, 1))
        cut = full.cut(level)
        point = saddle(cut, epsilon, delta)
        if settled:
            break
        before, estimate = estimate, point.log_delta
        if epsilon is not None and estimate < before - 3.0:  # what was dropped made nearly all of delta
            estimate, settled = max(estimate, _log_single(full, epsilon)), True
    goal = math.log(delta) if delta else -math.inf
    if epsilon is None and point.epsilon > 0.0 and abs(point.log_delta - goal) > 1.0 and goal > LOG_DELTA_MIN:
        estimate = goal  # the saddle jumps over this delta
        point = saddle(cut, _single_epsilon(cut, goal), None)
        wanted = _wanted(point, for_delta, accuracy)
    return _tilted(cut, replace(point, log_delta=estimate), wanted)


def _log_single(sketches: Sketches, epsilon: float) -> float:
    """log of about the delta of one use among all, the others without loss."""
    with np.errstate(divide="ignore"):
        return min(float(np.log(sketches.hockey_stick(epsilon))), 0.0)


def _single_epsilon(sketches: Sketches, goal: float) -> float:
    """The epsilon where that meets the goal."""
    low, high = 0.0, max(float(sketch.loss[-1]) for sketch in sketches.each)
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _log_single(sketches, middle) > goal else (low, middle)
    return low


def _wanted(point: Saddle, for_delta: bool, accuracy: float) -> float:
    """The width of log delta: an error of epsilon counts theta times in it; next to epsilon 0 there is an end to
    that."""
    return min(
        accuracy if for_delta else accuracy * max(point.epsilon * point.tilt, tuning.EPSILON_TOLD), tuning.WANTED_MAX
    )


def narrowed(
    sketches: Sequence[tuple[Sketch, int]], epsilon: float | None, delta: float | None, accuracy: float
) -> Aim:
    """The aim for laws that are lattices already: only the tilt is open."""
    both = gathered([sketch for sketch, _ in sketches], [count for _, count in sketches])
    point = saddle(both, epsilon, delta)
    wanted = _wanted(point, epsilon is not None, accuracy)
    return _tilted(both, point, wanted)


class TiltWay(NamedTuple):
    """One tilt: how far its tolerance lies below what is known of a law (log), and the window that it needs."""

    unknown: float
    window: float
    place: int  # in tuning.TILT_SHARES
    tolerance: float


def _tilted(sketches: Sketches, point: Saddle, wanted: float) -> Aim:
    """At the saddle a few huge losses may spread the law; a smaller tilt pays with a smaller tolerance and may win.

    By Chernoff K(s) - K(theta) - (s - theta) end = log tolerance at either end of the window, s on that side of theta.
    """
    goal = point.log_delta + math.log(tuning.WINDOW_SHARE * min(wanted, 1.0))
    places = point.tilt * tuning.TILT_SHARES
    table = np.array([sketches.cgf(float(s)) for s in places])  # a row per place, a column per term
    cgf = table @ sketches.counts
    known = math.log(tuning.KNOWN_MIN * float(sketches.counts.sum()))
    ways = []
    for index in np.flatnonzero(
        (tuning.TILTS_TRIED[0] <= tuning.TILT_SHARES) & (tuning.TILTS_TRIED[1] >= tuning.TILT_SHARES)
    ):
        log_tolerance = float(goal - cgf[index] + places[index] * point.epsilon)
        window = _window(places - places[index], cgf - cgf[index], log_tolerance)
        tolerance = math.exp(min(log_tolerance, -1.0))
        ways.append(TiltWay(max(known - log_tolerance, 0.0), window, int(index), tolerance))
    best = min(ways)
    theta = float(places[best.place])
    return Aim(
        sketches=sketches,
        point=point,
        wanted=wanted,
        theta=theta,
        tolerance=max(best.tolerance, 1e-300),
        window=best.window,
        plain=_window(places, cgf - cgf[tuning.TILT_SHARES == 0.0], goal),
        gaps=places - theta,
        rises=(table - table[best.place]).T,
        variances=sketches.moments(theta)[2],
    )


def _window(gaps: FloatArray, rise: FloatArray, log_tolerance: float) -> float:
    """The distance of the nearest ends above and below that the tilts at these gaps can prove."""
    up, down = gaps > 0.0, gaps < 0.0
    above = np.min((rise[up] - log_tolerance) / gaps[up])
    below = np.max((rise[down] - log_tolerance) / gaps[down])
    return max(float(above - below), 0.0)  # below 0 where the aim lies beyond every sum


@dataclass(frozen=True, slots=True)
class Ruler:
    """The grid of one pair: points (start + i step) unit for i < size, taken together `levels` times."""

    start: int
    step: int
    size: int
    levels: int

    def points(self, unit: float) -> FloatArray:
        """Exact doubles: a plan keeps every point within 52 bits of its unit."""
        return np.asarray((self.start + np.arange(self.size, dtype=np.int64) * self.step) * unit, dtype=np.float64)


class GridWish(NamedTuple):
    """What a grid is to be like, beside what the aim asks for."""

    finer: float = 1.0  # above 1, the step wanted is divided by it; below 1, the step that the work allows is
    evolving: bool = True  # blocks of uses may be composed on finer grids of their own first
    points: int = tuning.GRID_POINTS_MAX  # of any array
    work: float = tuning.GRID_WORK_MAX  # points times transforms


@dataclass(frozen=True, slots=True)
class GridPlan:
    """One ruler per term; all of them reach the same step after their levels."""

    rulers: tuple[Ruler, ...]
    unit: float  # a power of two: every point of every grid is a whole number of units, exactly
    step: float  # of the last grid, on which all terms meet
    theta: float  # the tilt of the laws
    near: float  # the epsilon that it is made for
    tilt: float  # of the saddle there
    levels: int = 0  # the most that any term takes: 0 for one grid only
    work: float = 0.0  # points times transforms
    expected: float = 0.0  # about the width it leads to, in units of the one wanted

    @property
    def parameters(self) -> dict[str, object]:
        """All that makes the grid again: of each term the first point, the step (both in units), points and levels."""
        rulers = [[ruler.start, ruler.step, ruler.size, ruler.levels] for ruler in self.rulers]
        return {"step": self.step, "unit": self.unit, "rulers": rulers, "points": [ruler.size for ruler in self.rulers]}


def plan(terms: Sequence[Term], target: Aim, wish: GridWish) -> GridPlan:
    """Rulers for the target."""
    counts = [count for _, count in terms]
    sketches, point = target.sketches.each, target.point
    ends = loss_ranges(terms, target)
    task = _Task(target, tuple(counts), tuple(ends), target.sketches.tilted(point.tilt))
    way = _best_way(task, wish)
    step, levels = way.step, way.levels
    spans = [high - low for low, high in ends]
    busiest = max(range(len(terms)), key=lambda index: counts[index] * spans[index] ** 2)
    largest = max(max(abs(low), abs(high)) for low, high in ends) + 8.0 * max(spans) + step
    unit = 2.0 ** (math.ceil(math.log2(largest)) - 51)
    grid = _whole_step(sketches[busiest], step / tuning.GRID_GROWTH**levels, unit) * tuning.GRID_GROWTH**levels
    rulers = []
    for sketch, count, (low, high) in zip(sketches, counts, ends, strict=True):
        own = _own(levels, count)
        fine = grid // tuning.GRID_GROWTH**own
        anchor = round((sketch.lowest if _bounded(sketch) else sketch.median) / unit)
        start = anchor + (round(low / unit) - anchor) // fine * fine
        top = math.ceil(high / unit) + 2  # an atom at the supremum must not fall behind the last point
        size = max(-(-(top - start) // fine) + 1, 2)
        rulers.append(Ruler(start, fine, size, own))
    return GridPlan(
        rulers=tuple(rulers),
        unit=unit,
        step=grid * unit,
        theta=target.theta,
        near=point.epsilon,
        tilt=point.tilt,
        levels=levels,
        work=task.work(grid * unit, levels),
        expected=tuning.DISCRETISATION_SHARE * way.width,
    )


def loss_ranges(terms: Sequence[Term], target: Aim) -> list[tuple[float, float]]:
    """Of each term, the losses that need points of their own."""
    uses, cgf = sum(count for _, count in terms), target.sketches.cgf(target.theta)
    return [_range(sketch, target, float(own), uses) for sketch, own in zip(target.sketches.each, cgf, strict=True)]


def _bounded(sketch: Sketch) -> bool:
    return math.isfinite(sketch.lowest) and math.isfinite(sketch.highest)


def _whole_step(sketch: Sketch, step: float, unit: float) -> int:
    """An even number of units; where the loss is bounded, both ends fall on the grid up to a unit per point."""
    span = sketch.highest - sketch.lowest
    if math.isfinite(span) and span > step:
        step = span / math.ceil(span / step)
    return max(2 * round(step / unit / 2.0), 2)


def _range(sketch: Sketch, target: Aim, cgf: float, uses: int) -> tuple[float, float]:
    """The losses that need points of their own: what lies below moves up to the first point."""
    share = tuning.TOP_SHARE * min(target.wanted, 1.0) / max(uses, 1)
    with np.errstate(divide="ignore"):
        moved = np.log(sketch.q_below) + (target.theta + 1.0) * sketch.edge <= cgf + math.log(share)
    bottom = (
        sketch.edge[len(moved) - 1 - int(np.argmax(moved[::-1]))] if moved.any() else sketch.edge[0] - sketch.width[0]
    )
    low, high = max(float(bottom), sketch.lowest), min(float(sketch.edge[-1]), sketch.highest)
    return min(low, sketch.median), max(high, sketch.median)


@dataclass(frozen=True, slots=True)
class _Task:
    """What a choice of step and levels costs: an aim, the counts, the range of each pair."""

    target: Aim
    counts: tuple[int, ...]
    ends: tuple[tuple[float, float], ...]
    shares: FloatArray  # of the cells of each sketch, tilted to the saddle

    def lengths(self, levels: int) -> list[tuple[float, float, float]]:
        """Every window that is composed, the step it is composed on as a share of the last one, and its weight."""
        laws = sum(2 if _own(levels, count) else 1 for count in self.counts)
        deep = levels_of(laws)
        found = [(self.target.window, 1.0, 1.0 + tuning.LAW_SHARE * (-(-laws // GROUP**deep) - 1))]
        if deep:  # at each level every law is in a window of GROUP times its length
            mean = sum(high - low for low, high in self.ends) / len(self.ends)
            found.append((GROUP * mean, 1.0, tuning.LAW_SHARE * laws * deep))
        tolerance = self.target.tolerance / len(self.counts)
        for index, (count, (low, high)) in enumerate(zip(self.counts, self.ends, strict=True)):
            own = _own(levels, count)
            found.append((high - low, float(tuning.GRID_GROWTH) ** -own, 1.0))
            before = 0
            for after in range(min(own, 2), own + 1) if own else ():
                share = max(tolerance * tuning.BLOCK_USES**after / count, tuning.KNOWN_MIN)
                window = max(self.target.window_of(index, tuning.BLOCK_USES**after, share), high - low)
                # Twice: a block, and what is left over.
                found.append((window, float(tuning.GRID_GROWTH) ** (before - own), 2.0))
                before = after
        return found

    def least_step(self, levels: int, most: int) -> float:
        """The common step below which some array would be longer than allowed."""
        return max(window / share for window, share, _ in self.lengths(levels)) / most

    def work(self, step: float, levels: int) -> float:
        """Points times transforms, of three laws."""
        return 3.0 * sum(weight * window / (share * step) for window, share, weight in self.lengths(levels))

    def fits(self, step: float, levels: int, share: float) -> bool:
        """Whether the excess of this step stays within a share of what is wanted."""
        point = self.target.point
        own = np.array([_own(levels, count) for count in self.counts])
        fine = step / float(tuning.GRID_GROWTH) ** own
        excess = self.target.sketches.excess(self.shares, fine) + own * fine * fine / 6.0
        total = float(np.dot(self.target.sketches.counts, excess))
        return 0.75 * point.tilt * (point.tilt + 1.0) * total <= share * self.target.wanted

    def noise(self, step: float, levels: int) -> float:
        """About the share of delta that the rounding of all blocks adds: n eta |G| N for a block of n uses.

        |G|, the mean modulus of its transform, is grain / (2.5 deviation), and at least m^n where a share m of the law
        lies next to one point.
        """
        total = 0.0
        for index, (sketch, count, (low, high)) in enumerate(
            zip(self.target.sketches.each, self.counts, self.ends, strict=True)
        ):
            own = _own(levels, count)
            if not own:
                continue
            uses, fine = tuning.BLOCK_USES ** min(own, 2), step / tuning.GRID_GROWTH**own
            window = max(self.target.window_of(index, uses, tuning.KNOWN_MIN), high - low)
            deviation = math.sqrt(uses * float(self.target.variances[index])) + fine
            theta = self.target.theta
            modulus = max(sketch.grain(theta, fine) / (2.5 * deviation), sketch.gathered(theta, fine / 4.0) ** uses)
            total += count * tuning.TRANSFORM_NOISE * min(modulus, 1.0) * window / fine
        return total * blown_up(self.target.theta)


def blown_up(theta: float) -> float:
    """What a share of the tilted mass is to delta: P is 1 + theta times, e^eps Q theta times their difference."""
    return 2.0 + 2.0 * theta


class GridWay(NamedTuple):
    """One way to a grid: so many levels, the common step that they lead to, and what it costs."""

    levels: int
    step: float
    width: float  # about that of the answer, in units of what discretisation may take
    work: float

    @property
    def rank(self) -> tuple[float, float]:
        """As narrow as is good enough if the work allows, then the least work."""
        return max(self.width, tuning.GOOD_WIDTH), self.work


def _best_way(task: _Task, wish: GridWish) -> GridWay:
    """Of one grid, one level, two levels, ...; no further than needed."""
    point, target = task.target.point, task.target
    widest = max(high - low for low, high in task.ends)
    scale = max(min(math.sqrt(point.cumulants.variance), target.window / 10.0), widest / 64.0, 1e-9)
    top = min(scale / 4.0, 0.5 / (1.0 + point.tilt)) if point.tilt < 1e6 else scale / 4.0
    ways: list[GridWay] = []
    for levels in range(tuning.GRID_LEVELS_MAX if wish.evolving else 1):
        if levels and tuning.BLOCK_USES**levels > max(task.counts):
            break
        wanted = _largest(task, top, levels) / max(wish.finer, 1.0)
        step = max(wanted, task.least_step(levels, wish.points)) / min(wish.finer, 1.0)
        step *= max(task.work(step, levels) / wish.work, 1.0)
        width = (step / wanted) ** 2 + tuning.NOISE_WEIGHT * task.noise(step, levels) / target.wanted
        ways.append(GridWay(levels, step, width, task.work(step, levels)))
        if target.window / step <= tuning.GRID_POINTS_WANTED and step <= wanted:
            break
    return min(ways, key=lambda way: way.rank)


def _largest(task: _Task, top: float, levels: int) -> float:
    """The largest step that fits: up to top, or any whole part of a range on which all atoms lie."""
    low, high = math.log(top) - 60.0, math.log(top)
    if task.fits(top, levels, tuning.DISCRETISATION_SHARE):
        low = high
    while high - low > 0.05:
        middle = (low + high) / 2.0
        low, high = (
            (middle, high) if task.fits(math.exp(middle), levels, tuning.DISCRETISATION_SHARE) else (low, middle)
        )
    power = math.exp(low)
    spans = {sketch.highest - sketch.lowest for sketch in task.target.sketches.each if _bounded(sketch)}
    if levels or len(spans) > tuning.RANGES_MAX:
        return power
    whole = sorted({span / parts for span in spans for parts in range(1, tuning.RANGE_PARTS_MAX + 1)}, reverse=True)
    steepest = tuning.STEEPEST_STEP / task.target.point.tilt
    return next(
        (step for step in whole if power < step < steepest and task.fits(step, levels, tuning.ON_GRID_SHARE)), power
    )


def _own(levels: int, count: int) -> int:
    """As many of the levels as this count fills."""
    return max((level for level in range(levels + 1) if tuning.BLOCK_USES**level <= max(count, 1)), default=0)
