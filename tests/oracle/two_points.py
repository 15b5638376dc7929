"""The worst mechanism with given Renyi divergences: p - e^eps q at its largest over laws (p, 1 - p), (q, 1 - q).

Any event of any mechanism is such a pair of laws, whose divergences are no larger (data processing), so this is the
supremum over all of them. For every p the least q that the divergences allow is found by bisection, the best p by
golden section: the allowed set is convex. Plain numbers, to about 1e-9; of zCDP to 1e-6, from a grid of orders.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Divergence = Callable[[float, float], float]
ORDERS = 1.0 + np.concatenate([[1e-7], np.exp(np.linspace(-8.0, 8.0, 400))])


def renyi(p: float, q: float, order: float) -> float:
    """D_order of (p, 1 - p) from (q, 1 - q), orders other than 1."""
    return float(_renyi(p, q, np.array([order]))[0])


def _renyi(p: float, q: float, orders: np.ndarray) -> np.ndarray:
    first = orders * math.log(p) + (1 - orders) * math.log(q)
    second = orders * math.log1p(-p) + (1 - orders) * math.log1p(-q)
    return np.logaddexp(first, second) / (orders - 1)


def concentrated(p: float, q: float) -> float:
    """sup over orders from 1 on of D_o / o, the larger of both directions: the smallest rho of zCDP."""
    return max(one_way(p, q), one_way(q, p))


def one_way(p: float, q: float) -> float:
    """The same in one direction."""
    return float(np.max(_renyi(p, q, ORDERS) / ORDERS))


def largest(alpha: float, allowed: Divergence, most: float) -> float:
    """The largest p - alpha q with a divergence of at most `most`."""

    def least(p: float) -> float:
        low, high = 0.0, p
        for _ in range(55):
            middle = (low + high) / 2
            low, high = (low, middle) if allowed(p, middle) <= most else (middle, high)
        return high

    share, low, high = (math.sqrt(5) - 1) / 2, 1e-12, 1 - 1e-12
    for _ in range(45):
        one, other = high - share * (high - low), low + share * (high - low)
        low, high = (low, other) if one - alpha * least(one) >= other - alpha * least(other) else (one, high)
    return low - alpha * least(low)
