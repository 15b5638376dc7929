"""Pairs of shuffled reports whose counts are those of three symbols; each is its own reverse.

    any randomizer, k = 2     clones of the first user's report: dominates every epsilon-LDP randomizer
    k-ary response, k > 2     the same given how many report another value, in cells: dominates
    k-ary response, third     what is seen where the others hold a third value: real
Guarantee: exact; float64 with the ends of float_rows. Proof: docs/proofs/shuffle.md.
Reference: Feldman, McMillan, Talwar 2021, Thm 3.1, and 2023, Thm 3.2 with its errata; Balle, Bell, Gascon, Nissim 2019.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from flint import arb, ctx

from ...facets.between import Fineness
from ...facets.lattice import LatticeStep
from ...kernels.ball import BITS_START, upper_float, working_precision
from ...kernels.enclosure import Enclosure, enclosing
from ...kernels.twofold import Twofold
from ...pair import BallTails, LossRange, Pair, Tails
from .cells import COARSE, FINE, cells
from .law import Counts
from .readings import Mixture, Place, Reading, ball_told, ends, finite_pairs, hull, places, reading
from .through_balls import ball_tails_as_floats, mirrored

MIXTURE_POINTS = 192  # cells are coarser than more of them would show
ATOMS_USERS = 30  # so few users have so few losses that all of them are asked
COST_LEAST, COST_MOST, COST_PER_DEVIATION = 500, 60_000, 6.0


@dataclass(frozen=True)
class ShuffledPair(Pair):
    """categories: of randomized response; None for any randomizer. third: the real pair, else the dominating one."""

    epsilon: LatticeStep
    users: int
    categories: int | None = None
    third: bool = False

    def tails(self, t: Twofold) -> Tails:
        return ball_tails_as_floats(self, t)

    def profile(self, epsilon: Enclosure) -> Enclosure:
        with working_precision(BITS_START):
            mixture = self._mixture(FINE)
        found = []
        for least, most in zip(epsilon.lower.ravel(), epsilon.upper.ravel(), strict=True):
            high = self._delta(mixture, float(least))
            low = high if least == most else self._delta(mixture, float(most))
            found.append((low[0], high[1]))
        low, high = (np.array([each[side] for each in found]).reshape(epsilon.value.shape) for side in (0, 1))
        return enclosing(low, high)

    def ball_tails(self, t: arb) -> BallTails:
        if not t.is_exact():
            return hull(self.ball_tails(t.lower()), self.ball_tails(t.upper()))
        if not t.is_finite():
            none, all_of_it = (arb(0), arb(1)) if t > 0 else (arb(1), arb(0))
            return BallTails(none, none, all_of_it, all_of_it)
        p, q, _ = ball_told(self._mixture(FINE), abs(t))
        return BallTails(p, q, 1 - p, 1 - q) if t >= 0 else BallTails(1 - q, 1 - p, q, p)

    def ball_profile(self, epsilon: arb) -> arb:
        if not epsilon.is_exact():  # it falls
            return self.ball_profile(epsilon.lower()).union(self.ball_profile(epsilon.upper()))
        forward = ball_told(self._mixture(FINE), abs(epsilon)).delta
        return forward if epsilon >= 0 else mirrored(forward, epsilon)

    def reversed(self) -> ShuffledPair:
        return self

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        edge = self.epsilon.ball()
        return LossRange(-edge, edge)

    def profile_cost(self) -> int:
        with working_precision(BITS_START):
            mixture = self._mixture(FINE)
            chances = mixture[0][1].chances()
            spread = float((self.users * chances.m * chances.not_m).sqrt())
        return int(min(COST_LEAST + COST_PER_DEVIATION * spread * len(mixture), COST_MOST))

    def bracketed(self) -> bool:
        return True

    def between(self, fine: Fineness) -> tuple[Pair, Pair]:
        with working_precision(BITS_START):
            above = self._mixture(COARSE)
            # What is real lies below, and is one part.
            below = above if len(above) == 1 else ShuffledPair(self.epsilon, self.users, self.categories, True)._mixture(1)
            points = fine.points if len(above) == 1 else min(fine.points, MIXTURE_POINTS)
            edge = self.epsilon.ball()
            atoms = self._atoms() if self.users <= ATOMS_USERS else []

        def read(epsilon: float) -> Reading:
            return reading(above, epsilon, fine.proof)

        nothing = Reading(arb(0), arb(0), arb(0), arb(0))
        with working_precision(2 * BITS_START):
            asked = [Place(edge.exp(), nothing, nothing)]
            for epsilon in places(read, upper_float(edge), replace(fine, points=points), atoms):
                high = read(epsilon)
                low = high if below is above else reading(below, epsilon, fine.proof)
                asked.append(Place(arb(epsilon).exp(), low, high))
            return finite_pairs(asked, asked)

    def _mixture(self, steps: float) -> Mixture:
        """The counts given what is seen beside them, at the least of each cell; kept for each precision."""
        k = self.categories
        if self.third or k is None or k == 2:
            return [(arb(1), Counts(self.epsilon, self.users, 0, k if self.third else None))]
        chance = (k - 2) / (self.epsilon.ball().exp() + (k - 1))
        kept: dict[tuple[float, int], Mixture] = self.__dict__.setdefault("_kept", {})
        if (steps, ctx.prec) not in kept:
            found = [(mass, Counts(self.epsilon, self.users - same, same)) for mass, same, _ in cells(self.users, chance, steps)]
            kept[steps, ctx.prec] = [(mass, counts) for mass, counts in found if counts.draws]
        return kept[steps, ctx.prec]

    def _delta(self, mixture: Mixture, epsilon: float) -> tuple[float, float]:
        """Ends of delta at any double."""
        if epsilon == np.inf:
            return 0.0, 0.0
        if epsilon >= 0.0:
            return ends(reading(mixture, epsilon, proof=False))
        if epsilon == -np.inf:
            return 1.0, 1.0
        found = reading(mixture, -epsilon, proof=False)
        with working_precision(BITS_START):
            return ends(found._replace(lower=mirrored(found.lower, arb(epsilon)), upper=mirrored(found.upper, arb(epsilon))))

    def _atoms(self) -> list[float]:
        """Losses above 0, about."""
        p = self.epsilon.ball().exp()
        found = set()
        for _, counts in self._mixture(FINE):
            w = counts.w()
            for a in range(counts.draws + 1):
                for b in range(min(a, counts.draws - a + 1)):
                    same = w * (counts.draws - a - b) + counts.same
                    found.add(float(((p * a + b + same) / (a + p * b + same)).log()))
        return sorted(found)
