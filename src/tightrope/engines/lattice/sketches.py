"""The sketches of all terms side by side, so that many terms cost few calls.

K(theta) = sum over terms of count log E[e^(theta loss)], and its derivatives, from one table with a row per term.
Guarantee: none needed. Every choice made from sketches is valid; a bad one costs width or time only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ... import work
from ...facets.cgf import Cumulants
from ...kernels.enclosure import FloatArray
from ..evaluation import Term
from ..saddle import Shape
from .sketch import Sketch, sketch
from .tuning import CELL_UNITS, SKETCH_CELLS_MOST


class Moments(NamedTuple):
    """K, K' and K'' of each term."""

    cgf: FloatArray
    mean: FloatArray
    variance: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Sketches(Shape):
    """One sketch and one count per term; rows of the table are filled up with cells of no mass."""

    each: tuple[Sketch, ...]
    counts: FloatArray
    loss: FloatArray
    log_mass: FloatArray
    width: FloatArray

    def cumulants(self, tilt: float) -> Cumulants:
        return Cumulants(*(float(np.dot(self.counts, each)) for each in self.moments(tilt)))

    def moments(self, theta: float) -> Moments:
        """K, K' and K'' of one use of each term at theta."""
        weights, most = self._weights(theta)
        total = weights.sum(axis=1)
        mean = np.einsum("ij,ij->i", weights, self.loss) / total
        away = self.loss - mean[:, None]
        variance = np.einsum("ij,ij,ij->i", weights, away, away) / total
        return Moments(most + np.log(total), mean, variance)

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
        work.spend(CELL_UNITS * self.loss.size)
        step = steps[:, None]
        place = np.mod(self.loss - np.array([[one.median] for one in self.each]), step)
        cells = np.where(self.width > step / 4.0, step * step / 6.0, place * (step - place))
        return np.asarray(np.einsum("ij,ij->i", shares, cells))

    def _weights(self, theta: float) -> tuple[FloatArray, FloatArray]:
        work.spend(CELL_UNITS * self.loss.size)
        exponent = self.log_mass + theta * self.loss
        most = exponent.max(axis=1)
        return np.exp(exponent - most[:, None]), most

    def cut(self, log_top: float) -> Sketches:
        """Each without the losses whose tail under P is at most e^log_top: they will count as infinite."""
        return gathered([each.cut(log_top) for each in self.each], self.counts)

    def profile(self, epsilon: float) -> float:
        """About the sum of the deltas of single uses."""
        return float(sum(count * each.profile(epsilon) for each, count in zip(self.each, self.counts, strict=True)))


def gathered(each: Sequence[Sketch], counts: Sequence[int] | FloatArray) -> Sketches:
    """The table of some sketches."""
    length = max(len(one.loss) for one in each)
    work.hold(4.0 * 8.0 * length * len(each))
    loss, width = np.zeros((2, len(each), length))
    log_mass = np.full((len(each), length), -np.inf)
    for row, one in enumerate(each):
        loss[row, : len(one.loss)] = one.loss
        log_mass[row, : len(one.loss)] = one.log_mass
        width[row, : len(one.loss)] = one.width
    return Sketches(tuple(each), np.asarray(counts, dtype=np.float64), loss, log_mass, width)


def sketched(terms: Sequence[Term]) -> Sketches:
    """All terms sketched, as finely as their number allows."""
    cells = SKETCH_CELLS_MOST // len(terms)
    return gathered([sketch(pair, cells) for pair, _ in terms], [count for _, count in terms])
