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
from ...kernels.double_double import double_double
from ...kernels.plain import dyadic
from ...pair import Pair
from ..evaluation import Term
from ..lattice.sketch import Sketches, gathered, sketch_of_atoms, sketched
from ..saddle import Saddle, find_saddle
from .leaf import REACH_MAX
from .tuning import CENTRED_MAX, CENTRED_WORTH, FLATTER, ROUND_SHARE, SAME_TILT_BITS, STEEPEST_LIST, TILT_RARE


@dataclass(frozen=True, slots=True)
class Tilts:
    """Which tilt suits which question: the sketches of all terms, the steepest tilt that one use bears, and the centre
    of the list."""

    sketches: Sketches
    most: float
    shift: float

    @staticmethod
    def of(terms: Sequence[Term], published: bool = True) -> Tilts:
        rare = TILT_RARE / sum(count for _, count in terms)
        with working_precision(BITS_START):
            finite = [(pair, count) for pair, count in terms if pair.infinite_mass() < 1]
        nothing = sketch_of_atoms(np.zeros(1), np.ones(1))
        drawn = sketched(finite) if finite else gathered([nothing], [1])
        most = max(REACH_MAX / reach(terms, rare, published) - 1.0, 2e-3)
        return Tilts(drawn.cut(math.log(rare)), most, 0.0 if published else total_centre(terms))

    def saddle(self, epsilon: float | None, delta: float | None) -> Saddle:
        """Where the question lies: epsilon, and about the log of delta there."""
        goal = None if delta is None else math.log(max(delta, 1e-320))
        return find_saddle(self.sketches, epsilon, goal, self.most)

    def at_epsilon(self, epsilon: float) -> float:
        """The best tilt for delta at this epsilon, no steeper than the doubles bear once the list has widened."""
        plain = self.sketches.cumulants(0.0)
        spread = abs(plain.mean - self.shift) + 12.0 * math.sqrt(plain.variance) + abs(epsilon - self.shift)
        tilt = min(FLATTER * self.saddle(epsilon, None).tilt, STEEPEST_LIST / max(spread, 1e-300))
        return dyadic(tilt, SAME_TILT_BITS)


def rounder(n: int) -> int:
    """The index for the farthest loss of one use: next below n, and whole after as many halvings as that bears."""
    grain = 1 << max((n // ROUND_SHARE).bit_length() - 1, 0)
    return n // grain * grain


def centre(pair: Pair) -> float:
    """The loss that the list of one use lies around: that of its heaviest atom, or 0.

    An atom at the centre is rounded by no leaf and no squaring. What the others are rounded by is in proportion to the
    farthest of them and to their mass.
    """
    listed = pair.atoms()
    if listed is None or listed.left_out or not 0 < len(listed.p.value) <= CENTRED_MAX:
        return 0.0
    losses, masses = listed.loss.value, listed.p.value
    places = np.append(losses, 0.0)
    away = np.abs(losses - places[:, None])
    rounded = np.max(away, axis=1) * (1.0 - np.sum(np.where(away == 0.0, masses, 0.0), axis=1) / np.sum(masses))
    best = float(places[int(np.argmin(rounded))]) if np.all(np.isfinite(rounded)) else 0.0
    return best if np.min(rounded) < CENTRED_WORTH * rounded[-1] else 0.0


def total_centre(terms: Sequence[Term]) -> float:
    """The loss that the list of all uses lies around."""
    return math.fsum(count * centre(pair) for pair, count in terms)


def reach(terms: Sequence[Term], budget: float, published: bool = True) -> float:
    """How far from the centre one use is on either side with about the budget at most, the infinite loss apart."""
    return max(_reach(pair, budget, 0.0 if published else centre(pair)) for pair, _ in terms)


def _reach(pair: Pair, budget: float, shift: float) -> float:
    with working_precision(BITS_START):
        span = pair.loss_range()
        most = max(upper_float(span.highest - shift), upper_float(shift - span.lowest))
        leaked = upper_float(pair.infinite_mass())
    if most <= 0.0:
        return 1.0
    high = min(most, REACH_MAX / 2.0)
    ends = np.geomspace(high * 1e-9, high, 400)
    tails = pair.tails(double_double(np.concatenate((shift - ends, shift + ends))))
    outside = tails.p_below[: len(ends)] + np.maximum(tails.p_above[len(ends) :] - leaked, 0.0)
    enough = np.flatnonzero(outside <= budget)
    if not len(enough) or ends[enough[0]] >= 0.98 * most:
        return high  # nearly the whole range: take it all, so that the extreme losses lie on buckets
    return float(ends[enough[0]])
