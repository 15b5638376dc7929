"""All two-point laws that keep to a curve: how far a ray of events reaches, and whether a point is inside.

Along a ray of events of one loss l the masses grow from 0, and with them every divergence, until one order stops them.
Of finitely many orders it is the first; of a line, D_a <= xi + rho a for every a >= 1, it is the one at which
R(c) = (K(c) - xi c) / (c (c + 1)) is largest, and R has one peak where it is above 0.
Guarantee: `inside` is proven, for every order; `stop` is about right, and any answer of it gives valid cuts.
Proof: docs/proofs/renyi_curve.md, sections 2 and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from flint import arb, arb_mat

from ..atoms import ratio_ball
from .divergence_curve import Divergences

# Two laws on two outcomes, and what a bound on one Renyi divergence says of them.
#
# An event of masses p = P(A) > q = Q(A) has the loss l = log p/q > 0 there and -m = log (1-p)/(1-q) < 0 elsewhere, and
# (l, m) tell all four masses without a difference. E e^{c loss} = e^{K(c)} is jointly convex in (p, q), so where it is
# f >= e^k, the limit, the tangent at (p, q) parts the point from every pair that keeps to it:
# p' - a q' <= p - a q + (e^k - f)/f_p for all of those, a = -f_q/f_p. That is a bound on their profile at alpha = a.
# Proof: docs/proofs/renyi_curve.md, sections 2 and 3.

START_FAR = 16  # in log m: where a start is no better than a guess
REACH_STEPS = 80  # of a root: far more than Newton takes


class Cut(NamedTuple):
    """The profile at alpha is at most `height`, for all that keep to a bound."""

    alpha: arb
    height: arb


class TwoPoint:
    """The loss l > 0 of an event and -m < 0 of the rest; the masses of both, p and q of the event."""

    __slots__ = ("_scale", "loss", "m", "p", "p_rest", "q", "q_rest")

    def __init__(self, loss: arb, m: arb) -> None:
        self.loss, self.m = loss, m
        self._scale = (loss + m).expm1()
        self.q = m.expm1() / self._scale
        self.p = self.q * loss.exp()
        self.p_rest = loss.expm1() / self._scale
        self.q_rest = self.p_rest * m.exp()

    def gain(self, epsilon: arb) -> arb:
        """p - e^epsilon q."""
        return -self.p * (epsilon - self.loss).expm1()

    def drift(self) -> arb:
        """dq/dm at the same l."""
        return self.q_rest / self._scale


@dataclass(frozen=True)
class Order:
    """K(c) <= k, or D_1 <= k where c = 0; of (Q, P) where `flipped`."""

    c: arb
    k: arb
    flipped: bool

    @cached_property
    def limit(self) -> arb:
        """What `moment` may be at most."""
        return self.k.expm1() if self.c > 0 else self.k

    def moment(self, at: TwoPoint) -> arb:
        """e^K - 1, or D_1."""
        most, up, least, down = (at.q_rest, at.m, at.q, at.loss) if self.flipped else (at.p, at.loss, at.p_rest, at.m)
        if self.c > 0:
            return most * (self.c * up).expm1() + least * (-self.c * down).expm1()
        return most * up - least * down

    def ahead(self, at: TwoPoint) -> arb:
        """The derivative of `moment` in p."""
        c, d = self.c, at.loss + at.m
        if c > 0:
            return (
                c * _gap((c + 1) * at.m, (c + 1) * at.loss) if self.flipped else (c + 1) * _gap(c * at.loss, c * at.m)
            )
        return _gap(at.m, at.loss) if self.flipped else d

    def log_share(self, at: TwoPoint) -> arb:
        """log of the slope dp/dq of the level set, less l; below 0."""
        c, d = self.c, at.loss + at.m
        if c > 0:
            share = (c / (c + 1)).log() + (-(-(c + 1) * d).expm1()).log() - (-(-c * d).expm1()).log()
            return -share - d if self.flipped else share
        share = (-(-d).expm1() / d).log()
        return -share - d if self.flipped else share

    def cut(self, at: TwoPoint) -> Cut:
        """The tangent at a point, whether or not it keeps to the bound."""
        share = self.log_share(at)
        slack = (self.limit - self.moment(at)) / self.ahead(at)
        return Cut((at.loss + share).exp(), slack - at.p * share.expm1())

    def log_slope(self, at: TwoPoint) -> arb:
        """log dp/dq of the level set."""
        return at.loss + self.log_share(at)

    def reach(self, loss: arb, start: arb | None, most: arb | None, bits: int) -> arb | None:
        """m of the point where the ray of events with this l meets the bound, about; None where it is not before most.

        Newton on log moment as a function of log m, which is nearly straight, with a bracket.
        """
        if most is None and not self.flipped and (self.c * loss <= self.k if self.c > 0 else loss <= self.k):
            return None
        low, high = None, most
        m = self._guess(loss)
        if start is not None and abs((start / m).log()) < START_FAR:
            m = start
        if high is not None and not m < high:
            m = high
        target, tiny = self.limit.log(), arb(2) ** -bits
        for _ in range(REACH_STEPS):
            at = TwoPoint(loss, m)
            moment = self.moment(at)
            off = (moment.log() - target).mid()
            if off < 0:
                if high is not None and m >= high:
                    return None
                low = m
            else:
                high = m
            rise = self.ahead(at) * -self.log_share(at).expm1() * loss.exp() * at.drift() * m / moment
            step = off / rise
            if abs(step) < tiny:
                return m
            after = (m * (-(step.min(arb(8)).max(arb(-8)))).exp()).mid()
            if (low is not None and not after > low) or (high is not None and not after < high):
                if low is None or high is None:
                    after = m / 16 if off >= 0 else m * 16
                    after = after if high is None or after < high else high
                else:
                    after = (low * high).sqrt().mid()
            if not after.is_finite() or (low is not None and high is not None and high - low < tiny * high):
                return m
            m = after
        return m

    def _guess(self, loss: arb) -> arb:
        """m where the tangent at the origin of the ray meets the bound."""
        c = self.c
        if c > 0:
            rate = (
                (-c * loss).expm1() + c * loss.expm1()
                if self.flipped
                else ((c + 1) * loss).expm1() - (c + 1) * loss.expm1()
            )
        else:
            rate = loss.expm1() - loss if self.flipped else loss * loss.exp() - loss.expm1()
        q = self.limit / rate
        rest = 1 - q * loss.exp()
        value = (q * loss.expm1() / rest).log1p() if rest > arb(2) ** -60 else arb(1).max(loss)
        return value.mid() if value.is_finite() and value > 0 else arb(1)


def _gap(up: arb, down: arb) -> arb:
    """e^up - e^-down, without a difference where both are small."""
    return (up + down).expm1() * (-down).exp()


# Roots in balls that are taken for their middles: choices, which nothing rests on.

FALSI_STEPS = 120
SYSTEM_STEPS = 12

Point = tuple[arb, arb]
System = Callable[[Sequence[arb]], list[arb]]


def falsi(function: Callable[[arb], arb], low: Point, high: Point, bits: int) -> arb:
    """An argument near a change of sign between two points, by the Illinois rule, to so many bits of the distance."""
    (a, fa), (b, fb) = low, high
    tiny = abs(b - a) * arb(2) ** -bits
    side, x = 0, b
    for _ in range(FALSI_STEPS):
        before, x = x, (a + (b - a) * (fa / (fa - fb))).mid()
        if not x.is_finite():
            return ((a + b) / 2).mid()
        fx = function(x).mid()
        if fx == 0 or abs(x - before) <= tiny or abs(b - a) <= tiny:
            break
        if (fx > 0) == (fa > 0):
            a, fa = x, fx
            fb = fb / 2 if side < 0 else fb
            side = -1
        else:
            b, fb = x, fx
            fa = fa / 2 if side > 0 else fa
            side = 1
    return x


def newton(system: System, start: Sequence[arb], bits: int) -> list[arb] | None:
    """A root of as many equations as unknowns, from quotients of differences; None where it does not come closer."""
    x, size = [value.mid() for value in start], len(start)
    nudge, before = arb(2) ** -(bits // 2), arb(1)
    for _ in range(SYSTEM_STEPS):
        at = [value.mid() for value in system(x)]
        columns = []
        for index in range(size):
            moved = [value + nudge if place == index else value for place, value in enumerate(x)]
            columns.append(
                [((value.mid() - known) / nudge).mid() for value, known in zip(system(moved), at, strict=True)]
            )
        try:
            step = arb_mat([[columns[j][i] for j in range(size)] for i in range(size)]).solve(
                arb_mat([[value] for value in at])
            )
        except ZeroDivisionError:
            return None
        moves = [step[i, 0].mid() for i in range(size)]
        length = arb(0)
        for move in moves:
            length = length.max(abs(move))
        if not length.is_finite() or not length < 2 * before:
            return None
        x = [(value - move).mid() for value, move in zip(x, moves, strict=True)]
        if length < arb(2) ** -(bits * 9 // 20):
            return x  # the next step is the square of this one
        before = length
    return None


SMALLEST = arb(2) ** -60  # of c: below, order 1 is meant
ROUNDS = 40
RAY_NEAR = 3  # in log m and log c: how far a known ray may help


class Stop(NamedTuple):
    """A point at the end of its ray, and the order that stops it; None where it is the bound of order inf."""

    at: TwoPoint
    order: Order | None


@dataclass(frozen=True)
class Region:
    """The laws (p, q), p >= q, that keep to a curve: as (P, Q), or as (Q, P) where flipped.

    middle: both ways, which for p + q <= 1 is the first of them, and no other laws are better at alpha >= 1.
    bits: the precision that is in force when it is asked.
    """

    curve: Divergences
    flipped: bool
    middle: bool
    bits: int

    @cached_property
    def orders(self) -> tuple[Order, ...]:
        return tuple(Order(ratio_ball(c), ratio_ball(k), self.flipped) for c, k in self.curve.limits())

    @cached_property
    def edge(self) -> arb | None:
        """The bound of order inf."""
        return None if self.curve.rho or self.curve.slope is None else ratio_ball(self.curve.slope)

    @cached_property
    def xi(self) -> arb:
        return ratio_ball(self.curve.slope or self.curve.rho * 0)

    @cached_property
    def rho(self) -> arb:
        return ratio_ball(self.curve.rho)

    def order_of_line(self, c: arb) -> Order:
        return Order(c, self.xi + self.rho if c.is_zero() else c * (self.xi + self.rho * (c + 1)), self.flipped)

    def stop(self, loss: arb, near: Stop | None, bits: int) -> Stop | None:
        """The end of the ray of this loss, to about so many bits; None where it has none before p = 1."""
        start = None if near is None else near.at.m
        if self.curve.line:
            c = arb(1) if near is None or near.order is None else near.order.c
            return self._stop_of_line(loss, start, c, bits)
        most = self.edge if self.flipped else None
        found: Order | None = None
        orders = self.orders
        if near is not None and near.order is not None:
            orders = (near.order, *orders)
        for order in orders:
            if most is not None and order.moment(TwoPoint(loss, most)) <= order.limit:
                continue
            m = order.reach(loss, most if found else start, most, bits)
            if m is not None:
                most, found = m, order
        return None if most is None else Stop(TwoPoint(loss, most), found)

    def _stop_of_line(self, loss: arb, start: arb | None, c: arb, bits: int) -> Stop | None:
        tiny, m = arb(2) ** -bits, start
        stepped = None if start is None or c.is_zero() else self._stepped(loss, start, c, bits)
        if stepped is not None:
            return stepped
        for _ in range(ROUNDS):
            order = self.order_of_line(c)
            value = order.reach(loss, m, None, bits)
            if value is None:
                if c.is_zero():
                    return None
                c = arb(0)
                continue
            m = value
            after = self.worst(TwoPoint(loss, m), c, bits)
            if abs(after - c) <= tiny * c:
                break
            c = after
        assert m is not None
        return Stop(TwoPoint(loss, m), order)

    def _stepped(self, loss: arb, m: arb, c: arb, bits: int) -> Stop | None:
        """The end of a ray next to a known one, by Newton's steps; None where they lead nowhere."""

        def system(x: Sequence[arb]) -> list[arb]:
            at, order = TwoPoint(loss, x[0].exp()), self.order_of_line(x[1].exp())
            return [(order.moment(at) / order.limit).log(), self.rise(at, order.c)]

        values = newton(system, [m.log(), c.log()], bits)
        if values is None or not abs(values[0] - m.log()) + abs(values[1] - c.log()) < RAY_NEAR:
            return None
        at, order = TwoPoint(loss, values[0].exp().mid()), self.order_of_line(values[1].exp().mid())
        return Stop(at, order) if self.rise(at, arb(0)) > 0 else None

    def worst(self, at: TwoPoint, near: arb, bits: int) -> arb:
        """About where R is largest: c, and 0 for order 1."""
        if not self.rise(at, arb(0)) > 0:
            return arb(0)
        low = high = near if near > SMALLEST else arb(1)
        value = first = self.rise(at, low)
        if value > 0:
            while value > 0:
                low, first, high = high, value, high * 4
                value = self.rise(at, high)
            last = value
        else:
            last = value
            while not value > 0:
                high, last, low = low, value, low / 4
                if low < SMALLEST:
                    return arb(0)
                value = self.rise(at, low)
            first = value
        ends = (low.log(), first), (high.log(), last)
        return falsi(lambda log_c: self.rise(at, log_c.exp().mid()), *ends, bits).exp().mid()

    def rise(self, at: TwoPoint, c: arb) -> arb:
        """What R' has the sign of: ((K' - xi) c (c + 1) - (K - xi c)(2 c + 1)) / c^2; its limit at c = 0."""
        most, up, least, down = self._two(at)
        if c.is_zero():
            return most * least * (up + down) ** 2 / 2 - (most * up - least * down - self.xi)
        grown, shrunk = most * (c * up).exp(), least * (-c * down).exp()
        moment = most * (c * up).expm1() + least * (-c * down).expm1()
        slope = (grown * up - shrunk * down) / (grown + shrunk)
        return ((slope - self.xi) * (c + 1) - (moment.log1p() / c - self.xi) * (2 * c + 1)) / c

    def _two(self, at: TwoPoint) -> tuple[arb, arb, arb, arb]:
        """The losses of the direction that the curve is about, and their masses."""
        return (at.q_rest, at.m, at.q, at.loss) if self.flipped else (at.p, at.loss, at.p_rest, at.m)

    def inside(self, stop: Stop, bits: int) -> bool:
        """Whether the point keeps to every order, for certain; by how much is about 2^-bits."""
        at = stop.at
        if self.middle and not at.m <= at.loss:
            return False
        if self.curve.line:
            return self._inside_of_line(at, arb(1) if stop.order is None else stop.order.c, bits * 2 // 3)
        if self.edge is not None and not (at.m if self.flipped else at.loss) <= self.edge:
            return False
        return all(order.moment(at) <= order.limit for order in self.orders)

    def _inside_of_line(self, at: TwoPoint, c: arb, bits: int) -> bool:
        """By order 1 where R falls from there on, else around c, where it has its peak."""
        one = self.order_of_line(arb(0))
        if not one.moment(at) <= one.limit:
            return False
        if self.rise(at, arb(0)) < 0:
            return True  # R falls from order 1 on
        wide = arb(2) ** -bits
        low, high = c * (1 - wide), c * (1 + wide)
        if not (c > 0 and self.rise(at, low) > 0 and self.rise(at, high) < 0):
            return False
        span = low.union(high)
        if not (self.height(at, low) > 0 and self.height(at, high) > 0):
            return False
        most = self.height(at, c) + (high - low) * abs(self.rise(at, span)) / (span + 1) ** 2
        return bool(most <= self.rho)

    def height(self, at: TwoPoint, c: arb) -> arb:
        """R(c)."""
        moment = Order(c, arb(0), self.flipped).moment(at)
        return (moment.log1p() / c - self.xi) / (c + 1)

    @cached_property
    def end(self) -> arb:
        """D_1 at most: p = 1, q = e^-end, or q = 0, p = 1 - e^-end where flipped, keep to every order."""
        one = self.curve.divergence_one
        assert one is not None
        return ratio_ball(one)

    def fixed_cuts(self) -> list[Cut]:
        """What needs no search: p <= 1, p + q <= 1 where that may be assumed, the order inf, the tangent at the end."""
        cuts = [Cut(arb(0), arb(1))]
        if self.middle:
            cuts.append(Cut(arb(-1), arb(1)))
        if self.edge is not None:
            falling = (-self.edge).exp()
            cuts.append(Cut(falling, -(-self.edge).expm1()) if self.flipped else Cut(self.edge.exp(), arb(0)))
        if not self.curve.line and self.orders and self.orders[0].c > 0:
            c, end = self.orders[0].c, self.end
            if self.flipped:
                cuts.append(Cut((c + 1) / c * (-end).exp(), -(-end).expm1()))
            else:
                cuts.append(Cut(c / (c + 1) * end.exp(), 1 / (c + 1)))
        return cuts

    def markov(self, epsilon: arb) -> arb:
        """At or above the profile by P[loss > epsilon] <= e^(K(c) - c epsilon); 1 where nothing is said."""
        if self.flipped and not self.middle:
            return arb(1)
        if self.curve.line:
            beyond = (epsilon - self.xi - self.rho).max(arb(0))
            return (-beyond * beyond / (4 * self.rho)).exp()
        exponents = [order.k - order.c * epsilon for order in self.orders if order.c > 0]
        least = arb(0)
        for exponent in exponents:
            least = least.min(exponent)
        return least.exp()

    def least(self, epsilon: arb) -> arb:
        """What the end attains, at or below the profile."""
        if self.middle:
            return arb(0)
        return -(-self.end).expm1() if self.flipped else (-(epsilon - self.end).expm1()).max(arb(0))
