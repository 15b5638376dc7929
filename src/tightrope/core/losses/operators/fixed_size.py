"""A sample of a symmetric pair above the loss 0, and its own mirror image below: sampling without replacement.

H'(alpha) = g H(1 + (alpha - 1)/g) for alpha >= 1 and 1 - alpha + alpha H'(1/alpha) below. With the Poisson sample
A = ((1 - g) Q + g P, Q) and its reverse B = (P, (1 - g) P + g Q), both of the same base: tails and profile are those of
A for t >= 0 and those of B for t < 0. What is left, P[l = 0] + (1 - g) (p(0) - q(0)), is an atom at exactly 0.
Mass of infinite loss: w' = g w.
Guarantee: exact, for a base that is its own reverse. Proof: docs/proofs/sampling.md, section 2.
Reference: Balle, Barthe, Gaboardi 2018, Thm 9; Zhu, Dong, Wang 2021, Prop. 30.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ...numerics.balls import least_known
from ...numerics.enclosures import Enclosure, around, enclosing, exact
from ...numerics.mixture import mixed_enclosure
from ...numerics.rounding import FEW, round_up
from ...values.question import Direction
from ..atoms import Atoms
from ..capabilities import Moments
from ..cgf import cumulant_above
from ..pair import BallTails, LossRange, Pair, Tails
from .extremes import maximum_pair
from .poisson import poisson_pair
from .registered import dominated_pairs, remake, subsampled_fixed_size

if TYPE_CHECKING:
    from ...numerics.double_double import DoubleDouble


def fixed_size_subsampled_pair(base: Pair, rate: float) -> Pair:
    """The glued pair of a base that is its own reverse, 0 < rate < 1: of its family where that is one."""
    return subsampled_fixed_size(base, rate) or FixedSizeSubsampledPair(base, rate)


@dataclass(frozen=True, slots=True)
class FixedSizeSubsampledPair(Pair):
    """Glued at the loss 0, 0 < rate < 1."""

    base: Pair
    rate: float

    @property
    def upper(self) -> Pair:
        """A, which tells the losses above 0."""
        return poisson_pair(self.base, self.rate, Direction.REMOVE)

    @property
    def lower(self) -> Pair:
        """B, which tells those below: the base is its own reverse."""
        return poisson_pair(self.base, self.rate, Direction.ADD)

    def tails(self, t: DoubleDouble) -> Tails:
        above = np.asarray(t.hi >= 0.0)
        found = [np.empty(t.hi.shape) for _ in Tails._fields]
        for side, mask in ((self.upper, above), (self.lower, ~above)):
            if mask.any():
                for whole, part in zip(found, side.tails(t[mask]), strict=True):
                    whole[mask] = part
        return Tails(*found)

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        low, high = np.full(epsilon.value.shape, np.inf), np.full(epsilon.value.shape, -np.inf)
        value, radius = np.zeros(epsilon.value.shape), np.zeros(epsilon.value.shape)
        above, below = ~(epsilon.upper < 0.0), ~(epsilon.lower >= 0.0)
        for side, mask in ((self.upper, above), (self.lower, below)):
            if mask.any():
                part = side.hockey_stick(epsilon[mask])
                value[mask], radius[mask] = part.value, part.radius
                low[mask], high[mask] = np.minimum(low[mask], part.lower), np.maximum(high[mask], part.upper)
        both = enclosing(low, high)  # where epsilon is not told from 0
        return Enclosure(np.where(above & below, both.value, value), np.where(above & below, both.radius, radius))

    def ball_tails(self, t: arb) -> BallTails:
        found = [side.ball_tails(t) for side in self._sides(t)]
        return BallTails(*(one.union(other) for one, other in zip(found[0], found[-1], strict=True)))

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        values = [side.ball_hockey_stick(epsilon) for side in self._sides(epsilon)]
        return values[0] if len(values) == 1 else values[0].union(values[1])

    def _sides(self, t: arb) -> Sequence[Pair]:
        """Which of the two tells at t."""
        return (self.upper,) if t >= 0 else (self.lower,) if t < 0 else (self.upper, self.lower)

    def reversed(self) -> FixedSizeSubsampledPair:
        return self

    def infinite_mass(self) -> arb:
        return self.upper.infinite_mass()

    def loss_range(self) -> LossRange:
        highest_loss = self.upper.loss_range().highest
        edge = highest_loss if highest_loss.is_nan() else highest_loss.max(arb(0))
        return LossRange(-edge, edge)

    def hockey_stick_cost(self) -> int:
        return self.base.hockey_stick_cost()

    def bases(self) -> tuple[Pair, ...]:
        return (self.base,)

    def atoms(self) -> Atoms | None:
        base = self.base.atoms()
        if base is None:
            return None
        # Losses not told from 0 come with their mirror images, and stay where they are.
        above = base.loss.lower > 0.0
        zero = ~above & (base.loss.upper >= 0.0)
        kept = 1.0 - exact(self.rate)
        p, q, loss = base.p[above], base.q[above], mixed_enclosure(base.loss[above], self.rate)
        more = kept * q + p * self.rate
        rest = base.p[zero].sum() + kept * (p * -(-base.loss[above]).expm1()).sum()
        infinite = base.infinite
        if infinite.upper > 0.0:
            rest, infinite = rest + kept * infinite, infinite * self.rate
        places = base.loss[zero]
        near = float(np.max(places.upper, initial=0.0)), float(np.min(places.lower, initial=0.0))
        middle = around(0.0, max(near[0], -near[1]))
        return Atoms(
            _three(q[::-1], rest, more),
            _three(more[::-1], rest, q),
            _three(-loss[::-1], middle, loss),
            infinite,
            infinite,
            # What is left out of the base is so above 0, in the mirror image, and in the rest.
            round_up(3.0 * base.left_out, FEW),
        )

    def moments(self) -> FixedSizeSubsampledMoments:
        return FixedSizeSubsampledMoments(self)


@remake.register(FixedSizeSubsampledPair)
def _(pair: FixedSizeSubsampledPair, bases: Sequence[Pair]) -> Pair:
    """The same over a pair beside the base; the largest of it and its reverse lies on the same side, as a profile,
    since the base is its own reverse."""
    (base,) = bases
    return fixed_size_subsampled_pair(maximum_pair([base, base.reversed()]), pair.rate)


class FixedSizeSubsampledMoments(Moments[FixedSizeSubsampledPair]):
    def zcdp_rho(self) -> arb | None:
        """That of the base at most, which dominates it."""
        return least_known(self.pair.base.moments().zcdp_rho(), super().zcdp_rho())

    def gdp_mu(self) -> arb | None:
        """Likewise."""
        return least_known(self.pair.base.moments().gdp_mu(), super().gdp_mu())

    def gdp_mu_lower(self, direction: Direction) -> arb | None:
        """That of the base, of which it has the share `rate` above the loss 0; below it is its own mirror image."""
        return self.pair.base.moments().gdp_mu_lower(direction)

    def log_moment_above(self, order: float) -> arb:
        """e^K' - 1 <= (e^K_A - 1) + (e^K_B - 1): each side of the profile adds what one of them has there too."""
        values = [arb(cumulant_above(side, order)).expm1() for side in (self.pair.upper, self.pair.lower)]
        return (values[0] + values[1]).log1p()


@dominated_pairs.register(FixedSizeSubsampledPair)
def _(pair: FixedSizeSubsampledPair) -> tuple[Pair, ...]:
    return pair.upper, pair.lower


def _three(left: Enclosure, middle: Enclosure, right: Enclosure) -> Enclosure:
    columns = [(enclosure.value, enclosure.radius) for enclosure in (left, middle, right)]
    return Enclosure(*(np.concatenate([np.atleast_1d(column[i]) for column in columns]) for i in (0, 1)))
