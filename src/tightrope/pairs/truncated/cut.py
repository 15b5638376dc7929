"""Noise that is cut: conditioned to [left, right], which moves with the shift D.

The first law lives on [left + D, right + D], the second on [left, right]: outputs above `right` have infinite loss.
Guarantee: exact; float64 tails to TAIL_ERROR. Proof: docs/proofs/truncated.md.
Reference: Meiser, Mohammadi 2018, Sec. 5.1, 5.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb

from ...errors import InvalidParameter
from ...kernels.ball import BITS_START, working_precision
from ...kernels.directed import exact_product
from ...kernels.double_double import DoubleDouble
from ...operators import shifted_pair
from ...pair import LossRange, Tails
from .hockey_stick import Ends, enclosed_ball, ends_at
from .losses import Losses
from .noise import End, Place, moved, split, within
from .pair import TruncatedPair, cell_loss, edge_place, least, mirrored, most

LEAST_KEPT = 1e-10  # below, tails divided by what is kept would lose their relative precision


@dataclass(frozen=True)
class CutPair(TruncatedPair):
    """Noise conditioned to (left, right], shifted against unshifted."""

    def __post_init__(self) -> None:
        with working_precision(BITS_START):
            if not self.ball_kept() > LEAST_KEPT:
                raise InvalidParameter(f"the bounds leave less than {LEAST_KEPT:g} of the noise; move them or its mean")

    def tails(self, t: DoubleDouble) -> Tails:
        noise, shift = self.noise, split(self.noise.shift)
        left, right = edge_place(self.left, -np.inf), edge_place(self.right, np.inf)
        x = least(most(noise.crossing(t), left + shift), right)
        moved = most(x - shift, left)
        kept = noise.masses(left, right)
        masses = ((moved, right), (x, right), (left, moved), (left, x))
        return Tails(*(noise.masses(start, stop) / kept for start, stop in masses))

    @cached_property
    def ends(self) -> Ends | None:
        """The first law lives from left + D on, the second one up to right; above, p and q lack P[noise > right]."""
        if self.disjoint():
            return None
        low, high = moved(self.ball_left, self.noise.ball_shift), self.ball_right
        return ends_at(
            self, low, high, enclosed_ball(lambda: self.noise.ball_mass(high, math.inf)), enclosed_ball(self.ball_kept)
        )

    def _places(self, t: arb, crossing: Place | None) -> list[Place]:
        return self.noise.ball_crossings(t) if crossing is None else [crossing]

    def ball_above(self, x: Place) -> tuple[arb, arb]:
        (back, x), right, kept = self._starts(x), self.ball_right, self.ball_kept()
        return self.noise.ball_mass(back, right) / kept, self.noise.ball_mass(x, right) / kept

    def ball_below(self, x: Place) -> tuple[arb, arb]:
        (back, x), left, kept = self._starts(x), self.ball_left, self.ball_kept()
        return self.noise.ball_mass(left, back) / kept, self.noise.ball_mass(left, x) / kept

    def _starts(self, x: Place) -> tuple[Place, Place]:
        """x confined to where both laws live, as the noise has it under the first law and under the second."""
        left, right, shift = self.ball_left, self.ball_right, self.noise.ball_shift
        x = within(within(x, moved(left, shift), math.inf), -math.inf, right)
        return within(moved(x, -shift), left, math.inf), x

    def ball_kept(self) -> arb:
        return self.noise.ball_mass(self.ball_left, self.ball_right)

    def inner(self) -> tuple[End, End]:
        first = -math.inf if self.left is None else self.left + self.noise.shift
        return first, math.inf if self.right is None else self.right

    def corners(self) -> list[End]:
        first, last = self.inner()
        return sorted({first, *self.noise.corners(first, last), last})

    def reversed(self) -> CutPair:
        """Mirrored: the noise is symmetric, so x -> D - x exchanges the two laws and turns the bounds around."""
        return CutPair(self.noise, mirrored(self.right, Fraction(0)), mirrored(self.left, Fraction(0)))

    def infinite_mass(self) -> arb:
        if self.right is None:
            return arb(0)
        return arb(1) if self.disjoint() else self.ball_above(self.ball_right)[0]

    def disjoint(self) -> bool:
        return self.left is not None and self.right is not None and self.right - self.left <= self.noise.shift

    def loss_range(self) -> LossRange:
        if self.disjoint():
            return LossRange(arb(0), arb(0))  # no finite loss
        noise = self.noise
        low, high = moved(self.ball_left, noise.ball_shift), self.ball_right
        return LossRange(
            noise.ball_loss_at(low) if not noise.whole or isinstance(low, float) else cell_loss(noise, low, low + 1),
            noise.ball_loss_at(high)
            if not noise.whole or isinstance(high, float)
            else cell_loss(noise, high - 1, high),
        )

    def losses(self) -> Losses:
        start = moved(self.ball_left, self.noise.ball_shift)
        return self.noise.ball_losses(start, self.ball_right, self.ball_kept())


@shifted_pair.register(CutPair)
def _(pair: CutPair, times: int) -> CutPair | None:
    """Log-concave still where it is cut; symmetric where the bounds are."""
    symmetric = times == 1 or pair.left == mirrored(pair.right, Fraction(0))
    longer = exact_product(float(pair.noise.shift), times) if symmetric else None
    return None if longer is None else CutPair(pair.noise.moving(Fraction(longer)), pair.left, pair.right)
