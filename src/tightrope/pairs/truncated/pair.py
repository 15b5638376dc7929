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
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from flint import arb

from ...errors import InvalidParameter
from ...kernels.ball import BITS_MOST, BITS_START, enclose, hull, working_precision
from ...kernels.enclosure import Enclosure, FloatArray, enclosing, exact, where
from ...kernels.twofold import Twofold, twofold
from ...pair import BallTails, LossRange, Pair, Tails
from .moment import NoisePair
from .noise import Place, ShiftedNoise, from_balls, moved, rational, split, within

Edge = Fraction | None  # None: no truncation on that side
GROWTH_MOST = 700.0  # of epsilon, for e^epsilon in float64
LEAST_KEPT = 1e-10  # below, tails divided by what is kept would lose their relative precision


@dataclass(frozen=True)
class CutPair(NoisePair):
    """Noise conditioned to (left, right], shifted against unshifted."""

    noise: ShiftedNoise
    left: Edge
    right: Edge

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
        return Tails(
            p_above=noise.masses(moved, right) / kept,
            q_above=noise.masses(x, right) / kept,
            p_below=noise.masses(left, moved) / kept,
            q_below=noise.masses(left, x) / kept,
        )

    def profile(self, epsilon: Enclosure) -> Enclosure:
        if self._disjoint() or not by_formula(self.noise, epsilon):
            return profile_by_balls(self, epsilon)
        return profile_by_ends(self._ends, self.noise, epsilon)

    @cached_property
    def _ends(self) -> Ends:
        """The first law lives from left + D on, the second one up to right; above, p and q lack P[noise > right]."""
        beyond = (lambda: arb(0)) if self.right is None else lambda: self.noise.ball_mass(self._ball_right, math.inf)
        return Ends(
            None if self.left is None else self.left + self.noise.shift,
            self.right,
            _cuts(self, moved(self._ball_left, self.noise.ball_shift), self._ball_right),
            _approx(beyond),
            _approx(self._ball_kept),
        )

    def ball_tails(self, t: arb) -> BallTails:
        return _hull([self._ball_tails_at(x) for x in self.noise.ball_crossings(t)])

    def ball_profile(self, epsilon: arb, crossing: Place | None = None) -> arb:
        """crossing: that of the noise at epsilon, if known."""
        crossings = self.noise.ball_crossings(epsilon) if crossing is None else [crossing]
        return _best([self._ball_tails_at(x) for x in crossings], epsilon)

    def _ball_tails_at(self, x: Place) -> BallTails:
        noise, shift, left, right = self.noise, self.noise.ball_shift, self._ball_left, self._ball_right
        x = within(within(x, moved(left, shift), math.inf), -math.inf, right)
        back = within(moved(x, -shift), left, math.inf)
        kept = self._ball_kept()
        masses = ((back, right), (x, right), (left, back), (left, x))
        return BallTails(*(noise.ball_mass(start, stop) / kept for start, stop in masses))

    def _ball_kept(self) -> arb:
        return self.noise.ball_mass(self._ball_left, self._ball_right)

    @property
    def _ball_left(self) -> Place:
        return _place(self.left, -math.inf)

    @property
    def _ball_right(self) -> Place:
        return _place(self.right, math.inf)

    def reversed(self) -> CutPair:
        """Mirrored: the noise is symmetric, so x -> D - x exchanges the two laws and turns the bounds around."""
        return CutPair(self.noise, _minus(self.right), _minus(self.left))

    def infinite_mass(self) -> arb:
        if self.right is None:
            return arb(0)
        return arb(1) if self._disjoint() else self._ball_tails_at(self._ball_right).p_above

    def _disjoint(self) -> bool:
        return self.left is not None and self.right is not None and self.right - self.left <= self.noise.shift

    def loss_range(self) -> LossRange:
        if self._disjoint():
            return LossRange(arb(0), arb(0))  # no finite loss
        noise = self.noise
        low, high = moved(self._ball_left, noise.ball_shift), self._ball_right
        if not noise.whole:
            return LossRange(noise.ball_loss_at(low), noise.ball_loss_at(high))
        return LossRange(
            noise.ball_loss_at(low) if isinstance(low, float) else _cell_loss(noise, low, low + 1),
            noise.ball_loss_at(high) if isinstance(high, float) else _cell_loss(noise, high - 1, high),
        )

    def ball_moment(self, order: arb) -> arb:
        start = moved(self._ball_left, self.noise.ball_shift)
        stop = within(self._ball_right, start, math.inf)
        return self.noise.ball_power_mass(order, start, stop) / self._ball_kept()


