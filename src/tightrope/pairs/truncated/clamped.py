"""Noise that is clamped: what lies beyond [left, right], which does not move, becomes two further outputs, the ends.

Post-processing, so no loss is infinite.
Guarantee: exact; float64 tails to TAIL_ERROR. Proof: docs/proofs/truncated.md.
Reference: Meiser, Mohammadi 2018, Sec. 7.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb

from ...kernels.ball import BITS_MAX, BITS_START, least_known, working_precision
from ...kernels.double_double import DoubleDouble, double_double
from ...kernels.enclosure import exact
from ...pair import LossRange, Tails
from .hockey_stick import Ends, ends_at
from .losses import Losses
from .noise import End, Place, from_balls, split, within
from .pair import TruncatedMoments, TruncatedPair, cell_loss, edge_place, least, mirrored, most


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
