"""Pairs of shuffled reports whose counts are those of three symbols; each is its own reverse.

    any randomizer, k = 2     clones of the first user's report: dominates every epsilon-LDP randomizer
    k-ary response, k > 2     the same given how many report another value, in cells: dominates
    k-ary response, third     what is seen where the others hold a third value: real
Guarantee: exact; float64 with the ends of float_rows. Proof: docs/proofs/shuffle.md.
Reference: Feldman, McMillan, Talwar 2021, Thm 3.1, and 2023, Thm 3.2 with its errata; Balle, Bell, Gascon, Nissim 2019.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from flint import arb, ctx

from ...facets.lattice import LatticeStep
from ...facets.resolution import Resolution
from ...kernels.ball import BITS_START, upper_float, working_precision
from ...kernels.double_double import DoubleDouble
from ...kernels.enclosure import Enclosure, enclosing
from ...operators import has_bracket_only
from ...pair import BallTails, LossRange, Pair, Tails
from .cells import CELLS_COARSE, CELLS_FINE, cells
from .delta_ends import DeltaEnds, Mixture, Place, ball_told, finite_pairs, float_ends, hull, places, reading
from .law import Counts
from .through_balls import ball_tails_as_floats, mirrored

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
