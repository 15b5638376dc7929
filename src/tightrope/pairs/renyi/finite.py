"""Finite pairs on either side of the pair of a curve, for its use beside others.

By the envelope theorem the tails of the pair at log alpha are the masses of the best event there. On every ray the
event at its end is inside the region, so that its masses are those of an event of the pair, for the pair below; and
the tangent there is a bound on the profile, for the pair above. Rays lie closer where more of the mass is.
Guarantee: lower <= pair <= upper, as profiles, for whatever rays; the width falls with the square of their number.
Proof: docs/proofs/renyi_curve.md, section 6, and docs/proofs/points.md, sections 1 to 3.
Reference: Zhu, Dong, Wang 2021, Lemma 9.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from flint import arb

from ... import compute_budget
from ...derived.polygon import above, below, mirrors
from ...facets.resolution import Resolution
from ...kernels.ball import working_precision
from .optimum import Search
from .region import Region, Stop

if TYPE_CHECKING:
    from ...derived.dyadic import DyadicPair
    from .pair import RenyiPair

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
