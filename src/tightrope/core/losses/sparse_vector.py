"""The pair of the sparse vector technique: noise with a flat top, around 1 and around 0.

The loss is piecewise linear in the output: {l > t} is a half-line. In the letters of `shape`, right of the top
P[l > t] = K/a + K (1 - t/a), Q[l > t] = (K/a) e^-t, H = K (1 - t/a); left of it the same with P and Q exchanged;
between, where neither law has its top, H = KW + (1 - KW) (1 - e^u), u = b (t - a (1 - W))/(a + b).
Guarantee: exact; float64 with the radius of kernels.enclosure. Proof: docs/proofs/sparse_vector.md, section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from flint import acb, arb, ctx

from ..numerics.balls import BITS_START, working_precision
from ..numerics.double_double import DoubleDouble, where
from ..numerics.enclosures import Enclosure, FloatArray, enclosed, exact, falling
from ..values.errors import UnsupportedMechanism
from .atoms import ratio_ball
from .capabilities import Moments
from .cgf import demand_ordinary
from .pair import BallTails, LossRange, Pair, Tails
from .truncated.segments import DensitySegment, Losses, LossesCgf, PartShape, SegmentDecay, bits_of, central, log_moment

if TYPE_CHECKING:
    from .cgf import Cgf


# Noise with a flat top, and how its two laws lie: the numbers that every formula of the pair is made of.
#
# The density is K between 0 and W, K e^(b x) below and K e^(-a (x - W)) above; the shift is 1, so a is the largest loss
# and -b the least. With x the shift of the threshold over its scale and s what the answers may add to a loss:
# either way (queries move as they like) a = b = x + s and K = s/(4 log 2);
# one way (those of the first law are the larger) a = s, b = x + s and K = s/(e log 2), or a b/(a + b) where that is
# less:
# then W = 0, and the top has no width.
# Guarantee: exact, in balls. Proof: docs/proofs/sparse_vector.md, sections 3 to 5.

BITS_MAX = 1 << 14  # no tie is known that lasts


class TopShape(NamedTuple):
    """high and low: a and b. top: K. width: W. over_high and over_low: K/a and K/b, the masses of the tails."""

    high: arb
    low: arb
    top: arb
    width: arb
    over_high: arb
    over_low: arb

    @property
    def first(self) -> arb:
        """Of a width below 1: the loss where both laws leave the top, on the left."""
        return self.low * (self.width - 1)

    @property
    def last(self) -> arb:
        """The same on the right."""
        return self.high * (1 - self.width)


class TopKind(NamedTuple):
    """What is decided once: whether the top has a width, and whether that is at least the shift."""

    flat: bool
    wide: bool


def kind_of(threshold: Fraction, answers: Fraction, rising: bool | None) -> TopKind:
    """By signs that more bits decide."""
    high, low = ends(threshold, answers, rising)
    flat = rising is None or _sign(lambda: 1 / _steepest(answers, rising) - ratio_ball(1 / high + 1 / low)) > 0
    wide = flat and _sign(lambda: 1 / _steepest(answers, rising) - ratio_ball(1 / high + 1 / low) - 1) > 0
    return TopKind(flat, wide)


def shape_of(threshold: Fraction, answers: Fraction, rising: bool | None, kind: TopKind) -> TopShape:
    """At the working precision."""
    high, low = ends(threshold, answers, rising)
    most, least = ratio_ball(high), ratio_ball(low)
    if not kind.flat:
        top = ratio_ball(high * low / (high + low))
        return TopShape(most, least, top, arb(0), ratio_ball(low / (high + low)), ratio_ball(high / (high + low)))
    top = _steepest(answers, rising)
    return TopShape(most, least, top, 1 / top - ratio_ball(1 / high + 1 / low), top / most, top / least)


def ends(threshold: Fraction, answers: Fraction, rising: bool | None) -> tuple[Fraction, Fraction]:
    """The largest loss, and the least with its sign changed."""
    most = threshold + answers
    return (answers if rising else most), (answers if rising is False else most)


def _steepest(answers: Fraction, rising: bool | None) -> arb:
    """How much the probability of any event may move at most."""
    turns = arb(4) if rising is None else arb(1).exp()
    return ratio_ball(answers) / (turns * arb(2).log())


def _sign(formula: Callable[[], arb]) -> int:
    bits = BITS_START
    while bits <= BITS_MAX:
        with working_precision(bits):
            value = formula()
            if value > 0 or value < 0:
                return 1 if value > 0 else -1
        bits *= 2
    raise UnsupportedMechanism("its losses cannot be told apart; choose another threshold_scale")


# Pieces of a loss, each with the density weight e^(growth (l - place)) between two losses.
#
# With s = z + growth, m the middle and h half the width M(z) = weight e^(s m - growth place) 2 h sinh(sh)/(sh). A piece
# tilted by c has, with A = (c + growth) h, |f(t)|^2 <= (A^2 + sin^2(min(Rh, pi/2)) (A/sinh A)^2)/(A^2 + (Rh)^2) for
# every t >= R; pieces together have the average of theirs.
# Guarantee: exact, upper for the fall. Proof: docs/proofs/sparse_vector.md, section 6.


@dataclass(frozen=True)
class PieceDecay(SegmentDecay):
    """turn: A. half: half the width."""

    turn: arb
    half: arb

    def beyond(self, radius: arb) -> arb:
        swing, square = radius * self.half, self.turn * self.turn
        sine = swing.min(arb.pi() / 2).sin() / (acb(0, 1) * self.turn).sinc().real
        value = ((square + sine * sine) / (square + swing * swing)).sqrt()
        return value.min(arb(1)) if value.is_finite() else arb(1)


@dataclass(frozen=True)
class LossPiece:
    """One of them."""

    weight: arb
    growth: arb
    place: arb
    low: arb
    high: arb

    @property
    def half(self) -> arb:
        """Half its width."""
        return (self.high - self.low) / 2

    @property
    def middle(self) -> arb:
        return (self.high + self.low) / 2

    def moment(self, z: acb) -> acb:
        """E[e^{z l}] of this piece."""
        s = z + self.growth
        rising = (s * self.middle - self.growth * self.place).exp()
        return rising * (acb(0, 1) * s * self.half).sinc() * (2 * self.half * self.weight)

    def shape(self, tilt: float) -> PartShape:
        """By the integral of v^k e^{xv} over [-1, 1], x = sh."""
        x = (arb(tilt) + self.growth) * self.half
        values = _powers(x) if abs(x) < 1 else _powers_far(x)
        ratios = [value / values[0] for value in values]
        return PartShape(self.moment(acb(tilt)).real.log(), self.middle, *central(ratios, self.half))

    def fall(self, tilt: float) -> PieceDecay:
        """How its transform, divided by its mass, falls."""
        return PieceDecay((arb(tilt) + self.growth) * self.half, self.half)


@dataclass(frozen=True)
class AverageDecay(SegmentDecay):
    """(share, fall) of each piece."""

    parts: tuple[tuple[arb, PieceDecay], ...]

    def beyond(self, radius: arb) -> arb:
        return sum((share * fall.beyond(radius) for share, fall in self.parts), arb(0)).min(arb(1))


@dataclass(frozen=True)
class Pieces(DensitySegment):
    """Several pieces as one stretch."""

    parts: tuple[LossPiece, ...]

    def moment(self, z: acb) -> acb:
        return sum((part.moment(z) for part in self.parts), acb(0))

    def shape(self, tilt: float) -> PartShape:
        """Around the mean of all."""
        shapes = [part.shape(tilt) for part in self.parts]
        top = max((shape.log.mid() for shape in shapes), key=float)
        weights = [(shape.log - top).exp() for shape in shapes]
        total = sum(weights, arb(0))
        shares = [
            (weight / total, shape.centre + shape.beyond, shape) for weight, shape in zip(weights, shapes, strict=True)
        ]
        mean = sum((share * place for share, place, _ in shares), arb(0))
        second, third, fourth = arb(0), arb(0), arb(0)
        for share, place, each in shares:
            d = place - mean
            square = d * d  # a power of a ball around 0, as of one piece alone, would be nan
            second += share * (each.second + square)
            third += share * (each.third + 3 * d * each.second + d * square)
            fourth += share * (each.fourth + 4 * d * each.third + 6 * square * each.second + square * square)
        return PartShape(top + total.log(), mean, arb(0), second, third, fourth)

    def cf_decay(self, tilt: float) -> AverageDecay:
        total = self.moment(acb(tilt)).real
        return AverageDecay(tuple((part.moment(acb(tilt)).real / total, part.fall(tilt)) for part in self.parts))

    def spare_bits(self, tilt: float, time: float) -> int:
        size = sum((abs(part.low) + abs(part.high) for part in self.parts), arb(1))
        return (
            24
            + 4 * bits_of((abs(arb(tilt)) + time + 1) * size)
            + max(6 * bits_of(1 / part.half) for part in self.parts)
        )


def _powers_far(x: arb) -> list[arb]:
    """J_0 to J_4, J_k = (e^x - (-1)^k e^-x - k J_(k-1))/x: for |x| of 1 or more few digits cancel."""
    values = [(x.exp() - (-x).exp()) / x]
    for k in range(1, 5):
        values.append((x.exp() - (-1) ** k * (-x).exp() - k * values[-1]) / x)
    return values


def _powers(x: arb) -> list[arb]:
    """The same by 2 x^n/(n! (n + k + 1)) over n + k even, for |x| < 1; the rest is below 4 |x|^N/N!."""
    term, total = arb(1), [arb(0)] * 5
    for n in range(ctx.prec):
        for k in range(5):
            if (n + k) % 2 == 0:
                total[k] += 2 * term / (n + k + 1)
        term = term * x / (n + 1)
        if abs(term) < arb(2) ** -(ctx.prec + 8):
            break
    rest = 4 * abs(term).upper()
    return [value + arb(0, rest) for value in total]


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
