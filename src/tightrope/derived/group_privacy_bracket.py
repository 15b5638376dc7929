"""Two finite pairs with a chain of steps between them.

Each step has a pair below and one above it, finite and in whole numbers over 2^bits (around.py): above by chords of
its profile, below by events. Their g are polygons; g' after g has a corner wherever either has one: at the end y of a
P-mass inside, or of a Q-mass outside, the corner (x, z), g(x) = y and z = g'(y).
A corner that is moved to the left and up keeps a polygon at or above, since it never falls; to the right and down at or
below. So x is rounded down and z up, or the other way, and nothing else is rounded.
Guarantee: below <= true <= above, as profiles. Proof: docs/proofs/group.md, section 4.
Reference: Dong, Roth, Su 2022, Thm 2.14; Zhu, Dong, Wang 2021, Lemma 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from .. import compute_budget
from ..errors import Refusal, UnsupportedMechanism
from ..facets.participation_law import ParticipationLaw
from ..facets.resolution import Resolution
from ..kernels.ball import integer, working_precision
from ..pair import Pair
from . import polygon
from .around import around
from .dyadic import DyadicPair
from .polygon import Corner

Link = tuple[Pair, int]

CORNERS_MAX = 1 << 18
POINTS_MIN = 32
LOOK_POINTS = 64
CORNER = 3e3  # units of work
GROUP_PRIVACY_DEEPEST = 1e-290  # P-mass
BITS_SPARE = 64


def bracket_group_privacy(links: Sequence[Link], fine: Resolution) -> tuple[Pair, Pair]:
    """A pair that the chain dominates, and one that dominates it."""
    steps = sum(count for _, count in links)
    points = min(fine.points, CORNERS_MAX // steps)
    if points < POINTS_MIN:
        raise UnsupportedMechanism(
            f"a chain of {steps} steps has too many corners; ask for fewer", Refusal.TOO_MUCH_WORK
        )
    sides = _brackets([pair for pair, _ in links], steps, Resolution(points, fine.tail, fine.proof))
    found = []
    for side in (0, 1):
        bits = max(pair[side].bits for pair in sides) + BITS_SPARE
        corners = [polygon.corners(pair[side], bits) for pair in sides]
        compute_budget.spend(
            CORNER * 4.0 * sum(len(corner) * count for corner, (_, count) in zip(corners, links, strict=True))
        )
        powers = [_power(corner, count, side == 1) for corner, (_, count) in zip(corners, links, strict=True)]
        chain = powers[-1]
        for outer in reversed(powers[:-1]):
            chain = _after(outer, chain, side == 1)
        found.append(polygon.concave(chain, bits))
    return found[0], found[1]


def bracket_mixture(pair: Pair, hits: ParticipationLaw, fine: Resolution) -> tuple[DyadicPair, DyadicPair]:
    """Around the pair of the power sum w_j g^(j)(x), g^(j) the chain of j steps of a pair, w the law of hits."""
    points = min(fine.points, CORNERS_MAX // hits.most**2)
    if points < POINTS_MIN:
        raise UnsupportedMechanism(f"a group of {hits.most} has too many corners; ask for fewer", Refusal.TOO_MUCH_WORK)
    ((below, above),) = _brackets([pair], hits.most, Resolution(points, fine.tail, fine.proof))
    return _mixture(below, hits, up=False), _mixture(above, hits, up=True)


def _mixture(pair: DyadicPair, hits: ParticipationLaw, up: bool) -> DyadicPair:
    bits = pair.bits + BITS_SPARE
    one, step = 1 << bits, polygon.corners(pair, bits)
    with working_precision(bits + BITS_SPARE):
        weights = [_whole(weight, bits, up) for weight in hits.weights()]
    chains = [[(0, 0), (one, one)], step]
    compute_budget.spend(CORNER * 4.0 * len(step) * hits.most**2)
    while len(chains) <= hits.most:
        chains.append(_after(step, chains[-1], up))
    places = sorted({x for chain in chains for x, _ in chain} | {one})
    totals = [0] * len(places)
    for chain, weight in zip(chains, weights, strict=True):
        j = 0
        for index, x in enumerate(places):
            while j < len(chain) - 1 and chain[j][0] < x:
                j += 1
            y = _value(chain[j - 1], chain[j], x, up) if chain[j][0] > x else chain[j][1]
            totals[index] += _quotient(weight * y, one, up)
    return polygon.concave([(x, min(total, one)) for x, total in zip(places, totals, strict=True)], bits)


def _whole(weight: arb, bits: int, up: bool) -> int:
    scaled = weight * arb(2) ** bits
    value = integer(scaled.upper().ceil() if up else scaled.lower().floor())
    assert value is not None
    return max(value, 0)


def _brackets(pairs: Sequence[Pair], steps: int, fine: Resolution) -> list[tuple[DyadicPair, DyadicPair]]:
    """Around each step; the innermost ones are read far deeper than the chain, since power grows along it."""
    tail = fine.tail
    for pair in set(pairs):
        if steps > 1 and not isinstance(pair, DyadicPair):
            tail = min(tail, _depth(pair, steps, fine))
    deep = Resolution(fine.points, tail, fine.proof)
    return [around(pair, deep) for pair in pairs]


def _depth(pair: Pair, steps: int, fine: Resolution) -> float:
    """About the size from which a chain, but for one step, has the power of the tail: by few points."""
    upper = around(pair, Resolution(LOOK_POINTS, GROUP_PRIVACY_DEEPEST, fine.proof))[1]
    corners = polygon.corners(upper, upper.bits)
    y = int(Fraction(fine.tail) * (1 << upper.bits))
    for _ in range(steps - 1):
        place = next((index for index, (_, top) in enumerate(corners) if top >= y), 0)
        if not place:
            return GROUP_PRIVACY_DEEPEST
        y = _crossing(corners[place - 1], corners[place], y, False)
    return max(float(Fraction(y, 1 << upper.bits)), GROUP_PRIVACY_DEEPEST)


def _power(corners: list[Corner], count: int, up: bool) -> list[Corner]:
    """By squaring."""
    result: list[Corner] | None = None
    while True:
        if count % 2:
            result = corners if result is None else _after(corners, result, up)
        count //= 2
        if not count:
            assert result is not None
            return result
        corners = _after(corners, corners, up)


def _after(outer: list[Corner], inner: list[Corner], up: bool) -> list[Corner]:
    """g of `outer` after that of `inner`."""
    found: list[Corner] = []
    i = j = 0  # the segments that end at these corners
    for y in sorted({y for _, y in inner} | {y for y, _ in outer}):
        while i < len(inner) - 1 and inner[i][1] < y:
            i += 1
        while j < len(outer) - 1 and outer[j][0] < y:
            j += 1
        x = _crossing(inner[i - 1], inner[i], y, not up) if i and inner[i][1] > y else inner[i][0]
        z = _value(outer[j - 1], outer[j], y, up) if j and outer[j][0] > y else outer[j][1]
        if y < inner[0][1]:
            x = 0
        if found and found[-1][0] == x:
            found[-1] = x, max(z, found[-1][1])
        else:
            found.append((x, z))
    return found


def _crossing(start: Corner, stop: Corner, y: int, up: bool) -> int:
    """x with g(x) = y between two corners."""
    (x0, y0), (x1, y1) = start, stop
    return x0 + _quotient((y - y0) * (x1 - x0), y1 - y0, up)


def _value(start: Corner, stop: Corner, x: int, up: bool) -> int:
    (x0, y0), (x1, y1) = start, stop
    return y0 + _quotient((x - x0) * (y1 - y0), x1 - x0, up)


def _quotient(top: int, bottom: int, up: bool) -> int:
    return -(-top // bottom) if up else top // bottom
