"""Basic composition: epsilons add up, and so do deltas.

Naive: (sum eps_i, sum delta_i). Adaptive: (sum eps_i, 1 - prod (1 - delta_i)).
The budget is shared evenly among all uses; each use is read off its own certified curve.
Guarantee: upper, rounded outward.
Reference: Meiser, Mohammadi 2018, Lemmas 2 and 3; Dwork, Kenthapadi, McSherry, Mironov, Naor 2006.
"""

from __future__ import annotations

from flint import arb

from .. import compute_budget
from ..mechanisms.base import Mechanism
from .outward import at_or_above, at_or_below, weighted_sum

USE_WORK = 5e6  # units, of a question about one use


def use_epsilon(part: Mechanism, delta: float) -> float:
    """Upper end for one use; a run of many parts asks often."""
    compute_budget.spend(USE_WORK)
    return part.epsilon(delta).upper


def use_delta(part: Mechanism, epsilon: float) -> float:
    """Upper end for one use."""
    compute_budget.spend(USE_WORK)
    return part.delta(epsilon).upper


def uses(run: Mechanism) -> int:
    """How many mechanisms ran."""
    return sum(count for _, count in run.terms)


def naive_epsilon(run: Mechanism, delta: float) -> float:
    """Each use at delta / uses."""
    return _sum_of_epsilons(run, at_or_below(lambda: arb(delta) / uses(run)))


def naive_delta(run: Mechanism, epsilon: float) -> float:
    """Each use at epsilon / uses."""
    deltas = _deltas(run, epsilon)
    return min(at_or_above(weighted_sum, deltas), 1.0)


def adaptive_epsilon(run: Mechanism, delta: float) -> float:
    """Each use at 1 - (1 - delta)^(1 / uses)."""
    if delta >= 1.0:
        return 0.0
    return _sum_of_epsilons(run, at_or_below(lambda: -((-arb(delta)).log1p() / uses(run)).expm1()))


def adaptive_delta(run: Mechanism, epsilon: float) -> float:
    """Each use at epsilon / uses; the chance that none of the deltas strikes is a product."""
    deltas = _deltas(run, epsilon)
    if any(value >= 1.0 for value, _ in deltas):
        return 1.0
    bound = at_or_above(lambda: -sum(((-arb(value)).log1p() * count for value, count in deltas), arb(0)).expm1())
    return min(bound, 1.0)


def _sum_of_epsilons(run: Mechanism, share: float) -> float:
    parts = [(use_epsilon(part, max(share, 0.0)), count) for part, count in run.terms]
    return at_or_above(weighted_sum, parts)


def _deltas(run: Mechanism, epsilon: float) -> list[tuple[float, int]]:
    share = max(at_or_below(lambda: arb(epsilon) / uses(run)), 0.0)
    return [(use_delta(part, share), count) for part, count in run.terms]
