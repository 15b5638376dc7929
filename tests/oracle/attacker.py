"""An attacker who knows both laws: outputs are drawn in both worlds, and the likelier world is named.

Each part draws outputs of its own and gives log P/Q of each, by its densities; a run adds them up. Rejecting where the
sum exceeds t is a best test (Neyman, Pearson 1933). Thresholds lie a little off what was drawn: at a loss with mass of
its own the last digits would decide, and these tell the worlds apart (Mironov 2012, on the significance of the least
significant bits).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
# An event of probability exp(-DOUBT) on either side: that of 5 sigma, 2.9e-7.
DOUBT = 15.06
OFF = 1e-7


class Attack(NamedTuple):
    """Ends around the rates of false and of true positives of one test."""

    threshold: float
    fpr: tuple[float, float]
    tpr: tuple[float, float]


@dataclass(frozen=True)
class Part(ABC):
    """One use; the record takes part with the probability `rate`."""

    rate: float = 1.0

    @abstractmethod
    def outputs(self, present: npt.NDArray[np.bool_], rng: np.random.Generator) -> Array:
        """One output for each entry: with the record where it says so."""

    @abstractmethod
    def ratios(self, outputs: Array) -> Array:
        """log P/Q of outputs, before sampling."""

    def losses(self, world: bool, size: int, rng: np.random.Generator) -> Array:
        """log P/Q of as many outputs, of the world with the record or of that without."""
        present = (rng.random(size) < self.rate) if world else np.zeros(size, dtype=bool)
        found = self.ratios(self.outputs(present, rng))
        if self.rate == 1.0:
            return found
        with np.errstate(divide="ignore"):
            return np.logaddexp(np.log1p(-self.rate), np.log(self.rate) + found)


@dataclass(frozen=True)
class GaussianPart(Part):
    sigma: float = 1.0
    shift: float = 1.0

    def outputs(self, present: npt.NDArray[np.bool_], rng: np.random.Generator) -> Array:
        return self.sigma * rng.standard_normal(len(present)) + self.shift * present

    def ratios(self, outputs: Array) -> Array:
        return self.shift * (outputs - self.shift / 2.0) / self.sigma**2


@dataclass(frozen=True)
class LaplacePart(Part):
    scale: float = 1.0
    shift: float = 1.0

    def outputs(self, present: npt.NDArray[np.bool_], rng: np.random.Generator) -> Array:
        return rng.laplace(0.0, self.scale, len(present)) + self.shift * present

    def ratios(self, outputs: Array) -> Array:
        return (np.abs(outputs) - np.abs(outputs - self.shift)) / self.scale


@dataclass(frozen=True)
class TablePart(Part):
    """Outputs by their masses; what one law does not have decides."""

    p: tuple[float, ...] = (1.0,)
    q: tuple[float, ...] = (1.0,)

    def outputs(self, present: npt.NDArray[np.bool_], rng: np.random.Generator) -> Array:
        first, second = (rng.choice(len(m), len(present), p=np.array(m) / math.fsum(m)) for m in (self.p, self.q))
        return np.where(present, first, second).astype(float)

    def ratios(self, outputs: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            table = np.log(np.array(self.p)) - np.log(np.array(self.q))
        return table[outputs.astype(int)]


def response(p: float, categories: int = 2, rate: float = 1.0) -> TablePart:
    """The truth with the probability p, else one of the others."""
    other = (1.0 - p) / (categories - 1)
    rest = (other,) * (categories - 2)
    return TablePart(rate, (p, other, *rest), (other, p, *rest))


def discrete_gaussian(sigma: float, shift: int, rate: float = 1.0) -> TablePart:
    """Whole numbers up to 12 sigma and the shift away."""
    reach = math.ceil(12.0 * sigma) + shift
    return _whole(lambda x: math.exp(-((x / sigma) ** 2) / 2.0), reach, shift, rate)


def discrete_laplace(scale: float, shift: int, rate: float = 1.0) -> TablePart:
    return _whole(lambda x: math.exp(-abs(x) / scale), math.ceil(40.0 * scale) + shift, shift, rate)


def _whole(mass: Callable[[int], float], reach: int, shift: int, rate: float) -> TablePart:
    places = range(-reach, reach + shift + 1)
    p, q = tuple(mass(x - shift) for x in places), tuple(mass(x) for x in places)
    total = math.fsum(mass(x) for x in range(-reach - shift, reach + shift + 1))
    return TablePart(rate, tuple(each / total for each in p), tuple(each / total for each in q))


def losses(parts: Sequence[tuple[Part, int]], world: bool, size: int, rng: np.random.Generator) -> Array:
    """log P/Q of a run."""
    total = np.zeros(size)
    for part, count in parts:
        for _ in range(count):
            total += part.losses(world, size, rng)
    return total


def attacks(
    parts: Sequence[tuple[Part, int]], direction: str, seed: int, size: int, quantiles: Sequence[float]
) -> tuple[Attack, ...]:
    """Tests at quantiles of the loss in a first batch, measured in two others: the null is the second law."""
    rng = np.random.default_rng(seed)
    sign = 1.0 if direction == "remove" else -1.0

    def drawn(first: bool) -> Array:
        return sign * losses(parts, first == (direction == "remove"), size, rng)

    pilot = drawn(first=False)
    first, second = drawn(first=True), drawn(first=False)
    finite = np.where(np.isneginf(pilot), -1e9, pilot)
    thresholds = np.quantile(finite, quantiles, method="nearest") + OFF
    return tuple(
        Attack(float(t), rate(int((second > t).sum()), size), rate(int((first > t).sum()), size)) for t in thresholds
    )


def rate(hits: int, size: int) -> tuple[float, float]:
    """Ends around a probability: size kl(found, p) <= DOUBT (Chernoff), each side but for exp(-DOUBT)."""
    found = hits / size

    def away(p: float) -> float:
        miss = (1.0 - found) * math.log((1.0 - found) / (1.0 - p)) if found < 1.0 else 0.0
        return size * ((found * math.log(found / p) if found > 0.0 else 0.0) + miss)

    return _edge(away, found, 0.0), _edge(away, found, 1.0)


def _edge(away: Callable[[float], float], found: float, end: float) -> float:
    """The p furthest towards the end that is not yet too far."""
    if found == end:
        return end
    near, far = found, end
    for _ in range(60):
        middle = (near + far) / 2.0
        near, far = (middle, far) if away(middle) <= DOUBT else (near, middle)
    return far
