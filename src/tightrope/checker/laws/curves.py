"""What is known by points of a profile, or by a polyline below a trade-off function: finite laws.

Proof: docs/proofs/points.md, sections 1 and 4; docs/proofs/tradeoff.md, sections 1 to 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import arb

from ..law import exact, precision
from .finite import Outcome, OutcomesLaw, RatiosLaw

ORDER_BITS = 4096  # in which the hull is found; what it does not tell apart is refused
Point = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class CurveCorner:
    """The point (e^loss, delta), or of mirrored ones (e^loss, 1 - e^loss (1 - delta))."""

    loss: Fraction
    delta: Fraction
    mirrored: bool = False

    def at(self) -> tuple[arb, arb]:
        place = exact(self.loss).exp()
        return place, 1 - place * exact(1 - self.delta) if self.mirrored else exact(self.delta)


@dataclass(frozen=True)
class CornersLaw(OutcomesLaw):
    """The pair of the hull through (0, 1) and these corners, flat after the last; added: (Q, P)."""

    corners: tuple[CurveCorner, ...]
    added: bool = False

    def _slopes(self) -> list[arb]:
        """How steeply it falls to each corner, and after the last, which is 0."""
        places = [(arb(0), arb(1)), *(corner.at() for corner in self.corners)]
        return [*((d - e) / (y - x) for (x, d), (y, e) in pairwise(places)), arb(0)]

    def outcomes(self) -> list[Outcome]:
        found = []
        for corner, (steep, flat) in zip(self.corners, pairwise(self._slopes()), strict=True):
            q = steep - flat
            found.append((corner.at()[0] * q, q, exact(corner.loss)))
        return [(q, p, -loss) for p, q, loss in found] if self.added else found

    def _ends(self) -> tuple[arb, arb]:
        """P where Q has nothing, and Q where P has nothing."""
        return self.corners[-1].at()[1], 1 - self._slopes()[0]

    def infinite(self) -> arb:
        return self._ends()[self.added]

    def lost(self) -> arb:
        return self._ends()[not self.added]

    def reversed(self) -> CornersLaw:
        """The same again where every corner has its mirror."""
        mirrors = {(-corner.loss, corner.delta, not corner.mirrored) for corner in self.corners if corner.loss}
        own = {(corner.loss, corner.delta, corner.mirrored) for corner in self.corners if corner.loss}
        return self if own == mirrors else CornersLaw(self.corners, not self.added)


def privacy_curve(epsilons: Sequence[Fraction], deltas: Sequence[Fraction], both: bool) -> CornersLaw:
    """The hull of the points, with their mirrors where both directions have them."""
    corners = [CurveCorner(epsilon, delta) for epsilon, delta in zip(epsilons, deltas, strict=True)]
    if both:
        corners += [CurveCorner(-corner.loss, corner.delta, True) for corner in corners if corner.loss]
    hull: list[tuple[CurveCorner | None, arb, arb]] = [(None, arb(0), arb(1))]
    with precision(ORDER_BITS):
        for corner in sorted(corners, key=lambda corner: corner.loss):
            x, d = corner.at()
            if x <= hull[-1][1] or not (d < hull[-1][2] or d >= hull[-1][2]):
                raise ValueError("points that cannot be told apart")
            if d >= hull[-1][2]:
                continue  # above the level from there on
            if not (d + x >= 1 or corner.mirrored):
                raise ValueError("a delta below 1 - e^epsilon")
            while len(hull) > 1:
                (_, x0, d0), (_, x1, d1) = hull[-2:]
                turn = (d1 - d0) * (x - x0) - (d - d0) * (x1 - x0)
                if not (turn < 0 or turn >= 0):
                    raise ValueError("points that cannot be told from a line")
                if turn < 0:
                    break
                hull.pop()
            hull.append((corner, x, d))
    if len(hull) == 1:
        raise ValueError("points that say nothing")
    return CornersLaw(tuple(corner for corner, _, _ in hull if corner is not None))


def tradeoff_curve(fprs: Sequence[Fraction], fnrs: Sequence[Fraction], both: bool) -> RatiosLaw:
    """The pair of the convex polyline below the lines between the points, and below its inverse where both have it."""
    points = [(x, min(y, 1 - x)) for x, y in zip(fprs, fnrs, strict=True)]
    start = max((y / (1 - x) for x, y in points if x < 1), default=Fraction(0))
    end = max((x / (1 - y) for x, y in points if y < 1), default=Fraction(0))
    corners = _hull([(Fraction(0), start), *((x, y) for x, y in points if x), (end, Fraction(0))])
    falling = [(one, two) for one, two in pairwise(corners) if one[1] > two[1]]
    if both:
        falling += [((y, x), (b, a)) for (a, b), (x, y) in falling]
    lines = {(one[1] + slope * one[0], slope) for one, two in falling for slope in [_slope(one, two)]}
    lines.add((Fraction(0), Fraction(0)))
    return _law(_upper(lines))


def bends_one_way(fprs: Sequence[Fraction], fnrs: Sequence[Fraction]) -> bool:
    """Whether the lines between the points, lowered to 1 - fpr where they are above it, are convex."""
    points = [(x, min(y, 1 - x)) for x, y in zip(fprs, fnrs, strict=True)]
    slopes = [_slope(one, two) for one, two in pairwise(points)]
    return all(steep >= flat for steep, flat in pairwise(slopes)) and all(slope >= 0 for slope in slopes)


def _slope(one: Point, two: Point) -> Fraction:
    return (one[1] - two[1]) / (two[0] - one[0])


def _hull(points: Sequence[Point]) -> list[Point]:
    """The lower convex hull; of several points at one place the lowest counts."""
    lowest: dict[Fraction, Fraction] = {}
    for x, y in points:
        lowest[x] = min(y, lowest.get(x, y))
    found: list[Point] = []
    for point in sorted(lowest.items()):
        while len(found) > 1 and _slope(found[-2], found[-1]) <= _slope(found[-1], point):
            found.pop()
        found.append(point)
    return found


def _upper(lines: set[Point]) -> list[Point]:
    """Corners, from 0 to 1, of the largest of the lines height - slope x; it falls and is convex."""
    x, found = Fraction(0), []
    height, slope = max(lines, key=lambda line: (line[0], -line[1]))
    found.append((x, height))
    while slope:
        later = [((height - h) / (slope - s), s, h) for h, s in lines if s < slope]
        meeting, slope, height = min(later, key=lambda line: (line[0], line[1]))
        found.append((meeting, height - slope * meeting))
    return [*found, (Fraction(1), Fraction(0))] if found[-1][0] < 1 else found


def _law(corners: Sequence[Point]) -> RatiosLaw:
    steps = [(Fraction(0), 1 - corners[0][1]), *((b[0] - a[0], a[1] - b[1]) for a, b in pairwise(corners))]
    return RatiosLaw(tuple(p for _, p in steps), tuple(q for q, _ in steps))
