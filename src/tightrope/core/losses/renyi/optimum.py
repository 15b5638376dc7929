"""The best event at an alpha >= 1: which ray it lies on, and what proves that no other is better.

The region is convex, so along its boundary, from ray to ray, the slope dp/dq rises with the loss l; the best event is
where it passes alpha, on one order or where two of them meet. A cut at or before alpha bounds the profile, since it
falls, and so does the chord of two cuts around alpha, since it is convex; any point inside bounds it from below.
Guarantee: lower <= H(e^epsilon) <= upper whatever the search found.
Proof: docs/proofs/renyi_curve.md, section 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from flint import arb

from ...numerics.balls import working_precision
from .region import Cut, Order, Region, Stop, TwoPoint, falsi, newton

CORNER_STEPS = 60
AHEAD_STEP = 8  # times as far from epsilon, until the slope passes alpha
ROUGH = 12  # bits of the first search: Newton's steps do the rest
NOTHING = arb(2) ** -1200  # far below every double
LIMIT_FAR = 40  # epsilon from which on a curve of the other direction alone has come to its limit
AHEAD_MAX = arb(2) ** 400
KNOWN_MAX = 64  # answers that the next search may start from


@dataclass
class Search:
    """The events of a region, and those that were best before, from which the next search starts."""

    region: Region
    known: list[tuple[arb, list[Stop]]] = field(default_factory=list)

    def hockey_stick_at(self, epsilon: arb) -> tuple[arb, arb]:
        """Lower and upper end of H(e^epsilon), epsilon >= 0."""
        with working_precision(self.region.bits):
            return self.hockey_stick(epsilon)

    def hockey_stick(self, epsilon: arb) -> tuple[arb, arb]:
        """The same at the precision of the region, which is in force."""
        if not epsilon.is_exact():
            return self.hockey_stick(epsilon.upper())[0], self.hockey_stick(epsilon.lower())[1]
        region = self.region
        lower, upper = region.least(epsilon).lower(), self.above([], epsilon).upper()
        if self._met(lower, upper):
            return lower, upper
        rough = region.markov(epsilon)
        if rough < NOTHING:
            return lower, rough.upper()
        if region.flipped and epsilon > LIMIT_FAR:
            return lower, self.hockey_stick(arb(LIMIT_FAR))[1]  # it falls to its limit, which is the lower end
        for stops in self.found(epsilon):
            lower = lower.max(self.event(stops[0]).gain(epsilon).lower())
            upper = upper.min(self.above(stops, epsilon).upper())
            if self._met(lower, upper):
                self.known = [*self.known, (epsilon, stops)][-KNOWN_MAX:]
                break
        return lower, upper

    def _met(self, lower: arb, upper: arb) -> bool:
        return bool(upper - lower <= upper * arb(2) ** -(self.region.bits // 4))

    def above(self, stops: Sequence[Stop], epsilon: arb) -> arb:
        """The least of what the cuts say at alpha."""
        alpha, best = epsilon.exp(), arb(1)
        cuts = [stop.order.cut(stop.at) for stop in stops if stop.order is not None] + self.region.fixed_cuts()
        before = [cut for cut in cuts if cut.alpha <= alpha and cut.height.is_finite()]
        after = [cut for cut in cuts if cut.alpha >= alpha and cut.height.is_finite()]
        for first in before:
            best = _least(best, first.height)
            for last in after:
                if last.alpha > first.alpha:
                    best = _least(best, _chord(first, last, alpha))
        return best.max(arb(0))

    def event(self, stop: Stop, shares: Sequence[int] = ()) -> TwoPoint:
        """A point near this one that is proven to lie inside: divergences grow with l and m; else one of no gain."""
        bits = self.region.bits
        for share in shares or (bits * 3 // 5, bits * 2 // 5, bits // 4, bits // 8, 10):
            less = 1 - arb(2) ** -share
            at = TwoPoint((stop.at.loss * less).mid(), (stop.at.m * less).mid())
            if self.region.inside(Stop(at, stop.order), share):
                return at
        return TwoPoint(stop.at.loss, arb(0))

    @cached_property
    def corner(self) -> Stop | None:
        """Both ways: where p + q = 1, the largest l that is inside."""
        region = self.region
        if not region.middle:
            return None
        if region.curve.line:
            return self._corner_of_line()
        edge, found = region.edge, None
        for order in region.orders:
            if edge is None or order.moment(TwoPoint(edge, edge)) > order.limit:
                edge, found = _even(order, region.bits), order
        assert edge is not None
        return Stop(TwoPoint(edge.lower(), edge.lower()), found)

    def _corner_of_line(self) -> Stop:
        region, c, bits = self.region, arb(0), self.region.bits // 2
        for _ in range(CORNER_STEPS):
            order = region.order_of_line(c)
            even = _even(order, region.bits)
            after = region.worst(TwoPoint(even, even), c, bits)
            if abs(after - c) <= arb(2) ** -bits * c:
                break
            c = after
        return Stop(TwoPoint(even, even), order)

    def found(self, epsilon: arb) -> Iterator[list[Stop]]:
        """What the best event may be, the first of each with the orders that prove it; from the cheapest guess on."""
        low: Stop | None = self.corner
        if low is not None and (low.order is None or low.order.log_slope(low.at) >= epsilon):
            yield [low]
            return
        if self.known:
            known, stops = min(self.known, key=lambda each: float(abs(each[0] - epsilon)))
            if stops[0].at.loss > known:
                start = epsilon + (stops[0].at.loss - known), stops[0].at.m
                yield from self._polished(TwoPoint(*(value.mid() for value in start)), stops, epsilon)
        low, high = self._bracket(epsilon, low)
        for bits in (ROUGH, 3 * ROUGH, self.region.bits // 2):
            low, high = self._pinched(low, high, epsilon, bits)
            ends = [each for each in (high, low) if each is not None]
            if not ends:
                return
            for stops in ([ends[0]], [ends[-1]], ends):
                yield from self._polished(ends[0].at, stops, epsilon)
            yield ends
            yield ends[::-1]

    def _off(self, stop: Stop | None, epsilon: arb) -> arb | None:
        """log slope - epsilon; None where it falls short of any alpha >= 1."""
        return None if stop is None or stop.order is None else (stop.order.log_slope(stop.at) - epsilon).mid()

    @cached_property
    def top(self) -> arb | None:
        """The largest loss that there is."""
        return None if self.region.flipped or self.region.edge is None else self.region.edge.lower()

    def _bracket(self, epsilon: arb, low: Stop | None) -> tuple[Stop | None, Stop | None]:
        """Rays on either side of the best one, as far as there are."""
        region, top, near = self.region, self.top, low
        high: Stop | None = None
        ahead = arb(1) if low is None else low.at.loss
        # Forwards alone, rays of a smaller loss end at p = 1.
        base = epsilon if region.middle or region.flipped else epsilon.max(region.end)
        while True:
            loss = (base + ahead).mid()
            if low is not None and loss <= low.at.loss and high is not None:
                return low, high
            last = top is not None and not loss < top
            stop = region.stop(top if last and top is not None else loss, near, ROUGH)
            off = self._off(stop, epsilon)
            if off is not None and off > 0:
                high = near = stop
                if ahead < arb(2) ** -(region.bits // 2):
                    return low, high
                ahead = ahead / AHEAD_STEP
            else:
                low, near = stop, stop or near
                if high is not None or last or ahead > AHEAD_MAX:
                    return low, high
                ahead = ahead * AHEAD_STEP

    def _pinched(self, low: Stop | None, high: Stop | None, epsilon: arb, bits: int) -> tuple[Stop | None, Stop | None]:
        """Rays on either side that are close to each other, to so many bits of the loss beyond epsilon."""
        if low is None or high is None:
            return low, high
        first, last, side = self._off(low, epsilon), self._off(high, epsilon), 0
        for _ in range(4 * bits):
            if high.at.loss - low.at.loss <= (high.at.loss - epsilon) * arb(2) ** -bits:
                break
            share = arb(0.5)
            if first is not None and last is not None and low.order is not None and abs(side) < 3:
                share = (first / (first - last)).max(arb(2) ** -10).min(1 - arb(2) ** -10)
            stop = self.region.stop((low.at.loss + (high.at.loss - low.at.loss) * share).mid(), high, bits + 4)
            off = self._off(stop, epsilon)
            if off is not None and off > 0:
                assert stop is not None
                side = side + 1 if side > 0 else 1
                high, last = stop, off
            else:
                side = side - 1 if side < 0 else -1
                low, first = stop or low, off
                if stop is None:
                    break
        return low, high

    def _polished(self, start: TwoPoint, stops: Sequence[Stop], epsilon: arb) -> Iterator[list[Stop]]:
        """The event at which the orders of these stops meet, or at which the one of them has the slope alpha."""
        region, bits = self.region, self.region.bits
        fixed = self.top if self._at_top(start) else None
        stops = stops if fixed is None else stops[:1]
        orders = [stop.order for stop in stops if stop.order is not None]
        target = epsilon - (start.loss - epsilon) * arb(2) ** -(bits * 7 // 10)
        moving = region.curve.line and len(orders) == 1 and orders[0].c > 0
        if not orders or (region.curve.line and len(orders) > 1) or (fixed is not None and len(orders) < len(stops)):
            return

        def event(x: Sequence[arb]) -> TwoPoint:
            loss = epsilon + x[0].exp() if fixed is None else fixed
            m = region.edge if len(orders) < len(stops) else x[-1].exp()
            assert m is not None
            return TwoPoint(loss, m)

        def system(x: Sequence[arb]) -> list[arb]:
            at = event(x)
            if moving:
                order = region.order_of_line(x[1].exp())
                return [_short(order, at), region.rise(at, order.c), order.log_slope(at) - target]
            told = [_short(order, at) for order in orders]
            return told if len(stops) > 1 or fixed is not None else [*told, orders[0].log_slope(at) - target]

        start_at = [(start.loss - epsilon).log()] if fixed is None else []
        start_at += [orders[0].c.log()] if moving else []
        start_at += [start.m.log()] if len(orders) == len(stops) else []
        values = newton(system, start_at, bits)
        if values is not None:
            at = event(values)
            at = TwoPoint(at.loss.mid(), at.m.mid())
            told = [region.order_of_line(values[1].exp().mid())] if moving else orders
            yield [Stop(at, order) for order in told]

    def _at_top(self, at: TwoPoint) -> bool:
        return self.top is not None and bool(at.loss >= self.top)


def _short(order: Order, at: TwoPoint) -> arb:
    return (order.moment(at) / order.limit).log()


def _even(order: Order, bits: int) -> arb:
    """l = m at which randomized response meets a bound: D_a is at most l, and at least l^2 / (2 + l)."""
    least = order.k / order.c if order.c > 0 else order.k
    most = (least + (least * least + 8 * least).sqrt()) / 2 * (1 + arb(2) ** -20)
    least = least * (1 - arb(2) ** -20)
    first, last = (_short(order, TwoPoint(value, value)) for value in (least, most))
    return falsi(lambda even: _short(order, TwoPoint(even, even)), (least, first), (most, last), bits * 3 // 4)


def _chord(first: Cut, last: Cut, alpha: arb) -> arb:
    share = (alpha - first.alpha) / (last.alpha - first.alpha)
    return first.height * (1 - share) + last.height * share


def _least(one: arb, other: arb) -> arb:
    """The one whose upper end is less."""
    return other if other.upper() < one.upper() else one
