"""What is read of a pair at one epsilon, and the finite pairs on both sides that many readings make.

A reading holds ends of delta and of P(E), E an event whose P(E) - alpha Q(E) is at least the lower end. To take E with
probability p_low / P(E) is a test too, with P-mass p_low and Q-mass at most p_low (1 - lower / p_high) / alpha: nothing
cancels, however close the two laws are.
Guarantee: below and above, also composed. Proof: docs/proofs/shuffle.md, section 3, docs/proofs/points.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from flint import arb

from ...facets.resolution import Resolution
from ...kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ...pair import BallTails, Pair
from .. import polygon
from .ball_rows import BallTold, told
from .law import Counts

Mixture = Sequence[tuple[arb, Counts]]

TAIL_STEPS, TAIL_NEAR = 60, 1e-2  # of the way to where the tail begins, and how well that is known
BELOW_TAIL = 0.125  # of the tail that may be given up


class DeltaEnds(NamedTuple):
    """DeltaEnds of delta, and of P(E)."""

    lower: arb
    upper: arb
    p_low: arb
    p_high: arb


class Place(NamedTuple):
    """alpha, and readings of what lies below the pair there, and above."""

    alpha: arb
    below: DeltaEnds
    above: DeltaEnds


def ball_told(mixture: Mixture, epsilon: arb) -> BallTold:
    """Of a mixture whose index is seen, at an exact epsilon >= 0."""
    p, q, delta = arb(0), arb(0), arb(0)
    for share, counts in mixture:
        found = told(counts, epsilon)
        p, q, delta = p + share * found.p, q + share * found.q, delta + share * found.delta
    return BallTold(p, q, delta)


def reading(mixture: Mixture, epsilon: float, proof: bool, events: bool = True) -> DeltaEnds:
    """Part by part in float64 where that is allowed and goes, else in balls."""
    total = DeltaEnds(arb(0), arb(0), arb(0), arb(0))
    with working_precision(BITS_START):
        for share, counts in mixture:
            ends = None if proof else _float_told(counts, epsilon, events)
            if ends is None:
                balls = told(counts, arb(epsilon))
                ends = DeltaEnds(balls.delta.lower(), balls.delta.upper(), balls.p.lower(), balls.p.upper())
            total = DeltaEnds(*(before + share * end for before, end in zip(total, ends, strict=True)))
    return total


def _float_told(counts: Counts, epsilon: float, events: bool) -> DeltaEnds | None:
    from .float_rows import float_told

    found = float_told(counts, epsilon, events)
    return None if found is None else DeltaEnds(*map(arb, found))


def hull(one: BallTails, other: BallTails) -> BallTails:
    """Tails at either end of a ball, and between."""
    return BallTails(*(first.union(second) for first, second in zip(one, other, strict=True)))


def places(read: Callable[[float], DeltaEnds], edge: float, fine: Resolution) -> list[float]:
    """Even steps up to where the tail begins."""
    low, high = 0.0, edge
    level = arb(BELOW_TAIL * fine.tail)
    for _ in range(TAIL_STEPS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if read(middle).upper <= level else (middle, high)
        if high - low <= TAIL_NEAR * high:
            break
    count = max(fine.points // 2, 8)
    return [high * index / count for index in range(count + 1)]


def finite_pairs(forward: Sequence[Place], backward: Sequence[Place]) -> tuple[Pair, Pair]:
    """Of a pair, from readings of it and of its reverse at alpha >= 1."""
    points, events = [], []
    for alpha, below, above in forward:
        points.append((alpha, above.upper))
        events.append(_event(below, alpha))
    for alpha, below, above in backward:
        points.append((1 / alpha, (above.upper + alpha - 1) / alpha))
        p, q = _event(below, alpha)
        events.append((1 - q, 1 - p))
    return polygon.below(events), polygon.above(points)


def _event(ends: DeltaEnds, alpha: arb) -> tuple[arb, arb]:
    if not ends.p_high > 0:
        return arb(0), arb(0)
    return ends.p_low, (ends.p_low * (1 - ends.lower / ends.p_high) / alpha).max(arb(0))


def float_ends(ends: DeltaEnds) -> tuple[float, float]:
    """delta in doubles."""
    return max(lower_float(ends.lower), 0.0), min(upper_float(ends.upper), 1.0)
