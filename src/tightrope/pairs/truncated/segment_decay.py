"""How the transform of a stretch falls: bounds of |f(t)| for every t from a radius R on.

Normal: with the density n(v)/Z between two ends in units of mu, integration by parts gives |f| <= V/(R mu), V the total
variation, twice the largest density, as there is one mode. Where the mode lies inside, f is also the bell less two
tails: |f| <= [e^{-R^2 mu^2/2} + sum of min(T, 2 n/(R mu))]/Z, T and n the mass beyond an end and the density there.
With g the smaller of these, which never rises, 1 - |f(t)|^2 >= (1 - |f(2^k t)|^2)/4^k gives
|f(t)|^2 <= 1 - (1 - g(2^k R)^2)/4^k for every k.
Exponential: the formula of losses between two edges (docs/proofs/contour.md, section 9).
Guarantee: upper. Proof: docs/proofs/truncated.md, "Decay".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from flint import arb

DOUBLINGS = 10


class SegmentDecay(ABC):
    """Bounds of a transform."""

    @abstractmethod
    def beyond(self, radius: arb) -> arb:
        """At or above |f(t)| for every t >= radius >= 0."""


@dataclass(frozen=True)
class NormalDecay(SegmentDecay):
    """peak: the largest density. share: 1/Z. tails: mass and density at each end; None unless the mode is inside.

    All but mu and the share are divided by Z.
    """

    mu: arb
    peak: arb
    share: arb
    tails: tuple[tuple[arb, arb], ...] | None

    def beyond(self, radius: arb) -> arb:
        square, scale = arb(1), arb(1)
        if not radius > 0:
            return arb(1)
        for _ in range(DOUBLINGS):
            direct = self._direct(radius).min(arb(1))
            square = square.min(1 - (1 - direct * direct) * scale)
            radius, scale = 2 * radius, scale / 4
        return square.sqrt()

    def _direct(self, radius: arb) -> arb:
        turn = radius * self.mu
        value = 2 * self.peak / turn
        if self.tails is None:
            return value
        bell = self.share * (-turn * turn / 2).exp()
        return value.min(bell + sum((mass.min(2 * density / turn) for mass, density in self.tails), arb(0)))


@dataclass(frozen=True)
class ExponentialDecay(SegmentDecay):
    """growth: of the density, at or above 0. half: half the width."""

    growth: arb
    half: arb

    def beyond(self, radius: arb) -> arb:
        turn = self.half * radius
        ripple, slope = turn.min(arb.pi() / 2).sin() / (self.half * self.growth).sinh(), radius / self.growth
        return ((1 + ripple * ripple) / (1 + slope * slope)).sqrt().min(arb(1))
