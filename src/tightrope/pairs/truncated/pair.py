"""Pairs of truncated noise, whole-valued or not.

Cut: the noise is conditioned to [left, right] and moves with the shift D: the first law lives on [left + D, right + D],
the second on [left, right]; outputs above `right` have infinite loss. Clamped: what lies beyond [left, right], which
does not move, becomes two further outputs, one on each side: post-processing, so no loss is infinite.
In both cases {loss > t} = {output > x(t)}: the crossing of the noise, confined to where both laws live.
Guarantee: exact; float64 tails to TAIL_ERROR. Proof: docs/proofs/truncated.md.
Reference: Meiser, Mohammadi 2018, Sec. 5.1, 5.2 (cut) and 7.1 (clamped).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, arb, ctx

from ...facets.cgf import demand_ordinary
from ...facets.lattice import ratio_ball
from ...facets.moments import Moments
from ...kernels.ball import BITS_START, hull, working_precision
from ...kernels.double_double import DoubleDouble, double_double
from ...kernels.enclosure import Enclosure
from ...pair import BallTails, Pair
from .hockey_stick import Ends, by_formula, hockey_stick_by_balls, hockey_stick_by_ends
from .losses import Losses, LossesCgf, log_moment
from .noise import End, Place, ShiftedNoise, split
from .summed import summed_log_moment

if TYPE_CHECKING:
    from ...facets.cgf import Cgf

Edge = Fraction | None  # None: no truncation on that side


@dataclass(frozen=True)
class TruncatedPair(Pair):
    """Noise around a shift against the same noise around 0, truncated in some way.

    Moments are known exactly for outputs that are not rounded and, at real orders, from above else: cells average the
    ratio of the two laws, so that rounding lets a moment only fall. Proof: docs/proofs/classic.md, section 4.
    """

    noise: ShiftedNoise
    left: Edge
    right: Edge

    @abstractmethod
    def _places(self, t: arb, crossing: Place | None) -> list[Place]:
        """Places x, of which one has {loss > t} = {output > x}; crossing: that of the noise at t, if known."""

    @abstractmethod
    def ball_above(self, x: Place) -> tuple[arb, arb]:
        """P and Q of {output > x}."""

    @abstractmethod
    def ball_below(self, x: Place) -> tuple[arb, arb]:
        """P and Q of {output <= x}."""

    @property
    @abstractmethod
    def ends(self) -> Ends | None:
        """What float64 takes its formula from; None where it has none."""

    @abstractmethod
    def losses(self) -> Losses:
        """The finite losses of outputs that are not rounded, at the working precision; but the ends as they are."""

    @abstractmethod
    def reversed(self) -> TruncatedPair:
        """The pair (Q, P)."""

    @abstractmethod
    def ball_kept(self) -> arb:
        """What both laws are divided by."""

    @abstractmethod
    def inner(self) -> tuple[End, End]:
        """Between which places both laws have outputs that are no ends of clamped noise."""

    @abstractmethod
    def corners(self) -> list[End]:
        """The ends of all that both laws have, and the whole numbers between which the loss may change."""

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        ends = self.ends if by_formula(self.noise, epsilon) else None
        return hockey_stick_by_balls(self, epsilon) if ends is None else hockey_stick_by_ends(ends, self.noise, epsilon)

    def ball_tails(self, t: arb) -> BallTails:
        found = [BallTails(*self.ball_above(x), *self.ball_below(x)) for x in self._places(t, None)]
        return BallTails(*(reduce(hull, column) for column in zip(*found, strict=True)))

    def ball_hockey_stick(self, epsilon: arb, crossing: Place | None = None) -> arb:
        """Every half-line gives a value at or below H, and the true one attains it: the maximum is exact."""
        alpha, found = epsilon.exp(), [self.ball_above(x) for x in self._places(epsilon, crossing)]
        return reduce(arb.max, [p - alpha * q for p, q in found])

    def cgf(self) -> Cgf | None:
        """Where a part of the loss has a density, or nearly so: of atoms alone it would not fall."""
        if self.disjoint() or not self.noise.has_moments:
            return None
        demand_ordinary(self.noise.ball_size)
        with working_precision(BITS_START):
            return None if self.losses().segment is None else LossesCgf(self)

    def exact_losses(self) -> Losses:
        """The finite losses of the outputs as they are, rounded or not, worked out once for each precision."""
        kept: dict[int, Losses] = self.__dict__.setdefault("_exact_losses", {})
        if ctx.prec not in kept:
            losses = self.losses()
            kept[ctx.prec] = Losses(
                losses.atoms, None if losses.segment is None else self.noise.rounded(losses.segment)
            )
        return kept[ctx.prec]

    def disjoint(self) -> bool:
        """Whether no output is possible under both laws."""
        return False

    @property
    def ball_left(self) -> Place:
        return -math.inf if self.left is None else ratio_ball(self.left)

    @property
    def ball_right(self) -> Place:
        return math.inf if self.right is None else ratio_ball(self.right)

    def moments(self) -> TruncatedMoments:
        return TruncatedMoments(self)


class TruncatedMoments(Moments[TruncatedPair]):
    def log_moment(self, z: acb) -> acb | None:
        if self.pair.disjoint():
            return None
        return log_moment(self.pair.exact_losses, z) if self.pair.noise.has_moments else summed_log_moment(self.pair, z)

    def log_moment_above(self, order: float) -> arb | None:
        return None if self.pair.disjoint() else log_moment(self.pair.losses, acb(order)).real


def cell_loss(noise: ShiftedNoise, start: Place, stop: Place) -> arb:
    """log of the ratio of the two masses of one cell."""
    return (noise.ball_moved_mass(start, stop) / noise.ball_mass(start, stop)).log()


def edge_place(edge: Edge, missing: float) -> DoubleDouble:
    return double_double(missing) if edge is None else split(edge)


def mirrored(edge: Edge, shift: Fraction) -> Edge:
    return None if edge is None else shift - edge


def most(x: DoubleDouble, floor: DoubleDouble) -> DoubleDouble:
    """The larger of the two; infinities compare as they should."""
    with np.errstate(all="ignore"):
        gap = (x - floor).collapse()
    above = np.where(np.isnan(gap), x.hi >= floor.hi, gap >= 0.0)
    return DoubleDouble(np.where(above, x.hi, floor.hi), np.where(above, x.lo, floor.lo))


def least(x: DoubleDouble, ceiling: DoubleDouble) -> DoubleDouble:
    return -most(-x, -ceiling)
