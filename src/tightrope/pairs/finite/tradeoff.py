"""The finite pair whose trade-off function is a given polyline.

f(x) is the least P[accept] = false negatives of a test of Q against P with Q[reject] = false positives <= x. Where f
falls by s over a width d of x, there is an atom with P-mass s and Q-mass d; 1 - f(0) is the mass of infinite loss, and
Q has what lies behind the point where f reaches 0.
What is given are lower bounds. Every f is convex with f(0) <= 1 and f(1) = 0, so f(x_i) >= y_i means
    f(x) >= y_i (1 - x) / (1 - x_i) for x <= x_i,    f(x) >= 1 - (1 - y_i) x / x_i for x >= x_i.
Guarantee: dominates, in exact fractions. Proof: docs/proofs/tradeoff.md.
Reference: Dong, Roth, Su 2022, Thm 2.10 (Blackwell), Prop. 2.4 (symmetry); Zhu, Dong, Wang 2021, Prop. 10.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

from .laws import RationalLaw

Point = tuple[Fraction, Fraction]  # false positive rate, false negative rate

NOTHING, ALL = Fraction(0), Fraction(1)


def lines_below(points: Sequence[Point]) -> tuple[Point, ...]:
    """The convex hull below f, where f lies above the lines between the points, which rise in x."""
    start = max((y / (1 - x) for x, y in points if x < 1), default=NOTHING)
    end = max((x / (1 - y) for x, y in points if y < 1), default=NOTHING)
    return hull([(NOTHING, start), *((x, y) for x, y in points if x), (end, NOTHING), (ALL, NOTHING)])


def points_below(points: Sequence[Point]) -> tuple[Point, ...]:
    """The convex hull below f, where f lies above the points; between them it is convex, and no more is known."""
    points = sorted(points)
    # From each place on f lies above the line flat (1 - x) to (1, 0) before it, and 1 - steep x from (0, 1) behind it.
    flats = [*accumulate((y / (1 - x) if x < 1 else NOTHING for x, y in reversed(points)), max, initial=NOTHING)][::-1]
    falls = [*accumulate(((1 - y) / x for x, y in points if x), min)]
    steeps = [*([None] * (len(points) - len(falls))), *falls]  # behind x = 0 it may fall at once
    found = [(NOTHING, flats[0]), (ALL, NOTHING)]
    for (x, _), right, flat, steep in zip(points, [*(x for x, _ in points[1:]), ALL], flats[1:], steeps, strict=True):
        found.append((x, flat * (1 - x) if steep is None else max(flat * (1 - x), 1 - steep * x)))
        if steep is not None and steep > flat:
            meeting = (1 - flat) / (steep - flat)
            if x < meeting < right:
                found.append((meeting, flat * (1 - meeting)))
    return hull(found)


def mirrored(points: Sequence[Point]) -> list[Point]:
    """What points of f say of its inverse."""
    return [(y, x) for x, y in points if y]


def symmetric(f: Sequence[Point]) -> tuple[Point, ...]:
    """max(f, its inverse), convex again: what holds where f bounds both directions."""
    falling = [*f[: next(index for index, (_, y) in enumerate(f) if not y) + 1]]
    inverse = [*((y, x) for x, y in reversed(falling)), *([(ALL, NOTHING)] if f[0][1] < 1 else [])]
    places = sorted({x for x, _ in (*f, *inverse)})
    values = list(zip(places, _read(f, places), _read(inverse, places), strict=True))
    found = [(x, max(one, two)) for x, one, two in values]
    for (left, one, two), (right, first, second) in pairwise(values):
        if (one - two) * (first - second) < 0:
            crossing = left + (right - left) * (one - two) / (one - two - first + second)
            found.append((crossing, _between((left, one), (right, first), crossing)))
    return hull(found)


def law_of(f: Sequence[Point]) -> RationalLaw:
    """The pair with this trade-off function, a convex polyline from x = 0 to (1, 0)."""
    steps = [(NOTHING, 1 - f[0][1]), *((right[0] - left[0], left[1] - right[1]) for left, right in pairwise(f))]
    return RationalLaw(tuple(p for _, p in steps), tuple(q for q, _ in steps))


def holds(f: Sequence[Point], points: Sequence[Point]) -> bool:
    """Whether f lies at or above all of the points."""
    places = [x for x, _ in points]
    return all(value >= y for value, (_, y) in zip(_read(f, places), points, strict=True))


def hull(points: Sequence[Point]) -> tuple[Point, ...]:
    """The lower convex hull, corners only; of several points at one x the lowest counts."""
    lowest = dict(sorted(points, key=lambda point: (point[0], -point[1])))
    found: list[Point] = []
    for point in lowest.items():
        while len(found) > 1 and _between(found[-2], point, found[-1][0]) <= found[-1][1]:
            found.pop()
        found.append(point)
    return tuple(found)


def _read(f: Sequence[Point], places: Sequence[Fraction]) -> Iterator[Fraction]:
    """The values of a polyline at rising places within it."""
    index = 0
    for x in places:
        while index + 2 < len(f) and f[index + 1][0] < x:
            index += 1
        yield f[index][1] if f[index][0] == x else _between(f[index], f[index + 1], x)


def _between(left: Point, right: Point, x: Fraction) -> Fraction:
    return left[1] + (right[1] - left[1]) * (x - left[0]) / (right[0] - left[0])
