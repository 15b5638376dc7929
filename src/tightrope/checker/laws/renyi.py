"""Bounds on Renyi divergences, in both directions: a table of orders, or rho-zCDP; and the largest delta that follows.

Among all laws that keep to them two outcomes (p, 1 - p), (q, 1 - q) have the largest p - a q. Any order's tangent at
any point bounds it from above, a point that keeps to all orders from below. Where to look is found by a search.
Proof: docs/proofs/renyi_curve.md, sections 1 to 5; docs/proofs/checker_laws.md, "Renyi curves".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_mat

from ..law import CheckedLaw, NotCheckable, Term, exact, power, precision

SOLVE_BITS, ROUGH_BITS = 384, 64
ROUGH_STEPS, NEWTON_STEPS = 26, 9
PEAK_BITS = 60  # how near to a peak it is looked at, relative
SHRINKS = (110, 90, 70, 58, 50)  # by how little a point is moved inward, so that it keeps to all orders


@dataclass(frozen=True)
class DivergencesLaw(CheckedLaw):
    """D_order <= r at each order of the table, or <= rho order at all; given an event of probability 1 - leak."""

    table: tuple[tuple[Fraction, Fraction], ...]
    rho: Fraction = Fraction(0)
    leak: Fraction = Fraction(0)

    def reversed(self) -> DivergencesLaw:
        return self

    def shifted(self, size: int) -> DivergencesLaw | None:
        """rho size^2 (docs/proofs/group.md, section 9)."""
        if size == 1 or self.table or self.leak:
            return self if size == 1 else None
        return DivergencesLaw((), self.rho * size**2)


@dataclass(frozen=True)
class _Curve:
    """What a sum of such laws keeps to: D_order <= r at the orders of a table, else K(c) <= c (c + 1) rho for c > 0."""

    table: tuple[tuple[Fraction, Fraction], ...]
    rho: Fraction

    def most(self, c: arb) -> arb:
        """What K(c) may be; of a table at one of its orders, of order 1 D_1."""
        if not self.table:
            return c * (c + 1) * exact(self.rho)
        return next(
            (exact(r) * (exact(o - 1) if o > 1 else 1) for o, r in self.table if exact(o - 1).overlaps(c)), arb("nan")
        )


@dataclass(frozen=True)
class _Two:
    """Two outcomes by up = log p/q > 0 and down = log (1 - q)/(1 - p) > 0."""

    up: arb
    down: arb

    def p(self) -> arb:
        return self.up.exp() * self.q()

    def q(self) -> arb:
        return self.down.expm1() / (self.up + self.down).expm1()

    def rest(self) -> arb:
        """1 - p."""
        return self.up.expm1() / (self.up + self.down).expm1()

    def moment(self, c: arb) -> arb:
        """e^{K(c)} - 1; D_1 for c = 0."""
        if c.is_zero():
            return self.p() * self.up - self.rest() * self.down
        return self.p() * (c * self.up).expm1() + self.rest() * (-c * self.down).expm1()

    def rising(self, c: arb) -> arb:
        """The derivative of that in p."""
        return self.up + self.down if c.is_zero() else (1 + c) * ((c * self.up).exp() - (-c * self.down).exp())

    def slope(self, c: arb) -> arb:
        """dp/dq along a line where it is constant."""
        d = self.up + self.down
        if c.is_zero():
            return -self.up.exp() * (-d).expm1() / d
        return self.up.exp() * c * (-(1 + c) * d).expm1() / ((1 + c) * (-c * d).expm1())

    def peak(self, c: arb) -> arb:
        """Of the sign of the derivative of K(c)/(c (c + 1))."""
        f = 1 + self.moment(c)
        first = self.p() * self.up * (c * self.up).exp() - self.rest() * self.down * (-c * self.down).exp()
        return first / f * (c + 1) * c - f.log() * (2 * c + 1)


def converted(terms: Sequence[Term], epsilon: arb) -> Iterator[tuple[arb, arb]]:
    """Lower and upper end of the largest delta of a sum of such laws."""
    laws = [(law, uses) for law, uses in terms if isinstance(law, DivergencesLaw)]
    if len(laws) < len(terms):
        raise NotCheckable("bounds on divergences beside other laws are not known to the checker")
    tables = [(law, uses) for law, uses in laws if law.table]
    orders = {tuple(order for order, _ in law.table) for law, _ in tables}
    if len(orders) > 1 or len(terms) == 0:
        raise NotCheckable("tables of different orders are not known to the checker")
    rho = sum((law.rho * uses for law, uses in laws), Fraction(0))
    sums = tuple(
        (order, sum((law.table[i][1] * uses for law, uses in tables), rho * order))
        for i, order in enumerate(next(iter(orders), ()))
    )
    curve, kept = _Curve(sums, rho), arb(1)
    for law, uses in laws:
        kept *= power(exact(1 - law.leak), uses)
    if epsilon == arb("inf") or epsilon == arb("-inf"):
        yield ((1 - kept,) * 2) if epsilon > 0 else (arb(1), arb(1))
        return
    with precision(SOLVE_BITS):
        low, high = _enclosed(curve, abs(epsilon))
        low, high = 1 - kept + kept * low, 1 - kept + kept * high
        if epsilon < 0:
            share = epsilon.exp()
            low, high = 1 - share + share * low, 1 - share + share * high
        yield low, high


def _enclosed(curve: _Curve, epsilon: arb) -> tuple[arb, arb]:
    """Of an epsilon of 0 or more, so that p + q <= 1 may be assumed, and then one order of the laws is enough."""
    if (curve.rho == 0 and not curve.table) or any(r == 0 for _, r in curve.table):
        return arb(0), arb(0)
    alpha = epsilon.exp()
    found = _searched(curve, epsilon)
    if found is None:
        return arb(0), arb(1)
    two, orders, corner = found
    high = _cuts(curve, two, orders, alpha, corner)
    for bits in SHRINKS:
        inside = _Two(*((number * (1 - arb(2) ** -bits)).mid() for number in (two.up, two.down)))
        if inside.down <= inside.up and _keeps(curve, inside, orders[0]):
            return (inside.p() - alpha * inside.q()).max(arb(0)), high.min(arb(1))
    return arb(0), high.min(arb(1))


def _cuts(curve: _Curve, two: _Two, orders: list[arb], alpha: arb, corner: bool) -> arb:
    """p - s q <= p0 - s q0 + (e^k - f0)/f_p over all that keep to an order, s its slope; for two bounds a mean of them.

    At a corner the other bound is p + q <= 1. What the slope is above alpha costs as much, as q <= 1; what it is below
    costs nothing, as q >= 0.
    """
    heights = [(arb(-1), arb(1))] if corner else []
    for c in orders:
        most, slope = curve.most(c), two.slope(c)
        room = (most if c.is_zero() else most.expm1()) - two.moment(c)
        heights.append((slope, two.p() - slope * two.q() + room / two.rising(c)))
    heights.sort(key=lambda each: each[0].mid())
    (slope, height), (other, level) = heights[0], heights[-1]
    if len(heights) > 1 and slope < other:
        share = ((other - alpha) / (other - slope)).mid().max(arb(0)).min(arb(1))
        slope, height = share * slope + (1 - share) * other, share * height + (1 - share) * level
    return height + (slope - alpha).max(arb(0))


def _keeps(curve: _Curve, two: _Two, near: arb) -> bool:
    """Whether it keeps to every order: K(c)/(c (c + 1)) has one peak, which is between two places around `near`.

    Where l = m it is largest at order 1 (docs/proofs/zcdp.md, theorem 1).
    """
    if curve.table:
        return all(
            two.moment(exact(o - 1)) <= (exact((o - 1) * r).expm1() if o > 1 else exact(r)) for o, r in curve.table
        )
    if near.is_zero():
        return bool(two.up == two.down and two.moment(near) <= exact(curve.rho))
    first, last = near * (1 - arb(2) ** -PEAK_BITS), near * (1 + arb(2) ** -PEAK_BITS)
    if not (two.peak(first) > 0 and two.peak(last) < 0):
        return False
    here = first.union(last)
    steep = abs(two.peak(here) / (here * (here + 1)) ** 2).upper()
    return bool((1 + two.moment(first)).log() / (first * (first + 1)) + (last - first) * steep <= exact(curve.rho))


def _searched(curve: _Curve, epsilon: arb) -> tuple[_Two, list[arb], bool] | None:
    """Where p - alpha q is about largest, and which one or two orders bound it: a choice, refined by Newton's steps."""
    with precision(ROUGH_BITS):
        corner, c = _bisected(lambda size: _worst(curve, _Two(size, size)))
        at_corner = bool(_Two(corner, corner).slope(c) >= epsilon.exp())
        two, orders = _Two(corner, corner), [c, c]
        low, high = corner.log(), corner.log() + 12
        for _ in range(0 if at_corner else ROUGH_STEPS):
            two, c = _on_ray(curve, (low + high) / 2)
            low, high = (low, two.up.log()) if two.slope(c) > epsilon.exp() else (two.up.log(), high)
        if not at_corner:
            orders = [_on_ray(curve, low)[1], _on_ray(curve, high)[1]]
    if not two.up.is_finite() or not two.down.is_finite():
        return None
    start = [two.up.log()] if at_corner else [two.up.log(), two.down.log()]
    if not curve.table and not at_corner:
        start.append(orders[0].max(arb(2) ** -30).log())
    sides = orders if curve.table and orders[0] != orders[1] and not at_corner else orders[:1]
    sides = [_nearest(curve, c) for c in sides]

    def wrong(at: list[arb]) -> list[arb]:
        here = _Two(at[0].exp(), at[-1 if at_corner else 1].exp())
        if not curve.table and not at_corner:
            c = at[2].exp()
            return [_beyond(curve, here, c), here.slope(c).log() - epsilon, here.peak(c) / c**2]
        found = [_beyond(curve, here, c) for c in sides]
        return found if len(found) == len(at) else [*found, here.slope(sides[0]).log() - epsilon]

    at = [number.mid() for number in start]
    for _ in range(NEWTON_STEPS):
        at = _stepped(at, wrong)
        if not all(number.is_finite() for number in at):
            return None
    best = [number.exp().mid() for number in at]
    if not curve.table and not at_corner:
        sides = [best[2]]
    return _Two(best[0], best[0] if at_corner else best[1]), sides, at_corner


