"""The best that can be said from one point (eps_i, delta_i) of each use, for equal uses (KOV) and unequal ones.

No (eps, delta)-DP mechanism loses more than leaky randomized response, also under composition, so the answer is that of
the composition of ApproximateDP(eps_i, delta_i): exact for equal points at any count (binomial), by the lattice else.
Minimised over the curve of the mechanism it is still a valid bound, the best of many.
Guarantee: upper; both coordinates of a point are rounded up before they are composed.
Reference: Kairouz, Oh, Viswanath 2017, Thm 3.3; Murtagh, Vadhan 2016, Lemma 3.2; Meiser, Mohammadi 2018, Sec. 5.6.
"""

from __future__ import annotations

import math

from ..bound import Bound
from ..errors import UnsupportedMechanism
from ..mechanisms.approximate_dp import ApproximateDP
from ..mechanisms.base import Mechanism
from ..transforms.composition import compose
from .basic import use_epsilon, uses
from .outward import minimise

STEPS = 14
TINY = 1e-12


def optimal_composition(points: list[tuple[float, float, int]]) -> Mechanism:
    """The worst run whose uses are (epsilon, delta)-DP: points of (epsilon, delta, count)."""
    return compose(ApproximateDP(epsilon, delta) * count for epsilon, delta, count in points)


def kov_delta(epsilon: float, delta: float, count: int, at: float) -> Bound:
    """delta at the epsilon `at` of count uses of which only (epsilon, delta)-DP is known; certified on both sides."""
    return optimal_composition([(epsilon, delta, count)]).delta(at)


def one_point_epsilon(run: Mechanism, delta: float) -> float:
    """From one point of each use, at half of delta shared evenly."""
    return _epsilon_from(run, 0.5 * delta / uses(run), delta)


def one_point_delta(run: Mechanism, epsilon: float) -> float:
    """From the supremum of the loss of each use, or from its point at delta TINY where the loss is unbounded."""
    points = []
    for part, count in run.terms:
        pure = use_epsilon(part, 0.0)
        points.append((pure, 0.0, count) if math.isfinite(pure) else (use_epsilon(part, TINY), TINY, count))
    return 1.0 if any(math.isinf(point) for point, _, _ in points) else _composed_delta(points, epsilon)


def curve_epsilon(run: Mechanism, delta: float) -> float:
    """Minimised over the share of delta that the points use, and over pure points."""
    if not 0.0 < delta < 1.0:
        return _epsilon_from(run, 0.0, delta)
    even = delta / uses(run)
    best = minimise(lambda share: _epsilon_from(run, share, delta), even * 1e-12, even, STEPS)
    return min(_epsilon_from(run, share, delta) for share in (best, 0.0, 0.5 * even))


def curve_delta(run: Mechanism, epsilon: float) -> float:
    """Minimised over the deltas of the points, and over pure points."""
    even = 1.0 / uses(run)
    best = minimise(lambda share: _delta_from(run, share, epsilon), even * 1e-30, even, STEPS + 6)
    return min(one_point_delta(run, epsilon), *(_delta_from(run, share, epsilon) for share in (best, 0.0)))


def _epsilon_from(run: Mechanism, share: float, delta: float) -> float:
    points = _points(run, share)
    if any(math.isinf(point) for point, _, _ in points):
        return math.inf
    try:
        return optimal_composition(points).epsilon(delta).upper
    except UnsupportedMechanism:
        return math.inf


def _delta_from(run: Mechanism, share: float, epsilon: float) -> float:
    points = _points(run, share)
    return 1.0 if any(math.isinf(point) for point, _, _ in points) else _composed_delta(points, epsilon)


def _composed_delta(points: list[tuple[float, float, int]], epsilon: float) -> float:
    try:
        return optimal_composition(points).delta(epsilon).upper
    except UnsupportedMechanism:
        return 1.0


def _points(run: Mechanism, share: float) -> list[tuple[float, float, int]]:
    return [(use_epsilon(part, share), share, count) for part, count in run.terms]
