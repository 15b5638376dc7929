"""Bounds on Renyi divergences as one exact value, and their sums.

K(c) = c D_{1+c}, c = order - 1, is convex with K(0) = 0, and adds up under composition. A curve says, for every c > 0,
K(c) <= rho c (c + 1) + chord(c): a parabola, as zCDP has it, and a convex polygon through the origin and the points
of a table; beyond the last point it rises by `slope`, the bound of order inf, or nothing is known. Order 1, where
D = K'(0), may have a bound of its own.
`everywhere` is a line (r, s) with D_a <= r a + s at every order from 1 on, for a table that ends.
Values of K above the lower hull of the others say nothing, since K is convex; between the points a chord is an upper
bound, so that curves with different tables are added at all orders of either.
Guarantee: exact in fractions. Proof: docs/proofs/renyi_curve.md, sections 1 and 5.
Reference: van Erven, Harremoes 2014, Cor. 2 (convexity); Mironov 2017, Prop. 1 (sums).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

Knot = tuple[Fraction, Fraction]  # c, K(c) at most
RATIO = 1.08  # of orders put between those of a table, at most, where a parabola is added
NEAREST = Fraction(1, 1 << 10)  # of the first order: where those put below it begin
LAST_ORDER = 1 << 20  # times the last order: where those put beyond it end


class Limit(NamedTuple):
    """K(c) at most k; at c = 0, D_1 at most k."""

    c: Fraction
    k: Fraction


@dataclass(frozen=True)
class Divergences:
    """K(c) <= rho c (c + 1) + the polygon through (0, 0) and the knots, which rises by `slope` after the last."""

    rho: Fraction
    knots: tuple[Knot, ...] = ()
    slope: Fraction | None = None
    first: Fraction | None = None
    everywhere: tuple[Fraction, Fraction] | None = None

    @staticmethod
    def parabola(rho: Fraction) -> Divergences:
        """rho-zCDP: D_a <= rho a for every order from 1 on."""
        return Divergences(rho, (), Fraction(0))

    @staticmethod
    def table(divergences: Iterable[tuple[Fraction | None, Fraction]]) -> Divergences:
        """D_order <= divergence at each (order, divergence); None stands for the order inf."""
        knots, slope, first = [], None, None
        for order, divergence in divergences:
            if order is None:
                slope = divergence
            elif order == 1:
                first = divergence
            else:
                knots.append((order - 1, (order - 1) * divergence))
        return _made(Fraction(0), knots, slope, first)

    @property
    def nothing(self) -> bool:
        """Whether it says that both laws are the same."""
        return not self.rho and (self.slope == 0 or self.first == 0)

    @property
    def line(self) -> bool:
        """Whether all that it says is D_a <= slope + rho a for every order from 1 on, rho above 0."""
        return bool(self.rho) and not self.knots and self.slope is not None

    @property
    def first_slope(self) -> Fraction | None:
        """What the polygon says of order 1."""
        if self.knots:
            return self.knots[0][1] / self.knots[0][0]
        return self.slope

    @property
    def divergence_one(self) -> Fraction | None:
        """The bound of order 1; None where no order has any."""
        known = self.first_slope if self.first is None else self.first
        return None if known is None else known + self.rho

    @property
    def line_above(self) -> tuple[Fraction, Fraction] | None:
        """A line that holds at every order: one of its own, or, as the polygon is convex, that of the order inf."""
        return self.everywhere if self.slope is None else (self.rho, self.slope)

    def above(self, c: Fraction) -> Fraction | None:
        """At or above K(c); None where nothing is known."""
        polygon, line = self._polygon(c), self.everywhere
        known = [] if polygon is None else [self.rho * c * (c + 1) + polygon]
        known += [] if line is None else [c * (line[0] * (c + 1) + line[1])]
        return min(known, default=None)

    def _polygon(self, c: Fraction) -> Fraction | None:
        for (c0, k0), (c1, k1) in pairwise([(Fraction(0), Fraction(0)), *self.knots]):
            if c <= c1:
                return k0 + (k1 - k0) * (c - c0) / (c1 - c0)
        if self.slope is None:
            return None
        c0, k0 = self.knots[-1] if self.knots else (Fraction(0), Fraction(0))
        return k0 + self.slope * (c - c0)

    def limits(self) -> tuple[Limit, ...]:
        """Finitely many orders that say all of a table; with a parabola, so many that little is lost between them."""
        orders = [c for c, _ in self.knots]
        if self.rho and orders:
            orders = [*_spread([NEAREST * orders[0], *orders]), *orders]
            orders += _spread([orders[-1], LAST_ORDER * orders[-1]]) if self.slope is not None else []
        found = [(c, self.above(c)) for c in sorted(set(orders))]
        told = [Limit(c, k) for c, k in found if k is not None]
        own = self.first is not None or (self.rho and orders)
        one = self.divergence_one
        return (Limit(Fraction(0), one), *told) if own and one is not None else tuple(told)


def total(curves: Sequence[tuple[Divergences, int]]) -> Divergences:
    """The sum of (curve, count): at all orders that every one of them knows."""
    rho = sum((count * curve.rho for curve, count in curves), Fraction(0))
    slopes = [None if curve.slope is None else count * curve.slope for curve, count in curves]
    slope = None if None in slopes else sum((fraction for fraction in slopes if fraction is not None), Fraction(0))
    knots = []
    for c in sorted({c for curve, _ in curves for c, _ in curve.knots}):
        values = [(curve._polygon(c), count) for curve, count in curves]
        if all(value is not None for value, _ in values):
            knots.append((c, sum((count * value for value, count in values if value is not None), Fraction(0))))
    firsts = [
        None if one is None else count * (one - curve.rho) for curve, count in curves for one in (curve.divergence_one,)
    ]
    first = None if None in firsts else sum((fraction for fraction in firsts if fraction is not None), Fraction(0))
    made, lines = _made(rho, knots, slope, first), [(curve.line_above, count) for curve, count in curves]
    if slope is not None or any(line is None for line, _ in lines):
        return made
    rise, level = (sum((count * line[i] for line, count in lines if line), Fraction(0)) for i in (0, 1))
    return replace(made, everywhere=(rise, level))


def _made(rho: Fraction, knots: Sequence[Knot], slope: Fraction | None, first: Fraction | None) -> Divergences:
    """The lower hull; the order 1 by itself only where it says more."""
    hull: list[Knot] = [(Fraction(0), Fraction(0))]
    for c, k in sorted(knots):
        while len(hull) > 1 and _steeper(hull[-2], hull[-1], (c, k)):
            hull.pop()
        hull.append((c, k))
    if slope is not None:
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) >= slope * (hull[-1][0] - hull[-2][0]):
            hull.pop()
    curve = Divergences(rho, tuple(hull[1:]), slope)
    chord = curve.first_slope
    if (chord == 0 or first == 0) and not rho:
        return Divergences(Fraction(0), (), Fraction(0))  # both laws are the same
    if curve.line or (chord is not None and (first is None or first >= chord)):
        first = None  # beside a line order 1 is left at what the line says
    return Divergences(rho, curve.knots, slope, first)


def _steeper(one: Knot, two: Knot, three: Knot) -> bool:
    """Whether the chord before is at least as steep as the one after: then the middle one lies on or above the hull."""
    return (two[1] - one[1]) * (three[0] - two[0]) >= (three[1] - two[1]) * (two[0] - one[0])


def _spread(orders: Sequence[Fraction]) -> list[Fraction]:
    """Orders between those given, at equal ratios, as doubles: any will do."""
    found = []
    for low, high in pairwise(orders):
        steps = math.ceil(math.log(high / low) / math.log(RATIO))
        ratio = float(high / low) ** (1.0 / steps)
        found += [Fraction(float(low) * ratio**step) for step in range(steps)]
    return [fraction for fraction in found if orders[0] <= fraction < orders[-1]]
