"""Where to look and how finely: tilt, range, step and levels for an accuracy.

A sketch of each pair (a few thousand cells) gives its cgf K. The tilt theta solves K'(theta) - 1/theta - 1/(1+theta)
= epsilon; a chord
adds theta (theta+1)/2 E[x (h-x)] to log delta per use, x the place in the cell, and merging takes about half of that.
Guarantee: none needed. Every choice made here is valid; a bad one costs width or time only.
Reference: Zhu, Dong, Wang 2021, Sec. 5 (characteristic functions); Daniels 1954, Sec. 2 (saddle point).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...errors import UnsupportedMechanism
from ...kernels.approx import FloatArray
from ...kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ...kernels.twofold import twofold
from ...pair import Pair
from ..evaluation import Term
from .compose import BLOCK, COARSER

EVEN_CELLS = 2000
TAIL_LEAST = 1e-305
LOG_DELTA_LEAST = -745.0  # below, no double is left to tell
TOP_SHARE = 1e-2  # of the accuracy: what may go to infinite loss, and what may move up to the first point
DISCRETISATION_SHARE = 0.45
OUTSIDE_SHARE = 1e-3
EPSILON_LEAST = 1e-4  # in 1/theta: a smaller epsilon is not told from 0 to the full accuracy
NOISE = 1e-15  # per use: a tilted law is known no better, so a tilt that asks for more does not pay
POINTS_MOST = 1 << 21
POINTS_WANTED = 1 << 18
LEVELS_MOST = 16


@dataclass(frozen=True, slots=True)
class Sketch:
    """Cells of a pair: P-mass, log of the ratio of masses, width; tails at the upper edges; median and ends of the
    loss."""

    loss: FloatArray
    mass: FloatArray
    width: FloatArray
    edge: FloatArray
    p_above: FloatArray
    q_below: FloatArray
    median: float
    lowest: float
    highest: float

    def moments(self, theta: float) -> tuple[float, float, float]:
        """K, K' and K'' at theta."""
        with np.errstate(all="ignore"):
            exponent = np.log(self.mass) + theta * self.loss
        most = float(exponent.max())
        weights = np.exp(exponent - most)
        total = float(weights.sum())
        mean = float(np.dot(weights, self.loss)) / total
        variance = float(np.dot(weights, (self.loss - mean) ** 2)) / total
        return most + math.log(total), mean, variance

    def cut(self, log_top: float) -> Sketch:
        """Without the losses whose tail under P is at most e^log_top: they will count as infinite."""
        with np.errstate(divide="ignore"):
            rare = np.log(self.p_above) <= log_top
        size = max(int(np.argmax(rare)) + 1, 1) if rare.any() else len(rare)
        loss, mass, width, edge, p_above, q_below = (
            column[:size] for column in (self.loss, self.mass, self.width, self.edge, self.p_above, self.q_below)
        )
        return replace(self, loss=loss, mass=mass, width=width, edge=edge, p_above=p_above, q_below=q_below)

    def spread(self, theta: float) -> float:
        """The width that holds the middle four fifths of the tilted law."""
        with np.errstate(all="ignore"):
            exponent = np.log(self.mass) + theta * self.loss
        running = np.cumsum(np.exp(exponent - exponent.max()))
        first, last = np.searchsorted(running / running[-1], (0.1, 0.9))
        return float(self.edge[last] - self.edge[first] + self.width[first])

    def excess(self, theta: float, step: float) -> float:
        """E[x (h - x)] under the tilted law, with a grid point on the median."""
        with np.errstate(all="ignore"):
            exponent = np.log(self.mass) + theta * self.loss
        weights = np.exp(exponent - exponent.max())
        place = np.mod(self.loss - self.median, step)
        cells = np.where(self.width > step / 4.0, step * step / 6.0, place * (step - place))
        return float(np.dot(weights, cells)) / float(weights.sum())


