"""The least of H(a) + a x over a >= 0, for a convex H that is known between two ends at some points a = e^t.

H is convex, falls, starts at H(0) = head with a slope of at least `slope`, and stays at or above tail. Secants lie
below a convex function outside of their points: right of a_i, H lies above the line through (a_j, up_j) and
(a_i, low_i), any j < i; left of a_i above that through (a_i, low_i) and (a_j, up_j), any j > i. Each interval has one
line from its left end and one from its right, and the mean of the two whose slope is just not below 0 is least at the
left end: no crossing of lines is needed for a proof.
A constant may be taken off head, tail and all values alike: -(1 - H) in place of H, where 1 - H is small.
Guarantee: lower <= the least <= upper, at the working precision. Proof: docs/proofs/readings.md, section 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from flint import arb

ZERO, ONE, FALL = arb(0), arb(1), arb(-1)


class Knot(NamedTuple):
    """low <= H(e^t) <= up; t is finite."""

    t: float
    low: arb
    up: arb


class Valley(NamedTuple):
    """lower <= inf H(a) + a x <= upper, and where to look next.

    best: the knot that has the upper end, -1 for a = 0. interval: the one that has the lower end, between the knots
    interval - 1 and interval; 0 begins at a = 0, the last has no end. crossing: log a where its two lines meet.
    """

    lower: arb
    upper: arb
    best: int
    interval: int
    crossing: float


class Secants:
    """The lines below H that its knots give, for any number of x."""

    def __init__(self, knots: Iterable[Knot], head: arb = ONE, slope: arb = FALL, tail: arb = ZERO) -> None:
        ordered = sorted(knots, key=lambda knot: knot.t)
        self.head, self.slope, self.tail = head, slope, tail
        self.alphas = [arb(knot.t).exp() for knot in ordered]
        lows = [max_of(head + slope * alpha, tail) for alpha in self.alphas]
        self.knots = [Knot(t, max_of(low, least), up) for (t, low, up), least in zip(ordered, lows, strict=True)]
        # H(a) >= low + after (a - a_i) to the right of a knot, >= low + before (a_i - a) to its left.
        self.after = [
            max_of(slope, (knot.low - head) / alpha) for alpha, knot in zip(self.alphas, self.knots, strict=True)
        ]
        self.before = [ZERO for _ in self.knots]
        for right, (_, low, up) in enumerate(self.knots):
            for left in range(right):
                width = self.width(left, right)
                self.after[right] = max_of(self.after[right], (low - self.knots[left].up) / width)
                self.before[left] = max_of(self.before[left], (self.knots[left].low - up) / width)

    def width(self, left: int, right: int) -> arb:
        """a_right - a_left, which does not cancel."""
        return self.alphas[left] * (arb(self.knots[right].t) - arb(self.knots[left].t)).expm1()

    def least(self, x: arb) -> Valley:
        """Both ends of inf H(a) + a x, x above 0."""
        upper, best = self.head, -1
        for index, (alpha, knot) in enumerate(zip(self.alphas, self.knots, strict=True)):
            value = (knot.up + alpha * x).upper()
            if value < upper:
                upper, best = value, index
        lowers = [self._inside(index, x) for index in range(len(self.knots))] + [self._beyond(x)]
        interval = min(range(len(lowers)), key=lambda index: lowers[index])
        return Valley(lowers[interval], upper, best, interval, self._crossing(interval))

    def _left(self, interval: int) -> tuple[arb, arb, arb]:
        """Where the interval begins: a, a value below H(a), and a slope below that of H from there on."""
        if interval == 0:
            return ZERO, self.head, self.slope
        return self.alphas[interval - 1], self.knots[interval - 1].low, self.after[interval - 1]

    def _width(self, interval: int) -> arb:
        return self.alphas[0] if interval == 0 else self.width(interval - 1, interval)

    def _inside(self, interval: int, x: arb) -> arb:
        """At or below H(a) + a x from a knot, or from 0, to the next knot: a mean whose slope is not below 0."""
        alpha, low, after = self._left(interval)
        end, low_end, before = self.alphas[interval], self.knots[interval].low, self.before[interval]
        width = self._width(interval)
        fall, rise = after + x, x - before  # slopes of the two lines
        if fall >= 0:
            return (low + alpha * x).lower()
        if not rise > 0:  # the line from the right is least at its own end
            return min_of(low_end + before * width + alpha * x, low_end + end * x)
        share = (rise / (rise - fall)).lower().min(ONE).max(ZERO) if rise > fall else ZERO
        return (share * low + (1 - share) * (low_end + before * width) + alpha * x).lower()

    def _beyond(self, x: arb) -> arb:
        """At or below H(a) + a x from the last knot on: share low + (1 - share) tail, its slope not below 0."""
        alpha, low, after = self._left(len(self.knots))
        steep = after.abs_upper()
        share = ONE if steep.is_zero() else (x / steep).lower().min(ONE)
        return (share * low + (1 - share) * self.tail + alpha * x).lower()

    def _crossing(self, interval: int) -> float:
        """log a where the two lines of an interval meet, nan where they do not: no more than a place to look at."""
        alpha, low, after = self._left(interval)
        if interval == len(self.knots):
            ratio = (self.tail - low) / after
            return float((alpha + ratio).log()) if ratio > 0 else math.nan
        before, width = self.before[interval], self._width(interval)
        part = (self.knots[interval].low + before * width - low) / ((after + before) * width)
        if not 0 < part < 1:
            return math.nan
        if interval == 0:
            return float((part * width).log())
        start = self.knots[interval - 1].t
        return float(arb(start) + (part * (width / alpha)).log1p())


def max_of(one: arb, two: arb) -> arb:
    """The larger one, or a ball around it."""
    return one if one > two else two if two > one else one.max(two)


def min_of(one: arb, two: arb) -> arb:
    """At or below both."""
    low, other = one.lower(), two.lower()
    return low if low < other else other