@dataclass(frozen=True)
class ClampedPair(NoisePair):
    """Noise around D against noise around 0, both clamped: the outputs are those between, and two ends.

    left, right: where the lower end stops and the upper end starts.
    """

    noise: ShiftedNoise
    left: Edge
    right: Edge

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

    def profile(self, epsilon: Enclosure) -> Enclosure:
        if not by_formula(self.noise, epsilon):
            return profile_by_balls(self, epsilon)
        return profile_by_ends(self._ends, self.noise, epsilon)

    @cached_property
    def _ends(self) -> Ends:
        """Half-lines may also hold everything, or nothing."""
        cuts = _cuts(self, _place(self.left, -math.inf), _place(self.right, math.inf))
        every = ((exact(1.0), exact(1.0)), (exact(0.0), exact(0.0)))
        return Ends(self.left, self.right, (*cuts, *every), exact(0.0), exact(1.0))

    def ball_tails(self, t: arb) -> BallTails:
        return _hull([self._ball_tails_at(x) for x in self._candidates(t)])

    def ball_profile(self, epsilon: arb, crossing: Place | None = None) -> arb:
        """crossing: that of the noise at epsilon, if known."""
        best, alpha = arb.neg_inf(), epsilon.exp()
        for x in self._candidates(epsilon, crossing):
            best = best.max(self.noise.ball_moved_mass(x, math.inf) - alpha * self.noise.ball_mass(x, math.inf))
        return best

    def _candidates(self, t: arb, crossing: Place | None = None) -> list[Place]:
        low, high = self._ball_end_losses
        found: list[Place] = []
        if self.left is not None and not t >= low:
            found.append(-math.inf)
        if self.right is not None and not t < high:
            found.append(math.inf)
        if (self.left is not None and t < low) or (self.right is not None and t >= high):
            return found
        left, right = _place(self.left, -math.inf), _place(self.right, math.inf)
        crossings = self.noise.ball_crossings(t) if crossing is None else [crossing]
        return found + [within(x, left, right) for x in crossings]

    def _ball_tails_at(self, x: Place) -> BallTails:
        noise, first, last = self.noise, -math.inf, math.inf
        return BallTails(
            noise.ball_moved_mass(x, last),
            noise.ball_mass(x, last),
            noise.ball_moved_mass(first, x),
            noise.ball_mass(first, x),
        )

    @cached_property
    def _ball_end_losses(self) -> tuple[arb, arb]:
        """log of the ratio of the masses beyond each bound; the limit of the loss where there is no bound."""
        bits = 2 * BITS_START
        while True:
            with working_precision(bits):
                ends = self._end_loss_balls()
            known = [
                end.is_finite() for end, bound in zip(ends, (self.left, self.right), strict=True) if bound is not None
            ]
            if all(known) or bits >= BITS_MOST:
                return ends
            bits *= 2

    def _end_loss_balls(self) -> tuple[arb, arb]:
        low = (
            self.noise.ball_loss_at(-math.inf)
            if self.left is None
            else _cell_loss(self.noise, -math.inf, rational(self.left))
        )
        high = (
            self.noise.ball_loss_at(math.inf)
            if self.right is None
            else _cell_loss(self.noise, rational(self.right), math.inf)
        )
        return low, high

    def reversed(self) -> ClampedPair:
        """Mirrored: x -> D - x exchanges the two laws."""
        shift = self.noise.shift
        return ClampedPair(
            self.noise,
            None if self.right is None else shift - self.right,
            None if self.left is None else shift - self.left,
        )

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
        left, right = _place(self.left, -math.inf), _place(self.right, math.inf)
        low, high = self._ball_end_losses
        total = self.noise.ball_power_mass(order, left, right)
        if self.left is not None:
            total += self.noise.ball_moved_mass(-math.inf, left) * (order * low).exp()
        if self.right is not None:
            total += self.noise.ball_moved_mass(right, math.inf) * (order * high).exp()
        return total


class Ends(NamedTuple):
    """Where half-lines {output > x} may start: from low to high, or at the cuts alone, each with its p and q.

    beyond: what both laws lack above, and kept: what both are divided by, before the noise was truncated.
    """

    low: Edge
    high: Edge
    cuts: tuple[tuple[Enclosure, Enclosure], ...]
    beyond: Enclosure
    kept: Enclosure


def by_formula(noise: ShiftedNoise, epsilon: Enclosure) -> bool:
    """Whether float64 has a formula: outputs that are not rounded, a shift that is a double, e^eps within range."""
    even = not noise.whole and Fraction(float(noise.shift)) == noise.shift
    return even and not bool(np.any(epsilon.value > GROWTH_MOST))


