"""What capping at -n costs, before it is done: the other end of the rule for squaring.

An event that falls below -n keeps its masses and gets the label -n, which is too high. With W the sum over all cappings
of f^-n P_B(capped), the capped tree's delta_up is above that of the uncapped one by at most e^s W, and its delta_low is
below by at most e^(u step + s) W: as much as P_A-mass moved to infinity would cost.
By Chernoff f^-n P_B[loss < -n step] <= min over rates r >= 1 of E_A[e^(-r loss)] e^(-r n step), and moments multiply.
Guarantee: none needed, it steers. Proof: docs/proofs/buckets.md, lemma 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ...kernels.directed import MILLIONS, round_up
from ...kernels.enclosure import FloatArray
from .bucket_list import LOG_2, Measure
from .tuning import FALL_RATES, FLATTEST_FALL, STEEPEST_FALL


@dataclass(frozen=True, slots=True, eq=False)
class Falls:
    """About log E_A[e^(-rate loss)] of the uncapped tree for some rates, and about W so far."""

    rates: FloatArray
    log_moments: FloatArray
    lowest: float  # loss
    cost: float = 0.0

    @staticmethod
    def of(masses: Measure, step: float) -> Falls:
        """Those of a leaf."""
        reach = masses.n * step
        rates = 1.0 + np.geomspace(FLATTEST_FALL, STEEPEST_FALL, FALL_RATES) / reach
        filled = np.flatnonzero(masses.values > 0.0)
        index = filled - float(masses.n)
        logs = np.log(masses.values[filled]) + masses.scale * LOG_2 - masses.slope * index
        moments = np.full(len(rates), -math.inf)
        for j, rate in enumerate(rates):
            if len(filled):
                exponent = logs - rate * step * index
                most = float(np.max(exponent))
                moments[j] = most + math.log(float(np.sum(np.exp(exponent - most))))
        return Falls(rates, moments, float(index[0]) * step if len(filled) else 0.0)

    def with_other(self, other: Falls, reach: float) -> Falls:
        """Those of a composition that caps below -reach."""
        same = other.rates is self.rates or np.array_equal(other.rates, self.rates)
        added = other.log_moments if same else np.interp(self.rates, other.rates, other.log_moments)
        moments, lowest = self.log_moments + added, self.lowest + other.lowest
        falls = lowest < -round_up(reach, MILLIONS)
        fallen = math.exp(min(float(np.min(moments - self.rates * reach)), 0.0)) if falls else 0.0
        return replace(self, log_moments=moments, lowest=lowest, cost=self.cost + other.cost + fallen)
