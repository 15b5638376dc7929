"""Two finite pairs with a sample of a product between them.

The law of the product is composed on one grid in whole numbers (engines/lattice/proof.py): above by chords, below by
merged
cells. The law above, its Q-masses p e^-l rounded down, is a pair that dominates the product. Below, every suffix of the
cells is an event: P(A) >= p_c, Q(A) <= q_c; the polygon through these points, (0, w) and (1, 1) lies under the
trade-off of the product, and its edges are the atoms of a pair that the product dominates. Sampling keeps both orders,
and is exact for whole numbers.
Guarantee: lower <= true <= upper, as profiles, also when composed. Proof: docs/proofs/joint.md, sections 2 to 4.
Reference: Zhu, Dong, Wang 2021, Thms 10 and 11; Doroshenko et al. 2022, Alg. 1 (chords).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from flint import arb, fmpz

from ...losses.capabilities import Resolution
from ...losses.operators.dyadic import DyadicPair, dyadic_pair
from ...losses.operators.polygon import concave
from ...losses.operators.registered import factors_of, has_bracket_only, remake
from ...losses.pair import Pair
from ...numerics.balls import BITS_START, integer, working_precision
from ...values import compute_budget
from .. import tuning
from ..lattice import proof
from ..lattice.grid_plan import Sketch, gathered, sketch
from ..lattice.proof import L, WholeCells, WholeUpper
from ..loss_extremes import leaked
from ..selection import Term

# Pairs around a pair that several questions share: how often it is used plays no part in them.
#
#     with keeping(): ...     what is made in it is found again by those that need nothing finer
# Any of them is valid for any question, so this changes widths only. What is kept belongs to the running thread or
# task,
# as the allowance of work does.

Ends = tuple[Pair, Pair]

_KEPT: ContextVar[dict[Pair, dict[Resolution, Ends]] | None] = ContextVar("tightrope_kept", default=None)


@contextmanager
def keeping() -> Iterator[None]:
    """Keeps what is made until the end; inside another, that one goes on."""
    token = _KEPT.set({} if (outer := _KEPT.get()) is None else outer)
    try:
        yield
    finally:
        _KEPT.reset(token)


def found_or_made(pair: Pair, fine: Resolution, make: Callable[[], Ends]) -> Ends:
    """The finest that is kept and no coarser than this, or what it makes."""
    kept = _KEPT.get()
    if kept is None:
        return make()
    known = kept.setdefault(pair, {})
    serve = [
        fineness
        for fineness in known
        if fineness.points >= fine.points and fineness.tail <= fine.tail and fineness.proof is fine.proof
    ]
    if not serve:
        known[fine] = make()
        return known[fine]
    return known[max(serve, key=lambda fineness: fineness.points)]


class Bracket(NamedTuple):
    """A pair that the true one dominates, and one that dominates it; both are the true one where that is known."""

    lower: Pair
    upper: Pair


def bracket(pair: Pair, fine: Resolution) -> Bracket:
    """The two pairs around a pair: its products composed, the maps around them made again, the rest by itself."""
    if not has_bracket_only(pair):
        return Bracket(pair, pair)
    return Bracket(*found_or_made(pair, fine, lambda: _made(pair, fine)))


def _made(pair: Pair, fine: Resolution) -> Bracket:
    factors = factors_of(pair)
    if factors is not None:
        return _product(factors, fine)
    inside = [bracket(base, fine) for base in pair.bases()]
    known = all(each.lower is base for each, base in zip(inside, pair.bases(), strict=True))
    ends = [pair if known else remake(pair, tuple(each[side] for each in inside)) for side in (0, 1)]
    found = [each.bracket(fine) or (each, each) for each in (ends if ends[0] is not ends[1] else ends[:1])]
    return Bracket(found[0][0], found[-1][1])


class _Part(NamedTuple):
    """A factor: its pairs, its sketch, the losses that need points, and how often it is used."""

    inside: Bracket
    sketch: Sketch
    low: float
    high: float
    uses: int


def _product(factors: Sequence[Term], fine: Resolution) -> Bracket:
    with working_precision(BITS_START):
        if any(pair.infinite_mass() >= 1 for pair, _ in factors):
            apart = dyadic_pair([(1, 0), (0, 1)], 0)
            return Bracket(apart, apart)
    parts = [_part(factor, count, fine) for factor, count in factors]
    low, high = _window(parts, fine.tail)
    step = _five_bits((high - low) / fine.points)
    # Each mass of the tail keeps its guard bits, and so does its Q-mass p e^-l.
    log_least = -math.log2(fine.tail) + proof.GUARD_BITS + sum(part.uses for part in parts).bit_length()
    bits = math.ceil(log_least + math.log2(math.e) * max(high, 0.0)) + proof.GUARD_BITS
    cut = max(int(Fraction(fine.tail) * (1 << bits)) // (4 * len(parts)), 1)
    uppers: list[WholeUpper] = []
    cells: list[WholeCells] = []
    with working_precision(bits + proof.GUARD_BITS):
        for part in parts:
            levels = _levels(part, step, fine.points)
            finest = step / 2.0**levels
            start = math.floor(part.low / finest)
            top = math.ceil(part.high / finest) + 1  # an atom at the supremum must not fall behind the last point
            points = np.arange(start, top + 1, dtype=np.float64) * finest
            if fine.proof:
                above = proof.ball_upper(part.inside.upper, points, finest, start, bits)
                below = proof.ball_cells(part.inside.lower, points, finest, start, bits)
            else:
                compute_budget.spend(tuning.POINT * len(points))
                above = proof.float_upper(part.inside.upper, points, finest, start, part.sketch.median, bits)
                below = proof.float_cells(part.inside.lower, points, finest, start, bits)
            uppers.append(_power(above, part.uses, levels, finest, bits, cut))
            cells.append(_power(below, part.uses, levels, finest, bits, cut))
        # Of the lower pairs: the rest of a bracketed factor's infinite mass is in finite rows.
        mass = leaked([(part.inside.lower, part.uses) for part in parts])
        lower = _polygon(proof.together(cells, bits, cut), _whole(mass * arb(2) ** bits), bits)
        return Bracket(lower, _dominating(proof.together(uppers, bits, cut), step, bits))


def _part(pair: Pair, uses: int, fine: Resolution) -> _Part:
    inside = bracket(pair, fine)
    # What is above may be known between finite pairs only, such as a product: here it is made one law in its turn.
    while has_bracket_only(inside.upper):
        inside = Bracket(inside.lower, bracket(inside.upper, fine).upper)
    drawn = sketch(inside.upper)
    above, below = np.cumsum(drawn.mass[::-1])[::-1], np.cumsum(drawn.mass)
    rare, few = (
        np.flatnonzero(above <= fine.tail / (64.0 * uses)),
        np.flatnonzero(below <= tuning.LOW_TAIL / (64.0 * uses)),
    )
    high = drawn.edge[rare[0]] if len(rare) else drawn.edge[-1]
    low = drawn.edge[few[-1]] if len(few) else drawn.edge[0] - drawn.width[0]
    low, high = (min(max(float(end), -tuning.LOSS_MAX), tuning.LOSS_MAX) for end in (low, high))
    return _Part(inside, drawn, low, high, uses)


def _window(parts: Sequence[_Part], tail: float) -> tuple[float, float]:
    """About where the total loss lies: by Chernoff under P at either end, or by the ends of the parts."""
    low, high = sum(part.uses * part.low for part in parts), sum(part.uses * part.high for part in parts)
    drawn = gathered([part.sketch for part in parts], [part.uses for part in parts])
    for tilt in np.geomspace(*tuning.TILTS):
        up, down = (float(np.dot(drawn.counts, drawn.cgf(side * tilt))) for side in (1.0, -1.0))
        high, low = min(high, (up - math.log(tail)) / tilt), max(low, -(down - math.log(tuning.LOW_TAIL)) / tilt)
    low, high = (min(max(end, -tuning.LOSS_MAX), tuning.LOSS_MAX) for end in (low, high))
    room = tuning.NARROWEST * max(abs(low), abs(high), 1e-300)
    return (low, high) if high - low > room else (min(low, high) - room, max(low, high) + room)


def _five_bits(step: float) -> float:
    """A little below, with so few bits that every point is a double."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(32.0 * mantissa), exponent - 5)