def profile_by_ends(ends: Ends, noise: ShiftedNoise, epsilon: Enclosure) -> Enclosure:
    """H = (H_0 + (e^eps - 1) beyond) / kept, H_0 that of the noise itself, where its half-line starts between the ends;
    elsewhere the best of the cuts, max p - e^eps q. Where that cannot be told it lies between the two.
    """
    with np.errstate(all="ignore"):
        growth = epsilon.exp()
        values = [p - growth * q if q.upper > 0.0 else p + epsilon * 0.0 for p, q in ends.cuts]
        lower = np.max([np.maximum(value.lower, 0.0) for value in values], axis=0)
        upper = np.max([np.maximum(value.upper, 0.0) for value in values], axis=0)
        low, high = noise.loss_between(ends.low, ends.high)
        free = (noise.profile(epsilon) + epsilon.expm1() * ends.beyond) / ends.kept
        inside = (epsilon.lower >= low.upper) & (epsilon.upper <= high.lower)
        outside = (epsilon.upper < low.lower) | (epsilon.lower > high.upper)
        edge = enclosing(lower, np.maximum(upper, free.upper))
        return where(inside, free, where(outside, enclosing(lower, upper), edge))


def _cuts(pair: CutPair | ClampedPair, low: Place, high: Place) -> tuple[tuple[Enclosure, Enclosure], ...]:
    """p and q of the half-lines that start at either end; at infinity they hold everything, or nothing."""
    found = []
    for end in (low, high):
        if isinstance(end, float):
            found.append((exact(float(end < 0.0)), exact(float(end < 0.0))))
        else:
            found.append((_approx(partial(_tail, pair, end, 0)), _approx(partial(_tail, pair, end, 1))))
    return tuple(found)


def _tail(pair: CutPair | ClampedPair, x: Place, index: int) -> arb:
    return pair._ball_tails_at(x)[index]


def _approx(ball: Callable[[], arb]) -> Enclosure:
    return enclosing(*enclose(ball))


def profile_by_balls(pair: CutPair | ClampedPair, epsilon: Enclosure) -> Enclosure:
    """H in float64, read off balls entry by entry: the half-line is known, so an entry costs two error functions."""
    values, radii = epsilon.value.ravel(), epsilon.radius.ravel()
    known = np.isfinite(values) & np.isfinite(radii)
    # H falls with epsilon, so its ends are those of the interval.
    least, most = (np.where(known, end.ravel(), 0.0) for end in (epsilon.lower, epsilon.upper))
    with np.errstate(all="ignore"):
        high = _profile_floats(pair, least)
        low = _profile_floats(pair, most) if radii.any() else high
    lower = np.array([max(end, 0.0) if sure else -np.inf for (end, _), sure in zip(low, known, strict=True)])
    upper = np.array([end if sure else np.inf for (_, end), sure in zip(high, known, strict=True)])
    return enclosing(lower.reshape(epsilon.value.shape), upper.reshape(epsilon.value.shape))


def _profile_floats(pair: CutPair | ClampedPair, points: FloatArray) -> list[tuple[float, float]]:
    crossings = pair.noise.sure_crossings(points)
    return [
        enclose(partial(_profile_at, pair, float(point), crossing))
        for point, crossing in zip(points, crossings, strict=True)
    ]


def _profile_at(pair: CutPair | ClampedPair, point: float, crossing: Place | None) -> arb:
    return pair.ball_profile(arb(point), crossing)


def _cell_loss(noise: ShiftedNoise, start: Place, stop: Place) -> arb:
    """log of the ratio of the two masses of one cell."""
    return (noise.ball_moved_mass(start, stop) / noise.ball_mass(start, stop)).log()


def _hull(candidates: list[BallTails]) -> BallTails:
    total = candidates[0]
    for other in candidates[1:]:
        total = BallTails(*(hull(one, two) for one, two in zip(total, other, strict=True)))
    return total


def _best(candidates: list[BallTails], epsilon: arb) -> arb:
    """Every half-line gives a value at or below H, and the true one attains it: the maximum is exact."""
    alpha = epsilon.exp()
    best = candidates[0].p_above - alpha * candidates[0].q_above
    for tails in candidates[1:]:
        best = best.max(tails.p_above - alpha * tails.q_above)
    return best


def _edge(edge: Edge, missing: float) -> Twofold:
    return twofold(missing) if edge is None else split(edge)


def _place(edge: Edge, missing: float) -> Place:
    return missing if edge is None else rational(edge)


def _minus(edge: Edge) -> Edge:
    return None if edge is None else -edge


def _most(x: Twofold, floor: Twofold) -> Twofold:
    """The larger of the two; infinities compare as they should."""
    with np.errstate(all="ignore"):
        gap = (x - floor).collapse()
    above = np.where(np.isnan(gap), x.hi >= floor.hi, gap >= 0.0)
    return Twofold(np.where(above, x.hi, floor.hi), np.where(above, x.lo, floor.lo))


def _least(x: Twofold, ceiling: Twofold) -> Twofold:
    return -_most(-x, -ceiling)
