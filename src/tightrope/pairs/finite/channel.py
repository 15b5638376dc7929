"""The largest profile of a channel: of all pairs of its rows, in either order.

A row has the masses of the reports of one true value. The trade-off of the largest profile is the hull of those of all
pairs, whose corners are events {ratio above t}: finitely many, in exact fractions. Corners that lie below the hull of
the same numbers in float64 by more than their roundings are left out before fractions are compared.
Guarantee: exact. Proof: docs/proofs/points.md, section 5 (maximum), docs/proofs/channel.md (what is left out).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import NamedTuple

from ...errors import InvalidParameter
from .laws import RationalLaw
from .tradeoff import hull, law_of

NEARLY_EQUAL = 1e-12  # relative: far above that of two quotients and of a chord between them
DIGITS_LOST = 1e-290  # below, quotients in float64 have lost digits
FINE_MAX = 5000  # corners with so small a mass: all of them are compared in fractions of a thousand digits

Rows = Sequence[tuple[Fraction, ...]]
Way = tuple[int, int]  # the rows that are P and Q
Corner = tuple[Fraction, Fraction]  # Q(A), 1 - P(A)


class Channel(NamedTuple):
    """law: of the largest profile; ways: ordered pairs of rows that have all of its corners between them."""

    law: RationalLaw
    ways: tuple[RationalLaw, ...]


class _Reached(NamedTuple):
    """{ratio above t}, Q(A) and P(A) in float64, and as counts out of those of the whole rows."""

    q: float
    p: float
    way: Way
    counts: tuple[int, int]


def channel_of(rows: Rows) -> Channel:
    """The largest profile of these laws over the same reports, each against each."""
    rows = list(dict.fromkeys(rows))
    whole = [math.lcm(*(mass.denominator for mass in row)) for row in rows]
    counts = [[int(mass * unit) for mass in row] for row, unit in zip(rows, whole, strict=True)]
    events = [
        _Reached(q / whole[way[1]], p / whole[way[0]], way, (p, q))
        for one, two in combinations(range(len(rows)), 2)
        for more, less in _corners(counts[one], counts[two])
        for way, p, q in (((one, two), more, less), ((two, one), whole[two] - less, whole[one] - more))
        if p
    ]
    if sum(event.q <= DIGITS_LOST or event.p <= DIGITS_LOST for event in events) > FINE_MAX:
        raise InvalidParameter(f"channel has too many probabilities below {DIGITS_LOST:g}: give fewer rows or columns")
    owners: dict[Corner, set[Way]] = {}
    for event in _high(events):
        one, two = event.way
        corner = Fraction(event.counts[1], whole[two]), 1 - Fraction(event.counts[0], whole[one])
        owners.setdefault(corner, set()).add(event.way)
    start, end = (Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))
    vertices = hull([start, end, *owners])
    wanted = [owners[vertex] for vertex in vertices if vertex not in (start, end)]
    return Channel(law_of(vertices), tuple(RationalLaw(rows[one], rows[two]) for one, two in _cover(wanted)))


def _corners(p: Sequence[int], q: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Counts of P and Q in {ratio above t}, from those of infinite ratio alone to all that there are.

    What is left of each are the counts of Q and P in the events of the reverse.
    """
    cells = list(zip(p, q, strict=True))
    first, second = sum(more for more, less in cells if not less), 0
    yield first, second
    for close in _runs([cell for cell in cells if cell[1]]):
        for more, less in _merged(close):
            first, second = first + more, second + less
            yield first, second


def _runs(cells: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """The cells by falling ratio, those together whose ratios float64 may not tell apart."""
    found: list[tuple[int, int]] = []
    before = math.inf
    for ratio, cell in sorted(((_ratio(*cell), cell) for cell in cells), reverse=True):
        if found and ratio < before * (1.0 - NEARLY_EQUAL):
            yield found
            found = []
        found.append(cell)
        before = ratio
    if found:
        yield found


def _ratio(more: int, less: int) -> float:
    """In float64; 0 and inf where that is not known to the last digits."""
    try:
        value = more / less
    except OverflowError:
        return math.inf
    return value if value > DIGITS_LOST else 0.0


def _merged(cells: Sequence[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    """Those of one ratio as one, by falling ratio."""
    if len(cells) == 1:
        return cells
    by_ratio: dict[Fraction, tuple[int, int]] = {}
    for more, less in cells:
        before = by_ratio.get(Fraction(more, less), (0, 0))
        by_ratio[Fraction(more, less)] = before[0] + more, before[1] + less
    return [by_ratio[ratio] for ratio in sorted(by_ratio, reverse=True)]


def _high(events: Sequence[_Reached]) -> Iterator[_Reached]:
    """Those that are not below the hull of all for certain."""
    line = [(0.0, 0.0)]
    for q, p in sorted(
        {event[:2] for event in events if event.q > DIGITS_LOST and event.p > DIGITS_LOST} | {(1.0, 1.0)}
    ):
        while len(line) > 1 and (line[-1][1] - line[-2][1]) * (q - line[-2][0]) <= (p - line[-2][1]) * (
            line[-1][0] - line[-2][0]
        ):
            line.pop()
        if q > line[-1][0]:
            line.append((q, p))
    place, chords = 0, list(pairwise(line))
    for event in sorted(events):
        q, p = event.q, event.p
        while place + 1 < len(chords) and chords[place][1][0] < q:
            place += 1
        (q0, p0), (q1, p1) = chords[place]
        if p >= (p0 + (q - q0) / (q1 - q0) * (p1 - p0)) * (1.0 - NEARLY_EQUAL) or q <= DIGITS_LOST or p <= DIGITS_LOST:
            yield event


def _cover(wanted: Sequence[set[Way]]) -> list[Way]:
    """Pairs of rows that have all of the corners between them: at each step the one with most of those left."""
    found: list[Way] = []
    left = list(wanted)
    while left:
        counts: dict[Way, int] = {}
        for ways in left:
            for way in ways:
                counts[way] = counts.get(way, 0) + 1
        best = max(sorted(counts), key=counts.__getitem__)
        found.append(best)
        left = [ways for ways in left if best not in ways]
    return found
