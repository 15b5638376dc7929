"""Pairs given by two smooth densities.

P has the density e^log_p and Q the density e^log_q on the support, a finite interval or several. What P has outside is
counted as infinite loss and what Q has there as loss -inf: the pair dominates every mechanism whose outputs have these
densities on the support. The loss log_p - log_q is monotone on finitely many branches; all quantities are sums over
them.
Guarantee: exact for this pair; float64 tails to TAIL_ERROR. Proof: docs/proofs/density.md.
Reference: Zhu, Dong, Wang 2021, Def. 7 (dominating pairs).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ...kernels.ball import lower_float, upper_float
from ...kernels.double_double import DoubleDouble
from ...kernels.enclosure import Enclosure, FloatArray, enclosing, falling
from ...operators import sampled_cgf
from ...pair import BallTails, LossRange, Pair, Tails
from ...relation import Direction
from .branch import Branch
from .series import DEGREE, Analysis, Piece, analyse, series_arithmetic

if TYPE_CHECKING:
    from ...facets.cgf import Cgf


@dataclass(frozen=True)
class DensityPair(Pair):
    """The pieces of the support with their functions; flipped: P and Q exchanged."""

    pieces: tuple[Piece, ...]
    flipped: bool
    analysis: Analysis = field(compare=False, repr=False)
    _cgfs: dict[tuple[float, int], Cgf] = field(default_factory=dict, compare=False, repr=False)

    def tails(self, t: DoubleDouble) -> Tails:
        shape = np.shape(t.hi)
        t = DoubleDouble(np.atleast_1d(t.hi).ravel(), np.atleast_1d(t.lo).ravel())
        parts = [branch.tails(t) for branch in self.branches]
        p_above, q_above, p_below, q_below = (np.sum([part[i] for part in parts], axis=0) for i in range(4))
        # At or below the truth: an event that lacks a little of an atom is still an event.
        infinite, hidden = (max(lower_float(mass), 0.0) for mass in (self.infinite_mass(), self._hidden()))
        found = (p_above + infinite, q_above, p_below, q_below + hidden)
        return Tails(*(np.minimum(each, 1.0).reshape(shape) for each in found))

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        return falling(self._hockey_stick_ends, epsilon)

    def _hockey_stick_ends(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        mass = self.infinite_mass()
        leaked = enclosing(max(lower_float(mass), 0.0), upper_float(mass))
        enclosure = reduce(operator.add, [branch.hockey_stick(points) for branch in self.branches])
        enclosure = enclosing(enclosure.lower, enclosure.upper) + leaked
        return enclosure.lower, enclosure.upper

    def ball_tails(self, t: arb) -> BallTails:
        with series_arithmetic(DEGREE + 1):
            if t.is_nan():
                return BallTails(*(arb(0).union(arb(1)) for _ in range(4)))
            parts = [branch.ball_masses(t) for branch in self.branches]
            p_above, q_above, p_below, q_below = (sum((part[i] for part in parts), arb(0)) for i in range(4))
            return BallTails(p_above + self.infinite_mass(), q_above, p_below, q_below + self._hidden())

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        tails = self.ball_tails(epsilon)
        with series_arithmetic(DEGREE + 1):
            value: arb = tails.p_above - epsilon.exp() * tails.q_above if not tails.q_above.is_zero() else tails.p_above
            return value

    def reversed(self) -> DensityPair:
        return self._mirror

    @cached_property
    def _mirror(self) -> DensityPair:
        made = DensityPair(self.pieces, not self.flipped, self.analysis)
        made.__dict__["_mirror"] = self  # so that what was prepared for either is kept
        return made

    def infinite_mass(self) -> arb:
        return self.analysis.outside_q if self.flipped else self.analysis.outside_p

    def _hidden(self) -> arb:
        """Q where P is not known to live."""
        return self.analysis.outside_p if self.flipped else self.analysis.outside_q

    def loss_range(self) -> LossRange:
        with series_arithmetic(DEGREE + 1):
            lowest, highest = arb.pos_inf(), arb.neg_inf()
            for branch in self.branches:
                lowest, highest = lowest.min(branch.bottoms[0].loss), highest.max(branch.tops[-1].loss)
            return LossRange(lowest, highest)

    def cgf(self) -> Cgf:
        return self.cgf_of_sample(1.0, Direction.REMOVE)

    def cgf_of_sample(self, rate: float, direction: Direction) -> Cgf:
        """Made once: the series of its cells serve all questions."""
        from .cgf import DensityCgf, SmoothLaw

        law = SmoothLaw(self, rate, 1 if direction is Direction.REMOVE else -1)
        return self._cgfs.setdefault((rate, law.sign), DensityCgf(law))

    @cached_property
    def branches(self) -> Sequence[Branch]:
        """Runs of cells with rising losses."""
        return tuple(Branch(run, self.flipped) for run in self.analysis.runs)


sampled_cgf.register(DensityPair)(DensityPair.cgf_of_sample)


def density_pair(pieces: tuple[Piece, ...]) -> DensityPair:
    """The pair of these densities; what is wrong with them is raised here."""
    return DensityPair(pieces, False, analyse(pieces))
