"""Finite pairs from what is certain of a profile: above by points and chords, below by events.

A profile is convex and falls from (0, 1), so between two points that lie on or above it, it lies below their chord, and
after the last point below that one's level. The lower hull of (0, 1) and the points is a profile, and that of a pair
with a corner of its trade-off for each chord c - s alpha: P(A) = c, Q(A) = s.
An event with P(A) >= p and Q(A) <= q lies on or below the trade-off sup {P(A): Q(A) <= x}, which is concave; the
upper hull of (0, w), the events and (1, 1) is that of a pair whose profile lies below.
In whole numbers over 2^bits: the corners are rounded up in P and down in Q for a pair above, the other way for one
below; hulls are exact.
Guarantee: `above` dominates whatever obeys the points, `below` is dominated by whatever has the events.
Proof: docs/proofs/points.md, sections 1 to 3.
Reference: Zhu, Dong, Wang 2021, Lemma 9; Doroshenko et al. 2022, Alg. 1 (chords).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from flint import arb, fmpq, fmpz

from ...numerics.balls import BITS_START, working_precision
from ...numerics.double_double import double_double
from ...numerics.enclosures import FloatArray, exact
from ...numerics.rounding import UNIT, round_down, round_up
from ...values import compute_budget
from ..atoms import FiniteLaw
from ..capabilities import Resolution
from ..pair import TAIL_ERROR, Pair
from .dyadic import DyadicPair
from .registered import finite_law

SPARE_BITS = 64  # bits behind the leading one of the least number
DEEPEST = 1 << 13  # what is smaller is rounded as if it were nothing, to its safe side
LEAST = fmpq(1, fmpz(1) << DEEPEST)

Corner = tuple[int, int]  # of a trade-off: Q(A), P(A), over 2^bits
Point = tuple[fmpq, fmpq]  # of a profile: alpha, delta


def corners(pair: DyadicPair, bits: int) -> list[Corner]:
    """Those of its trade-off sup {P(A): Q(A) <= x}, from x = 0 to x = 1, over 2^bits."""
    shift, q, p = bits - pair.bits, 0, 0
    found = [(0, 0)]
    for more_p, more_q in pair.rows:
        p, q = p + (more_p << shift), q + (more_q << shift)
        if q == found[-1][0]:
            found[-1] = q, p
        else:
            found.append((q, p))
    return found


def above(points: Iterable[tuple[arb, arb]], bits: int | None = None) -> DyadicPair:
    """A pair whose profile lies on or above every one with H(alpha) <= delta at these (alpha, delta).

    Flat after the last point: its delta is mass of infinite loss. Points may come in any order and have any radius: a
    profile falls, so that at the upper end of alpha it is no larger.
    """
    hull = _lower_hull(points)
    chords = []
    for (x0, d0), (x1, d1) in pairwise(hull):
        slope = (d0 - d1) / (x1 - x0)
        chords.append((slope, d1 + x1 * slope))
    last = hull[-1][1]
    bits = _enough([last, *(slope for slope, _ in chords)]) if bits is None else bits
    scale = fmpz(1) << bits
    corners = [(int((slope * scale).floor()), min(int((level * scale).ceil()), int(scale))) for slope, level in chords]
    return concave([(0, int((last * scale).ceil())), *corners], bits)


def mirrors(points: Iterable[tuple[arb, arb]]) -> list[tuple[arb, arb]]:
    """What points of H say of H itself where its mirror 1 - a + a H(1/a) obeys them too; at the working precision."""
    return [(1 / alpha, 1 - (1 - delta) / alpha) for alpha, delta in points]


def below(events: Iterable[tuple[arb, arb]], bits: int | None = None) -> DyadicPair:
    """A pair whose profile lies on or below every one that has these events (P(A) at least p, Q(A) at most q)."""
    known = [(_least(p), _most(q)) for p, q in events if p > 0 and q < 1]
    bits = _enough(mass for event in known for mass in event) if bits is None else bits
    scale = fmpz(1) << bits
    return concave([(int((q * scale).ceil()), int((p * scale).floor())) for p, q in known], bits)


def beneath(corners: Iterable[Point], bits: int | None = None) -> DyadicPair:
    """A pair whose profile lies on or below every one that lies above the straight lines between these points of the
    plane (alpha, height), taken from left to right: each edge of their lower hull is a line below it."""
    hull = _convex(sorted(corners))
    lines = []
    for (x0, d0), (x1, d1) in pairwise(hull):
        slope = (d0 - d1) / (x1 - x0)
        if slope > 0:
            lines.append((slope, d0 + x0 * slope))
    bits = _enough(number for line in lines for number in line) if bits is None else bits
    scale = fmpz(1) << bits
    whole = [(int((slope * scale).ceil()), int((level * scale).floor())) for slope, level in lines]
    return concave([(q, p) for q, p in whole if p >= 0 and q <= int(scale)], bits)


def _convex(points: Sequence[Point]) -> list[Point]:
    """The lower hull of points by rising x."""
    hull: list[Point] = []
    for x, d in points:
        if hull and hull[-1][0] == x:
            if d >= hull[-1][1]:
                continue
            hull.pop()
        while len(hull) > 1:
            (x0, d0), (x1, d1) = hull[-2:]
            if (d0 - d1) * (x - x0) > (d0 - d) * (x1 - x0):
                break
            hull.pop()
        hull.append((x, d))
    return hull


def covering(events: Iterable[tuple[arb, arb]], bits: int | None = None) -> DyadicPair:
    """A pair above one whose trade-off has all its corners (P(A), Q(A)) among these."""
    known = [(_most(p), _least(q)) for p, q in events]
    bits = _enough(mass for event in known for mass in event) if bits is None else bits
    scale = fmpz(1) << bits
    return concave([(int((q * scale).floor()), int((p * scale).ceil())) for p, q in known], bits)


def highest(pairs: Sequence[DyadicPair]) -> DyadicPair:
    """The pair of the largest of their profiles: its trade-off is the concave hull of theirs. Guarantee: exact."""
    bits = max(pair.bits for pair in pairs)
    corners = []
    for pair in pairs:
        shift, p, q = bits - pair.bits, 0, 0
        for more_p, more_q in pair.rows:
            p, q = p + more_p, q + more_q
            corners.append((q << shift, p << shift))
    return concave(corners, bits)


def concave(corners: Iterable[Corner], bits: int) -> DyadicPair:
    """The pair whose trade-off is the upper hull of (0, 0), these corners and (1, 1); nothing is rounded."""
    one = 1 << bits
    hull = [(0, 0)]
    for q, p in sorted({*corners, (one, one)}):
        if q == hull[-1][0]:  # and p is the larger one
            hull.pop()
        while len(hull) > 1:
            (q0, p0), (q1, p1) = hull[-2:]
            if (p1 - p0) * (q - q0) > (p - p0) * (q1 - q0):
                break
            hull.pop()
        hull.append((q, p))
    steps = ((p - p0, q - q0) for (q0, p0), (q, p) in pairwise([(0, 0), *hull]))
    return DyadicPair(tuple(row for row in steps if row != (0, 0)), bits)  # by falling ratio already


def _lower_hull(points: Iterable[tuple[arb, arb]]) -> list[Point]:
    """Of (0, 1) and the points, as far as it falls, in exact numbers."""
    lowest: dict[fmpq, fmpq] = {}
    for alpha, delta in points:
        if 0 < alpha < arb(2) ** DEEPEST and not delta.is_nan():
            x = LEAST if alpha < _tiny() else alpha.upper().fmpq()
            lowest[x] = min(lowest.get(x, fmpq(1)), max(_most(delta), 1 - x))
    hull: list[Point] = [(fmpq(0), fmpq(1))]
    for x, d in sorted(lowest.items()):
        if d >= hull[-1][1]:
            continue
        while len(hull) > 1:
            (x0, d0), (x1, d1) = hull[-2:]
            if (d0 - d1) * (x - x0) > (d0 - d) * (x1 - x0):
                break
            hull.pop()
        hull.append((x, d))
    return hull


def _most(number: arb) -> fmpq:
    """At or above, exact, in [0, 1]."""
    if number <= 0:
        return fmpq(0)
    if number < _tiny():
        return LEAST
    return number.upper().fmpq() if number < 1 else fmpq(1)


def _least(number: arb) -> fmpq:
    """At or below, exact, in [0, 1]."""
    if number >= 1:
        return fmpq(1)
    return number.lower().fmpq() if number > _tiny() else fmpq(0)


def _tiny() -> arb:
    return arb(2) ** -DEEPEST


def _enough(numbers: Iterable[fmpq]) -> int:
    """Bits over which the least of them that is not 0 keeps SPARE_BITS."""
    gaps = (number.q.bit_length() - number.p.bit_length() for number in numbers if number)
    return SPARE_BITS + min(max(gaps, default=0), DEEPEST)


# A finite pair below and one above any pair whose tails and profile are known.
#
# At points t_1 < ... < t_n: above, the hull of the values H(e^t); below, the events {l > t}. Where the pair is
# finite itself the points are its losses, and both are exact but for rounding. Else they lie so that every cell has
# about the same share of the error, m h^2 for the P-mass m and the width h, with some spread evenly.
# Guarantee: lower <= pair <= upper, as profiles, for whatever points; the width falls with their square.
# Proof: docs/proofs/points.md, sections 1 to 3.
# Reference: Zhu, Dong, Wang 2021, Lemma 9; Doroshenko et al. 2022, Alg. 1 (chords).

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
