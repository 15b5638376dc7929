"""Finite laws of what is released only far from instability: one pair of distances, and the largest of all.

At the distance d an answer is released with probability r_d = P[d + Lap(1/epsilon) > T], T = log(1/delta)/epsilon. With
f = floor(T), u = T - f, v = max(u, 1 - u), the largest power g(x) = sup P(A), Q(A) <= x, over all pairs of neighbours
is the concave hull of (0, 0), (1, 1), the points
    O = (0, delta/2), A = (e^(-epsilon (2-v)), e^(-epsilon (1-v)))/2, M = (e^(-epsilon v)/2, 1 - e^(-epsilon (1-v))/2),
and their mirror images (x, y) -> (1 - y, 1 - x): O for answers that differ, A and M for the distances next to T.
Guarantee: exact. Which of A and M are corners is decided exactly: there are no ties for delta < 1, where T is no
fraction. Proof: docs/proofs/stability.md, sections 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

from flint import arb, ctx

from ...numerics.balls import BITS_MAX, BITS_START, floors, working_precision
from ...values.errors import UnsupportedMechanism
from ..atoms import Atom, FiniteLaw
from .curves import LOST_BITS_SPARE
from .laws import ListedLaw

# Comparisons of numbers that are known in balls, at as many bits as they need.

T = TypeVar("T")


def settled(asked: Callable[[], T | None]) -> T:
    """What is answered at the first precision that tells: None is no answer. Without one at any it is refused."""
    bits = BITS_START
    while bits <= BITS_MAX:
        with working_precision(bits):
            found = asked()
        if found is not None:
            return found
        bits *= 2
    raise UnsupportedMechanism("its parameters are too far apart to be compared; take less extreme ones")


def above_zero(ball: arb) -> bool | None:
    """None where that is not known."""
    return True if ball > 0 else False if ball <= 0 else None


@dataclass(frozen=True)
class Margin:
    """Where the threshold log(1/delta)/epsilon lies among the whole numbers, 0 < delta < 1."""

    epsilon: float
    delta: float

    def threshold(self) -> arb:
        return -arb(self.delta).log() / arb(self.epsilon)

    @cached_property
    def whole(self) -> int:
        """f, the last distance below the threshold."""

        def asked() -> int | None:
            found = floors(self.threshold())
            return found[0] if len(found) == 1 else None

        return settled(asked)

    @cached_property
    def near(self) -> bool:
        """u < 1/2."""
        return settled(lambda: above_zero(self.whole + arb(0.5) - self.threshold()))

    def place(self) -> arb:
        """v."""
        above = self.threshold() - self.whole
        return 1 - above if self.near else above

    @property
    def distances(self) -> tuple[int, int]:
        """d of the pair d, d + 1 that is M or its mirror image, and of the one that is A or its mirror image."""
        return self.whole, self.whole - 1 if self.near else self.whole + 1

    @cached_property
    def corners(self) -> int:
        """How many of M and A, in this order, are corners."""
        if not settled(lambda: above_zero(self.point(1)[1] - self.point(0)[1])):
            return 0

        def asked() -> bool | None:
            (_, w), (x, gap), (size, rise) = self.point(0), self.point(1), self.point(2)
            return above_zero((rise - w) * x - (gap - w) * size)

        return 2 if settled(asked) else 1

    def point(self, index: int) -> tuple[arb, arb]:
        """(x, y - x) of O, M, A."""
        if index == 0:
            return arb(0), arb(self.delta) / 2
        e, v = arb(self.epsilon), self.place()
        if index == 1:
            return (-e * v).exp() / 2, -((-e * v).expm1() + (-e * (1 - v)).expm1()) / 2
        return (-e * (2 - v)).exp() / 2, -(-e * (1 - v)).exp() * (-e).expm1() / 2


@dataclass(frozen=True)
class UnstableLaw(ListedLaw):
    """The hull, from O through A and M, where they are corners, to the mirror images; the same with P and Q exchanged.

    leaks: False for what both sides have, renormalised.
    """

    margin: Margin
    leaks: bool = True

    def atoms(self) -> list[Atom]:
        with working_precision(ctx.prec + self._lost_bits):
            return self._atoms()

    def _atoms(self) -> list[Atom]:
        kept = arb(1) if self.leaks else 1 - arb(self.margin.delta) / 2
        points = [self.margin.point(index) for index in (0, *range(self.margin.corners, 0, -1))]
        found = []
        for (x, gap), (further, wider) in pairwise(points):
            q, excess = further - x, wider - gap
            loss = (excess / q).log1p()
            found += [Atom((q + excess) / kept, q / kept, loss), Atom(q / kept, (q + excess) / kept, -loss)]
        rest = (1 - 2 * points[-1][0] - points[-1][1]) / kept
        return [*found, Atom(rest, rest, arb(0))]

    @cached_property
    def _lost_bits(self) -> int:
        """How many digits the differences lose, of whatever precision."""
        bits = 2 * BITS_START
        while True:
            with working_precision(bits):
                atoms = self._atoms()
                kept = min(number.rel_accuracy_bits() for atom in atoms for number in atom)
            if kept > BITS_START or bits >= BITS_MAX:
                return max(bits - kept, 0) + LOST_BITS_SPARE
            bits *= 2

    def infinite_mass(self) -> arb:
        return arb(self.margin.delta) / 2 if self.leaks else arb(0)

    def lost_mass(self) -> arb:
        return self.infinite_mass()

    def reversed(self) -> FiniteLaw:
        return self

    def conditioned_on_finite_loss(self) -> FiniteLaw:
        return UnstableLaw(self.margin, leaks=False)


@dataclass(frozen=True)
class ReleasedLaw(ListedLaw):
    """Released or not: at the distance d + 1 against d, or, flipped, at d against d + 1; the answers are the same."""

    margin: Margin
    distance: int
    flipped: bool

    def atoms(self) -> list[Atom]:
        with working_precision(ctx.prec + self._spare):
            (more, still), (less, gone) = self._released(self.distance + 1), self._released(self.distance)
            told, silent = Atom(more, less, (more / less).log()), Atom(still, gone, (still / gone).log())
        if self.flipped:
            told, silent = (Atom(q, p, -loss) for p, q, loss in (told, silent))
        return [told, silent]

    @cached_property
    def _spare(self) -> int:
        """Bits of a loss that is small, and of a distance that is long."""
        return LOST_BITS_SPARE + self.distance.bit_length() + max(0, -math.frexp(self.margin.epsilon)[1])

    def _released(self, distance: int) -> tuple[arb, arb]:
        """r_d and 1 - r_d."""
        away = arb(self.margin.epsilon) * (distance - self.margin.threshold())
        small = (-abs(away)).exp() / 2
        return (1 - small, small) if distance > self.margin.whole else (small, 1 - small)

    def infinite_mass(self) -> arb:
        return arb(0)

    def lost_mass(self) -> arb:
        return arb(0)

    def reversed(self) -> FiniteLaw:
        return ReleasedLaw(self.margin, self.distance, not self.flipped)
