"""Chooses factor, tilt and free_infinity_budget of a bucket list from what is asked; nothing here needs to be right.

Any factor, n and tilt give true bounds. The factor is as small as one use allows: n log f is the loss beyond which
one use has less mass than the budget, since squaring widens the list when it must. The tilt is the saddle point of the
composition, theta = argmin K(theta) - theta eps - log theta (theta + 1), K the log moment of all uses together.
Reference: Meiser, Mohammadi 2018, Sec. 4.6 (free_infty_budget); Zhu, Dong, Wang 2021, Sec. 5 (log moments).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...kernels.ball import BITS_START, upper_float, working_precision
from ...kernels.enclosure import FloatArray
from ...kernels.twofold import twofold
from ...pair import Pair
from ..evaluation import Term
from .leaf import REACH_MOST

POINTS = 1500  # of the coarse laws that the saddle point is read from
LADDER = 120  # tilts tried
STEEPEST = 400.0  # tilt times the width of the composed law


@dataclass(frozen=True, slots=True)
class Saddles:
    """Tilts with the log moment, its mean and its variance at each."""

    tilt: FloatArray
    moment: FloatArray
    mean: FloatArray
    variance: FloatArray

    @staticmethod
    def of(terms: Sequence[Term], reach: float) -> Saddles:
        """Read off coarse laws on [-reach, reach]."""
        tilt = np.concatenate(([0.0], np.geomspace(1e-3, max(REACH_MOST / reach - 1.0, 2e-3), LADDER)))
        moment, mean, variance = (np.zeros(len(tilt)) for _ in range(3))
        edge = np.linspace(-reach, reach, POINTS + 1)
        middle = (edge[1:] + edge[:-1]) / 2.0
        for pair, count in terms:
            tails = pair.tails(twofold(edge * (1.0 + 1e-14)))
            mass = np.maximum(np.where(middle < 0.0, np.diff(tails.p_below), -np.diff(tails.p_above)), 0.0)
            with np.errstate(divide="ignore"):
                logs = np.log(mass) + tilt[:, None] * middle
            top = np.max(logs, axis=1, keepdims=True)
            if not np.all(np.isfinite(top)):
                continue  # no finite loss at all
            weight = np.exp(logs - top)
            total = weight.sum(axis=1)
            centre = weight @ middle / total
            moment += count * (top[:, 0] + np.log(total))
            mean += count * centre
            variance += count * np.maximum(weight @ middle**2 / total - centre**2, 0.0)
        return Saddles(tilt, moment, mean, variance)

    def at_epsilon(self, epsilon: float) -> float:
        """The best tilt for delta at this epsilon, no steeper than the doubles bear once the list has widened."""
        spread = abs(float(self.mean[0])) + 12.0 * math.sqrt(float(self.variance[0])) + epsilon
        best = float(self.tilt[int(np.argmin(self._log_deltas(epsilon)))])
        return min(best, STEEPEST / max(spread, 1e-300))

    def epsilon_about(self, delta: float) -> float:
        """epsilon at this delta, roughly: bisection on the bound of log delta."""
        low, high = 0.0, max(float(self.mean[-1]), 1e-300)
        for _ in range(40):
            middle = low + (high - low) / 2.0
            above = float(np.min(self._log_deltas(middle))) > math.log(max(delta, 1e-320))
            low, high = (middle, high) if above else (low, middle)
        return high

    def delta_about(self, epsilon: float) -> float:
        """delta at this epsilon, to an order of magnitude or two."""
        return math.exp(min(max(float(np.min(self._log_deltas(epsilon))) - 2.0, -690.0), 0.0))

    def _log_deltas(self, epsilon: float) -> FloatArray:
        """Bounds on log delta, one for each tilt t: E(1 - e^(eps - l))_+ <= M e^(-t eps) t^t/(1 + t)^(1 + t)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            constant = np.where(self.tilt > 0.0, self.tilt * np.log(self.tilt), 0.0)
        constant = constant - (1.0 + self.tilt) * np.log1p(self.tilt)
        return np.asarray(self.moment - self.tilt * epsilon + constant)


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
