"""Finite pairs around random bins, for compositions with others: points of the profile on both sides.

Above, the chords of h_j >= H(a_j). Below, H is convex: from l_j <= H(a_j) on it lies above the line that leaves h at
the point before, and to the left of it above the line to h at the point after. Guarantee: lower and upper.
Proof: docs/proofs/correlated.md, section 9; docs/proofs/points.md, sections 1 and 3.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from flint import arb, fmpq

from ... import work
from ...facets.between import Fineness
from ...kernels.ball import working_precision
from ...relation import Direction
from ..dyadic import DyadicPair
from ..polygon import above, beneath
from .pair import BinsBounds, BinsPair, Use

POINTS_LEAST, POINTS_MOST = 24, 160
POINT_UNITS = 8e7  # of work: two polynomials
WORK_SHARE = 0.5  # of what is left
NEAR_SHARE, NEAR_DEVIATIONS = 0.75, 7.0  # of the points, evenly spread over so many deviations of the loss on each side
FARTHEST = 600.0  # losses


def finite_pairs(
    uses: tuple[Use, ...], shifts: tuple[tuple[float, float, int], ...], fine: Fineness
) -> tuple[DyadicPair, DyadicPair]:
    """One below and one above, with the record and without it."""
    room = WORK_SHARE * work.left() / POINT_UNITS
    points = int(max(min(fine.points, POINTS_MOST, room), POINTS_LEAST))
    return _made(uses, shifts, points // 8 * 8, fine.tail, fine.proof)


@lru_cache(maxsize=8)  # both directions, and all questions about one mechanism
def _made(
    uses: tuple[Use, ...], shifts: tuple[tuple[float, float, int], ...], points: int, tail: float, proof: bool
) -> tuple[DyadicPair, DyadicPair]:
    pair = BinsPair(uses, shifts, Direction.REMOVE)
    bounds = BinsBounds(pair, proof)
    places = [math.exp(each) for each in _losses(pair, points, tail)]
    with working_precision(bounds.bits):
        known = [(fmpq(*each.as_integer_ratio()), *_ends(bounds, each)) for each in places]
        highs = [(arb(a), high) for a, _, high in known]
        return beneath(_vertices(known)), above(highs)


def _ends(bounds: BinsBounds, alpha: float) -> tuple[fmpq, arb]:
    low, high = bounds.at(arb(alpha), above=False), bounds.at(arb(alpha), above=True)
    nothing = max(1 - fmpq(*alpha.as_integer_ratio()), fmpq(0))
    return max(low.lower().fmpq(), nothing), high


def _losses(pair: BinsPair, points: int, tail: float) -> list[float]:
    """Even next to 0, further apart beyond, as far as the largest norm may reach."""
    with working_precision(128):
        largest, spread = float(pair.largest().sqrt()), float(pair.spread().sqrt())
    scale = max(spread, 1e-3 * largest)
    deep = math.sqrt(2.0 * max(-math.log(max(tail, 1e-300)), 1.0))
    farthest = min(largest * (deep + largest / 2.0), FARTHEST)
    near = min(NEAR_DEVIATIONS * scale + scale * scale / 2.0, farthest)
    inside = np.linspace(-near, near, max(int(NEAR_SHARE * points), 8))
    outside = np.geomspace(near, farthest, max(points - len(inside), 4) // 2 + 1)[1:] if farthest > near else []
    return np.unique(np.concatenate([inside, outside, -np.asarray(outside)])).tolist()


def _vertices(known: list[tuple[fmpq, fmpq, arb]]) -> list[tuple[fmpq, fmpq]]:
    """Corners of a curve that lies below H, from left to right: of the larger of two lines between neighbours."""
    a = [fmpq(0), *(each[0] for each in known)]
    low = [fmpq(1), *(each[1] for each in known)]
    high = [fmpq(1), *(min(each[2].upper().fmpq(), fmpq(1)) for each in known)]
    count = len(a)

    def after(j: int) -> fmpq:
        """How steeply H may fall from a_j on, at most."""
        return max((high[j - 1] - low[j]) / (a[j] - a[j - 1]), fmpq(0)) if j else fmpq(1)

    def before(j: int) -> fmpq:
        """How steeply it has fallen to the left of a_j, at least."""
        return max((low[j] - high[j + 1]) / (a[j + 1] - a[j]), fmpq(0)) if j + 1 < count else fmpq(0)

    found = [(a[0], low[0])]
    for j in range(count - 1):
        fall, rise, width = after(j), before(j + 1), a[j + 1] - a[j]
        # From the left low[j] - fall t, from the right low[j + 1] + rise (width - t), t = alpha - a[j].
        start, stop = max(low[j], low[j + 1] + rise * width), max(low[j + 1], low[j] - fall * width)
        found.append((a[j], start))
        if fall > rise:
            t = (low[j] - low[j + 1] - rise * width) / (fall - rise)
            if 0 < t < width:
                found.append((a[j] + t, max(low[j] - fall * t, fmpq(0))))
        found.append((a[j + 1], stop))
    fall = after(count - 1)
    if fall > 0:
        found.append((a[-1] + low[-1] / fall, fmpq(0)))
    return found
