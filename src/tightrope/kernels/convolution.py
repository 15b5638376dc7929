"""Linear convolution of nonnegative arrays with a bound on the rounding, by direct sums or by transforms.

For weights e^(-slope i) the bound is on every weighted tail of the error d = computed - exact:
    |sum over i >= s of d_i e^(-slope i)| <= noise e^(-slope s)   for all s, i counted along the output.
Direct sums: each output is a sum of m products, so |d_i| <= (m + 2) u computed_i and noise = (m + 2) u |computed|_1.
Transforms: |d|_2 <= (3 t + 16 u) max(|x|_1 |y|_2, |x|_2 |y|_1), t the relative error of one transform in the Euclidean
norm, and by Cauchy-Schwarz noise = |d|_2 (1 - e^(-2 slope))^(-1/2), or |d|_2 sqrt(length) if that is less.
Guarantee: upper bound on the rounding, under the constants of kernels.fft. Proof: docs/proofs/buckets.md, lemma 5.
Reference: Higham 2002, Thm 24.2 (transforms in the Euclidean norm), Sec. 3.1 (sums in any order).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .. import compute_budget
from .directed import BILLION, MILLIONS, round_up
from .enclosure import FloatArray
from .fft import backward, fast_length, forward, transform_error
from .ulps import UNIT

CONVOLUTION_UNDERFLOW = 1e-290  # what products below the smallest double can hide
DIRECT_MAX = 400  # up to this length direct sums are as fast as transforms
SPARSE_MAX = 70  # so many entries that are not 0 are no slower one by one


class Convolved(NamedTuple):
    """The convolution, clipped at 0 since the exact one is nonnegative, and its noise as defined above."""

    values: FloatArray
    noise: float


PRODUCT, ENTRY = 0.5, 150.0  # units of work: one product of a direct sum, one entry of the transforms


def convolve(x: FloatArray, y: FloatArray, slope: float, direct: bool | None = None) -> Convolved:
    """x * y; direct=None takes direct sums where they are as fast. Equal objects are transformed once."""
    if direct or (direct is None and min(len(x), len(y)) <= DIRECT_MAX):
        compute_budget.spend(PRODUCT * len(x) * len(y))
        return _direct(x, y)
    if direct is None and min(np.count_nonzero(x), np.count_nonzero(y)) <= SPARSE_MAX:
        compute_budget.spend(PRODUCT * SPARSE_MAX * max(len(x), len(y)))
        return _sparse(x, y)
    compute_budget.spend(ENTRY * (len(x) + len(y)))
    return _fast(x, y, slope)


def upper_norm(x: FloatArray) -> float:
    """At or above the Euclidean norm; the error of a sum of up to 2^26 squares stays far below the slack."""
    with np.errstate(under="ignore"):
        return round_up(float(np.sqrt(np.dot(x, x))), BILLION) + 1e-150


def upper_total(x: FloatArray) -> float:
    """At or above the sum of nonnegative numbers."""
    return round_up(float(np.sum(x)), BILLION)


def _direct(x: FloatArray, y: FloatArray) -> Convolved:
    with np.errstate(under="ignore"):
        values = np.convolve(x, y)
    return Convolved(values, 1.01 * (min(len(x), len(y)) + 2) * UNIT * upper_total(values) + CONVOLUTION_UNDERFLOW)


def _sparse(x: FloatArray, y: FloatArray) -> Convolved:
    """Direct sums over the entries of one factor that are not 0: exact zeros stay exact."""
    if np.count_nonzero(y) < np.count_nonzero(x):
        x, y = y, x
    places = np.flatnonzero(x)
    values = np.zeros(len(x) + len(y) - 1)
    with np.errstate(under="ignore"):
        for place in places:
            values[place : place + len(y)] += x[place] * y
    return Convolved(values, 1.01 * (len(places) + 2) * UNIT * upper_total(values) + CONVOLUTION_UNDERFLOW)


def _fast(x: FloatArray, y: FloatArray, slope: float) -> Convolved:
    size = len(x) + len(y) - 1
    same = y is x
    x_start, x = _trimmed(x)
    y_start, y = (x_start, x) if same else _trimmed(y)
    length = fast_length(len(x) + len(y) - 1)
    values = np.zeros(size)
    with np.errstate(under="ignore"):
        first = forward(x, length)
        product = np.square(first) if same else first * forward(y, length)
        start, inner = x_start + y_start, len(x) + len(y) - 1
        np.maximum(backward(product, length)[:inner], 0.0, out=values[start : start + inner])
    bulk = max(upper_total(x) * upper_norm(y), upper_norm(x) * upper_total(y))
    error = 1.01 * (3.0 * transform_error(length) + 16.0 * UNIT) * bulk
    spread = min(math.sqrt(length), 1.0 / math.sqrt(-math.expm1(-2.0 * slope)) if slope > 0.0 else math.inf)
    return Convolved(values, round_up(error * spread, MILLIONS) + CONVOLUTION_UNDERFLOW)


def _trimmed(x: FloatArray) -> tuple[int, FloatArray]:
    """Without the exact zeros at both ends, and how many were cut off in front."""
    filled = x > 0.0
    first = int(np.argmax(filled))
    return first, x[first : len(x) - int(np.argmax(filled[::-1]))]