def sketch(pair: Pair) -> Sketch:
    """Cells on an even grid over where P lives, and finer ones around its median."""
    with working_precision(BITS_START):
        ends = pair.loss_range()
        lowest, highest = lower_float(ends.lowest), upper_float(ends.highest)
    median = _median(pair)
    spread = np.ldexp(1.0, np.arange(-160, 180) // 4) * (1.0 + 0.25 * (np.arange(-160, 180) % 4))
    points = np.unique(np.concatenate([median - spread, [median], median + spread]))
    tails = pair.tails(twofold(points))
    low = points[max(int(np.searchsorted(tails.p_below, 1e-60)) - 1, 0)]
    high = points[min(int(np.searchsorted(-tails.p_above, -TAIL_LEAST)), len(points) - 1)]
    low, high = max(low, lowest), min(high, highest)
    room = 1e-12 * max(abs(low), abs(high), 1e-300)
    points = np.unique(np.concatenate([points, np.linspace(low, high, EVEN_CELLS), [low - room, high + room]]))
    points = points[(points >= low - room) & (points <= high + room)]
    tails = pair.tails(twofold(points))
    mass = np.where(points[1:] > median, -np.diff(tails.p_above), np.diff(tails.p_below))
    other = np.where(points[1:] > median, -np.diff(tails.q_above), np.diff(tails.q_below))
    kept = mass > 0.0
    if not kept.any():
        raise UnsupportedMechanism(type(pair).__name__, "its losses are too large or too close together for a grid")
    with np.errstate(divide="ignore", invalid="ignore"):
        # The loss of the merged cell: the mean loss is far below its deviation, and midpoints would miss it.
        loss = np.clip(np.nan_to_num(np.log(mass / other)), points[:-1], points[1:])
    return Sketch(
        loss=loss[kept],
        mass=mass[kept],
        width=np.diff(points)[kept],
        edge=points[1:][kept],
        p_above=tails.p_above[1:][kept],
        q_below=tails.q_below[1:][kept],
        median=median,
        lowest=lowest,
        highest=highest,
    )


def _median(pair: Pair) -> float:
    """A loss with about half of P on each side; an atom there is met to the last digits."""
    spread = np.ldexp(1.0, np.arange(-60, 62) // 2)
    points = np.concatenate([-spread[::-1], [0.0], spread])
    half: float | None = None
    for _ in range(14):
        below = pair.tails(twofold(points)).p_below
        half = below[-1] / 2.0 if half is None else half  # an infinite loss has its own mass
        place = int(np.clip(np.searchsorted(below, half), 1, len(points) - 1))
        low, high = points[place - 1], points[place]
        if high - low <= 1e-15 * max(abs(low), abs(high)):
            break
        points = np.linspace(low, high, 33)
    return float(high)


class Saddle(NamedTuple):
    """The tilt, the epsilon it belongs to, log delta there, and the deviation of the tilted total loss."""

    theta: float
    epsilon: float
    log_delta: float
    deviation: float


def saddle(sketches: Sequence[tuple[Sketch, int]], epsilon: float | None, delta: float | None) -> Saddle:
    """The saddle of the question: epsilon given, or the epsilon where delta is met."""

    def at(theta: float) -> Saddle:
        moments = [(each.moments(theta), count) for each, count in sketches]
        cgf, mean, variance = (sum(count * each[index] for each, count in moments) for index in range(3))
        here = mean - 1.0 / theta - 1.0 / (1.0 + theta)
        spread = variance + theta**-2 + (1.0 + theta) ** -2
        asked = here if epsilon is None else epsilon
        height = cgf - theta * asked - math.log(theta * (1.0 + theta)) - 0.5 * math.log(2.0 * math.pi * spread)
        return Saddle(theta, here, height, math.sqrt(variance))

    if epsilon is not None:

        def before(theta: float) -> bool:
            here = at(theta)
            return here.epsilon < epsilon and here.log_delta > LOG_DELTA_LEAST

        return at(_bisect(before))._replace(epsilon=epsilon)
    goal = math.log(delta if delta else 5e-324)
    found = at(_bisect(lambda theta: at(theta).log_delta > goal))
    if found.epsilon < 0.0:
        return saddle(sketches, 0.0, None)
    return found


def _bisect(too_small: Callable[[float], bool]) -> float:
    """The theta where the answer turns, between 1e-15 and 1e9, to a thousandth."""
    low, high = math.log(1e-15), math.log(1e9)
    while high - low > 1e-3:
        middle = (low + high) / 2.0
        low, high = (middle, high) if too_small(math.exp(middle)) else (low, middle)
    return math.exp((low + high) / 2.0)


@dataclass(frozen=True, slots=True)
class Aim:
    """What is asked: the sketches as far as they matter, the saddle, the width of log delta that is wanted.

    theta is the tilt that needs the shortest window, of about `window`, to leave no more than `tolerance` of the
    tilted law out.
    """

    sketches: tuple[Sketch, ...]
    point: Saddle
    wanted: float
    theta: float
    tolerance: float
    window: float


def aim(terms: Sequence[Term], epsilon: float | None, delta: float | None, accuracy: float) -> Aim:
    """Sketches every pair, finds the saddle, drops losses too rare to matter, and finds it again without them."""
    counts = [count for _, count in terms]
    full = tuple(sketch(pair) for pair, _ in terms)
    if epsilon is not None:
        supremum = sum(count * each.highest for each, count in zip(full, counts, strict=True))
        epsilon = epsilon if epsilon < supremum else max(0.9 * supremum, 0.0)  # beyond, only infinite losses count
    point = saddle(list(zip(full, counts, strict=True)), epsilon, delta)
    cut = full
    for _ in range(3):
        wanted = _wanted(point, epsilon is not None, accuracy)
        level = point.log_delta + math.log(TOP_SHARE * min(wanted, 1.0) / max(sum(counts), 1))
        cut = tuple(each.cut(level) for each in full)
        point = saddle(list(zip(cut, counts, strict=True)), epsilon, delta)
    theta, tolerance, window = _tilt(list(zip(cut, counts, strict=True)), point, wanted)
    return Aim(cut, point, wanted, theta, tolerance, window)


def _wanted(point: Saddle, for_delta: bool, accuracy: float) -> float:
    """The width of log delta: an error of epsilon counts theta times in it; next to epsilon 0 there is an end to
    that."""
    return accuracy if for_delta else accuracy * max(point.epsilon * point.theta, EPSILON_LEAST)


def narrowed(
    sketches: Sequence[tuple[Sketch, int]], epsilon: float | None, delta: float | None, accuracy: float
) -> Aim:
    """The aim for laws that are lattices already: only the tilt is open."""
    point = saddle(sketches, epsilon, delta)
    wanted = _wanted(point, epsilon is not None, accuracy)
    theta, tolerance, window = _tilt(sketches, point, wanted)
    return Aim(tuple(each for each, _ in sketches), point, wanted, theta, tolerance, window)


def sketch_of_atoms(loss: FloatArray, mass: FloatArray) -> Sketch:
    """A list of atoms is its own sketch."""
    kept = mass > 0.0
    if not kept.any():
        raise UnsupportedMechanism("this mechanism", "its masses are below every double")
    nothing = np.zeros(int(kept.sum()))
    return Sketch(loss[kept], mass[kept], nothing, loss[kept], nothing, nothing, 0.0, float(loss[0]), float(loss[-1]))


def _tilt(sketches: Sequence[tuple[Sketch, int]], point: Saddle, wanted: float) -> tuple[float, float, float]:
    """At the saddle a few huge losses may spread the law; a smaller tilt pays with a smaller tolerance and may win.

    By Chernoff K(s) - K(theta) - (s - theta) end = log tolerance at either end of the window, s on that side of theta.
    """
    goal = point.log_delta + math.log(OUTSIDE_SHARE * min(wanted, 1.0))
    shares = np.concatenate(
        [
            -np.geomspace(8.0, 0.1, 12),
            [0.0],
            np.geomspace(0.01, 0.5, 12),
            np.linspace(0.55, 1.5, 39),
            np.geomspace(1.6, 30.0, 16),
        ]
    )
    places = point.theta * shares
    cgf = np.array([sum(count * each.moments(float(s))[0] for each, count in sketches) for s in places])
    least = math.log(NOISE * sum(count for _, count in sketches))
    choices = []
    for index in np.flatnonzero((shares >= 0.3) & (shares <= 1.2)):
        theta = float(places[index])
        log_tolerance = goal - cgf[index] + theta * point.epsilon
        gap = np.where(places == theta, np.nan, places - theta)
        ends = (cgf - cgf[index] - log_tolerance) / gap
        window = float(np.nanmin(ends[gap > 0.0]) - np.nanmax(ends[gap < 0.0]))
        choices.append((max(least - log_tolerance, 0.0), window, theta, math.exp(min(log_tolerance, -1.0))))
    _, window, theta, tolerance = min(choices)
    return theta, tolerance, window


@dataclass(frozen=True, slots=True)
class Ruler:
    """The grid of one pair: points (start + i step) unit for i < size, taken together `levels` times."""

    start: int
    step: int
    size: int
    levels: int


@dataclass(frozen=True, slots=True)
class Plan:
    """One ruler per term; all of them reach the same step after their levels."""

    rulers: tuple[Ruler, ...]
    unit: float
    step: float
    theta: float
    saddle: Saddle


def plan(
    terms: Sequence[Term], target: Aim, finer: float = 1.0, most: int = POINTS_MOST, evolving: bool = True
) -> Plan:
    """Rulers for the target; finer divides the step once more; without evolving there is one grid only."""
    counts = [count for _, count in terms]
    sketches, point = target.sketches, target.point
    weighted = list(zip(sketches, counts, strict=True))
    ends = [_range(each, target, sum(counts)) for each in sketches]
    step, levels = _step(weighted, target, ends, evolving)
    step = max(step / finer, _least_step(weighted, target, ends, levels, most))
    spans = [high - low for low, high in ends]
    busiest = max(range(len(terms)), key=lambda index: counts[index] * spans[index] ** 2)
    largest = max(max(abs(low), abs(high)) for low, high in ends) + 8.0 * max(spans) + step
    unit = 2.0 ** (math.ceil(math.log2(largest)) - 51)
    grid = _whole_step(sketches[busiest], step / COARSER**levels, unit) * COARSER**levels
    rulers = []
    for each, count, (low, high) in zip(sketches, counts, ends, strict=True):
        own = _own(levels, count)
        fine = grid // COARSER**own
        anchor = round((each.lowest if _bounded(each) else each.median) / unit)
        start = anchor + (round(low / unit) - anchor) // fine * fine
        top = math.ceil(high / unit) + 2  # an atom at the supremum must not fall behind the last point
        size = max(-(-(top - start) // fine) + 1, 2)
        rulers.append(Ruler(start, fine, size, own))
    return Plan(tuple(rulers), unit, grid * unit, target.theta, point)


def _bounded(each: Sketch) -> bool:
    return math.isfinite(each.lowest) and math.isfinite(each.highest)


def _whole_step(each: Sketch, step: float, unit: float) -> int:
    """An even number of units; where the loss is bounded, both ends fall on the grid up to a unit per point."""
    span = each.highest - each.lowest
    if math.isfinite(span) and span > step:
        step = span / math.ceil(span / step)
    return max(2 * round(step / unit / 2.0), 2)


def _range(each: Sketch, target: Aim, uses: int) -> tuple[float, float]:
    """The losses that need points of their own: what lies below moves up to the first point."""
    share = TOP_SHARE * min(target.wanted, 1.0) / max(uses, 1)
    with np.errstate(divide="ignore"):
        moved = np.log(each.q_below) + (target.theta + 1.0) * each.edge <= each.moments(target.theta)[0] + math.log(
            share
        )
    bottom = each.edge[len(moved) - 1 - int(np.argmax(moved[::-1]))] if moved.any() else each.edge[0] - each.width[0]
    low, high = max(float(bottom), each.lowest), min(float(each.edge[-1]), each.highest)
    return min(low, each.median), max(high, each.median)


def _step(
    weighted: Sequence[tuple[Sketch, int]], target: Aim, ends: Sequence[tuple[float, float]], evolving: bool
) -> tuple[float, int]:
    """The largest common step that keeps the excess within its share, and the levels that lead to it."""
    point = target.point
    factor = 0.75 * point.theta * (point.theta + 1.0)
    scale = max(min(point.deviation, target.window / 10.0), max(high - low for low, high in ends) / 64.0, 1e-9)

    def fits(step: float, levels: int) -> bool:
        total = 0.0
        for each, count in weighted:
            own = _own(levels, count)
            fine = step / COARSER**own
            total += count * (each.excess(point.theta, fine) + own * fine * fine / 6.0)
        return factor * total <= DISCRETISATION_SHARE * target.wanted

    # Each block is known up to a noise that is flat over its window: a law of few cells in a wide window drowns in it.
    spreads = [(high - low) / each.spread(target.theta) for (each, _), (low, high) in zip(weighted, ends, strict=True)]
    noise = sum(100.0 * NOISE * count * spread for (_, count), spread in zip(weighted, spreads, strict=True))
    may_evolve = evolving and noise <= target.wanted
    top = min(scale / 4.0, 0.5 / (1.0 + point.theta)) if point.theta < 1e6 else scale / 4.0
    for levels in range(LEVELS_MOST):
        low, high = math.log(top) - 60.0, math.log(top)
        if fits(top, levels):
            low = high
        while high - low > 0.05:
            middle = (low + high) / 2.0
            low, high = (middle, high) if fits(math.exp(middle), levels) else (low, middle)
        step = math.exp(low)
        points = target.window / step
        if points <= POINTS_WANTED or not may_evolve or BLOCK ** (levels + 1) > max(count for _, count in weighted):
            break
    return step, levels


def _least_step(
    weighted: Sequence[tuple[Sketch, int]], target: Aim, ends: Sequence[tuple[float, float]], levels: int, most: int
) -> float:
    """The common step below which some array would be longer than allowed."""
    least = target.window / most
    for (low, high), (_, count) in zip(ends, weighted, strict=True):
        least = max(least, (high - low) * COARSER ** _own(levels, count) / most)
    return least


def _own(levels: int, count: int) -> int:
    """As many of the levels as this count fills."""
    return max((level for level in range(levels + 1) if BLOCK**level <= max(count, 1)), default=0)
