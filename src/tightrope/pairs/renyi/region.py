"""All two-point laws that keep to a curve: how far a ray of events reaches, and whether a point is inside.

Along a ray of events of one loss l the masses grow from 0, and with them every divergence, until one order stops them.
Of finitely many orders it is the first; of a line, D_a <= xi + rho a for every a >= 1, it is the one at which
R(c) = (K(c) - xi c) / (c (c + 1)) is largest, and R has one peak where it is above 0.
Guarantee: `inside` is proven, for every order; `stop` is about right, and any answer of it gives valid cuts.
Proof: docs/proofs/renyi_curve.md, sections 2 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from flint import arb

from ...facets.lattice import ratio_ball
from .binary import Cut, Order, TwoPoint
from .curve import Divergences
from .roots import falsi, newton

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
