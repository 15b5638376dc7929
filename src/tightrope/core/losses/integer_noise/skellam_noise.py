"""Skellam noise: the difference of two Poisson(v/2), with masses e^-v I_k(v).

L(z) = v (cosh z - 1). I_{k-1} = I_{k+1} + (2k/v) I_k has positive terms only: downwards nothing cancels.
Guarantee: balls contain the truth. Proof: docs/proofs/integer_noise.md.
Reference: Skellam 1946; Baricz 2015, Bounds for Turanians of modified Bessel functions (log-concave).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from flint import acb, arb, ctx

from ...numerics.balls import working_precision
from .noise import LOG_TWO, SADDLE_MAX, IntegerNoise

BESSEL_MAX = 200.0  # variances up to which Arb's Bessel functions are fast, and lose few bits
BESSEL_SPARE = 40
BESSEL_ORDER_MAX = 10**7
SUMMED_VARIANCE = 1e4  # up to which fewer masses are added up than a contour has nodes, about
LOSS_NODES = ((-0.7745966692414834, 5.0 / 18.0), (0.0, 8.0 / 18.0), (0.7745966692414834, 5.0 / 18.0))


@dataclass(frozen=True)
class SkellamNoise(IntegerNoise):
    """variance: v."""

    variance: float

    @property
    def twice_centre(self) -> int:
        return 0

    @property
    def last(self) -> int | None:
        return None

    @property
    def spread(self) -> float:
        return math.sqrt(self.variance)

    def cumulant(self, s: arb) -> arb:
        return 2 * arb(self.variance) * (s / 2).sinh() ** 2

    def turning(self, s: arb) -> Callable[[arb], acb]:
        wide, along = -2 * arb(self.variance) * s.cosh(), arb(self.variance) * s.sinh()

        def turned(angle: arb) -> acb:
            half = (angle / 2).sin()
            return acb(wide * half * half, along * angle.sin()).exp()

        return turned

    def plain_cumulant(self, s: float) -> float:
        half = math.sinh(0.5 * s)
        return 2.0 * self.variance * half * half

    def plain_slope(self, s: float) -> float:
        return self.variance * math.sinh(s)

    def plain_saddle(self, y: float) -> float:
        return min(math.asinh(y / self.variance), SADDLE_MAX)

    def plain_angle(self, s: float, log_fall: float) -> float:
        square = log_fall / (2.0 * self.variance * math.cosh(s))
        return 2.0 * math.asin(math.sqrt(square)) if square < 1.0 else math.pi

    def plain_loss(self, k: float, shift: int) -> float:
        """The integral of asinh(x/v) from k - D to k."""
        middle, half = k - 0.5 * shift, 0.5 * shift
        return shift * math.fsum(w * math.asinh((middle + half * x) / self.variance) for x, w in LOSS_NODES)

    def plain_output(self, t: float, shift: int) -> float:
        return 0.5 * shift + self.variance * math.sinh(max(-SADDLE_MAX, min(SADDLE_MAX, t / shift)))

    def masses(self, first: int, last: int) -> list[arb]:
        rate = 2 / arb(self.variance)
        values = [self.mass(last + 1), self.mass(last)]
        for k in range(last, first, -1):
            values.append(values[-2] + k * rate * values[-1])
        return values[:0:-1]

    def summed_mass(self, k: int) -> arb:
        if self.variance > BESSEL_MAX or k > BESSEL_ORDER_MAX:
            return super().summed_mass(k)
        with working_precision(ctx.prec + BESSEL_SPARE):
            return arb(self.variance).bessel_i(arb(k), scaled=True)

    def summed_tail(self, k: int) -> arb:
        """One by one where they are few; beyond, ratios only fall."""
        if self.variance > SUMMED_VARIANCE:
            return super().summed_tail(k)
        last = self.reach(self.depth(float(k)) + LOG_TWO * (ctx.prec + 8.0)) + 1
        values = self.masses(k, last + 1)
        beyond = values[-1] / (1 - values[-1] / values[-2])
        return sum(values[:-1], arb(0)) + arb(0).union(beyond)

    def growing(self, last: int, shift: int, tilt: arb) -> arb:
        """I_{k-1}/I_k <= (k + sqrt(k^2 + v^2))/v, so the loss is at most D asinh(k/v), whose slope falls."""
        first, v = max(last + 1, 1), arb(self.variance)
        here, following = self.masses(max(first - shift, 0), max(first - shift, 0) + 1)
        ratio = following / here * (tilt * shift / (v * v + first * first).sqrt()).exp()
        if not (ratio < 1 and last >= shift):
            return arb.pos_inf()
        return here * (tilt * shift * (first / v).asinh()).exp() / (1 - ratio)

    def bend(self, k: int) -> arb:
        """The difference of two neighbouring losses."""
        with working_precision(ctx.prec + 2 * max(0, math.frexp(self.variance)[1]) + BESSEL_SPARE):
            return self.loss(k + 1, 1) - self.loss(k, 1)

    def lines(self, shift: int, most: arb) -> tuple[tuple[arb, arb], ...]:
        """By l <= D asinh((D + max(X, 0))/v) from c = v/D on, and by the bend below."""
        v, d, found = arb(self.variance), arb(shift), []
        for share in (arb(1) / 2, arb(1) / (8 * shift)):
            turn = 2 * d * d / (v * share * most)
            large = d * (turn.log() - 1) + (d + arb(2).log() + self.cumulant(arb(1))) * d / v
            small = (v / d + 1) * (1 - share) * most + most / d
            found.append((large.max(small), share * most))
        return tuple(found)

    def loss(self, k: int, shift: int) -> arb:
        if 2 * k == shift:
            return arb(0)
        return (self.mass(k - shift) / self.mass(k)).log()
