"""The best that can be said from one point (eps_i, delta_i) of each use, for equal uses (KOV) and unequal ones.

No (eps, delta)-DP mechanism loses more than leaky randomized response, also under composition, so the answer is that of
the composition of ApproximateDP(eps_i, delta_i): exact for equal points at any count (binomial), by the lattice else.
Minimised over the curve of the mechanism it is still a valid bound, the best of many.
Guarantee: upper; both coordinates of a point are rounded up before they are composed.
Reference: Kairouz, Oh, Viswanath 2017, Thm 3.3; Murtagh, Vadhan 2016, Lemma 3.2; Meiser, Mohammadi 2018, Sec. 5.6.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..bound import Bound
from ..errors import UnsupportedMechanism
from ..mechanisms.approximate_dp import ApproximateDP
from ..mechanisms.base import Mechanism
from ..transforms.composition import compose
from .basic import use_epsilon, uses
from .outward import minimise

Points = list[tuple[float, float, int]]  # epsilon, delta, count

HALVINGS = 14
TINY = 1e-12


def optimal_composition(points: Points) -> Mechanism:
    """The worst run whose uses are (epsilon, delta)-DP."""
    return compose(ApproximateDP(epsilon, delta) * count for epsilon, delta, count in points)


def one_point_epsilon(run: Mechanism, delta: float) -> float:
    """From one point of each use, at half of delta shared evenly."""
    return _epsilon(_points(run, 0.5 * delta / uses(run)), delta)


def one_point_delta(run: Mechanism, epsilon: float) -> float:
    """From the supremum of the loss of each use, or from its point at delta TINY where the loss is unbounded."""
    points = []
    for part, count in run.terms:
        pure = use_epsilon(part, 0.0)
        points.append((pure, 0.0, count) if math.isfinite(pure) else (use_epsilon(part, TINY), TINY, count))
    return _delta(points, epsilon)


def curve_epsilon(run: Mechanism, delta: float) -> float:
    """Minimised over the share of delta that the points use, and over pure points."""
    if not 0.0 < delta < 1.0:
        return _epsilon(_points(run, 0.0), delta)
    even = delta / uses(run)
    best = minimise(lambda share: _epsilon(_points(run, share), delta), even * 1e-12, even, HALVINGS)
    return min(_epsilon(_points(run, share), delta) for share in (best, 0.0, 0.5 * even))


def curve_delta(run: Mechanism, epsilon: float) -> float:
    """Minimised over the deltas of the points, and over pure points."""
    even = 1.0 / uses(run)
    best = minimise(lambda share: _delta(_points(run, share), epsilon), even * 1e-30, even, HALVINGS + 6)
    return min(one_point_delta(run, epsilon), *(_delta(_points(run, share), epsilon) for share in (best, 0.0)))


def _points(run: Mechanism, share: float) -> Points:
    return [(use_epsilon(part, share), share, count) for part, count in run.terms]


def _epsilon(points: Points, delta: float) -> float:
    return _upper(points, lambda worst: worst.epsilon(delta), math.inf)


def _delta(points: Points, epsilon: float) -> float:
    return _upper(points, lambda worst: worst.delta(epsilon), 1.0)


def _upper(points: Points, ask: Callable[[Mechanism], Bound], nothing: float) -> float:
    """What the worst run with these points answers; nothing where there is none, or no engine can tell."""
    try:
        finite = all(math.isfinite(point) for point, _, _ in points)
        return ask(optimal_composition(points)).upper if finite else nothing
    except UnsupportedMechanism:
        return nothing
