"""How finely: range, step and levels of the grids for an aim, and the work that they take.

A chord adds theta (theta+1)/2 E[x (h-x)] to log delta per use, x the place in the cell, and merging takes about half
of that. Work is points times transforms, predicted from Chernoff windows of the sketches before anything is computed.
Guarantee: none needed. Every choice made here is valid; a bad one costs width or time only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...kernels.enclosure import FloatArray
from ...kernels.fft_tree import GROUP, levels_of
from ..evaluation import Term
from . import tuning
from .aim import Aim
from .sketch import Sketch


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
