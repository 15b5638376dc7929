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
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial, reduce
from typing import NamedTuple

import numpy as np
from flint import acb, arb

from ...errors import InvalidParameter
from ...facets.lattice import ratio_ball
from ...kernels.ball import BITS_MOST, BITS_START, enclose, hull, working_precision
from ...kernels.enclosure import Enclosure, FloatArray, enclosed, enclosing, exact, falling, where
from ...kernels.twofold import Twofold, twofold
from ...pair import BallTails, LossRange, Pair, Tails
from .noise import Place, ShiftedNoise, from_balls, moved, split, within

Edge = Fraction | None  # None: no truncation on that side
FORMULA_EPSILON_MOST = 700.0  # of epsilon, for e^epsilon in float64
LEAST_KEPT = 1e-10  # below, tails divided by what is kept would lose their relative precision


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


@dataclass(frozen=True)
class TruncatedPair(Pair):
    """Noise around a shift against the same noise around 0, truncated in some way.

    Moments are known at real orders, exactly for outputs that are not rounded and from above else: cells average the
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
    def _ends(self) -> Ends | None:
        """What float64 takes its formula from; None where it has none."""

    @abstractmethod
    def ball_moment(self, order: arb) -> arb:
        """At or above E[e^(order loss); loss finite] under the first law; equal unless outputs are rounded."""

    def profile(self, epsilon: Enclosure) -> Enclosure:
        ends = self._ends if by_formula(self.noise, epsilon) else None
        return profile_by_balls(self, epsilon) if ends is None else profile_by_ends(ends, self.noise, epsilon)

    def ball_tails(self, t: arb) -> BallTails:
        found = [BallTails(*self.ball_above(x), *self.ball_below(x)) for x in self._places(t, None)]
        return BallTails(*(reduce(hull, column) for column in zip(*found, strict=True)))

    def ball_profile(self, epsilon: arb, crossing: Place | None = None) -> arb:
        """Every half-line gives a value at or below H, and the true one attains it: the maximum is exact."""
        alpha, found = epsilon.exp(), [self.ball_above(x) for x in self._places(epsilon, crossing)]
        return reduce(arb.max, [p - alpha * q for p, q in found])

    def log_moment(self, z: acb) -> acb | None:
        known = not self.noise.whole and z.imag.is_zero() and z.real >= -0.5
        return acb(self.ball_moment(z.real).log()) if known else None

    def log_moment_above(self, order: float) -> arb:
        return self.ball_moment(arb(order)).log()

    @property
    def _ball_left(self) -> Place:
        return -math.inf if self.left is None else ratio_ball(self.left)

    @property
    def _ball_right(self) -> Place:
        return math.inf if self.right is None else ratio_ball(self.right)


@dataclass(frozen=True)
class CutPair(TruncatedPair):
    """Noise conditioned to (left, right], shifted against unshifted."""

    def __post_init__(self) -> None:
        with working_precision(BITS_START):
            if not self._ball_kept() > LEAST_KEPT:
                raise InvalidParameter(f"the bounds leave less than {LEAST_KEPT:g} of the noise; move them or its mean")

    def tails(self, t: Twofold) -> Tails:
        noise, shift = self.noise, split(self.noise.shift)
        left, right = _edge(self.left, -np.inf), _edge(self.right, np.inf)
        x = _least(_most(noise.crossing(t), left + shift), right)
        moved = _most(x - shift, left)
        kept = noise.masses(left, right)
        masses = ((moved, right), (x, right), (left, moved), (left, x))
        return Tails(*(noise.masses(start, stop) / kept for start, stop in masses))

    @cached_property
    def _ends(self) -> Ends | None:
        """The first law lives from left + D on, the second one up to right; above, p and q lack P[noise > right]."""
        if self._disjoint():
            return None
        low, high = moved(self._ball_left, self.noise.ball_shift), self._ball_right
        return _ends_at(
            self, low, high, _enclosed(lambda: self.noise.ball_mass(high, math.inf)), _enclosed(self._ball_kept)
        )

    def _places(self, t: arb, crossing: Place | None) -> list[Place]:
        return self.noise.ball_crossings(t) if crossing is None else [crossing]

    def ball_above(self, x: Place) -> tuple[arb, arb]:
        (back, x), right, kept = self._starts(x), self._ball_right, self._ball_kept()
        return self.noise.ball_mass(back, right) / kept, self.noise.ball_mass(x, right) / kept

    def ball_below(self, x: Place) -> tuple[arb, arb]:
        (back, x), left, kept = self._starts(x), self._ball_left, self._ball_kept()
        return self.noise.ball_mass(left, back) / kept, self.noise.ball_mass(left, x) / kept

    def _starts(self, x: Place) -> tuple[Place, Place]:
        """x confined to where both laws live, as the noise has it under the first law and under the second."""
        left, right, shift = self._ball_left, self._ball_right, self.noise.ball_shift
        x = within(within(x, moved(left, shift), math.inf), -math.inf, right)
        return within(moved(x, -shift), left, math.inf), x

    def _ball_kept(self) -> arb:
        return self.noise.ball_mass(self._ball_left, self._ball_right)

    def reversed(self) -> CutPair:
        """Mirrored: the noise is symmetric, so x -> D - x exchanges the two laws and turns the bounds around."""
        return CutPair(self.noise, _mirrored(self.right, Fraction(0)), _mirrored(self.left, Fraction(0)))

    def infinite_mass(self) -> arb:
        if self.right is None:
            return arb(0)
        return arb(1) if self._disjoint() else self.ball_above(self._ball_right)[0]

    def _disjoint(self) -> bool:
        return self.left is not None and self.right is not None and self.right - self.left <= self.noise.shift

    def loss_range(self) -> LossRange:
        if self._disjoint():
            return LossRange(arb(0), arb(0))  # no finite loss
        noise = self.noise
        low, high = moved(self._ball_left, noise.ball_shift), self._ball_right
        return LossRange(
            noise.ball_loss_at(low) if not noise.whole or isinstance(low, float) else _cell_loss(noise, low, low + 1),
            noise.ball_loss_at(high)
            if not noise.whole or isinstance(high, float)
            else _cell_loss(noise, high - 1, high),
        )

    def ball_moment(self, order: arb) -> arb:
        start = moved(self._ball_left, self.noise.ball_shift)
        stop = within(self._ball_right, start, math.inf)
        return self.noise.ball_power_mass(order, start, stop) / self._ball_kept()


@dataclass(frozen=True)
class ClampedPair(TruncatedPair):
    """Noise around D against noise around 0, both clamped: the outputs are those between, and two ends.

    left, right: where the lower end stops and the upper end starts.
    """

    def tails(self, t: Twofold) -> Tails:
        noise, shift = self.noise, split(self.noise.shift)
        x = _least(_most(noise.crossing(t), _edge(self.left, -np.inf)), _edge(self.right, np.inf))
        low, high = self._end_losses
        none, every = (t - high).collapse() >= 0.0, (t - low).collapse() < 0.0
        hi = np.where(none, np.inf, np.where(every, -np.inf, x.hi))
        x = Twofold(hi, np.where(none | every, 0.0, x.lo))
        moved, first, last = x - shift, twofold(-np.inf), twofold(np.inf)
        masses = ((moved, last), (x, last), (first, moved), (first, x))
        return Tails(*(noise.masses(start, stop) for start, stop in masses))

    @cached_property
    def _end_losses(self) -> tuple[Twofold, Twofold]:
        """Losses of the two ends, -inf and inf where they are absent."""
        with working_precision(BITS_START):
            low, high = self._ball_end_losses
            return (
                twofold(-np.inf) if self.left is None else from_balls([low])[0],
                twofold(np.inf) if self.right is None else from_balls([high])[0],
            )

    @cached_property
    def _ends(self) -> Ends:
        return _ends_at(self, self._ball_left, self._ball_right, exact(0.0), exact(1.0))

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
        return found + [within(x, self._ball_left, self._ball_right) for x in crossings]

    def ball_above(self, x: Place) -> tuple[arb, arb]:
        return self.noise.ball_moved_mass(x, math.inf), self.noise.ball_mass(x, math.inf)

    def ball_below(self, x: Place) -> tuple[arb, arb]:
        return self.noise.ball_moved_mass(-math.inf, x), self.noise.ball_mass(-math.inf, x)

    @cached_property
    def _ball_end_losses(self) -> tuple[arb, arb]:
        """log of the ratio of the masses beyond each bound; the limit of the loss where there is no bound."""
        noise, left, right, bits = self.noise, self._ball_left, self._ball_right, 2 * BITS_START
        while True:
            with working_precision(bits):
                low = noise.ball_loss_at(left) if self.left is None else _cell_loss(noise, -math.inf, left)
                high = noise.ball_loss_at(right) if self.right is None else _cell_loss(noise, right, math.inf)
            known = (self.left is None or low.is_finite()) and (self.right is None or high.is_finite())
            if known or bits >= BITS_MOST:
                return low, high
            bits *= 2

    def reversed(self) -> ClampedPair:
        """Mirrored: x -> D - x exchanges the two laws."""
        return ClampedPair(self.noise, _mirrored(self.right, self.noise.shift), _mirrored(self.left, self.noise.shift))

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        return LossRange(*self._ball_end_losses)

    def rho(self) -> arb | None:
        """That of the noise, since clamping is post-processing."""
        known = self.noise.rho()
        return Pair.rho(self) if known is None else known

    def ball_moment(self, order: arb) -> arb:
        """The losses of the two ends are exact, whatever lies between."""
        low, high = self._ball_end_losses
        total = self.noise.ball_power_mass(order, self._ball_left, self._ball_right)
        if self.left is not None:
            total += self.ball_below(self._ball_left)[0] * (order * low).exp()
        if self.right is not None:
            total += self.ball_above(self._ball_right)[0] * (order * high).exp()
        return total


def by_formula(noise: ShiftedNoise, epsilon: Enclosure) -> bool:
    """Whether float64 has a formula: outputs that are not rounded, a shift that is a double, e^eps within range."""
    even = not noise.whole and Fraction(float(noise.shift)) == noise.shift
    return even and not bool(np.any(epsilon.value > FORMULA_EPSILON_MOST))


def profile_by_ends(ends: Ends, noise: ShiftedNoise, epsilon: Enclosure) -> Enclosure:
    """H = (H_0 + (e^eps - 1) beyond) / kept, H_0 that of the noise itself, where its half-line starts between the ends;
    elsewhere the best of the cuts, max p - e^eps q. Where that cannot be told it lies between the two.
    """
    with np.errstate(all="ignore"):
        growth = epsilon.exp()
        values = [p - growth * q if q.upper > 0.0 else p + epsilon * 0.0 for p, q in ends.cuts]
        lower = np.max([np.maximum(value.lower, 0.0) for value in values], axis=0)
        upper = np.max([np.maximum(value.upper, 0.0) for value in values], axis=0)
        free = (noise.profile(epsilon) + epsilon.expm1() * ends.beyond) / ends.kept
        inside = (epsilon.lower >= ends.low.upper) & (epsilon.upper <= ends.high.lower)
        outside = (epsilon.upper < ends.low.lower) | (epsilon.lower > ends.high.upper)
        edge = enclosing(lower, np.maximum(upper, free.upper))
        return where(inside, free, where(outside, enclosing(lower, upper), edge))


def _ends_at(pair: TruncatedPair, low: Place, high: Place, beyond: Enclosure, kept: Enclosure) -> Ends:
    """Half-lines between two places, from either of them on, and those that hold everything, or nothing."""
    with working_precision(BITS_START):
        losses = enclosed([pair.noise.ball_loss_at(place) for place in (low, high)])
    cuts = [(exact(1.0), exact(1.0)), (exact(0.0), exact(0.0))]
    cuts += [_cut(pair, place) for place in (low, high) if not isinstance(place, float)]
    return Ends(losses[0], losses[1], tuple(cuts), beyond, kept)


def _cut(pair: TruncatedPair, x: arb) -> tuple[Enclosure, Enclosure]:
    return _enclosed(lambda: pair.ball_above(x)[0]), _enclosed(lambda: pair.ball_above(x)[1])


def _enclosed(ball: Callable[[], arb]) -> Enclosure:
    return enclosing(*enclose(ball))


def profile_by_balls(pair: TruncatedPair, epsilon: Enclosure) -> Enclosure:
    """H in float64, read off balls entry by entry: the half-line is known, so an entry costs two error functions."""

    def ends(points: FloatArray) -> tuple[FloatArray, FloatArray]:
        known = zip(points, pair.noise.sure_crossings(points), strict=True)
        found = [enclose(partial(pair.ball_profile, arb(float(at)), crossing)) for at, crossing in known]
        return np.array([low for low, _ in found]), np.array([high for _, high in found])

    return falling(ends, epsilon)


def _cell_loss(noise: ShiftedNoise, start: Place, stop: Place) -> arb:
    """log of the ratio of the two masses of one cell."""
    return (noise.ball_moved_mass(start, stop) / noise.ball_mass(start, stop)).log()


def _edge(edge: Edge, missing: float) -> Twofold:
    return twofold(missing) if edge is None else split(edge)


def _mirrored(edge: Edge, shift: Fraction) -> Edge:
    return None if edge is None else shift - edge


def _most(x: Twofold, floor: Twofold) -> Twofold:
    """The larger of the two; infinities compare as they should."""
    with np.errstate(all="ignore"):
        gap = (x - floor).collapse()
    above = np.where(np.isnan(gap), x.hi >= floor.hi, gap >= 0.0)
    return Twofold(np.where(above, x.hi, floor.hi), np.where(above, x.lo, floor.lo))


def _least(x: Twofold, ceiling: Twofold) -> Twofold:
    return -_most(-x, -ceiling)
