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

from flint import arb, fmpq, fmpz

from .dyadic import DyadicPair

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
