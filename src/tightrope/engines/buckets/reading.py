"""Ways to read delta off a list, with error correction or without, and epsilon by either.

With: definition 9, `read.delta`. Without: definition 5 above (theorem 1), which has no lower end of its own; below
definition 9 again, since what no correction proves from above does not weaken what the virtual error proves from below.
Guarantee: both ends of either hold, rounding included. Proof: docs/proofs/buckets.md, lemma 3 with no index corrected.
Reference: Meiser, Mohammadi 2018, Defs. 5 and 9, Thms 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ...bound import Budget, FrozenMapping
from ..evaluation import Evaluation
from . import tuning
from .bucket_list import TreeBuckets
from .read import delta, delta_uncorrected

Reading = Callable[[TreeBuckets, float], Evaluation]


def uncorrected(buckets: TreeBuckets, epsilon: float) -> Evaluation:
    """delta_low of definition 9 and delta of definition 5; what correction takes off counts as discretisation."""
    found, high = delta(buckets, epsilon), delta_uncorrected(buckets, epsilon)
    high = max(high, found.upper)
    lines = dict(found.budget.upper)
    lines["discretisation"] += high - found.upper
    return Evaluation(found.lower, high, Budget(FrozenMapping(lines), found.budget.lower))


def epsilon_at(buckets: TreeBuckets, level: float, read: Reading = delta) -> tuple[float, float]:
    """Doubles around the smallest epsilon with delta(epsilon) <= level; each end is proven by one comparison."""
    highest = buckets.highest
    if buckets.leaked > level:
        return math.inf, math.inf
    if read(buckets, 0.0).upper <= level:
        return 0.0, 0.0
    upper = math.inf
    if read(buckets, highest).upper <= level:
        upper = _halved(lambda e: read(buckets, e).upper > level, 0.0, highest)[1]
    # Far from the question rounding may hide delta: come down from the upper end until it shows.
    end = min(upper, highest)
    for share in tuning.COMING_DOWN:
        if read(buckets, share * end).lower > level:
            return _halved(lambda e: read(buckets, e).lower > level, share * end, end)[0], upper
    return 0.0, upper


def _halved(above: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Two numbers 1e-9 apart, relatively: the first is above or `low`, the second is not above or is `high`."""
    while high - low > max(1e-9 * high, 1e-300):
        middle = low + (high - low) / 2.0
        low, high = (middle, high) if above(middle) else (low, middle)
    return low, high
