"""A rough picture of each pair: a few thousand cells of its loss, enough to choose a tilt and a grid.

The sketches of all terms lie side by side in one table with a row per term, so that many terms cost few calls:
K(theta) = sum over terms of count log E[e^(theta loss)], and its derivatives.
Guarantee: none needed. Every choice made from a sketch is valid; a bad one costs width or time only.
Reference: Zhu, Dong, Wang 2021, Sec. 5 (characteristic functions).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ... import compute_budget
from ...errors import UnsupportedMechanism
from ...facets.cgf import Cumulants
from ...kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ...kernels.double_double import double_double
from ...kernels.enclosure import FloatArray
from ...pair import Pair
from ..evaluation import Term
from ..saddle import Shape
from . import tuning


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
