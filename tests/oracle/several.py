"""k of t steps of Gaussian noise, all sets of steps alike: by quadrature for t <= 4, by draws for any t.

L is the mean of the products of likelihood ratios over all k-sets. It is affine in the last ratio, whose mean of a
positive part has a closed form; the trapezoid rule over the others converges like no power of its step.
"""

from __future__ import annotations

from itertools import combinations
from math import comb, exp, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Array = NDArray[np.float64]


def by_quadrature(sigma: float, steps: int, uses: int, epsilon: float, points: int = 221) -> tuple[float, float]:
    """(remove, add): E(L - a)_+ and E(1 - a L)_+, two to four steps."""
    mu, alpha = 1.0 / sigma, exp(epsilon)
    z, h = np.linspace(-9.0, 9.0 + uses * mu, points, retstep=True)
    ratios = np.meshgrid(*[np.exp(mu * z - mu * mu / 2.0)] * (steps - 1), indexing="ij")
    density = np.exp(-z * z / 2.0) * h / sqrt(2.0 * np.pi)
    weight = np.ones(())
    for _ in range(steps - 1):
        weight = np.multiply.outer(weight, density)
    chosen = comb(steps, uses)
    # L = fixed + slope Y, Y the last ratio.
    fixed = sum((_product(ratios, places) for places in combinations(range(steps - 1), uses)), np.zeros(()))
    slope = sum(_product(ratios, places) for places in combinations(range(steps - 1), uses - 1))
    fixed, slope = fixed / chosen, slope / chosen
    return float((weight * _call(fixed, slope, mu, alpha)).sum()), float(
        (weight * _put(fixed, slope, mu, 1.0 / alpha)).sum() * alpha
    )


def _product(ratios: list[Array], places: tuple[int, ...]) -> Array:
    found = np.ones_like(ratios[0])
    for place in places:
        found = found * ratios[place]
    return found


def _call(fixed: Array, slope: Array, mu: float, level: float) -> Array:
    """E(fixed + slope Y - level)_+."""
    rest = level - fixed
    with np.errstate(all="ignore"):
        z = np.log(rest / slope) / mu + mu / 2.0
        return np.where(rest <= 0.0, slope - rest, slope * ndtr(mu - z) - rest * ndtr(-z))


def _put(fixed: Array, slope: Array, mu: float, level: float) -> Array:
    """E(level - fixed - slope Y)_+."""
    rest = level - fixed
    with np.errstate(all="ignore"):
        z = np.log(rest / slope) / mu + mu / 2.0
        return np.where(rest <= 0.0, 0.0, rest * ndtr(z) - slope * ndtr(z - mu))


class Drawn(NamedTuple):
    """A mean and its standard error."""

    mean: float
    error: float


def by_draws(sigma: float, steps: int, uses: int, epsilon: float, way: str, draws: int, seed: int = 0) -> Drawn:
    """remove: E_P(1 - a/L)_+, the first k steps having the record; add: E_Q(1 - a L)_+."""
    mu, alpha, source = 1.0 / sigma, exp(epsilon), np.random.default_rng(seed)
    found = []
    while sum(map(len, found)) < draws:
        z = source.standard_normal((2000, steps))
        if way == "remove":
            z[:, :uses] += mu
        ratios = np.exp(mu * z - mu * mu / 2.0)
        sums = np.zeros((uses + 1, len(z)))
        sums[0] = 1.0
        for step in range(steps):
            for size in range(uses, 0, -1):
                sums[size] += ratios[:, step] * sums[size - 1]
        ratio = sums[uses] / comb(steps, uses)
        found.append(np.maximum(1.0 - alpha / ratio if way == "remove" else 1.0 - alpha * ratio, 0.0))
    values = np.concatenate(found)
    return Drawn(float(values.mean()), float(values.std(ddof=1) / sqrt(len(values))))
