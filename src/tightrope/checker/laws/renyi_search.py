"""Where two outcomes are best, and which orders bound them there: choices, which no bound rests on."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb, arb_mat

from ..law import exact, precision
from .two_outcomes import SOLVE_BITS, RenyiBounds, TwoOutcomes

ROUGH_BITS, ROUGH_STEPS, SEARCH_STEPS = 64, 26, 9


def searched(curve: RenyiBounds, epsilon: arb) -> tuple[TwoOutcomes, list[arb], bool] | None:
    """Where p - alpha q is about largest, and which one or two orders bound it: a choice, refined by Newton's steps."""
    with precision(ROUGH_BITS):
        corner, c = _bisected(lambda size: _worst(curve, TwoOutcomes(size, size)))
        at_corner = bool(TwoOutcomes(corner, corner).slope(c) >= epsilon.exp())
        two, orders = TwoOutcomes(corner, corner), [c, c]
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
        here = TwoOutcomes(at[0].exp(), at[-1 if at_corner else 1].exp())
        if not curve.table and not at_corner:
            c = at[2].exp()
            return [_beyond(curve, here, c), here.slope(c).log() - epsilon, here.peak(c) / c**2]
        found = [_beyond(curve, here, c) for c in sides]
        return found if len(found) == len(at) else [*found, here.slope(sides[0]).log() - epsilon]

    at = [number.mid() for number in start]
    for _ in range(SEARCH_STEPS):
        at = _stepped(at, wrong)
        if not all(number.is_finite() for number in at):
            return None
    best = [number.exp().mid() for number in at]
    if not curve.table and not at_corner:
        sides = [best[2]]
    return TwoOutcomes(best[0], best[0] if at_corner else best[1]), sides, at_corner


def _on_ray(curve: RenyiBounds, log: arb) -> tuple[TwoOutcomes, arb]:
    """About where the ray with this log of l leaves the region, and by which order."""
    ray = log.exp().mid()
    m, c = _bisected(lambda size: _worst(curve, TwoOutcomes(ray, size)))
    return TwoOutcomes(ray, m), c


def _nearest(curve: RenyiBounds, c: arb) -> arb:
    """An order of the table as it is at this precision."""
    exactly = [exact(o - 1) for o, _ in curve.table]
    return min(exactly, key=lambda each: abs(each - c).mid()) if exactly else c


def _beyond(curve: RenyiBounds, two: TwoOutcomes, c: arb) -> arb:
    """How far K(c), or D_1, is above what it may be, relative to that."""
    most = curve.most(c)
    return (two.moment(c) if c.is_zero() else (1 + two.moment(c)).log()) / most - 1


def _worst(curve: RenyiBounds, two: TwoOutcomes) -> tuple[arb, arb]:
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
