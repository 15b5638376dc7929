"""Balls in bins for two or three bins: delta by quadrature over the span of the bins' sums.

L = sum_i p_i exp(<m_i, z> - |m_i|^2/2) rises along e, the direction of the mean of the m_i, since all inner products
are at least 0: for each rest of z the place where L passes a level is found by bisection, and the integral along e is a
sum of normal probabilities. What is left is smooth, and the trapezoidal rule is exact to about 1e-12.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Array = NDArray[np.float64]
REACH, STEP = 8.5, 0.1
HALVINGS = 62


def bin_sums(matrix: Array, bins: int) -> Array:
    """A row for each bin: the sum of the columns of its steps."""
    return np.array([matrix[:, start::bins].sum(axis=1) for start in range(bins)])


def lower_toeplitz(coefficients: list[float], steps: int, block: int | None = None) -> Array:
    """The matrix itself."""
    found = np.zeros((steps, steps))
    for i in range(steps):
        for j in range(i + 1):
            if i - j < len(coefficients) and (block is None or i // block == j // block):
                found[i, j] = coefficients[i - j]
    return found


def deltas(sums: Array, epsilon: float) -> tuple[float, float]:
    """(remove, add) for the mixture of N(row, I) over the rows, against N(0, I)."""
    bins = len(sums)
    along = sums.mean(axis=0)
    along = along / np.linalg.norm(along)
    rest = sums - np.outer(sums @ along, along)
    _, sizes, rows = np.linalg.svd(rest)
    axes = rows[: int((sizes > 1e-12).sum())]
    forward, sideways = sums @ along, rest @ axes.T
    norms = (sums**2).sum(axis=1)
    low = min(0.0, float(sideways.min(initial=0.0))) - REACH
    high = max(0.0, float(sideways.max(initial=0.0))) + REACH
    grid = np.arange(low, high + STEP, STEP)
    mesh = np.meshgrid(*[grid] * len(axes), indexing="ij")
    points = np.stack([each.ravel() for each in mesh], axis=1) if len(axes) else np.zeros((1, 0))
    weight = np.exp(-(points**2).sum(axis=1) / 2) / np.sqrt(2 * np.pi) ** len(axes) * STEP ** len(axes)
    shares = points @ sideways.T - norms / 2 + np.log(1.0 / bins)  # log of each term at t = 0

    def crossing(level: float) -> Array:
        bottom, top = np.full(len(points), -60.0), np.full(len(points), 60.0)
        for _ in range(HALVINGS):
            middle = (bottom + top) / 2
            above = np.logaddexp.reduce(shares + np.outer(middle, forward), axis=1) > level
            bottom, top = np.where(above, bottom, middle), np.where(above, middle, top)
        return top

    scaled = np.exp(shares + forward**2 / 2)
    t = crossing(epsilon)
    remove = (scaled * ndtr(forward - t[:, None])).sum(axis=1) - np.exp(epsilon) * ndtr(-t)
    t = crossing(-epsilon)
    add = ndtr(t) - np.exp(epsilon) * (scaled * ndtr(t[:, None] - forward)).sum(axis=1)
    return float(weight @ remove), float(weight @ add)
