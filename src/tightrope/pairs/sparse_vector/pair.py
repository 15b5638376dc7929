"""The pair of the sparse vector technique: noise with a flat top, around 1 and around 0.

The loss is piecewise linear in the output: {l > t} is a half-line. In the letters of `shape`, right of the top
P[l > t] = K/a + K (1 - t/a), Q[l > t] = (K/a) e^-t, H = K (1 - t/a); left of it the same with P and Q exchanged;
between, where neither law has its top, H = KW + (1 - KW) (1 - e^u), u = b (t - a (1 - W))/(a + b).
Guarantee: exact; float64 with the radius of kernels.enclosure. Proof: docs/proofs/sparse_vector.md, section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, arb, ctx

from ...facets.cgf import demand_ordinary
from ...facets.lattice import ratio_ball
from ...facets.moments import Moments
from ...kernels.ball import BITS_START, working_precision
from ...kernels.double_double import DoubleDouble, where
from ...kernels.enclosure import Enclosure, FloatArray, enclosed, exact, falling
from ...pair import BallTails, LossRange, Pair, Tails
from ..truncated.losses import Losses, LossesCgf, log_moment
from .density_segment import LossPiece, Pieces
from .shape import TopKind, TopShape, ends, kind_of, shape_of

if TYPE_CHECKING:
    from ...facets.cgf import Cgf


@dataclass(frozen=True)
class SparseVectorPair(Pair):
    """threshold: the shift of the threshold over its scale. answers: what those above may add to a loss, all of them.

    rising: whether the queries of the first law are the larger ones; None where they move either way.
    """

    threshold: Fraction
    answers: Fraction
    rising: bool | None

    @cached_property
    def kind(self) -> TopKind:
        """Which pieces there are."""
        return kind_of(self.threshold, self.answers, self.rising)

    def shape(self) -> TopShape:
        """At the working precision, worked out once for each."""
        kept: dict[int, TopShape] = self.__dict__.setdefault("_shapes", {})
        if ctx.prec not in kept:
            kept[ctx.prec] = shape_of(self.threshold, self.answers, self.rising, self.kind)
        return kept[ctx.prec]

    def tails(self, t: DoubleDouble) -> Tails:
        high, low, top, width, over_high, over_low, first, last = self._double_doubles
        with np.errstate(all="ignore"):
            under, over = (t + low).collapse() < 0.0, (t - high).collapse() >= 0.0
            left, right = (t - first).collapse() < 0.0, (t - last).collapse() >= 0.0
            to_left, to_right = (t - last) * low / (high + low), (first - t) * high / (high + low)
            to_left, to_right = where(left, t, to_left), where(right, -t, to_right)
            p_above = over_high + top * width - over_low * to_left.expm1()
            q_below = over_low + top * width - over_high * to_right.expm1()
            found = (
                where(right, over_high + top * (1.0 - t / high), p_above),
                where(left, over_high + top * (width - 1.0 - t / low), over_high * to_right.exp()),
                where(right, over_low + top * (width - 1.0 + t / high), over_low * to_left.exp()),
                where(left, over_low + top * (1.0 + t / low), q_below),
            )
        none, every = (0.0, 0.0, 1.0, 1.0), (1.0, 1.0, 0.0, 0.0)
        return Tails(
            *(
                np.where(under, whole, np.where(over, gone, tail.collapse()))
                for tail, gone, whole in zip(found, none, every, strict=True)
            )
        )

    @cached_property
    def _double_doubles(self) -> tuple[DoubleDouble, ...]:
        return tuple(_double_double(ball) for ball in self._numbers)

    @cached_property
    def _enclosures(self) -> Enclosure:
        return enclosed(self._numbers)

    @cached_property
    def _numbers(self) -> list[arb]:
        """The shape, and the losses between which neither law has its top."""
        with working_precision(2 * BITS_START):
            shape = self.shape()
            return [*shape, *self._between(shape)]

    def _between(self, shape: TopShape) -> tuple[arb, arb]:
        return (arb(0), arb(0)) if self.kind.wide else (shape.first, shape.last)

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        return falling(self._hockey_stick_ends, epsilon)

    def _hockey_stick_ends(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """At each point the hull of the pieces that it may lie on."""
        high, low, top, width, over_high, over_low, first, last = (self._enclosures[index] for index in range(8))
        t, lower, upper = exact(points), np.full(points.shape, np.inf), np.full(points.shape, -np.inf)
        with np.errstate(all="ignore"):
            right, left = (high - t) / high * top, (low + t) / low * top * t.exp() - t.expm1()
            between = top * width - (over_high + over_low) * ((t - last) * low / (high + low)).expm1()
            pieces = [
                (-t.expm1(), points <= -low.lower),
                (left, (points >= -low.upper) & (points <= first.upper)),
                (right, (points >= last.lower) & (points <= high.upper)),
                (exact(np.zeros(points.shape)), points >= high.lower),
            ]
            if not self.kind.wide:
                pieces.append((between, (points >= first.lower) & (points <= last.upper)))
            for piece, may in pieces:
                lower = np.where(may, np.minimum(lower, piece.lower), lower)
                upper = np.where(may, np.maximum(upper, piece.upper), upper)
        return np.maximum(lower, 0.0), np.maximum(upper, 0.0)

    def ball_tails(self, t: arb) -> BallTails:
        shape = self.shape()
        high, low, top, width, over_high, over_low = shape
        first, last = self._between(shape)
        found = []
        if not t >= -low:
            found.append(BallTails(arb(1), arb(1), arb(0), arb(0)))
        if not t < high:
            found.append(BallTails(arb(0), arb(0), arb(1), arb(1)))
        if not (t < -low or t >= first):
            rest = over_high + top * (width - 1 - t / low)
            fallen = over_high + top * width - over_low * t.expm1()
            found.append(BallTails(fallen, rest, over_low * t.exp(), over_low + top * (1 + t / low)))
        if not (t < last or t >= high):
            rest = over_low + top * (width - 1 + t / high)
            fallen = over_low + top * width - over_high * (-t).expm1()
            found.append(BallTails(over_high + top * (1 - t / high), over_high * (-t).exp(), rest, fallen))
        if not (self.kind.wide or t < first or t >= last):
            u, v = (t - last) * low / (high + low), (first - t) * high / (high + low)
            above, below = (
                over_high + top * width - over_low * u.expm1(),
                over_low + top * width - over_high * v.expm1(),
            )
            found.append(BallTails(above, over_high * v.exp(), over_low * u.exp(), below))
        return BallTails(*(reduce(arb.union, column) for column in zip(*found, strict=True)))

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        shape = self.shape()
        high, low, top, width, over_high, over_low = shape
        first, last = self._between(shape)
        found = []
        if not epsilon > -low:
            found.append(-epsilon.expm1())
        if not epsilon < high:
            found.append(arb(0))
        if not (epsilon < -low or epsilon > first):
            found.append(top * (1 + epsilon / low) * epsilon.exp() - epsilon.expm1())
        if not (epsilon < last or epsilon > high):
            found.append(top * (1 - epsilon / high))
        if not (self.kind.wide or epsilon < first or epsilon > last):
            found.append(top * width - (over_high + over_low) * ((epsilon - last) * low / (high + low)).expm1())
        return reduce(arb.union, found)

    def reversed(self) -> Pair:
        return self if self.rising is None else SparseVectorPair(self.threshold, self.answers, not self.rising)

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        high, low = ends(self.threshold, self.answers, self.rising)
        return LossRange(-ratio_ball(low), ratio_ball(high))

    def hockey_stick_cost(self) -> int:
        return 2

    def cgf(self) -> Cgf:
        demand_ordinary(lambda: ratio_ball(self.threshold + self.answers))
        demand_ordinary(lambda: ratio_ball(self.answers))
        return LossesCgf(self)

    def exact_losses(self) -> Losses:
        """Atoms where the loss is constant, and a piece wherever it rises; worked out once for each precision."""
        kept: dict[int, Losses] = self.__dict__.setdefault("_losses", {})
        if ctx.prec not in kept:
            kept[ctx.prec] = self._made_losses(self.shape())
        return kept[ctx.prec]

    def _made_losses(self, shape: TopShape) -> Losses:
        high, low, top, width, over_high, over_low = shape
        first, last = self._between(shape)
        atoms, pieces = [(over_high, high), (over_low * (-low).exp(), -low)], []
        if self.kind.wide:
            atoms.append((top * (width - 1), arb(0)))
        else:
            both = high + low
            pieces.append(LossPiece(top / both, low / both, last, first, last))
        if self.kind.flat:
            pieces += [
                LossPiece(over_low, arb(1), arb(0), -low, first),
                LossPiece(over_high, arb(0), arb(0), last, high),
            ]
        return Losses(tuple(atoms), Pieces(tuple(pieces)))

    def moments(self) -> SparseVectorMoments:
        return SparseVectorMoments(self)


class SparseVectorMoments(Moments[SparseVectorPair]):
    def log_moment(self, z: acb) -> acb:
        return log_moment(self.pair.exact_losses, z)


def _double_double(ball: arb) -> DoubleDouble:
    high = float(ball.mid())
    return DoubleDouble(np.asarray(high), np.asarray(float((ball - high).mid())))
