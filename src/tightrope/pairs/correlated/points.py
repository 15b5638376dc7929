"""Finite pairs around random bins, for compositions with others: points of the profile on both sides.

Above, the chords of h_j >= H(a_j). Below, H is convex: from l_j <= H(a_j) on it lies above the line that comes from h
at any point before, and to the left of it above the line to h at any point after. Guarantee: lower and upper.
Proof: docs/proofs/correlated.md, section 9; docs/proofs/points.md, sections 1 and 3.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from flint import arb, fmpq

from ... import compute_budget
from ...derived.dyadic import DyadicPair
from ...derived.polygon import above, beneath
from ...facets.resolution import Resolution
from ...kernels.ball import working_precision
from ...relation import Direction
from .pair import BinsBounds, BinsPair, Use

POLYNOMIALS_MIN, POLYNOMIALS_MAX = 24, 96  # of polynomials on each side
POLYNOMIALS_UNITS = 6e7  # of work: two polynomials
PLACES_EACH = 24  # points for each node, which are cheap
SLOPES_FROM = 16  # points on either side that tell a slope
POLYNOMIALS_SHARE = 0.5  # of what is left
BODY_SHARE, BODY_DEVIATIONS = 0.75, 7.0  # of the nodes, evenly spread over so many deviations of the loss on each side
LOSSES_REACH = 600.0  # losses


def finite_pairs(
    uses: tuple[Use, ...], shifts: tuple[tuple[float, float, int], ...], fine: Resolution
) -> tuple[DyadicPair, DyadicPair]:
    """One below and one above, with the record and without it."""
    room = POLYNOMIALS_SHARE * compute_budget.left() / POLYNOMIALS_UNITS
    nodes = int(max(min(fine.points // 4, POLYNOMIALS_MAX, room), POLYNOMIALS_MIN))
    # Both directions, and all points of a question.
    return compute_budget.kept(_made, uses, shifts, nodes // 8 * 8, fine.tail, fine.proof)


def _made(
    uses: tuple[Use, ...], shifts: tuple[tuple[float, float, int], ...], nodes: int, tail: float, proof: bool
) -> tuple[DyadicPair, DyadicPair]:
    pair = BinsPair(uses, shifts, Direction.REMOVE)
    bounds = BinsBounds(pair, proof)
    known: list[tuple[fmpq, fmpq, arb]] = []
    marks = _losses(pair, nodes, tail)
    with working_precision(bounds.bits):
        for one, two in pairwise([*marks, math.inf]):
            places = [one] if two == math.inf else [one + (two - one) * k / PLACES_EACH for k in range(PLACES_EACH)]
            alphas = [math.exp(place) for place in places]
            balls = [arb(value) for value in alphas]
            low, high = (bounds.near(balls[len(balls) // 2], balls, above=side) for side in (False, True))
            for alpha, least, most in zip(alphas, low, high, strict=True):
                exact = fmpq(*alpha.as_integer_ratio())
                known.append((exact, max(least.lower().fmpq(), 1 - exact, fmpq(0)), most))
        highs = [(arb(each[0]), each[2]) for each in known]
        return beneath(_vertices(known)), above(highs)


def _losses(pair: BinsPair, nodes: int, tail: float) -> list[float]:
    """0 among them; even next to it, further apart beyond, as far as the largest norm may reach."""
    with working_precision(128):
        largest, spread = float(pair.largest().sqrt()), float(pair.spread().sqrt())
    scale = max(spread, 1e-3 * largest)
    deep = math.sqrt(2.0 * max(-math.log(max(tail, 1e-300)), 1.0))
    farthest = min(largest * (deep + largest / 2.0), LOSSES_REACH)
    near = min(BODY_DEVIATIONS * scale + scale * scale / 2.0, farthest)
    inside = np.linspace(0.0, near, max(int(BODY_SHARE * nodes / 2.0), 4) + 1)
    outside = np.geomspace(near, farthest, max(nodes - 2 * len(inside), 4) // 2 + 1)[1:]
    right = np.concatenate([inside, outside])
    return [float(each) for each in np.unique(np.concatenate([-right, right]))]


def _vertices(known: list[tuple[fmpq, fmpq, arb]]) -> list[tuple[fmpq, fmpq]]:
    """Corners of a curve that lies below H, from left to right: of the larger of two lines between neighbours."""
    a = [fmpq(0), *(each[0] for each in known)]
    low = [fmpq(1), *(each[1] for each in known)]
    high = [fmpq(1), *(min(each[2].upper().fmpq(), fmpq(1)) for each in known)]
    count = len(a)

    def after(j: int) -> fmpq:
        """How steeply H may fall from a_j on, at most."""
        falls = [(high[i] - low[j]) / (a[j] - a[i]) for i in range(max(j - SLOPES_FROM, 0), j)]
        return max(min(falls, default=fmpq(1)), fmpq(0))

    def before(j: int) -> fmpq:
        """How steeply it has fallen to the left of a_j, at least."""
        falls = [(low[j] - high[k]) / (a[k] - a[j]) for k in range(j + 1, min(j + 1 + SLOPES_FROM, count))]
        return max(max(falls, default=fmpq(0)), fmpq(0))

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