def _levels(part: _Part, step: float, points: int) -> int:
    """As many as the uses fill, as long as one use stays short."""
    levels = 0
    while (
        tuning.BLOCK ** (levels + 1) <= part.uses
        and (part.high - part.low) * 2.0 ** (levels + 1) <= tuning.LONGER * points * step
    ):
        levels += 1
    return levels


def _power(law: L, uses: int, levels: int, finest: float, bits: int, cut: int) -> L:
    """So many uses as one law on the last grid; what is left over at each level is carried along."""
    carry: L | None = None
    for level in range(levels):
        blocks, rest = divmod(uses, tuning.BLOCK)
        share = max(cut // (16 * blocks * levels), 1)
        left: list[L] = [law] * rest
        if carry is not None:
            left.append(carry)
        if left:
            carry = proof.together(left, bits, share).coarser(finest * 2.0**level, bits)
        pair = law.times(law, bits, share)
        law = pair.times(pair, bits, share).coarser(finest * 2.0**level, bits)
        uses = blocks
    return proof.power(law, uses, bits, cut, carry)


def _dominating(law: WholeUpper, step: float, bits: int) -> DyadicPair:
    """Mass above one leaves from the bottom; Q is rounded down, and what is left of it is where P = 0."""
    one = 1 << bits
    infinite, q_room = min(law.infinite, one), one
    room, rows = one - infinite, []
    for index in range(len(law.masses) - 1, -1, -1):
        p = min(int(law.masses[index]), room)
        q = min(_whole(arb(fmpz(p)) * (-(arb(law.start + index) * arb(step))).exp()), q_room) if p else 0
        rows.append((p, q))
        room, q_room = room - p, q_room - q
    return dyadic_pair([(infinite + room, 0), *rows, (0, q_room)], bits)


def _polygon(cells: WholeCells, leaked: int, bits: int) -> DyadicPair:
    """The points (Q(A), P(A)) of all suffixes."""
    one = 1 << bits
    p, q = leaked, 0
    corners = [(q, p)]
    for more_p, more_q in zip(reversed(cells.p), reversed(cells.q), strict=True):
        p, q = p + int(more_p), q + int(more_q)
        if q >= one or p >= one:
            break
        corners.append((q, p))
    return concave(corners, bits)


def _whole(ball: arb) -> int:
    """At or below, and not below 0."""
    return max(integer(ball.lower().floor()) or 0, 0)
