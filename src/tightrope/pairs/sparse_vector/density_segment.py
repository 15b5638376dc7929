"""Pieces of a loss, each with the density weight e^(growth (l - place)) between two losses.

With s = z + growth, m the middle and h half the width M(z) = weight e^(s m - growth place) 2 h sinh(sh)/(sh). A piece
tilted by c has, with A = (c + growth) h, |f(t)|^2 <= (A^2 + sin^2(min(Rh, pi/2)) (A/sinh A)^2)/(A^2 + (Rh)^2) for
every t >= R; pieces together have the average of theirs.
Guarantee: exact, upper for the fall. Proof: docs/proofs/sparse_vector.md, section 6.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import acb, arb, ctx

from ..truncated.density_segment import DensitySegment, PartShape, bits_of, central
from ..truncated.segment_decay import SegmentDecay


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