def _on_ray(curve: _Curve, log: arb) -> tuple[_Two, arb]:
    """About where the ray with this log of l leaves the region, and by which order."""
    ray = log.exp().mid()
    m, c = _bisected(lambda size: _worst(curve, _Two(ray, size)))
    return _Two(ray, m), c


def _nearest(curve: _Curve, c: arb) -> arb:
    """An order of the table as it is at this precision."""
    exactly = [exact(o - 1) for o, _ in curve.table]
    return min(exactly, key=lambda each: abs(each - c).mid()) if exactly else c


def _beyond(curve: _Curve, two: _Two, c: arb) -> arb:
    """How far K(c), or D_1, is above what it may be, relative to that."""
    most = curve.most(c) if not c.is_zero() or curve.table else exact(curve.rho)
    return (two.moment(c) if c.is_zero() else (1 + two.moment(c)).log()) / most - 1


def _worst(curve: _Curve, two: _Two) -> tuple[arb, arb]:
    """The largest of these over the orders, and where it is: about, for all orders, by the golden section."""
    if curve.table:
        orders = [exact(o - 1) for o, _ in curve.table]
        values = [_beyond(curve, two, c) for c in orders]
        place = max(range(len(orders)), key=lambda i: values[i].mid())
        return values[place], orders[place]
    if two.up == two.down:
        return _beyond(curve, two, arb(0)), arb(0)
    low, high = arb(-30), arb(30)
    golden = (arb(5).sqrt() - 1) / 2
    points = [high - golden * (high - low), low + golden * (high - low)]
    values = [_beyond(curve, two, point.exp()).mid() for point in points]
    for _ in range(ROUGH_STEPS):
        if values[0] > values[1] or not values[1].is_finite():
            high, points[1], values[1] = points[1], points[0], values[0]
            points[0] = (high - golden * (high - low)).mid()
            values[0] = _beyond(curve, two, points[0].exp()).mid()
        else:
            low, points[0], values[0] = points[0], points[1], values[1]
            points[1] = (low + golden * (high - low)).mid()
            values[1] = _beyond(curve, two, points[1].exp()).mid()
    return values[0], points[0].exp().mid()


def _bisected(worst: Callable[[arb], tuple[arb, arb]]) -> tuple[arb, arb]:
    """About where a bound is met, and by which order."""
    low, high, order = arb(-60), arb(12), arb(0)
    for _ in range(ROUGH_STEPS):
        middle = ((low + high) / 2).mid()
        value, order = worst(middle.exp().mid())
        low, high = (middle, high) if value <= 0 else (low, middle)
    return ((low + high) / 2).exp().mid(), order


def _stepped(at: list[arb], wrong: Callable[[list[arb]], list[arb]]) -> list[arb]:
    """One step of Newton's, with differences for derivatives."""
    size, gap = len(at), arb(2) ** -(SOLVE_BITS // 3)
    here = wrong(at)
    moved = [wrong([x + (gap if i == j else 0) for i, x in enumerate(at)]) for j in range(size)]
    slopes = [[((moved[j][i] - here[i]) / gap).mid() for j in range(size)] for i in range(size)]
    try:
        step = arb_mat(slopes).solve(arb_mat([[value.mid()] for value in here]))
    except ZeroDivisionError:
        return [arb("nan")] * size
    return [(x - step[i, 0].max(arb(-1)).min(arb(1))).mid() for i, x in enumerate(at)]
