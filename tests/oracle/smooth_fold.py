"""delta of many uses of smooth densities: the contour integral by brute force, nodes and steps far beyond need."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from flint import arb
from numpy.polynomial.legendre import leggauss

from .densities import SmoothTruth

CELLS, NODES = 120, 20


def fold_delta(law: SmoothTruth, count: int, epsilon: float) -> float:
    """delta(epsilon), to about ten digits: double precision, with the exponent kept apart."""
    masses, losses = _points(law)
    leaked = max(float(law.outside().mid()), 0.0)
    tilts = np.geomspace(1e-3, 1e3, 400)
    heights = [count * _log_moment(masses, losses, c) - c * epsilon - np.log(c * (c + 1.0)) for c in tilts]
    c = float(tilts[int(np.argmin(heights))])
    weights = masses * np.exp(c * losses - np.max(c * losses))
    weights /= weights.sum()
    spread = np.sqrt(count * np.dot(weights, (losses - np.dot(weights, losses)) ** 2) + c**-2)
    step = 0.05 / spread
    scale = count * _log_moment(masses, losses, c) - c * epsilon
    total, index = 0.0, 0
    while index < 60_000:
        t = step * np.arange(index, index + 500)
        phi = np.exp(1j * np.outer(t, losses)) @ weights
        terms = np.exp(count * np.log(phi) - 1j * t * epsilon) / ((c + 1j * t) * (c + 1.0 + 1j * t))
        total += float(np.sum(terms.real)) - (0.5 * float(terms[0].real) if index == 0 else 0.0)
        if abs(phi[-1]) ** count / max(t[-1], 1.0) < 1e-16 * abs(total) / 500.0:
            break
        index += 500
    infinite = -math.expm1(count * math.log1p(-leaked))
    return infinite + float(np.exp(scale)) * step / np.pi * total


def _points(law: SmoothTruth) -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = leggauss(NODES)
    # Denser towards the middle, where the losses change.
    edges = (law.low + law.high) / 2 + (law.high - law.low) / 2 * np.linspace(-1.0, 1.0, CELLS + 1) ** 3
    masses, losses = [], []
    for low, high in pairwise(edges):
        for node, weight in zip(nodes, weights, strict=True):
            x = arb((low + high) / 2 + (high - low) / 2 * node)
            masses.append(float(law.density(x)) * weight * (high - low) / 2)
            losses.append(float(law.loss(x)))
    return np.array(masses), np.array(losses)


def _log_moment(masses: np.ndarray, losses: np.ndarray, tilt: float) -> float:
    top = float(np.max(tilt * losses))
    return top + float(np.log(np.dot(masses, np.exp(tilt * losses - top))))
