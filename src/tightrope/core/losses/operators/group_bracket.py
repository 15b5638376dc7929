"""Two finite pairs with a chain of steps between them.

Each step has a pair below and one above it, finite and in whole numbers over 2^bits (polygon.py): above by chords of
its profile, below by events. Their g are polygons; g' after g has a corner wherever either has one: at the end y of a
P-mass inside, or of a Q-mass outside, the corner (x, z), g(x) = y and z = g'(y).
A corner that is moved to the left and up keeps a polygon at or above, since it never falls; to the right and down at or
below. So x is rounded down and z up, or the other way, and nothing else is rounded.
Guarantee: below <= true <= above, as profiles. Proof: docs/proofs/group.md, section 4.
Reference: Dong, Roth, Su 2022, Thm 2.14; Zhu, Dong, Wang 2021, Lemma 9.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from flint import arb, ctx

from ...numerics.balls import integer, working_precision
from ...values import compute_budget
from ...values.errors import Refusal, UnsupportedMechanism
from ..capabilities import Resolution
from ..pair import Pair
from ..participation_law import ParticipationLaw
from . import polygon
from .dyadic import DyadicPair
from .polygon import Corner, around

if TYPE_CHECKING:
    from .group_privacy import GroupPrivacyPair


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


# The profile of a chain of steps, for one use, in balls.
#
# For any thresholds t_1, ..., t_k (the innermost step first) with sum log a, since g(x) <= H(e^t) + e^t x for every t,
#     H_chain(a) <= H_k(e^t_k) + e^t_k (H_{k-1}(e^t_{k-1}) + e^t_{k-1} (... + e^t_2 H_1(e^t_1))).
# For any size x, with y_0 = x and y_i at or below g_i(y_{i-1}), which two events and the chord between them give,
#     H_chain(a) >= y_k - a x.
# Both are equal where x is the size at which the slope of the chain is a, and t_i the logarithm of the slope of g_i at
# y_{i-1}; near that they err by the square of the distance. A search finds the x, with nothing to prove.
# Guarantee: upper and lower, whatever the search finds. Proof: docs/proofs/group.md, section 4.
# Reference: Dong, Roth, Su 2022, Thm 2.14.

GROUP_PRIVACY_STEPS_MAX = 2048
STEP_UNITS = 3e4  # units of work: both tails of one step
THRESHOLD_MAX, LOGIT_MAX = 1e5, 1e5  # of |t|, and of |log(x / (1 - x))|
NARROWINGS_MAX = 200
JUMP_MIN = 2.0**-20  # between two sides that are next to each other: there is an atom
GROUP_PRIVACY_CLOSE, GROUP_PRIVACY_CLOSEST = (
    0.28,
    0.5,
)  # of the bits: how close the two sides come, without a jump and with one
ROUGH_BITS = 64

Found = TypeVar("Found")


class _Event(NamedTuple):
    """The losses above a threshold, and their masses."""

    threshold: arb
    p: arb
    q: arb


class _Crossed(NamedTuple):
    """One step: the logarithm of the slope of g at a size, about, what g is there at least, and the events around."""

    threshold: arb
    power: arb
    around: tuple[_Event, ...]


class _Passed(NamedTuple):
    """A chain from one size on: log(x / (1 - x)), x, and its steps."""

    place: arb
    size: arb
    steps: tuple[_Crossed, ...]

    @property
    def total(self) -> arb:
        """The sum of the thresholds."""
        return sum((step.threshold for step in self.steps), arb(0))


def power(pair: Pair, size: arb) -> arb:
    """A ball around g(size)."""
    low = _step(pair, size.lower().max(arb(0)).mid(), arb(0), arb(1), ())
    above = (pair.ball_hockey_stick(low.threshold) + low.threshold.exp() * size.upper()).min(arb(1))
    return low.power.union(above)


def group_privacy_hockey_stick(chain: GroupPrivacyPair, epsilon: arb) -> arb:
    """A ball around H(e^epsilon)."""
    steps = [pair for pair, count in reversed(chain.links) for _ in range(count)]
    if len(steps) > GROUP_PRIVACY_STEPS_MAX:
        raise UnsupportedMechanism(f"a chain of {len(steps)} steps is too long", Refusal.TOO_MUCH_WORK)
    infinite = chain.infinite_mass()
    if epsilon >= chain.loss_range().highest:
        return infinite
    sides = _sides(chain, steps, epsilon.mid())
    below = infinite.max(-epsilon.expm1())
    for side in sides:
        below = below.max(side.steps[-1].power - epsilon.exp() * side.size)
    above = _above(steps, _mixed(sides, epsilon.mid()), epsilon)
    return below.lower().max(arb(0)).union(above.upper().min(arb(1)))


def _above(steps: Sequence[Pair], thresholds: Sequence[arb], epsilon: arb) -> arb:
    """By tangents; the innermost one takes what is left of epsilon."""
    total = steps[0].ball_hockey_stick(epsilon - sum(thresholds[1:], arb(0)))
    for pair, threshold in zip(steps[1:], thresholds[1:], strict=True):
        total = pair.ball_hockey_stick(threshold) + threshold.exp() * total
    return total


def _mixed(sides: Sequence[_Passed], epsilon: arb) -> list[arb]:
    """Thresholds between those of the two sides, so that they add up to epsilon."""
    first, last = ([step.threshold for step in side.steps] for side in (sides[0], sides[-1]))
    more, less = sides[0].total, sides[-1].total
    share = ((epsilon - less) / (more - less)).mid() if more > less else arb(0)
    if not 0 <= share <= 1:
        share = arb(1 if share > 1 else 0)
    return [(low + share * (high - low)).mid() for high, low in zip(first, last, strict=True)]


def _sides(chain: GroupPrivacyPair, steps: Sequence[Pair], epsilon: arb) -> list[_Passed]:
    """Chains just below and just above the best size; one where it lies at an end. First roughly."""
    kept: dict[str, _Passed] = chain.__dict__.setdefault("_kept", {})
    bits, sides = ctx.prec, []

    def excess(place: arb) -> tuple[float, _Passed]:
        kept["last"] = event = _passed(steps, place, kept.get("last"))
        return float((event.total - epsilon).mid()), event

    last = kept.get("last")
    start, reach = arb(0) if last is None else last.place, arb(1)
    for precision in (ROUGH_BITS, bits):
        with working_precision(precision):
            sides = _narrowed(excess, start, reach, LOGIT_MAX)
            start, reach = sides[0].place, (sides[-1].place - sides[0].place).max(arb(2) ** -precision)
    return sides


def _passed(steps: Sequence[Pair], place: arb, near: _Passed | None) -> _Passed:
    """Through all steps, from the size e^place / (1 + e^place)."""
    size = (1 / (1 + (-place).exp())).mid()
    reach = (
        arb(1) if near is None else (abs(place - near.place) + arb(2) ** -int(GROUP_PRIVACY_CLOSE * ctx.prec + 2)).mid()
    )
    found: list[_Crossed] = []
    start, value = arb(0), size
    around: Sequence[_Event] = ()
    for index, pair in enumerate(steps):
        if near is not None:
            start, _, around = near.steps[index]
        found.append(_step(pair, value, start, reach, around))
        start, value, _ = found[-1]
    return _Passed(place, size, tuple(found))


def _step(pair: Pair, size: arb, start: arb, reach: arb, around: Sequence[_Event]) -> _Crossed:
    """g at one size; the events of a size nearby may still be around it."""
    if size >= 1:
        return _Crossed(arb(-THRESHOLD_MAX), arb(1), ())
    log_size = None if size.is_zero() else size.log()

    def excess(threshold: arb) -> tuple[float, _Event]:
        compute_budget.spend(STEP_UNITS)
        event = _Event(threshold, *pair.ball_tails(threshold)[:2])
        if not event.q > 0:
            return -math.inf, event
        return math.inf if log_size is None else float((event.q.log() - log_size).mid()), event

    still = len(around) == 2 and around[1].q <= size <= around[0].q and _narrow(*(event.threshold for event in around))
    ends = around if still else _narrowed(excess, start, reach, THRESHOLD_MAX)
    events = [(arb(0), arb(0)), *((p, q) for _, p, q in reversed(ends))]
    threshold = (sum((end.threshold for end in ends), arb(0)) / len(ends)).mid()
    return _Crossed(threshold, _chord(events, size), tuple(ends))


def _narrow(left: arb, right: arb) -> bool:
    """Whether two places are as close to each other as a jump asks for."""
    return bool(right - left <= arb(2) ** -int(GROUP_PRIVACY_CLOSEST * ctx.prec) * abs(left).max(arb(1)))


def _chord(events: Sequence[tuple[arb, arb]], size: arb) -> arb:
    """At or below g(size), from events (P at least, Q at most): on a chord, or the level of the last."""
    known = [(p.lower(), q.upper()) for p, q in events if p.is_finite() and q.is_finite()]
    best = arb(0)
    for (p0, q0), (p1, q1) in pairwise(known):
        if q1 <= size:
            best = best.max(p1)
        elif q0 <= size:
            best = best.max(p0 + (p1 - p0).max(arb(0)) * (size - q0) / (q1 - q0))
    return best.lower().max(arb(0)).mid()


def _narrowed(excess: Callable[[arb], tuple[float, Found]], start: arb, reach: arb, most: float) -> list[Found]:
    """What is found at two places close to each other, between which a falling function passes 0; or at an end."""
    bits = ctx.prec
    fine, finest = arb(2) ** -int(GROUP_PRIVACY_CLOSE * bits), arb(2) ** -int(GROUP_PRIVACY_CLOSEST * bits)
    left: tuple[arb, float, Found] | None = None
    right: tuple[arb, float, Found] | None = None
    place, step = start.mid() if abs(start) < most / 2.0 else arb(0), reach.min(arb(1))
    while True:
        value, found = excess(place)
        if value >= 0.0:
            left = place, value, found
        else:
            right = place, value, found
        if left is not None and right is not None:
            break
        if abs(place) > most:
            return [found]
        place, step = (place - step if left is None else place + step).mid(), 4 * step
    for _ in range(NARROWINGS_MAX):
        width, size = right[0] - left[0], abs(left[0]).max(arb(1))
        drop = left[1] - right[1]
        if width <= (fine if drop < JUMP_MIN else finest) * size:
            break
        places = [(left[0] + right[0]) / 2]
        if drop < math.inf:
            # One on either side of where a line passes: both ends move.
            root, beyond = left[0] + width * (left[1] / drop), width * float(width.min(arb(0.02)))
            beyond = beyond.max(fine * size / 4)
            places = [root - beyond, root + beyond, *places]
        for place in map(arb.mid, places):
            if left[0] < place < right[0] and right[0] - left[0] > width / 4:
                value, found = excess(place)
                left, right = ((place, value, found), right) if value >= 0.0 else (left, (place, value, found))
    return [left[2], right[2]]
