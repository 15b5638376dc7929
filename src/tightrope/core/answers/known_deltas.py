"""What certified deltas of one run say of each other: H(a), a = e^epsilon, falls and is convex, whatever the run.

H(a) = sup P(A) - a Q(A) over events, neighbours and directions is a supremum of lines: convex, H(0) = 1, its slope
between -1 and 0. With low_i <= H(a_i) <= up_i at some points:

- above: H(a) <= up_j for every a_j <= a, and H lies at or below the chord of (a_i, up_i), (a_k, up_k) between the two;
  (0, 1) is one of the points.
- below: H(a) >= low_j for every a_j >= a, H(a) >= 1 - a, and outside of two points H lies at or above the line through
  (a_i, low_i), the nearer one, and (a_j, up_j).

Where no real neighbours are known to reach a lower end it speaks of the dominating pair, whose H is the larger one: a
line below it rests on upper ends of the pair alone.

    with sharing(): ...     answers of one page or report know each other; inside another, that one goes on
Guarantee: both ends, rounded outward. Proof: docs/proofs/readings.md, section 6.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import NamedTuple

from flint import arb

from ..numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ..values import compute_budget
from ..values.bound import Bound
from ..values.errors import agreed
from ..values.question import AUTO, Direction, Question, parsed

NARROW_POINT = 1e-3  # relative width of a point whose neighbours are bounded by lines through it
MOVED = 0.9  # of the width: what is narrowed by less is not worth a word
NEAREST = 4  # points on each side that lines are drawn through


class KnownDelta(NamedTuple):
    """low <= H(e^epsilon) <= up; reached: the lower end is that of real neighbours."""

    epsilon: float
    up: float
    low: float
    reached: bool


@dataclass(slots=True)
class KnownDeltas:
    """The points of one run in one manner, and what follows from them at any other.

    worse: those of both directions together, whose delta is at least that of the one direction that these are of.
    """

    worse: KnownDeltas | None = None
    points: list[KnownDelta] = field(default_factory=list)
    _hull: list[tuple[float, float]] | None = None  # (epsilon, up) of the corners of the largest convex H
    _rising: list[KnownDelta] | None = None
    _lows: dict[bool, list[float]] = field(default_factory=dict)
    _ups: list[float] = field(default_factory=list)
    _through: dict[bool, list[KnownDelta]] = field(default_factory=dict)

    def add(self, epsilon: float, bound: Bound) -> None:
        """A certified delta."""
        self._add(KnownDelta(epsilon, bound.upper, bound.lower, _reached(bound)))

    def add_epsilon(self, delta: float, bound: Bound) -> None:
        """A certified epsilon at a delta: H is at most delta at its upper end, and at least delta at its lower."""
        self._add(KnownDelta(bound.upper, delta, 0.0, reached=True))
        if bound.lower > 0.0:
            self._add(KnownDelta(bound.lower, 1.0, delta, _reached(bound)))

    def _add(self, point: KnownDelta) -> None:
        if math.isfinite(point.epsilon):
            self.points.append(point)
            self._hull = self._rising = None
            self._lows, self._ups, self._through = {}, [], {}
            if self.worse is not None:
                self.worse._add(point._replace(up=1.0))

    def upper(self, epsilon: float) -> float:
        """At or above H."""
        own = self._upper(epsilon)
        return own if self.worse is None else min(own, self.worse.upper(epsilon))

    def _upper(self, epsilon: float) -> float:
        corners = self.hull()
        right = bisect_left(corners, (epsilon, -math.inf))
        if right == len(corners):
            return corners[-1][1]
        (start, first), (end, last) = corners[right - 1] if right else (-math.inf, 1.0), corners[right]
        with working_precision(BITS_START):
            return upper_float(arb(last) + (arb(first) - arb(last)) * _share(start, epsilon, end))

    def lower(self, epsilon: float, reached: bool) -> float:
        """At or below the H of real neighbours, or that of the dominating pair where none reach the lower end."""
        narrow = self._lines(reached)
        split = bisect_right(narrow, epsilon, key=lambda point: point.epsilon)
        with working_precision(BITS_START):
            at = arb(epsilon)
            best = arb(self._later(epsilon, reached)).max(-at.expm1())
            origin = [KnownDelta(-math.inf, 1.0, 1.0, reached)]
            for side in (narrow[max(split - NEAREST, 0) : split][::-1] + origin, narrow[split : split + NEAREST]):
                for index, near in enumerate(side):
                    if near.reached is not reached or not math.isfinite(near.epsilon):
                        continue
                    for far in side[index + 1 :]:
                        # (a - a_i)/(a_i - a_j): outside of the two, on the side of the nearer one.
                        if far.epsilon == near.epsilon:
                            continue
                        beyond = (at - near.epsilon).expm1() / -_fall(far.epsilon, near.epsilon)
                        best = best.max(near.low + (arb(near.low) - far.up) * beyond)
            return lower_float(best)

    def _lines(self, reached: bool) -> list[KnownDelta]:
        """The points that lines below H are drawn through: narrow ones, where there are any."""
        if reached not in self._through:
            points = [point for point in self.rising() if reached or not point.reached]
            self._through[reached] = [point for point in points if _narrow(point.low, point.up)] or points
        return self._through[reached]

    def _later(self, epsilon: float, reached: bool) -> float:
        """The largest lower end from here on."""
        if reached not in self._lows:
            lows = [point.low if point.reached is reached else 0.0 for point in reversed(self.rising())]
            self._lows[reached] = [0.0, *accumulate(lows, max)]
        behind = bisect_left(self.rising(), epsilon, key=lambda point: point.epsilon)
        return self._lows[reached][len(self.points) - behind]

    def _earlier(self, epsilon: float) -> float:
        """The least upper end up to here."""
        if not self._ups:
            self._ups = [1.0, *accumulate((point.up for point in self.rising()), min)]
        own = self._ups[bisect_right(self.rising(), epsilon, key=lambda point: point.epsilon)]
        return own if self.worse is None else min(own, self.worse._earlier(epsilon))

    def narrowed_all(self, epsilons: Sequence[float], bounds: Iterable[Bound]) -> tuple[Bound, ...]:
        """Deltas that fall: what convexity adds to a wide one narrows those beside it."""
        found = [self.narrowed(epsilon, bound) for epsilon, bound in zip(epsilons, bounds, strict=True)]
        for epsilon, bound in zip(epsilons, found, strict=True):
            self.add(epsilon, bound)
        return tuple(self.narrowed(*point, convex=False) for point in zip(epsilons, found, strict=True))

    def narrowed(self, epsilon: float, bound: Bound, convex: bool = True) -> Bound:
        """The same delta, by what the other points say of it; convex: not only that delta falls."""
        if not math.isfinite(epsilon):
            return bound
        reached = _reached(bound)
        if convex and not _narrow(bound.lower, bound.upper):
            low, up = self.lower(epsilon, reached), self.upper(epsilon)
        else:  # convexity leaves a narrow one as it is
            low, up = self._later(epsilon, reached), self._earlier(epsilon)
        if low <= bound.lower and up >= bound.upper:
            return bound
        return _with_ends(bound, max(low, bound.lower), min(up, bound.upper))

    def narrowed_epsilon(self, delta: float, bound: Bound) -> Bound:
        """An epsilon at a delta, by the deltas that are known: it is at least where delta is larger."""
        reached, points = _reached(bound), self.rising()
        low = max((point.epsilon for point in points if point.low > delta and point.reached is reached), default=0.0)
        up = self._epsilon_at_most(delta)
        if low <= bound.lower and up >= bound.upper:
            return bound
        return _with_ends(bound, max(low, bound.lower), min(up, bound.upper))

    def _epsilon_at_most(self, delta: float) -> float:
        """Where the hull of the upper ends crosses delta."""
        corners = [(-math.inf, 1.0), *self.hull()]
        for (start, first), (end, last) in pairwise(corners):
            if last <= delta < first:
                with working_precision(BITS_START):
                    origin = arb(0) if start == -math.inf else arb(start).exp()
                    width = arb(end).exp() - origin
                    place = (origin + width * ((arb(first) - delta) / (arb(first) - last))).log()
                    return max(min(upper_float(place), end), 0.0)
        return math.inf

    def corners(self) -> list[tuple[float, float]]:
        """(epsilon, upper end) of every corner, those of both directions together too."""
        found = [corner for corner in self.hull() if corner[0] > -math.inf]
        return found if self.worse is None else found + self.worse.corners()

    def hull(self) -> list[tuple[float, float]]:
        """The corners of the convex function that falls, at or above which no upper end lies lower."""
        if self._hull is None:
            corners = [(-math.inf, 1.0)]
            with working_precision(BITS_START):
                for point in self.rising():
                    if point.up >= corners[-1][1]:
                        continue  # H falls: the corner before says more
                    while len(corners) > 1 and not _bends(corners[-2], corners[-1], (point.epsilon, point.up)):
                        corners.pop()
                    corners.append((point.epsilon, point.up))
            self._hull = corners[1:] or [(-math.inf, 1.0)]
        return self._hull

    def rising(self) -> list[KnownDelta]:
        """By epsilon."""
        if self._rising is None:
            self._rising = sorted(self.points)
        return self._rising


def _reached(bound: Bound) -> bool:
    return bound.certificate is not None and bound.certificate.attained


def _narrow(lower: float, upper: float) -> bool:
    return upper - lower <= NARROW_POINT * upper


def _fall(far: float, near: float) -> arb:
    """e^(far - near) - 1, also for a = 0."""
    return arb(-1) if far == -math.inf else (arb(far) - near).expm1()


def _share(start: float, epsilon: float, end: float) -> arb:
    """(a_end - a)/(a_end - a_start), which neither cancels nor overflows; start may be -inf, where a = 0."""
    return (arb(epsilon) - end).expm1() / _fall(start, end)


def _bends(first: tuple[float, float], middle: tuple[float, float], last: tuple[float, float]) -> bool:
    """Whether the middle one lies below the chord of the others. Any choice is sound; the right one is narrow."""
    chord = arb(last[1]) + (arb(first[1]) - arb(last[1])) * _share(first[0], middle[0], last[0])
    return bool(arb(middle[1]) < chord)


def _with_ends(bound: Bound, lower: float, upper: float) -> Bound:
    """With these ends. Where a lower end of the dominating pair is above what is proven of the run, none is known."""
    told = bound.certificate
    if lower > upper and not _reached(bound):
        lower, told = 0.0, None if told is None else replace(told, attained=True)
    agreed(lower, upper, "this answer", "other answers about the same run")
    if told is not None and upper - lower < MOVED * bound.width:
        told = replace(told, parameters={**told.parameters, "carried": "delta falls and is convex in e^epsilon"})
    return replace(bound, lower=lower, upper=upper, certificate=told)


Shared = dict[tuple[object, Direction | None, bool], KnownDeltas]
_SHARED: ContextVar[Shared | None] = ContextVar("tightrope_known_deltas", default=None)


@contextmanager
def sharing() -> Iterator[None]:
    """Answers inside know those before them; what is kept belongs to the running thread or task."""
    token = _SHARED.set({} if (outer := _SHARED.get()) is None else outer)
    try:
        yield
    finally:
        _SHARED.reset(token)


def known_of(mechanism: object, question: Question, several: bool) -> KnownDeltas | None:
    """What is shared by questions about this run in this manner; for several values at once there is always one.

    An engine that is insisted on is asked for its own numbers, so that no others change them.
    """
    if question.engine != AUTO:
        return None
    shared = _SHARED.get()
    if shared is None:
        return KnownDeltas() if several else None
    worse = shared.setdefault((mechanism, None, question.proof), KnownDeltas())
    direction = parsed(question.direction)
    return worse if direction is None else shared.setdefault((mechanism, direction, question.proof), KnownDeltas(worse))


def carried(run: object, question: Question, asked: Sequence[float], bounds: tuple[Bound, ...]) -> tuple[Bound, ...]:
    """Deltas or epsilons of one run, a mechanism without names, narrowed by each other and by what was found before."""
    known = known_of(run, question, several=len(asked) > 1)
    if known is None:
        return bounds
    falls = question.quantity == "delta"
    for value, bound in zip(asked, bounds, strict=True):
        (known.add if falls else known.add_epsilon)(value, bound)
    with compute_budget.uncounted():
        if falls:
            return known.narrowed_all(asked, bounds)
        return tuple(known.narrowed_epsilon(value, bound) for value, bound in zip(asked, bounds, strict=True))
