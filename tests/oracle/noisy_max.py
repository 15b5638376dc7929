"""Laws of the noisy maximum, candidate by candidate: by integrals over the winning value, and by going through orders.

noise: one kind for all candidates, or one for each; scores are in units of the scale of the noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise, permutations
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]
Noise = str | Sequence[str]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
FAR = 44.0  # e^-44 is below the rounding of all that is summed here


def density(noise: str, x: Array) -> Array:
    if noise == "exponential":
        return np.where(x > 0.0, np.exp(-np.maximum(x, 0.0)), 0.0)
    if noise == "laplace":
        return np.exp(-np.abs(x)) / 2.0
    small = np.exp(-np.maximum(x, -6.0))  # of Gumbel noise nothing lies below
    return np.where(x > -6.0, small * np.exp(-small), 0.0)


def distribution(noise: str, x: Array) -> Array:
    if noise == "exponential":
        return np.where(x > 0.0, -np.expm1(-np.maximum(x, 0.0)), 0.0)
    if noise == "laplace":
        return np.where(x < 0.0, np.exp(np.minimum(x, 0.0)) / 2.0, 1.0 - np.exp(-np.maximum(x, 0.0)) / 2.0)
    return np.where(x > -6.0, np.exp(-np.exp(-np.maximum(x, -6.0))), 0.0)


def noisy_max(scores: Sequence[float], noise: Noise = "exponential") -> Array:
    """P[candidate i is told] = integral of f_i(x - u_i) prod of F_j(x - u_j), pieces of length 1 between the scores."""
    kinds = [noise] * len(scores) if isinstance(noise, str) else list(noise)
    ends = sorted({*map(float, scores)})
    cuts = [ends[0] - FAR, *ends, ends[-1] + FAR]
    edges = np.concatenate([np.linspace(a, b, math.ceil(b - a) + 1)[:-1] for a, b in pairwise(cuts)])
    edges = np.append(edges, cuts[-1])
    half, middle = np.diff(edges)[:, None] / 2.0, (edges[1:] + edges[:-1])[:, None] / 2.0
    x, weight = (middle + half * NODES).ravel(), (half * WEIGHTS).ravel()
    below = [distribution(kind, x - u) for kind, u in zip(kinds, scores, strict=True)]
    found = []
    for i, (kind, u) in enumerate(zip(kinds, scores, strict=True)):
        others = np.prod([each for j, each in enumerate(below) if j != i], axis=0)
        found.append(float(np.sum(weight * density(kind, x - u) * others)))
    return np.array(found)


def permute_and_flip(scores: Sequence[float]) -> Array:
    """By orders: candidate i is taken in its turn, with probability e^(u_i - max u), if all before it were not."""
    chances = [math.exp(u - max(scores)) for u in scores]
    found = np.zeros(len(scores))
    for order in permutations(range(len(scores))):
        left = 1.0
        for i in order:
            found[i] += left * chances[i]
            left *= 1.0 - chances[i]
    return found / math.factorial(len(scores))


def flipped(scores: Sequence[float]) -> Array:
    """The same by the place of i in the order, uniform in (0, 1): f_i integral of prod (1 - t f_j), a polynomial."""
    chances = np.exp(np.asarray(scores, dtype=float) - max(scores))
    nodes, weights = (NODES + 1.0) / 2.0, WEIGHTS / 2.0
    left = 1.0 - nodes * chances[:, None]
    others = [np.prod(np.delete(left, i, axis=0), axis=0) for i in range(len(chances))]
    return np.array([f * np.sum(weights * other) for f, other in zip(chances, others, strict=True)])


def softmax(scores: Sequence[float]) -> Array:
    """Gumbel noise."""
    weights = np.exp(np.asarray(scores, dtype=float) - max(scores))
    return np.asarray(weights / weights.sum())


LAWS: dict[str, Callable[[Sequence[float]], Array]] = {
    "exponential": flipped,
    "gumbel": softmax,
    "laplace": lambda scores: noisy_max(scores, "laplace"),
}


def profile(p: Array, q: Array, epsilon: float) -> float:
    """sup over sets of candidates of P - e^epsilon Q."""
    return float(np.sum(np.maximum(p - math.exp(epsilon) * q, 0.0)))
