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

from ..kernels.approx import FloatArray
from ..kernels.ball import BITS_START, upper_float, working_precision
from ..kernels.twofold import twofold
from ..pair import Pair
from .buckets_leaf import REACH_MOST
from .evaluation import Term

POINTS = 1500  # of the coarse laws that the saddle point is read from
LADDER = 120  # tilts tried


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
        """The best tilt for delta at this epsilon."""
        with np.errstate(divide="ignore"):
            barrier = np.log(self.tilt) + np.log1p(self.tilt)
        return float(self.tilt[1 + int(np.argmin((self.moment - self.tilt * epsilon - barrier)[1:]))])

    def at_delta(self, delta: float) -> float:
        """The best tilt for the epsilon at this delta."""
        size = self.log_delta()
        return float(self.tilt[1 + int(np.argmin(np.abs(size[1:] - math.log(max(delta, 1e-320)))))])

    def log_delta(self) -> FloatArray:
        """log delta at epsilon = mean, to leading order."""
        with np.errstate(divide="ignore", invalid="ignore"):
            width = np.sqrt(2.0 * math.pi * self.variance + 1e-300)
            shape = np.log1p(1.0 / (self.tilt * width)) + np.log1p(1.0 / (1.0 + self.tilt))
        return self.moment - self.tilt * self.mean - np.where(np.isfinite(shape), 0.5 * shape, 0.0)

    def delta_about(self, epsilon: float) -> float:
        """delta at this epsilon, to a few orders of magnitude."""
        exponent = float(np.min(self.moment - self.tilt * epsilon))
        return math.exp(min(max(exponent - 3.0, -600.0), 0.0))


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
