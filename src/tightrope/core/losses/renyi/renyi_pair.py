"""The pair of everything that is known by bounds on its Renyi divergences.

H(alpha) = max {p - alpha q: the laws (p, 1 - p) and (q, 1 - q) keep to the curve}: an event of any pair that keeps to
it is such a law, by data processing, and such a law is a mechanism that keeps to it. H is a profile. Below alpha = 1
it is the mirror of the other direction's. With a leak, as approximate zCDP has it, w + (1 - w) H.
A bound on (P, Q) alone leaves (Q, P) free: there the loss may be infinite, with probability up to 1 - e^-D_1.
Guarantee: exact for one use, of one curve or of a sum: at each alpha the supremum over all mechanisms that are known by
this curve. Composed with others the pair dominates; no single mechanism has it.
Proof: docs/proofs/renyi_curve.md.
Reference: Balle, Barthe, Gaboardi, Hsu, Sato 2020 and Asoodeh, Liao, Calmon, Kosut, Sankar 2021 (one order); Riess,
Gomez, du Pin Calmon, Schnabel, Kaissis 2026 (all orders); van Erven, Harremoes 2014, Thm 9 (data processing); Bun,
Steinke 2016, Def. 8.1 (approximate zCDP).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from flint import arb, ctx

from ...numerics.balls import BITS_START, hull, some, working_precision
from ...numerics.enclosures import Enclosure, enclosed
from ...values import compute_budget
from ...values.errors import UnsupportedMechanism
from ..atoms import ratio_ball
from ..capabilities import Moments, Resolution
from ..operators.polygon import above, below, mirrors
from ..operators.registered import compose_dominating, condition_on_finite_loss, has_bracket_only
from ..pair import LossRange, Pair
from .divergence_curve import Divergences, total
from .optimum import Search
from .region import Order, Region, Stop, TwoPoint

if TYPE_CHECKING:
    from ..operators.dyadic import DyadicPair


EVENT_WORK = 2e6  # units, of one event and its proof
EVENT_COST = 40_000  # of a profile
CANCEL_BITS = 128  # of what cancels, beyond the size of the divergences


@dataclass(frozen=True)
class RenyiPair(Pair):
    """A curve of (P, Q), or of (Q, P) where flipped; both: of either. leaks: (probability, uses) of infinite losses."""

    curve: Divergences
    both: bool = True
    flipped: bool = False
    leaks: tuple[tuple[float, int], ...] = ()

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        leak = self.leak()
        return leak + (1 - leak) * self._conditioned_hockey_stick(epsilon)

    def _conditioned_hockey_stick(self, epsilon: arb) -> arb:
        if not epsilon.is_finite():
            return hull(arb(0), arb(1))
        if self.curve.nothing:
            return (-epsilon.expm1()).max(arb(0))
        if epsilon >= 0:
            lower, upper = self.search().hockey_stick_at(epsilon)
            return hull(lower, upper)
        if epsilon <= 0:  # the mirror
            return -epsilon.expm1() + epsilon.exp() * self._turned()._conditioned_hockey_stick(-epsilon)
        return hull(self._conditioned_hockey_stick(epsilon.lower()), self._conditioned_hockey_stick(epsilon.upper()))

    def search(self) -> Search:
        """What finds the best events, one for each precision; it remembers those that it found."""
        kept: dict[int, Search] = self.__dict__.setdefault("_searches", {})
        bits = ctx.prec + ctx.prec // 2 + CANCEL_BITS + self.small_bits()
        if bits not in kept:
            kept[bits] = Search(Region(self.curve, self.flipped, self.both, bits))
        return kept[bits]

    def small_bits(self) -> int:
        """Bits before the leading one of D_1, where it is below 1."""
        one = self.curve.divergence_one or Fraction(1)
        return max(one.denominator.bit_length() - one.numerator.bit_length(), 0)

    def _turned(self) -> RenyiPair:
        """The pair (Q, P): the same one where the curve is of both."""
        if self.both:
            return self
        kept: RenyiPair = self.__dict__.setdefault(
            "_reverse", RenyiPair(self.curve, False, not self.flipped, self.leaks)
        )
        return kept

    def leak(self) -> arb:
        """The probability of an infinite loss, besides what the curve leaves open; exact of a single use."""
        if len(self.leaks) == 1 and self.leaks[0][1] == 1:
            return arb(self.leaks[0][0])
        return some([(arb(value), count) for value, count in self.leaks])

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        import numpy as np

        shape = epsilon.value.shape
        compute_budget.spend(EVENT_WORK * epsilon.value.size)
        with working_precision(BITS_START):
            balls = [
                self.ball_hockey_stick(arb(float(value), float(radius)))
                for value, radius in zip(epsilon.value.ravel(), epsilon.radius.ravel(), strict=True)
            ]
            enclosure = enclosed(balls)
        return Enclosure(np.reshape(enclosure.value, shape), np.reshape(enclosure.radius, shape))

    def _not_known(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism("bounds on divergences tell no tails one by one; engine='joint' composes them")

    tails = ball_tails = _not_known

    def reversed(self) -> RenyiPair:
        return self._turned()

    def infinite_mass(self) -> arb:
        leak = self.leak()
        one = self.curve.divergence_one
        if not self.flipped or self.both or self.curve.nothing or one is None:
            return leak
        return leak - (1 - leak) * (-ratio_ball(one)).expm1()

    def loss_range(self) -> LossRange:
        if self.curve.nothing:
            return LossRange(arb(0), arb(0))
        turned = self._turned()
        return LossRange(-turned._highest(), self._highest())

    def _highest(self) -> arb:
        """The supremum of the finite losses: the bound of order inf; where (Q, P) alone is bounded, the last slope."""
        curve = self.curve
        if self.both or not self.flipped:
            return arb.pos_inf() if curve.rho or curve.slope is None else ratio_ball(curve.slope)
        if curve.first is not None or curve.line or (curve.rho and curve.knots):
            return arb.pos_inf()
        if not curve.knots:
            return -ratio_ball(curve.slope or Fraction(0))
        c, k = curve.knots[0]
        return ratio_ball((c + 1) / c).log() - ratio_ball(k / c)

    def hockey_stick_cost(self) -> int:
        return EVENT_COST

    def _line(self) -> tuple[Fraction, Fraction] | None:
        """What holds of every order of (P, Q), for a table that ends."""
        return None if self.leaks or (self.flipped and not self.both) else self.curve.everywhere

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair]:

        return bracket(self, fine)

    def moments(self) -> RenyiMoments:
        return RenyiMoments(self)


class RenyiMoments(Moments[RenyiPair]):
    def log_moment_above(self, order: float) -> arb | None:
        if self.pair.flipped and not self.pair.both:
            return None
        known = self.pair.curve.above(Fraction(order))
        return None if known is None else ratio_ball(known)

    def divergence(self, order: float) -> tuple[arb, arb]:

        with working_precision(DIVERGENCE_BITS + self.pair.small_bits()):
            region = Region(
                self.pair.curve, self.pair.flipped, self.pair.both, DIVERGENCE_BITS + self.pair.small_bits()
            )
            lower, upper = ends(region, Fraction(order))
            more = -(-self.pair.leak()).log1p() / (1 - arb(order)) if order < 1.0 and self.pair.leaks else arb(0)
            return lower + more, upper + more

    def zcdp_rho(self) -> arb | None:
        """D_a <= r a + s <= (r + s) a from order 1 on."""
        if self.pair.curve.line and not self.pair.curve.slope and not self.pair.leaks:
            return ratio_ball(self.pair.curve.rho)
        line = self.pair._line()
        return None if line is None else ratio_ball(sum(line, Fraction(0)))

    def approximate_zcdp(self) -> tuple[tuple[arb, arb], ...]:
        line = self.pair._line()
        return () if line is None or not line[1] else ((ratio_ball(line[1]), ratio_ball(line[0])),)


@has_bracket_only.register(RenyiPair)
def _(pair: RenyiPair) -> bool:
    return True


@condition_on_finite_loss.register(RenyiPair)
def _(pair: RenyiPair) -> Pair | None:
    return RenyiPair(pair.curve, pair.both, pair.flipped) if pair.both else condition_on_finite_loss.default(pair)


@compose_dominating.register(RenyiPair)
def _(own: RenyiPair, like: Sequence[tuple[Pair, int]]) -> Pair | None:
    """Curves add up; what is known of one direction only is known of one direction of the sum."""
    uses = [(pair, count) for pair, count in like if isinstance(pair, RenyiPair)]
    flips = {pair.flipped for pair, _ in uses if not pair.both}
    if len(uses) < len(like) or len(flips) > 1:
        return None
    curve = total([(pair.curve, count) for pair, count in uses])
    if curve.divergence_one is None:
        return None
    leaks: dict[float, int] = {}
    for pair, count in uses:
        for leak, times in pair.leaks:
            leaks[leak] = leaks.get(leak, 0) + times * count
    return RenyiPair(curve, not flips, flips == {True}, tuple(sorted(leaks.items())))


# Finite pairs on either side of the pair of a curve, for its use beside others.
#
# By the envelope theorem the tails of the pair at log alpha are the masses of the best event there. On every ray the
# event at its end is inside the region, so that its masses are those of an event of the pair, for the pair below; and
# the tangent there is a bound on the profile, for the pair above. Rays lie closer where more of the mass is.
# Guarantee: lower <= pair <= upper, as profiles, for whatever rays; the width falls with the square of their number.
# Proof: docs/proofs/renyi_curve.md, section 6, and docs/proofs/points.md, sections 1 to 3.
# Reference: Zhu, Dong, Wang 2021, Lemma 9.

FINITE_BITS = 128  # of the masses; what the divergences need besides is added
RAY_BITS = 40  # of the end of a ray
EVENT_SHARES = (36, 30, 20, 10)  # bits of what an event gives up to be inside
RAY_WORK = 4e5  # units
COARSE_RAYS = 48  # rays of the first look
END_HALVINGS = 5  # until the last ray
RAY_LOSS_MAX = 5000  # losses beyond count as infinite above, and as none below
EVEN_RAYS, NEAR_RAYS = 0.6, 0.2  # of the rays: spread evenly, and by log(1 + epsilon), for heavy tails


class RaysTell(NamedTuple):
    """Events of a pair, and points (alpha, delta) on or above its profile."""

    events: list[tuple[arb, arb]]
    points: list[tuple[arb, arb]]


def bracket(pair: RenyiPair, fine: Resolution) -> tuple[DyadicPair, DyadicPair]:
    """A finite pair that this one dominates, and one that dominates it."""
    bits = FINITE_BITS + pair.small_bits()
    with working_precision(bits):
        if pair.curve.nothing:
            told = RaysTell([], [(arb(1), arb(0))])
        else:
            ahead = _told(Region(pair.curve, pair.flipped, pair.both, bits), fine)
            behind = ahead if pair.both else _told(Region(pair.curve, not pair.flipped, False, bits), fine)
            told = RaysTell(
                [*ahead.events, *((1 - q, 1 - p) for p, q in behind.events)], [*ahead.points, *mirrors(behind.points)]
            )
        leak = pair.leak()
        kept = 1 - leak
        events = [(leak + kept * p, kept * q) for p, q in told.events]
        return below([(leak, arb(0)), *events]), above((alpha, leak + kept * delta) for alpha, delta in told.points)


def _told(region: Region, fine: Resolution) -> RaysTell:
    """What rays say of the profile from alpha = 1 on."""
    search = Search(region)
    stops = _rays(search, fine)
    events = [(at.p, at.q) for at in (search.event(stop, EVENT_SHARES) for stop in stops)]
    if not region.middle:
        end = (-region.end).exp()
        events.append((1 - end, arb(0)) if region.flipped else (arb(1), end))
    cuts = [stop.order.cut(stop.at) for stop in stops if stop.order is not None]
    cuts += [cut for cut in region.fixed_cuts() if cut.alpha > 0]
    return RaysTell(events, [(alpha, height) for alpha, height in cuts if alpha.is_finite() and height.is_finite()])


def _rays(search: Search, fine: Resolution) -> list[Stop]:
    """The ends of rays from the best one at alpha = 1 to where hardly any mass is left."""
    first = next(search.found(arb(0)), [None])[0]
    if first is None:
        return []
    losses = _grid(search, first, fine)
    compute_budget.spend(RAY_WORK * len(losses))
    stops, near = [first], first
    for loss in losses:
        stop = search.region.stop(arb(loss), near, RAY_BITS)
        if stop is not None:
            stops.append(stop)
            near = stop
    return stops


def _grid(search: Search, first: Stop, fine: Resolution) -> list[float]:
    """Losses of rays, so that every cell has about the same share of the error, with some spread evenly."""
    start, last = float(first.at.loss), float(_last(search, first, fine.tail))
    if not start < last:
        return []
    looks, near = [first], first
    for step in range(1, COARSE_RAYS + 1):
        loss = start * (last / start) ** (step / COARSE_RAYS)
        stop = search.region.stop(arb(loss), near, RAY_BITS // 2)
        if stop is not None and stop.order is not None and stop.at.loss > looks[-1].at.loss:
            looks.append(stop)
            near = stop
    marks = [0.0 if look.order is None else max(0.0, float(look.order.log_slope(look.at))) for look in looks]
    if not marks[-1] > 0.0:  # all finite losses lie below 0: from alpha = 1 on the profile is its mass of infinite loss
        return []
    masses = [float(look.at.p) for look in looks]
    cells = [
        (abs(one - two) * (after - before) ** 2) ** (1.0 / 3.0)
        for (one, two), (before, after) in zip(pairwise(masses), pairwise(marks), strict=True)
    ]
    total, width, far = math.fsum(cells) or 1.0, marks[-1] - marks[0] or 1.0, math.log1p(marks[-1]) or 1.0
    by_mass = 1.0 - EVEN_RAYS - NEAR_RAYS
    shares = [
        by_mass * cell / total
        + EVEN_RAYS * (after - before) / width
        + NEAR_RAYS * math.log((1 + after) / (1 + before)) / far
        for cell, (before, after) in zip(cells, pairwise(marks), strict=True)
    ]
    places = [0.0, *accumulate(shares)]
    return [
        _between(places, [float(look.at.loss) for look in looks], (step + 1) / fine.points)
        for step in range(fine.points)
    ]


def _between(places: Sequence[float], values: Sequence[float], share: float) -> float:
    index = min(max(bisect_left(places, share), 1), len(places) - 1)
    before, after = places[index - 1], places[index]
    part = min(max((share - before) / (after - before), 0.0), 1.0) if after > before else 1.0
    return values[index - 1] + (values[index] - values[index - 1]) * part


def _last(search: Search, first: Stop, tail: float) -> arb:
    """A loss beyond which the profile has no more than the tail left, about; the largest where there is one."""
    if search.top is not None:
        return search.top

    def beyond(loss: arb) -> bool:
        stop = search.region.stop(loss, None, RAY_BITS // 2)
        return stop is None or bool((stop.at.q if search.region.flipped else stop.at.p) < tail)

    low, high = first.at.loss, (first.at.loss * 2).mid()
    while high < RAY_LOSS_MAX and not beyond(high):
        low, high = high, (high * 2).mid()
    for _ in range(END_HALVINGS):
        middle = ((low + high) / 2).mid()
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return high


# What a curve says of its own divergences: the largest at any order, and what some mechanism certainly has.
#
# Above: the curve itself, chords between its orders; below order 1, D_a <= D_1 and D_a = a/(1-a) D_{1-a} of (Q, P).
# Beyond its last order nothing bounds a small mass with a large loss, so that the supremum is infinite, unless a line
# holds at every order.
# Below: Gaussian noise with rho a <= D_a at every order that is bounded, and randomized response.
# Guarantee: lower <= sup D_a over all mechanisms that keep to the curve <= upper.
# Reference: van Erven, Harremoes 2014, Thm 3 (D_a rises), Prop. 2 (orders below 1); Bun, Steinke 2016, Prop. 1.6.

DIVERGENCE_BITS = 256


def ends(region: Region, order: Fraction) -> tuple[arb, arb]:
    """Lower and upper end of the largest D of (P, Q) at an order above 0, at the precision of the region."""
    curve, one = region.curve, region.end
    if curve.nothing:
        return arb(0), arb(0)
    if order < 1:
        mirrored = one * ratio_ball(order / (1 - order))
        below = arb(0) if curve.slope else ratio_ball(curve.rho * order)
        return below, one.min(mirrored) if region.middle else mirrored if region.flipped else one
    if region.flipped and not region.middle:
        return arb.pos_inf(), arb.pos_inf()
    c = order - 1
    known = curve.above(c)
    if known is None and c:
        return arb.pos_inf(), arb.pos_inf()
    upper = one if not c or known is None else ratio_ball(known / c)
    return _some(region, c).min(upper), upper


def _some(region: Region, c: Fraction) -> arb:
    """What a Gaussian or a randomized response inside the region has."""
    curve = region.curve
    most = arb(0)
    if curve.slope is None or curve.rho:
        rates = [limit.k / ((limit.c + 1) * (limit.c or 1)) for limit in curve.limits()]
        rates += [curve.rho] if curve.line else []
        rates += [curve.everywhere[0]] if curve.everywhere else []
        most = ratio_ball(min(rates) * (c + 1))
    if curve.everywhere:
        return most
    search = Search(Region(curve, False, True, region.bits))
    corner = search.corner
    if corner is not None:
        at = search.event(corner)
        even = TwoPoint(at.m, at.m)  # less than the corner on both sides
        moment = Order(ratio_ball(c), arb(0), False).moment(even)
        most = most.max((moment.log1p() / ratio_ball(c) if c else moment).lower())
    return most
