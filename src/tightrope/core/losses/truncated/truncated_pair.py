"""Pairs of truncated noise, whole-valued or not.

Cut: the noise is conditioned to [left, right] and moves with the shift D: the first law lives on [left + D, right + D],
the second on [left, right]; outputs above `right` have infinite loss. Clamped: what lies beyond [left, right], which
does not move, becomes two further outputs, one on each side: post-processing, so no loss is infinite.
In both cases {loss > t} = {output > x(t)}: the crossing of the noise, confined to where both laws live.
Guarantee: exact; float64 tails to TAIL_ERROR. Proof: docs/proofs/truncated.md.
Reference: Meiser, Mohammadi 2018, Sec. 5.1, 5.2 (cut) and 7.1 (clamped).
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from flint import acb, arb, ctx

from ...numerics.balls import BITS_START, complex_log, enclose, hull, integer, working_precision
from ...numerics.double_double import DoubleDouble, double_double
from ...numerics.enclosures import Enclosure, FloatArray, enclosed, enclosing, exact, falling, where
from ..atoms import Atom, FiniteLaw, Lattice, LatticeStep, common_step, ratio_ball
from ..capabilities import Moments
from ..cgf import demand_ordinary
from ..finite.finite_pair import FinitePair
from ..finite.laws import ListedLaw
from ..pair import BallTails, Pair
from .segments import End, Losses, LossesCgf, NormalSegment, Place, ShiftedNoise, log_moment, split

if TYPE_CHECKING:
    from ..cgf import Cgf


# Profiles of truncated noise: by a formula in float64, or read off balls.
#
# Guarantee: exact, with the radius of kernels.enclosure. Proof: docs/proofs/truncated.md, "Profiles in float64".

FORMULA_EPSILON_MAX = 700.0  # of epsilon, for e^epsilon in float64


class Ends(NamedTuple):
    """Where half-lines {output > x} may start: between two places, or at the cuts alone, each with its p and q.

    low, high: the losses of the noise at the two places. beyond: what both laws lack above, and kept: what both are
    divided by, before the noise was truncated.
    """

    low: Enclosure
    high: Enclosure
    cuts: tuple[tuple[Enclosure, Enclosure], ...]
    beyond: Enclosure
    kept: Enclosure


def by_formula(noise: ShiftedNoise, epsilon: Enclosure) -> bool:
    """Whether float64 has a formula: outputs that are not rounded, a shift that is a double, e^eps within range."""
    even = not noise.whole and Fraction(float(noise.shift)) == noise.shift
    return even and not bool(np.any(epsilon.value > FORMULA_EPSILON_MAX))


def hockey_stick_by_ends(ends: Ends, noise: ShiftedNoise, epsilon: Enclosure) -> Enclosure:
    """H = (H_0 + (e^eps - 1) beyond) / kept, H_0 that of the noise itself, where its half-line starts between the ends;
    elsewhere the best of the cuts, max p - e^eps q. Where that cannot be told it lies between the two.
    """
    with np.errstate(all="ignore"):
        growth = epsilon.exp()
        values = [p - growth * q if q.upper > 0.0 else p + epsilon * 0.0 for p, q in ends.cuts]
        lower = np.max([np.maximum(value.lower, 0.0) for value in values], axis=0)
        upper = np.max([np.maximum(value.upper, 0.0) for value in values], axis=0)
        free = (noise.hockey_stick(epsilon) + epsilon.expm1() * ends.beyond) / ends.kept
        inside = (epsilon.lower >= ends.low.upper) & (epsilon.upper <= ends.high.lower)
        outside = (epsilon.upper < ends.low.lower) | (epsilon.lower > ends.high.upper)
        edge = enclosing(lower, np.maximum(upper, free.upper))
        return where(inside, free, where(outside, enclosing(lower, upper), edge))


def ends_at(pair: TruncatedPair, low: Place, high: Place, beyond: Enclosure, kept: Enclosure) -> Ends:
    """Half-lines between two places, from either of them on, and those that hold everything, or nothing."""
    with working_precision(BITS_START):
        losses = enclosed([pair.noise.ball_loss_at(place) for place in (low, high)])
    cuts = [(exact(1.0), exact(1.0)), (exact(0.0), exact(0.0))]
    cuts += [_cut(pair, place) for place in (low, high) if not isinstance(place, float)]
    return Ends(losses[0], losses[1], tuple(cuts), beyond, kept)


def _cut(pair: TruncatedPair, x: arb) -> tuple[Enclosure, Enclosure]:
    return enclosed_ball(lambda: pair.ball_above(x)[0]), enclosed_ball(lambda: pair.ball_above(x)[1])


def enclosed_ball(ball: Callable[[], arb]) -> Enclosure:
    return enclosing(*enclose(ball))


def hockey_stick_by_balls(pair: TruncatedPair, epsilon: Enclosure) -> Enclosure:
    """H in float64, read off balls entry by entry: the half-line is known, so an entry costs two error functions."""

    def ends(points: FloatArray) -> tuple[FloatArray, FloatArray]:
        known = zip(points, pair.noise.sure_crossings(points), strict=True)
        found = [enclose(partial(pair.ball_hockey_stick, arb(float(at)), crossing)) for at, crossing in known]
        return np.array([low for low, _ in found]), np.array([high for _, high in found])

    return falling(ends, epsilon)


# Moments of rounded Gaussian noise that is too coarse for the formula of its cells: added up one by one.
#
# Cells further than v sigma beyond the centres of all three laws, p, q and the tilted one, have at most
# 2 max(e^{c(c+1) mu^2/2}, 1) e^{-v^2/2}/kept in all, c = Re z: such a cell has at most its integral, or P + Q of it.
# Guarantee: exact. Proof: docs/proofs/truncated.md, "Cells of Gaussian noise".

CELLS_SUMMED = 20_000  # a second


def summed_log_moment(pair: TruncatedPair, z: acb) -> acb | None:
    """K(z); None where there are too many cells, or none that are normal."""
    known = pair.losses()
    if not isinstance(known.segment, NormalSegment):
        return None
    spare = 64 + known.spare_bits(float(z.real.mid()), abs(float(z.imag.mid())))
    with working_precision(ctx.prec + spare):
        known = pair.losses()
        assert isinstance(known.segment, NormalSegment)
        cells = _cells(pair, known.segment, z)
        if cells is None:
            return None
        value = Losses(known.atoms, None).moment(z) + cells
        return acb(value.real.log()) if z.imag.is_zero() else complex_log(value)


def _cells(pair: TruncatedPair, stretch: NormalSegment, z: acb) -> acb | None:
    noise, c, mu = pair.noise, z.real, stretch.mu
    v, shift = (2 * (ctx.prec + 16) * arb(2).log()).sqrt(), noise.ball_shift
    reach, centre = v * shift / mu, (c + 1) * shift
    ends = centre.min(arb(0)) - reach - 1, centre.max(shift) + reach + 2
    start, stop = (integer(end.mid().floor()) for end in ends)
    if start is None or stop is None or stop - start > CELLS_SUMMED:
        return None
    low, high = pair.inner()
    first, last = int(max(start, low)), int(min(stop, high))
    masses: dict[int, arb] = pair.__dict__.setdefault("_log_masses", {}).setdefault(ctx.prec, {})
    for k in range(first - int(noise.shift), last):
        if k not in masses:
            masses[k] = noise.ball_mass(arb(k), arb(k + 1)).log()
    # Under the first law a cell has what the one D below has under the second.
    logs = ((masses[k - int(noise.shift)], masses[k]) for k in range(first, last))
    total = sum((((1 + z) * p - z * q).exp() for p, q in logs), acb(0))
    left_out = 2 * (-v * v / 2).exp() * (c * (c + 1) * mu * mu / 2).exp().max(arb(1))
    around = arb(0) if (first, last) == (low, high) else arb(0, 1) * left_out
    return (total + acb(around, arb(0) if z.imag.is_zero() else around)) / stretch.kept


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


# Rounded noise with few different losses: a finite law.
#
# Outputs rounded up are cells between whole numbers. Laplace noise has one loss below 0, one above D and
# (2k - 1 - D)/scale in the cell (k-1, k] between; Gaussian noise has as many losses as there are cells.
# Guarantee: exact. Proof: docs/proofs/truncated.md, lemma 3.
# Reference: Meiser, Mohammadi 2018, Sec. 7.1.

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
