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

from ...numerics.balls import BITS_MAX, BITS_START, least_known, working_precision
from ...numerics.double_double import DoubleDouble, double_double
from ...numerics.enclosures import exact
from ...numerics.rounding import exact_product
from ...values.errors import InvalidParameter
from ..operators.registered import shifted_pair
from ..pair import LossRange, Tails
from .segments import End, Losses, Place, from_balls, moved, split, within
from .truncated_pair import (
    Ends,
    TruncatedMoments,
    TruncatedPair,
    cell_loss,
    edge_place,
    enclosed_ball,
    ends_at,
    least,
    mirrored,
    most,
)

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


# Noise that is clamped: what lies beyond [left, right], which does not move, becomes two further outputs, the ends.
#
# Post-processing, so no loss is infinite.
# Guarantee: exact; float64 tails to TAIL_ERROR. Proof: docs/proofs/truncated.md.
# Reference: Meiser, Mohammadi 2018, Sec. 7.1.


@dataclass(frozen=True)
class ClampedPair(TruncatedPair):
    """Noise around D against noise around 0, both clamped: the outputs are those between, and two ends.

    left, right: where the lower end stops and the upper end starts.
    """

    def tails(self, t: DoubleDouble) -> Tails:
        noise, shift = self.noise, split(self.noise.shift)
        x = least(most(noise.crossing(t), edge_place(self.left, -np.inf)), edge_place(self.right, np.inf))
        low, high = self._end_losses
        none, every = (t - high).collapse() >= 0.0, (t - low).collapse() < 0.0
        hi = np.where(none, np.inf, np.where(every, -np.inf, x.hi))
        x = DoubleDouble(hi, np.where(none | every, 0.0, x.lo))
        moved, first, last = x - shift, double_double(-np.inf), double_double(np.inf)
        masses = ((moved, last), (x, last), (first, moved), (first, x))
        return Tails(*(noise.masses(start, stop) for start, stop in masses))

    @cached_property
    def _end_losses(self) -> tuple[DoubleDouble, DoubleDouble]:
        """Losses of the two ends, -inf and inf where they are absent."""
        with working_precision(BITS_START):
            low, high = self._ball_end_losses
            return (
                double_double(-np.inf) if self.left is None else from_balls([low])[0],
                double_double(np.inf) if self.right is None else from_balls([high])[0],
            )

    @cached_property
    def ends(self) -> Ends:
        return ends_at(self, self.ball_left, self.ball_right, exact(0.0), exact(1.0))

    def _places(self, t: arb, crossing: Place | None) -> list[Place]:
        low, high = self._ball_end_losses
        found: list[Place] = []
        if self.left is not None and not t >= low:
            found.append(-math.inf)
        if self.right is not None and not t < high:
            found.append(math.inf)
        if (self.left is not None and t < low) or (self.right is not None and t >= high):
            return found
        crossings = self.noise.ball_crossings(t) if crossing is None else [crossing]
        return found + [within(x, self.ball_left, self.ball_right) for x in crossings]

    def ball_above(self, x: Place) -> tuple[arb, arb]:
        return self.noise.ball_moved_mass(x, math.inf), self.noise.ball_mass(x, math.inf)

    def ball_below(self, x: Place) -> tuple[arb, arb]:
        return self.noise.ball_moved_mass(-math.inf, x), self.noise.ball_mass(-math.inf, x)

    @cached_property
    def _ball_end_losses(self) -> tuple[arb, arb]:
        """log of the ratio of the masses beyond each bound; the limit of the loss where there is no bound."""
        bits = 2 * BITS_START
        while True:
            with working_precision(bits):
                low, high = self._ball_end_losses_now()
            known = (self.left is None or low.is_finite()) and (self.right is None or high.is_finite())
            if known or bits >= BITS_MAX:
                return low, high
            bits *= 2

    def _ball_end_losses_now(self) -> tuple[arb, arb]:
        """The same at the working precision."""
        noise, left, right = self.noise, self.ball_left, self.ball_right
        return (
            noise.ball_loss_at(left) if self.left is None else cell_loss(noise, -math.inf, left),
            noise.ball_loss_at(right) if self.right is None else cell_loss(noise, right, math.inf),
        )

    def ball_kept(self) -> arb:
        return arb(1)

    def inner(self) -> tuple[End, End]:
        return -math.inf if self.left is None else self.left, math.inf if self.right is None else self.right

    def corners(self) -> list[End]:
        first, last = self.inner()
        return sorted({-math.inf, first, *self.noise.corners(first, last), last, math.inf})

    def reversed(self) -> ClampedPair:
        """Mirrored: x -> D - x exchanges the two laws."""
        return ClampedPair(self.noise, mirrored(self.right, self.noise.shift), mirrored(self.left, self.noise.shift))

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        return LossRange(*self._ball_end_losses)

    def losses(self) -> Losses:
        """The losses of the two ends are exact, whatever lies between."""
        low, high = self._ball_end_losses_now()
        known = self.noise.ball_losses(self.ball_left, self.ball_right, arb(1))
        atoms = list(known.atoms)
        if self.left is not None:
            atoms.append((self.ball_below(self.ball_left)[0], low))
        if self.right is not None:
            atoms.append((self.ball_above(self.ball_right)[0], high))
        return Losses(tuple(atoms), known.segment)

    def moments(self) -> ClampedMoments:
        return ClampedMoments(self)


class ClampedMoments(TruncatedMoments):
    def zcdp_rho(self) -> arb | None:
        """That of the noise at most, since clamping is post-processing."""
        return least_known(self.pair.noise.zcdp_rho(), super().zcdp_rho())

    def gdp_mu(self) -> arb | None:
        """That of the noise at most, likewise."""
        return least_known(self.pair.noise.gdp_mu(), super().gdp_mu())
