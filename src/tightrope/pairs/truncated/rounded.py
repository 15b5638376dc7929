"""Rounded noise with few different losses: a finite law.

Outputs rounded up are cells between whole numbers. Laplace noise has one loss below 0, one above D and
(2k - 1 - D)/scale in the cell (k-1, k] between; Gaussian noise has as many losses as there are cells.
Guarantee: exact. Proof: docs/proofs/truncated.md, lemma 3.
Reference: Meiser, Mohammadi 2018, Sec. 7.1.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from ...facets.finite import Atom, FiniteLaw
from ...facets.lattice import Lattice, LatticeStep, common_step, ratio_ball
from ...pair import Pair
from ..finite.laws import ListedLaw
from ..finite.pair import FinitePair
from .noise import End, Place
from .pair import TruncatedPair

CELLS_LISTED = 512  # of a law that is listed: what every engine goes through in no time


@dataclass(frozen=True)
class RoundedLaw(ListedLaw):
    """The outputs of a rounded pair, those of one loss together."""

    pair: TruncatedPair

    def atoms(self) -> list[Atom]:
        noise, kept = self.pair.noise, self.pair.ball_kept()
        found = []
        for start, stop, loss in self._cells():
            first, last = _place(start), _place(stop)
            p, q = noise.ball_moved_mass(first, last) / kept, noise.ball_mass(first, last) / kept
            found.append(Atom(p, q, (p / q).log() if loss is None else ratio_ball(loss)))
        return found

    def _cells(self) -> list[tuple[End, End, Fraction | None]]:
        """Start, stop and, where it is a fraction, the loss."""
        found: list[tuple[End, End, Fraction | None]] = []
        for start, stop in itertools.pairwise(self.pair.corners()):
            loss = self.pair.noise.cell_loss(start, stop)
            if found and loss is not None and loss == found[-1][2]:
                found[-1] = (found[-1][0], stop, loss)
            else:
                found.append((start, stop, loss))
        return found

    def infinite_mass(self) -> arb:
        return self.pair.infinite_mass()

    def lost_mass(self) -> arb:
        return self.pair.reversed().infinite_mass()

    def reversed(self) -> FiniteLaw:
        return RoundedLaw(self.pair.reversed())

    def lattice(self) -> Lattice | None:
        """Of losses that are fractions."""
        losses = [loss for _, _, loss in self._cells()]
        known = [loss for loss in losses if loss is not None]
        if not known or len(known) < len(losses):
            return None
        step = common_step(LatticeStep(loss - known[0], False) for loss in known[1:])
        return None if step is None or step.trivial else Lattice(step, known[0])


def listed(pair: TruncatedPair) -> Pair:
    """The same pair, as a finite law where outputs are rounded and few."""
    few = pair.noise.whole and not pair.disjoint() and pair.noise.count_corners(pair.left, pair.right) <= CELLS_LISTED
    return FinitePair(RoundedLaw(pair)) if few else pair


def _place(end: End) -> Place:
    return ratio_ball(end) if isinstance(end, Fraction) else end
