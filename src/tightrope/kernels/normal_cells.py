"""The masses of a normal law in the cells of a row of points, each with a relative precision of its own.

A cell [c - h, c + h] that is narrow has the mass phi(c) times the integral of e^(-c s - s^2/2) over [-h, h], and
    that = 2 h sum over n of A_2n/(2n + 1),  A_n = He_n(c) (-h)^n/n!,  (n + 1) A_(n+1) = -c h A_n - h^2 A_(n-1).
e^(-c s - s^2/2) is entire and at most e^(|c| r + r^2/2) for |s| = r, so with r = 8 h (Cauchy)
    |A_n| <= 8^-n e^(8 |c| h + 32 h^2).
Of a wide cell the mass is the difference of the tails on its smaller side.
Guarantee: enclosed. Proof: docs/proofs/allocation.md, section 13.
"""

from __future__ import annotations

import math

import numpy as np

from .double_double import double_double
from .enclosure import Enclosure, FloatArray, around, exact, where
from .normal import NORMAL_TAIL_ERROR, normal_tails
from .ulps import SUBNORMAL, UNIT

NARROW_CELL = 0.25  # of h, and of |c| h
LAST = 20  # the first even n that is left out
CAUCHY = (
    math.exp(8.0 * NARROW_CELL + 32.0 * NARROW_CELL**2) * 8.0**-LAST
)  # bounds all even terms from there on, and more
NORMAL_PEAK = Enclosure(np.asarray(0.3989422804014327), np.asarray(1e-16))


def cell_masses(points: FloatArray, shift: Enclosure) -> Enclosure:
    """P[N + shift in (points_i, points_i+1)] for rising points, of which the first may be -inf."""
    left, right = points[:-1], points[1:]
    with np.errstate(all="ignore"):
        finite = np.isfinite(left)
        start = np.where(finite, left, right)
        centre = (exact(start) + exact(right)) * 0.5 - shift
        half = (exact(right) - exact(start)) * 0.5
        size = np.maximum(abs(centre.value), 1.0) + centre.radius
        narrow = finite & (half.upper * size <= NARROW_CELL)
        series = _series(where(narrow, centre, exact(0.0 * start)), where(narrow, half, exact(0.0 * start)))
        return where(narrow, series, _difference(points, shift))


def _series(centre: Enclosure, half: Enclosure) -> Enclosure:
    step, square = -(centre * half), half * half
    before, now = exact(np.ones_like(half.value)), step
    total = before
    for n in range(2, LAST):
        before, now = now, (step * now - square * before) * around(1.0 / n, 2.0 * UNIT / n)
        if n % 2 == 0:
            total = total + now * around(1.0 / (n + 1), 2.0 * UNIT / (n + 1))
    total = Enclosure(total.value, total.radius + CAUCHY)
    return (centre * centre * -0.5).exp() * NORMAL_PEAK * half * 2.0 * total


def _difference(points: FloatArray, shift: Enclosure) -> Enclosure:
    """Tails at the points as they are, moved by the doubles that enclose the shift."""
    ends = [normal_tails(double_double(points) - float(values)) for values in (shift.lower, shift.upper)]
    (above, below), (above_more, below_more) = ends
    low, high = points[:-1] - float(shift.upper), points[1:] - float(shift.lower)
    upper = low + high > 0.0

    def hull(least: FloatArray, most: FloatArray) -> Enclosure:
        spread = abs(most - least) + 1.01 * NORMAL_TAIL_ERROR * np.maximum(least, most) + 2.0 * SUBNORMAL
        return around(least, spread)

    tail, head = hull(above, above_more), hull(below, below_more)
    return where(upper, tail[:-1] - tail[1:], head[1:] - head[:-1])
