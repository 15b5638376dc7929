"""Multinomial masses in float64, with a radius, at any count.

log mass = e(k) - sum e(n_i) - sum D(n_i, k p_i) + (log(2 pi k) - sum over n_i > 0 of log(2 pi n_i)) / 2
with the Stirling error e(n) = log n! - (n + 1/2) log n + n - log(2 pi)/2 and the deviance D(n, m) = n log(n/m) - n +
m >= 0: no large logarithms cancel, so the error grows with the distance from the mean, not with the count.
Guarantee: exact value within the radius. Proof: docs/proofs/closed_forms.md.
Reference: Loader 2000, "Fast and accurate computation of binomial probabilities".
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from flint import arb

from .ball import BITS_START, lower_float, upper_float, working_precision
from .directed import MILLIONS, round_up
from .enclosure import Enclosure, FloatArray, around, exact, where
from .ulps import UNIT

SERIES_FROM = 16


def multinomial_masses(counts: npt.NDArray[np.int64], probabilities: Enclosure) -> Enclosure:
    """Masses of the rows of counts; the row sums are equal and below 2^53, the probabilities sum to 1."""
    total = int(counts[0].sum())
    table = _stirling_table()
    exponent = _stirling_error(np.array([float(total)]), table) + _half_log(np.array([float(total)]))
    for index in range(counts.shape[1]):
        uses = counts[:, index].astype(np.float64)
        exponent = exponent - _stirling_error(uses, table) - _half_log(uses)
        exponent = exponent - _deviance(uses, probabilities[index] * float(total))
    return exponent.exp()


def _half_log(n: FloatArray) -> Enclosure:
    """log(2 pi n)/2, and 0 for n = 0, where the factor is absent."""
    two_pi = around(2.0 * math.pi, 2.0**-51)
    return where(n > 0.0, (two_pi * exact(np.maximum(n, 1.0))).log() * 0.5, exact(np.zeros_like(n)))


def _deviance(n: FloatArray, mean: Enclosure) -> Enclosure:
    """D(n, m) = m ((1 + v) log(1 + v) - v), v = (n - m)/m.

    Evaluated at the double m, where v has relative error 2 units; the radius of m enters with the slope 1 - n/m' = -v'.
    """
    middle = exact(mean.value)
    v = (exact(np.where(n > 0.0, n, mean.value)) - middle) / middle
    value = middle * ((1.0 + v) * v.log1p() - v)
    value = where(n > 0.0, value, middle + exact(np.zeros_like(n)))
    least = mean.value - mean.radius
    with np.errstate(all="ignore"):
        steepest = abs(v.value) + (n / least) * (2.0 * mean.radius / least) + 4.0 * UNIT * n / least
        slope = np.where(least > 0.0, steepest, np.inf)
        extra = round_up(mean.radius * np.where(n > 0.0, slope + 4.0 * UNIT, 1.0), MILLIONS)
    return Enclosure(value.value, value.radius + extra)


def _stirling_table() -> Enclosure:
    """e(n) for n below SERIES_FROM, from balls; the entry for 0 stands for its absence."""
    with working_precision(BITS_START):
        balls = [arb(0)] + [
            arb(n + 1).lgamma() - (n + arb(1) / 2) * arb(n).log() + n - (2 * arb.pi()).log() / 2
            for n in range(1, SERIES_FROM)
        ]
        low, high = np.array([lower_float(ball) for ball in balls]), np.array([upper_float(ball) for ball in balls])
    return Enclosure((low + high) / 2.0, (high - low) + 1e-18)


def _stirling_error(n: FloatArray, table: Enclosure) -> Enclosure:
    """e(n) by table or by the asymptotic series, whose remainder is below the first term left out."""
    small = n < SERIES_FROM
    looked_up = table[np.where(small, n, 0.0).astype(np.int64)]
    inverse = 1.0 / exact(np.maximum(n, float(SERIES_FROM)))
    square = inverse * inverse
    series = exact(1.0) / 1188.0
    for denominator in (-1680.0, 1260.0, -360.0, 12.0):
        series = series * square + exact(1.0) / denominator
    series = series * inverse
    remainder = round_up(691.0 / 360360.0 * inverse.value**11, MILLIONS)
    return where(small, looked_up, Enclosure(series.value, series.radius + remainder))
