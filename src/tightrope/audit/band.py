"""What the rates of an attack are at all thresholds at once: a band below its ROC, for a picture.

The FPR beyond the k-th largest of n0 scores without the canary is at most Beta(k, n0 - k + 1), the TPR from the j-th
largest of n1 scores with it on at least Beta(j, n1 - j + 1). With K ranks on one side and K' on the other, quantiles
at alpha/2K and alpha/2K' hold all at once; between ranks both rates rise.
Guarantee: with probability 1 - alpha the ROC of the attack lies on or above the band, at every rate.
Reference: docs/proofs/audit.md, section 15.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..core.numerics.enclosures import FloatArray
from .evidence import at_most
from .scores import Scored
from .tails import head_upper, tail_upper

QUANTILE_STEP = 1e-13  # relative: the first step of a quantile that was not yet certified; each next one is twice that


@dataclass(frozen=True, eq=False)
class RocBand:
    """From each rate of false positives on, the rate of true ones is at least this; before the first, at least 0."""

    fprs: FloatArray
    tprs: FloatArray

    def at(self, fprs: FloatArray) -> FloatArray:
        """At or below the TPR at these rates."""
        place = np.searchsorted(self.fprs, fprs, side="right")
        return np.concatenate([[0.0], self.tprs])[place]


def roc_band(data: Scored, alpha: Fraction) -> RocBand:
    """The band of those who accuse where scores are high."""
    inside, outside = np.sort(data.inside)[::-1], np.sort(data.outside)[::-1]
    values, true = _spread(len(outside)), _spread(len(inside))
    doubts = at_most(alpha / (2 * len(values))), at_most(alpha / (2 * len(true)))
    fprs = [fpr_upper(len(outside), rank, doubts[0]) for rank in values]
    reached = [tpr_lower(len(inside), rank, doubts[1]) for rank in true]
    tprs = [
        max((tpr for rank, tpr in zip(true, reached, strict=True) if inside[rank - 1] > outside[k - 1]), default=0.0)
        for k in values
    ]
    return RocBand(np.array(fprs), np.maximum.accumulate(tprs))


def roc(data: Scored) -> tuple[FloatArray, FloatArray]:
    """Shares of the two kinds at or above each score, from the highest down."""
    thresholds = np.unique(data.scores)[::-1]
    inside, outside = np.sort(data.inside), np.sort(data.outside)
    below = np.searchsorted(outside, thresholds), np.searchsorted(inside, thresholds)
    return 1.0 - below[0] / len(outside), 1.0 - below[1] / len(inside)


def fpr_upper(count: int, rank: int, doubt: float) -> float:
    """At or above the rate that Beta(rank, count - rank + 1) exceeds with probability doubt."""
    from scipy import special

    rate, step = float(special.betainccinv(rank, count - rank + 1, doubt)), QUANTILE_STEP
    while rate < 1.0 and head_upper(count, np.array([rate]), rank - 1)[0] > doubt:
        rate, step = min(rate * (1.0 + step), 1.0), 2.0 * step
    return rate


def tpr_lower(count: int, rank: int, doubt: float) -> float:
    """At or below the rate that Beta(rank, count - rank + 1) falls short of with probability doubt."""
    from scipy import special

    rate, step = float(special.betaincinv(rank, count - rank + 1, doubt)), QUANTILE_STEP
    while rate > 0.0 and tail_upper(count, np.array([rate]), rank)[0] > doubt:
        rate, step = max(rate * (1.0 - step), 0.0), 2.0 * step
    return rate


def _spread(total: int) -> list[int]:
    """Ranks from 1 to all, each a fifth beyond the one before: fixed before the data."""
    ranks, rank = [], 1
    while rank < total:
        ranks.append(rank)
        rank = max(rank + 1, rank * 6 // 5)
    return [*ranks, total]
