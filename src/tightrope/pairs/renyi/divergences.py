"""What a curve says of its own divergences: the largest at any order, and what some mechanism certainly has.

Above: the curve itself, chords between its orders; below order 1, D_a <= D_1 and D_a = a/(1-a) D_{1-a} of (Q, P).
Beyond its last order nothing bounds a small mass with a large loss, so that the supremum is infinite, unless a line
holds at every order.
Below: Gaussian noise with rho a <= D_a at every order that is bounded, and randomized response.
Guarantee: lower <= sup D_a over all mechanisms that keep to the curve <= upper.
Reference: van Erven, Harremoes 2014, Thm 3 (D_a rises), Prop. 2 (orders below 1); Bun, Steinke 2016, Prop. 1.6.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from ...facets.lattice import ratio_ball
from .binary import Order, TwoPoint
from .optimum import Search
from .region import Region

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
