"""A finite pair below and one above any pair whose tails and profile are known.

At points t_1 < ... < t_n: above, the hull of the values H(e^t); below, the events {l > t}. Where the pair is
finite itself the points are its losses, and both are exact but for rounding. Else they lie so that every cell has
about the same share of the error, m h^2 for the P-mass m and the width h, with some spread evenly.
Guarantee: lower <= pair <= upper, as profiles, for whatever points; the width falls with their square.
Proof: docs/proofs/points.md, sections 1 to 3.
Reference: Zhu, Dong, Wang 2021, Lemma 9; Doroshenko et al. 2022, Alg. 1 (chords).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from flint import arb

from .. import compute_budget
from ..facets.finite import FiniteLaw
from ..facets.resolution import Resolution
from ..kernels.ball import BITS_START, working_precision
from ..kernels.directed import round_down, round_up
from ..kernels.double_double import double_double
from ..kernels.enclosure import FloatArray, exact
from ..kernels.ulps import UNIT
from ..operators import finite_law
from ..pair import TAIL_ERROR, Pair
from .dyadic import DyadicPair
from .polygon import above, below, covering

LIGHT = 1e-22  # P-mass below the first point
LOOK_CELLS = 400  # of the first looks
LOOKS = 3
EVEN_SHARE = 0.3  # of the points: spread evenly
FARTHEST = 2000.0  # losses beyond count as infinite above, and as this below
AT_END = 2.0**-44  # of an end of the losses, where atoms like to sit
FINITE_POINT_UNITS, FINITE_BALL_UNITS = 3e4, 2e6  # of work
TAIL_UNITS, TAIL_FLOOR = 1.01 * TAIL_ERROR / UNIT, 1e-312

Ends = tuple[list[tuple[arb, arb]], list[tuple[arb, arb]]]  # events, and points of the profile


def around(pair: Pair, fine: Resolution) -> tuple[DyadicPair, DyadicPair]:
    """A pair that this one dominates, and one that dominates it."""
    if isinstance(pair, DyadicPair):
        return pair, pair
    known = pair.bracket(fine)
    if known is not None:
        return around(known[0], fine)[0], around(known[1], fine)[1]
    law = finite_law(pair)
    with working_precision(2 * BITS_START):
        if law is not None:
            return _listed(pair, law)
        points = _points(pair, fine)
        compute_budget.spend((FINITE_BALL_UNITS if fine.proof else FINITE_POINT_UNITS) * len(points))
        events, profile = _by_balls(pair, points) if fine.proof else _by_floats(pair, points)
        return below([(pair.infinite_mass(), arb(0)), *events]), above(profile)


def _listed(pair: Pair, law: FiniteLaw) -> tuple[DyadicPair, DyadicPair]:
    """At its atoms: H is straight between them, and the best events are those of the largest losses."""
    falling = sorted(law.listed(), key=lambda atom: -float(atom.loss.mid()))
    p, q = law.infinite_mass(), arb(0)
    events = [(p, q)]
    for atom in falling:
        p, q = p + atom.p, q + atom.q
        events.append((p, q))
    if all(one.loss > two.loss for one, two in pairwise(falling)):
        return below(events), covering(events)
    return below(events), above((atom.loss.exp(), pair.ball_hockey_stick(atom.loss)) for atom in falling)


def _by_balls(pair: Pair, points: Sequence[float]) -> Ends:
    tails = [pair.ball_tails(arb(point)) for point in points]
    profile = [(arb(point).exp(), pair.ball_hockey_stick(arb(point))) for point in points]
    return [(tail.p_above, tail.q_above) for tail in tails], profile


def _by_floats(pair: Pair, points: Sequence[float]) -> Ends:
    places = np.array(points)
    tails, profile = pair.tails(double_double(places)), pair.hockey_stick(exact(places)).upper
    p, q = round_down(tails.p_above, TAIL_UNITS) - TAIL_FLOOR, round_up(tails.q_above, TAIL_UNITS) + TAIL_FLOOR
    events = [(arb(one), arb(two)) for one, two in zip(p.tolist(), q.tolist(), strict=True)]
    return events, [(arb(t).exp(), arb(d)) for t, d in zip(points, profile.tolist(), strict=True)]


def _points(pair: Pair, fine: Resolution) -> list[float]:
    """About so many; any are valid, bad ones cost width."""
    ends = [end for ball in pair.loss_range() if abs(end := float(ball.mid())) < FARTHEST]
    beside = [end + side * AT_END * max(abs(end), 1e-300) for end in ends for side in (-1.0, 1.0)]
    powers = np.arange(-80.0, 23.0) / 2.0
    spread = np.minimum(np.exp2(powers), FARTHEST)
    points = np.unique(np.concatenate([-spread, [0.0], spread, beside]))
    tails = pair.tails(double_double(np.append(points, np.inf)))
    rare, light = tails.p_above[:-1] - tails.p_above[-1] <= fine.tail, tails.p_below[:-1] <= LIGHT
    first = max(int(np.argmin(light)) - 1, 0)
    last = int(np.argmax(rare)) if rare.any() else len(points) - 1
    low, high = points[min(first, last)], points[last]
    points = np.unique(np.concatenate([points[first : last + 1], np.linspace(low, high, LOOK_CELLS)]))
    for look in range(LOOKS):
        cells = fine.points if look == LOOKS - 1 else LOOK_CELLS
        points = _spread_again(pair, points, cells)
    inside = [value for value in beside if low <= value <= high]
    return [float(each) for each in np.unique(np.concatenate([points, inside]))]


def _spread_again(pair: Pair, points: FloatArray, cells: int) -> FloatArray:
    """So many points over the same losses, close where the error of these would be large."""
    if len(points) < 2 or points[0] == points[-1]:
        return points
    tails, width = pair.tails(double_double(points)), np.diff(points)
    mass = np.maximum(np.minimum(-np.diff(tails.p_above), np.diff(tails.p_below)), 0.0)
    share = np.cbrt(mass * width**2)
    share = (1.0 - EVEN_SHARE) * share / max(share.sum(), 1e-300) + EVEN_SHARE * width / width.sum()
    places = np.concatenate([[0.0], np.cumsum(share)])
    return np.asarray(np.interp(np.linspace(0.0, places[-1], cells + 1), places, points))
