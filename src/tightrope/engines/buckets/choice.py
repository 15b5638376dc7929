"""Chooses factor, tilt and free_infinity_budget of a bucket list from what is asked; nothing here needs to be right.

Any factor, n and tilt give true bounds. The factor is as small as one use allows: n log f is the loss beyond which
one use has less mass than the budget, since squaring widens the list when it must. The tilt is the saddle point of the
composition (engines/saddle.py), read from sketches of the laws.
Reference: Meiser, Mohammadi 2018, Sec. 4.6 (free_infty_budget); Zhu, Dong, Wang 2021, Sec. 5 (log moments).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...kernels.ball import BITS_START, upper_float, working_precision
from ...kernels.plain import dyadic
from ...kernels.twofold import twofold
from ...pair import Pair
from ..evaluation import Term
from ..lattice.sketch import Sketches, gathered, sketch_of_atoms, sketched
from ..saddle import Saddle, find_saddle
from .leaf import REACH_MOST
from .tuning import FLATTER, SAME_TILT_BITS, STEEPEST_LIST, TILT_RARE


@dataclass(frozen=True, slots=True)
class Tilts:
    """Which tilt suits which question: the sketches of all terms, and the steepest tilt that one use bears."""

    sketches: Sketches
    most: float

    @staticmethod
    def of(terms: Sequence[Term]) -> Tilts:
        rare = TILT_RARE / sum(count for _, count in terms)
        with working_precision(BITS_START):
            finite = [(pair, count) for pair, count in terms if pair.infinite_mass() < 1]
        nothing = sketch_of_atoms(np.zeros(1), np.ones(1))
        drawn = sketched(finite) if finite else gathered([nothing], [1])
        return Tilts(drawn.cut(math.log(rare)), max(REACH_MOST / reach(terms, rare) - 1.0, 2e-3))

    def saddle(self, epsilon: float | None, delta: float | None) -> Saddle:
        """Where the question lies: epsilon, and about the log of delta there."""
        goal = None if delta is None else math.log(max(delta, 1e-320))
        return find_saddle(self.sketches, epsilon, goal, self.most)

    def at_epsilon(self, epsilon: float) -> float:
        """The best tilt for delta at this epsilon, no steeper than the doubles bear once the list has widened."""
        plain = self.sketches.cumulants(0.0)
        spread = abs(plain.mean) + 12.0 * math.sqrt(plain.variance) + epsilon
        tilt = min(FLATTER * self.saddle(epsilon, None).tilt, STEEPEST_LIST / max(spread, 1e-300))
        return dyadic(tilt, SAME_TILT_BITS)


def reach(terms: Sequence[Term], budget: float) -> float:
    """A loss that one use exceeds on either side with about the budget at most, the infinite loss apart."""
    return max(_reach(pair, budget) for pair, _ in terms)


def _reach(pair: Pair, budget: float) -> float:
    with working_precision(BITS_START):
        span = pair.loss_range()
        most = max(upper_float(span.highest), upper_float(-span.lowest))
        leaked = upper_float(pair.infinite_mass())
    if most <= 0.0:
        return 1.0
    high = min(most, REACH_MOST / 2.0)
    ends = np.geomspace(high * 1e-9, high, 400)
    tails = pair.tails(twofold(np.concatenate((-ends, ends))))
    outside = tails.p_below[: len(ends)] + np.maximum(tails.p_above[len(ends) :] - leaked, 0.0)
    enough = np.flatnonzero(outside <= budget)
    if not len(enough) or ends[enough[0]] >= 0.98 * most:
        return high  # nearly the whole range: take it all, so that the extreme losses lie on buckets
    return float(ends[enough[0]])
