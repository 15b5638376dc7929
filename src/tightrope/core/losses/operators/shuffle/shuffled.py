"""Pairs of shuffled reports whose counts are those of three symbols; each is its own reverse.

    any randomizer, k = 2     clones of the first user's report: dominates every epsilon-LDP randomizer
    k-ary response, k > 2     the same given how many report another value, in cells: dominates
    k-ary response, third     what is seen where the others hold a third value: real
Guarantee: exact; float64 with the ends of float_rows. Proof: docs/proofs/shuffle.md.
Reference: Feldman, McMillan, Talwar 2021, Thm 3.1, and 2023, Thm 3.2 with its errata; Balle, Bell, Gascon, Nissim 2019.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from flint import arb, ctx

from ....numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ....numerics.double_double import DoubleDouble
from ....numerics.enclosures import Enclosure, enclosing
from ....values import compute_budget
from ...atoms import LatticeStep
from ...capabilities import Resolution
from ...pair import BallTails, LossRange, Pair, Tails
from .. import polygon
from ..registered import has_bracket_only
from .report_law import BINOMIAL_TERM, Counts, at_least, at_most, mass
from .report_rows import BallTold, float_told, told

# A binomial count in cells: how many users report another value.
#
# Given the count d the pair of k-ary randomized response is one of clones, and a smaller d tells more: the least d of
# each cell makes a pair that dominates. Few enough counts are cells of their own.
# Guarantee: the cells cover 0, ..., n; masses are exact. Proof: docs/proofs/shuffle.md, section 2.

CELLS_FINE, CELLS_COARSE = 5.0, 2.0  # steps to a deviation
REACH = 8.0, 5.0  # deviations below and above the mean that have fine cells
CELLS_WIDER = 1.6  # times as wide as the cell above, further down
ALL_MAX = 64  # users whose counts are all cells of their own


class Cell(NamedTuple):
    """least <= d <= greatest, and the probability of that."""

    mass: arb
    least: int
    greatest: int


def cells(users: int, chance: arb, steps: float) -> list[Cell]:
    """At the working precision; where the cells end is the same at every precision."""
    starts = _starts(users, float(chance.mid()), steps)
    ends = [*(start - 1 for start in starts[1:]), users]
    near = users * float(chance.mid()) - REACH[0] * _deviation(users, float(chance.mid()))
    odds = chance / (1 - chance)
    found, before = [], arb(0)
    at: arb | None = None
    for start, end in zip(starts, ends, strict=True):
        if end == users and start > 0:
            share = at_least(users, start, chance, 1 - chance)
        elif start < near:  # few and wide
            upto = at_most(users, end, chance, 1 - chance)
            share, before = (upto - before).max(arb(0)), upto
        else:
            compute_budget.spend(BINOMIAL_TERM * (end - start + 1))
            share = arb(0)
            for d in range(start, end + 1):
                at = mass(users, d, chance, 1 - chance) if at is None else at * (users - d + 1) / d * odds
                share += at
        found.append(Cell(share, start, end))
    return found


def _starts(users: int, chance: float, steps: float) -> list[int]:
    """Steps around the mean, growing below, and 0."""
    if users <= ALL_MAX:
        return list(range(users + 1))
    mean, deviation = users * chance, _deviation(users, chance)
    step = max(deviation / steps, 1.0)
    place, values = min(mean + REACH[1] * deviation, float(users)), {0}
    while place > 0.0:
        values.add(math.floor(place))
        step *= 1.0 if place > mean - REACH[0] * deviation else CELLS_WIDER
        place -= step
    return sorted(values)


def _deviation(users: int, chance: float) -> float:
    return math.sqrt(users * chance * (1.0 - chance))


# What is read of a pair at one epsilon, and the finite pairs on both sides that many readings make.
#
# A reading holds ends of delta and of P(E), E an event whose P(E) - alpha Q(E) is at least the lower end. To take E
# with
# probability p_low / P(E) is a test too, with P-mass p_low and Q-mass at most p_low (1 - lower / p_high) / alpha:
# nothing
# cancels, however close the two laws are.
# Guarantee: below and above, also composed. Proof: docs/proofs/shuffle.md, section 3, docs/proofs/points.md.

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


# float64 by way of balls, for pairs that are asked seldom: tails at each t, and what the mirror makes of a delta.


def ball_tails_as_floats(pair: Pair, t: DoubleDouble) -> Tails:
    """All four at each t; far from an atom the balls hold all digits of a double."""
    points = np.atleast_1d(t.collapse())
    values = np.empty((4, points.size))
    for index, point in enumerate(points.ravel()):
        with working_precision(2 * BITS_START):
            values[:, index] = [min(max(float(tail.mid()), 0.0), 1.0) for tail in pair.ball_tails(arb(float(point)))]
    return Tails(*(column.reshape(points.shape) for column in values))


def mirrored(delta: arb, epsilon: arb) -> arb:
    """H(e^epsilon) of a pair, epsilon < 0, from H(e^-epsilon) of its reverse. Proof: docs/proofs/mirror.md."""
    return -epsilon.expm1() + epsilon.exp() * delta


MIXTURE_POINTS = 128  # cells are coarser than more of them would show
ATOMS_USERS, ATOMS_MIXED = 30, 8  # so few users have so few losses that all of them are asked
COST_MIN, COST_MAX, COST_PER_DEVIATION = 500, 60_000, 6.0


@dataclass(frozen=True)
class ShuffledPair(Pair):
    """categories: of randomized response; None for any randomizer. third: the real pair, else the dominating one."""

    epsilon: LatticeStep
    users: int
    categories: int | None = None
    third: bool = False

    def tails(self, t: DoubleDouble) -> Tails:
        return ball_tails_as_floats(self, t)

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        with working_precision(BITS_START):
            mixture = self._mixture(CELLS_FINE)
        found = []
        for least, most in zip(epsilon.lower.ravel(), epsilon.upper.ravel(), strict=True):
            high = self._delta(mixture, float(least))
            low = high if least == most else self._delta(mixture, float(most))
            found.append((low[0], high[1]))
        ends_of = (np.array([each[side] for each in found]).reshape(epsilon.value.shape) for side in (0, 1))
        return enclosing(*ends_of)

    def ball_tails(self, t: arb) -> BallTails:
        if not t.is_exact():
            return hull(self.ball_tails(t.lower()), self.ball_tails(t.upper()))
        if not t.is_finite():
            none, all_of_it = (arb(0), arb(1)) if t > 0 else (arb(1), arb(0))
            return BallTails(none, none, all_of_it, all_of_it)
        p, q, _ = ball_told(self._mixture(CELLS_FINE), abs(t))
        return BallTails(p, q, 1 - p, 1 - q) if t >= 0 else BallTails(1 - q, 1 - p, q, p)

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        if not epsilon.is_exact():  # it falls
            return self.ball_hockey_stick(epsilon.lower()).union(self.ball_hockey_stick(epsilon.upper()))
        forward = ball_told(self._mixture(CELLS_FINE), abs(epsilon)).delta
        return forward if epsilon >= 0 else mirrored(forward, epsilon)

    def reversed(self) -> ShuffledPair:
        return self

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        edge = self.epsilon.ball()
        return LossRange(-edge, edge)

    def hockey_stick_cost(self) -> int:
        with working_precision(BITS_START):
            mixture = self._mixture(CELLS_FINE)
            chances = mixture[0][1].chances()
            spread = float((self.users * chances.m * chances.not_m).sqrt())
        return int(min(COST_MIN + COST_PER_DEVIATION * spread * len(mixture), COST_MAX))

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair]:
        with working_precision(BITS_START):
            above, edge = self._mixture(CELLS_COARSE), self.epsilon.ball()
            one = len(above) == 1
            # What is real lies below, and is one part.
            below = above if one else ShuffledPair(self.epsilon, self.users, self.categories, third=True)._mixture(1.0)
            atoms = self._atoms() if self.users <= (ATOMS_USERS if one else ATOMS_MIXED) else None

        def read(epsilon: float) -> DeltaEnds:
            return reading(above, epsilon, fine.proof)

        less = fine if one else replace(fine, points=min(fine.points, MIXTURE_POINTS))
        asked = places(read, upper_float(edge), less) if atoms is None else atoms
        nothing = DeltaEnds(arb(0), arb(0), arb(0), arb(0))
        with working_precision(2 * BITS_START):
            found = [Place(edge.exp(), nothing, nothing)]
            for epsilon in asked:
                high = read(epsilon)
                low = high if below is above or atoms else reading(below, epsilon, fine.proof)
                found.append(Place(arb(epsilon).exp(), low, high))
            return finite_pairs(found, found)

    def _mixture(self, steps: float) -> Mixture:
        """The counts given what is seen beside them, at the least of each cell; kept for each precision."""
        k = self.categories
        if self.third or k is None or k == 2:
            return [(arb(1), Counts(self.epsilon, self.users, 0, k if self.third else None))]
        chance = (k - 2) / (self.epsilon.ball().exp() + (k - 1))
        kept: dict[tuple[float, int], Mixture] = self.__dict__.setdefault("_kept", {})
        if (steps, ctx.prec) not in kept:
            found = cells(self.users, chance, steps)
            kept[steps, ctx.prec] = [
                (mass, Counts(self.epsilon, self.users - same, same)) for mass, same, _ in found if same < self.users
            ]
        return kept[steps, ctx.prec]

    def _delta(self, mixture: Mixture, epsilon: float) -> tuple[float, float]:
        """DeltaEnds of delta at any double."""
        if epsilon == np.inf:
            return 0.0, 0.0
        if epsilon >= 0.0:
            return float_ends(reading(mixture, epsilon, proof=False, events=False))
        if epsilon == -np.inf:
            return 1.0, 1.0
        ends = reading(mixture, -epsilon, proof=False, events=False)
        with working_precision(BITS_START):
            return float_ends(
                ends._replace(lower=mirrored(ends.lower, arb(epsilon)), upper=mirrored(ends.upper, arb(epsilon)))
            )

    def _atoms(self) -> list[float]:
        """0, the losses above it, about, and what lies halfway: there no rounding moves an event past another."""
        p = self.epsilon.ball().exp()
        found = set()
        for _, counts in self._mixture(CELLS_FINE):
            w = counts.w()
            for a in range(counts.draws + 1):
                for b in range(min(a, counts.draws - a + 1)):
                    same = w * (counts.draws - a - b) + counts.same
                    found.add(float(((p * a + b + same) / (a + p * b + same)).log()))
        ordered = [0.0, *sorted(loss for loss in found if loss > 0.0)]
        return [*ordered, *(0.5 * (one + other) for one, other in pairwise(ordered) if other - one > 1e-12)]


@has_bracket_only.register(ShuffledPair)
def _(pair: ShuffledPair) -> bool:
    return True
