"""The pair of a record that takes part in k of t steps of Gaussian noise, all sets of k steps alike, 1 < k < t.

L = e_k(Y_1, ..., Y_t)/C(t, k), the mean of the products over all k-sets, Y_i = dP/dQ of step i under Q;
    REMOVE   H(a) = E(L - a)_+          ADD   H(a) = E(1 - a L)_+
Below, a sum of labels alone: a real run shows it, and its two laws are those of a finite pair. Above, chords of bounds
of the profile by the moments of L given that sum (conditional.py), or the product of k blocks with one use each, where
these say little. In balls, what the first step shows, and k uses of the base: wide, and proven.
Guarantee: `between` is lower and upper. Proof: docs/proofs/allocation.md, sections 10 to 14.
Reference: ours; blocks: docs/proofs/allocation.md, section 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np
from flint import arb

from ...errors import UnsupportedMechanism
from ...facets.cumulant import cumulant_above
from ...facets.moments import Moments
from ...facets.resolution import Resolution
from ...kernels.ball import BITS_START, working_precision
from ...kernels.overlaps import coverings_most
from ...operators import has_bracket_only, hidden_participation, normal_shift, simpler_ends
from ...pair import LossRange, Pair
from ...relation import Direction
from ..least import LeastPair
from ..poisson import poisson_pair, rate_ends
from ..polygon import above, below
from ..product import product_pair
from .choice import Chooser, LabelShape, aims_of
from .conditional import Conditional, point_row
from .pair import allocated_pair
from .statistic import SeveralSteps, values_of

SETS_STEPS_MAX = 1 << 17
MU_MIN, MU_MAX = 1e-3, 6.0
SETS_USES_MAX = 256


class Grade(NamedTuple):
    """Cells of the statistic, and points of the profile above."""

    cells: int
    points: int


COARSE_GRADE, FULL_GRADE = Grade(1 << 12, 256), Grade(1 << 14, 1024)
COARSE_POINTS = 512  # up to so many, the coarse one
COVERINGS_MAX = 3000  # of four sets
SETS_TAIL_SHARE = 1e-3  # of the tail that may be lost: for what lies beyond the last point
SETS_APART = 0.05  # losses that count: nearer ones have one statistic
SETS_NARROW = 1.05  # delta above over that below, for one use: blocks would say more next to never


@dataclass(frozen=True)
class SeveralPair(Pair):
    """So many uses of so many steps; the base is the pair of one step, normal noise in either direction."""

    base: Pair
    steps: int
    uses: int
    direction: Direction

    def _not_known(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism(
            "the law of several of many steps is not known by itself; engine='joint' composes it"
        )

    tails = hockey_stick = ball_tails = ball_hockey_stick = _not_known

    def reversed(self) -> SeveralPair:
        return SeveralPair(self.base.reversed(), self.steps, self.uses, self.direction.opposite)

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        """No set has all steps, so that L comes as near to 0 as one likes."""
        return LossRange(arb.neg_inf(), arb.pos_inf())

    # Moments: L is a mean of products of k ratios, each of which has the law of k uses of the base.

    @cached_property
    def _first_step(self) -> Pair:
        """What the first step alone shows."""
        return poisson_pair(self.base, rate_ends(Fraction(self.uses, self.steps))[0], self.direction)

    @cached_property
    def _blocks(self) -> Pair:
        return blocks_pair(self.base, self.steps, self.uses, self.direction)

    @cached_property
    def _made(self) -> dict[Grade, tuple[Pair, Pair]]:
        return {}

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair]:
        if fine.proof:  # L is a mean of products of k ratios: so many uses of the base dominate it
            return self._first_step, product_pair(((self.base, self.uses),))
        grade = COARSE_GRADE if fine.points <= COARSE_POINTS else FULL_GRADE
        if grade not in self._made:
            self._made[grade] = self._pairs(grade, fine)
        return self._made[grade]

    def _pairs(self, grade: Grade, fine: Resolution) -> tuple[Pair, Pair]:
        with working_precision(BITS_START):
            mu = normal_shift(self.base)
        assert mu is not None
        law = SeveralSteps(mu, self.steps, self.uses)
        chooser = Chooser(float(mu.mid()), self.steps, self.uses, self.direction)
        tail = min(max(fine.tail, 1e-250), 1e-6)
        orders = (0, 1, 2, 3, 4) if coverings_most(self.uses, 4) <= COVERINGS_MAX else (0, 1, 2)
        shapes: list[LabelShape] = []
        found: list[Conditional] = []
        for wanted in aims_of(fine.delta, fine.epsilon, fine.uses):
            shape = chooser.shape(wanted)
            if all(abs(shape.near - other.near) > SETS_APART for other in shapes):
                shapes.append(shape)
                found.append(
                    Conditional(
                        values_of(law, *chooser.placed(shape, grade.cells, SETS_TAIL_SHARE * tail), orders), tail
                    )
                )
        # Events of any statistic are real, and any bound from above holds: each is asked where it tells most.
        events = [event for conditional in found for event in conditional.events(self.direction)]
        near = np.array([shape.near for shape in shapes])
        row = point_row([conditional.losses(self.direction) for conditional in found], near.tolist(), grade.points)
        points = [(a, found[np.argmin(abs(near - math.log(a)))].hockey_stick(a, self.direction)) for a in row]
        with working_precision(BITS_START):
            lower = below([(arb(p), arb(q)) for p, q in events])
            upper: Pair = above([(arb(alpha), arb(delta)) for alpha, delta in points])
        a = math.exp(shapes[0].near)
        shown = max((p - a * q for p, q in events), default=0.0)
        if fine.uses > 1 or not found[0].hockey_stick(a, self.direction) <= SETS_NARROW * shown:
            upper = LeastPair((upper, self._blocks))
        return lower, upper

    def moments(self) -> SeveralMoments:
        return SeveralMoments(self)


class SeveralMoments(Moments[SeveralPair]):
    def log_moment_above(self, order: float) -> arb:
        return self.pair.uses * arb(cumulant_above(self.pair.base, order))

    def zcdp_rho(self) -> arb | None:
        rho = self.pair.base.moments().zcdp_rho()
        return None if rho is None else self.pair.uses * rho

    def gdp_mu(self) -> arb | None:
        mu = self.pair.base.moments().gdp_mu()
        return None if mu is None else arb(self.pair.uses).sqrt() * mu

    def gdp_mu_lower(self, direction: Direction) -> arb | None:
        """One set alone: L >= Y_1 ... Y_k/C(t, k), whatever the others show."""
        return self.gdp_mu() if direction is self.pair.direction else None


@simpler_ends.register(SeveralPair)
def _(own: SeveralPair) -> tuple[tuple[Pair, ...], Pair]:
    """What the first step alone shows, or the largest or the sum of all; and a product of blocks."""
    if own.direction is Direction.REMOVE:
        return (*hidden_participation(own.base, own.steps, own.uses), own._first_step), own._blocks
    shown = hidden_participation(own.base.reversed(), own.steps, own.uses)
    return (*(pair.reversed() for pair in shown), own._first_step), own._blocks


@has_bracket_only.register(SeveralPair)
def _(pair: SeveralPair) -> bool:
    return True


def blocks_pair(base: Pair, steps: int, uses: int, direction: Direction) -> Pair:
    """The product of so many blocks of steps, of sizes that differ by one at most, one use in each."""
    value, longer = divmod(steps, uses)
    blocks = [(value, uses - longer), (value + 1, longer)]
    return product_pair((allocated_pair(base, size, direction), count) for size, count in blocks if count)


def several_pair(base: Pair, steps: int, uses: int, direction: Direction) -> Pair:
    """k of t steps where `sets_known`; else the product of blocks, which dominates them."""
    if not sets_known(base, steps, uses):
        return blocks_pair(base, steps, uses, direction)
    return SeveralPair(base, steps, uses, direction)


def sets_known(base: Pair, steps: int, uses: int) -> bool:
    """Whether k of t steps of this pair have a pair of their own: normal noise, and neither number too large."""
    if not (1 < uses <= SETS_USES_MAX and uses < steps <= SETS_STEPS_MAX):
        return False
    with working_precision(BITS_START):
        mu = normal_shift(base)
        return mu is not None and bool(mu > MU_MIN) and bool(mu < MU_MAX)
