"""Gaussian noise of another deviation with the record: N(0, s1^2) against N(0, s2^2), so many uses at once.

With r = s1/s2, D = r^2 - 1 and X a gamma variable of shape k/2 the loss of k uses is -k log r + D X under P, and
X is X/r^2 under Q. Proof: docs/proofs/gaussian_variance.md, sections 1 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb

from ..law import CheckedLaw, exact


@dataclass(frozen=True)
class VarianceLaw(CheckedLaw):
    """square is r^2, not 1."""

    square: Fraction
    uses: int = 1

    def reversed(self) -> VarianceLaw:
        return VarianceLaw(1 / self.square, self.uses)

    def tails(self, x: arb) -> tuple[arb, arb]:
        """X > u for r > 1, X < u for r < 1, u = (x + k log r)/D."""
        square, half = exact(self.square), arb(self.uses) / 2
        place = (x + half * square.log()) / (square - 1)
        if place < 0:
            return (arb(1), arb(1)) if self.square > 1 else (arb(0), arb(0))
        least = place.max(arb(0))
        found = [self._beyond(half, least), self._beyond(half, square * least)]
        if not place >= 0:
            found = [value.union(arb(1) if self.square > 1 else arb(0)) for value in found]
        return found[0], found[1]

    def _beyond(self, shape: arb, place: arb) -> arb:
        """The mass of X on the side of large losses; a ball that may be 0 by its ends, as it is monotone."""
        ends = [place.lower().max(arb(0)), place.upper()]
        above = [arb(1) if end.is_zero() else end.gamma_upper(shape, regularized=1) for end in ends]
        value = above[0].union(above[1])
        return value if self.square > 1 else 1 - value

    def moments(self, tilt: arb, step: arb, count: int) -> list[acb]:
        """r^{-kz} (1 - z D)^{-k/2}; no ball where the moment is infinite."""
        square, half, found = exact(self.square), arb(self.uses) / 2, []
        for j in range(count):
            z = acb(tilt, step * j)
            log = -half * (z * square.log() + (1 - z * (square - 1)).log())
            found.append(log.exp() if 1 - tilt * (square - 1) > 0 else acb("nan"))
        return found

    def decay(self, tilt: arb, reach: arb) -> arb:
        """|1 - (c + it) D|/(1 - cD) to the power -k/2 falls with t."""
        turn = reach * (exact(self.square) - 1) / (1 - tilt * (exact(self.square) - 1))
        return (-(turn * turn).log1p() * self.uses / 4).exp() if turn.is_finite() else arb(1)
