"""The central limit theorem: the sum of the losses taken as normal. An approximation, and no bound on either side.

mu = 2 M / sqrt(V) with M and V the mean and the variance of the summed loss; the run is then treated as mu-GDP.
Guarantee: none. M and V are plain float64 sums, and the error of the theorem is not accounted for.
Reference: Dong, Roth, Su 2021, Thm 3.4.
"""

from __future__ import annotations

import math

import numpy as np

from ..losses.pair import Pair
from ..mechanisms.base import Mechanism
from ..mechanisms.composition import terms_of
from ..mechanisms.gaussian import GDP
from ..numerics.double_double import double_double
from ..values import compute_budget
from ..values.question import Direction

POINTS = 6000
GONE = 1e-13
SUM_WORK, GRID_WORK = 1e6, 2e7  # units, of two tails and of all


def limit_epsilon(run: Mechanism, delta: float) -> float:
    """epsilon of the normal limit."""
    return max(GDP(mu).epsilon(delta).upper if 0.0 < mu < math.inf else mu for mu in _mus(run))


def limit_delta(run: Mechanism, epsilon: float) -> float:
    """delta of the normal limit."""
    return max(GDP(mu).delta(epsilon).upper if 0.0 < mu < math.inf else min(mu, 1.0) for mu in _mus(run))


def _mus(run: Mechanism) -> list[float]:
    found = []
    for direction in Direction:
        mean = variance = 0.0
        for pair, count in terms_of(run.nameless, direction):
            m, v = loss_moments(pair)
            mean, variance = mean + count * m, variance + count * v
        found.append(
            2.0 * max(mean, 0.0) / math.sqrt(variance) if variance > 0.0 else mean if mean == math.inf else 0.0
        )
    return found


def loss_moments(pair: Pair) -> tuple[float, float]:
    """Mean and variance of the finite losses under the first law, about."""
    reach = 1e-9
    while reach < 1e9:
        compute_budget.spend(SUM_WORK)
        tails = pair.tails(double_double(np.array([reach, -reach])))
        leaked = float(pair.tails(double_double(np.array([np.inf]))).p_above[0])
        if tails.p_above[0] - leaked <= GONE and tails.p_below[1] <= GONE:
            break
        reach *= 1.5
    compute_budget.spend(GRID_WORK)
    half = np.sinh(np.linspace(0.0, 1.0, POINTS) * math.asinh(1e6)) / 1e6 * reach
    points = np.concatenate([-half[:0:-1], half])
    below = pair.tails(double_double(points)).p_below
    masses = np.diff(below)
    # A cell's own mean lies between its ends; the right one is exact for an atom there.
    middles = 0.5 * (points[1:] + points[:-1])
    total = float(np.sum(masses))
    if total == 0.0:
        return math.inf, 0.0
    mean = float(np.dot(masses, middles)) / total
    return mean, max(float(np.dot(masses, (middles - mean) ** 2)) / total, 0.0)
