"""Advanced composition, with its constants.

Uses that are (eps_i, delta_i)-DP are together (E, s + sum delta_i)-DP for any s > 0, where
E = sum eps_i (e^eps_i - 1) + sqrt(2 log(1/s) sum eps_i^2).
The part of delta that goes to s, and the point of each use on its curve, are tried at a few values.
Guarantee: upper, rounded outward. Proof: docs/proofs/classic.md, section 2.
Reference: Dwork, Rothblum, Vadhan 2010, Thm III.3; Meiser, Mohammadi 2018, Lemma 4.
"""

from __future__ import annotations

import math

from flint import arb

from ..mechanisms.base import Mechanism
from .basic import use_epsilon, uses
from .outward import at_or_above, at_or_below

SLACKS = (1.0, 0.999, 0.9, 0.75, 0.5, 0.25)
EXPONENTS = range(41)

Points = list[tuple[float, int]]


def advanced_epsilon(run: Mechanism, delta: float) -> float:
    """The best of SLACKS; at 1 every use must be pure."""
    if delta >= 1.0:
        return 0.0
    best = math.inf
    for slack in SLACKS if delta > 0.0 else ():
        share = max(at_or_below(_share, slack, delta, uses(run)), 0.0)
        best = min(best, at_or_above(_epsilon, _points(run, share), slack, delta))
    return best


def advanced_delta(run: Mechanism, epsilon: float) -> float:
    """The best of several points on the curves of the uses."""
    best = 1.0
    for share in (0.0, *(10.0**-exponent / uses(run) for exponent in EXPONENTS)):
        points = _points(run, share)
        if all(math.isfinite(point) for point, _ in points):
            best = min(best, at_or_above(_delta, points, share * uses(run) * (1.0 + 1e-15), epsilon))
    return best


def _share(slack: float, delta: float, count: int) -> arb:
    return (1 - arb(slack)) * arb(delta) / count


def _epsilon(points: Points, slack: float, delta: float) -> arb:
    drift, spread = _sums(points)
    return drift + (-2 * (arb(slack) * arb(delta)).log() * spread).sqrt()


def _delta(points: Points, leaked: float, epsilon: float) -> arb:
    drift, spread = _sums(points)
    if not drift < epsilon:
        return arb(1)
    return leaked + (-((epsilon - drift) ** 2) / (2 * spread)).exp() if spread > 0 else arb(leaked)


def _points(run: Mechanism, share: float) -> Points:
    return [(use_epsilon(part, share), count) for part, count in run.terms]


def _sums(points: Points) -> tuple[arb, arb]:
    """sum eps (e^eps - 1) and sum eps^2."""
    drift = sum((arb(point) * arb(point).expm1() * count for point, count in points), arb(0))
    return drift, sum((arb(point) ** 2 * count for point, count in points), arb(0))
