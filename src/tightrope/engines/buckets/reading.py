"""Ways to read delta off a list, with error correction or without, and epsilon by either.

With: definition 9, `read.delta`. Without: definition 5 above (theorem 1), which has no lower end of its own; below
definition 9 again, since what no correction proves from above does not weaken what the virtual error proves from below.
Guarantee: both ends of either hold, rounding included. Proof: docs/proofs/buckets.md, lemma 3 with no index corrected.
Reference: Meiser, Mohammadi 2018, Defs. 5 and 9, Thms 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ...bound import ErrorBreakdown, FrozenMapping
from ..evaluation import Evaluation
from . import tuning
from .bucket_list import TreeBuckets
from .read import delta, delta_above, delta_below, delta_uncorrected


def uncorrected(buckets: TreeBuckets, epsilon: float) -> Evaluation:
    """delta_low of definition 9 and delta of definition 5; what correction takes off counts as discretisation."""
    evaluation, high = delta(buckets, epsilon), delta_uncorrected(buckets, epsilon)
    high = max(high, evaluation.upper)
    lines = dict(evaluation.budget.upper)
    lines["discretisation"] += high - evaluation.upper
    return Evaluation(evaluation.lower, high, ErrorBreakdown(FrozenMapping(lines), evaluation.budget.lower))


class Reading(NamedTuple):
    """delta with its budget, and either end of it alone."""

    delta: Callable[[TreeBuckets, float], Evaluation]
    above: Callable[[TreeBuckets, float], float]
    below: Callable[[TreeBuckets, float], float]


CORRECTED = Reading(delta, delta_above, delta_below)
UNCORRECTED = Reading(uncorrected, delta_uncorrected, delta_below)


def epsilon_at(buckets: TreeBuckets, level: float, read: Reading = CORRECTED) -> tuple[float, float]:
    """Doubles around the smallest epsilon with delta(epsilon) <= level; each end is proven by one comparison."""
    highest = buckets.highest
    if buckets.leaked > level:
        return math.inf, math.inf
    most = read.above(buckets, 0.0)
    if most <= level:
        return 0.0, 0.0
    upper, least = math.inf, read.above(buckets, highest)
    if least <= level:
        upper = _crossing(lambda e: read.above(buckets, e), level, (0.0, most), (highest, least))[1]
    # Far from the question rounding may hide delta: come down from the upper end until it shows.
    end = min(upper, highest)
    last = end, 0.0
    for share in tuning.COMING_DOWN:
        place = share * end
        value = read.below(buckets, place)
        if value > level:
            return _crossing(lambda e: read.below(buckets, e), level, (place, value), last)[0], upper
        last = place, value
    return 0.0, upper


def _crossing(
    value: Callable[[float], float], level: float, start: tuple[float, float], end: tuple[float, float]
) -> tuple[float, float]:
    """Two numbers EPSILON_GAP apart, relatively: above the level is the value at the first, not that at the second.

    start and end: such numbers with their values. By secants of log value, which is nearly straight; where one end
    stays, half of its height is taken the next time (Illinois); every fourth step halves.
    """
    (low, at_low), (high, at_high) = start, end
    up, down = _height(at_low, level), _height(at_high, level)
    step = 0
    while high - low > max(tuning.EPSILON_GAP * high, 1e-300):
        step += 1
        middle = low + (high - low) / 2.0
        if step % 4 and up - down < math.inf and up > down:
            margin = 0.25 * max(tuning.EPSILON_GAP * high, 1e-300)
            middle = min(max(low + (high - low) * up / (up - down), low + margin), high - margin)
        found = value(middle)
        if found > level:
            low, up, down = middle, _height(found, level), down / 2.0
        else:
            high, down, up = middle, _height(found, level), up / 2.0
    return low, high


def _height(value: float, level: float) -> float:
    """log(value / level)."""
    return math.log(value) - math.log(level) if value > 0.0 < level else -math.inf if level > 0.0 else math.inf
