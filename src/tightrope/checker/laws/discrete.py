"""Integer Gaussian noise: P has the mass e^{-(x - D)^2/(2 sigma^2)}/Z at the integer x, Q the same around 0.

The loss D (2x - D)/(2 sigma^2) rises with x, and mirroring x to D - x exchanges P and Q: the law is its own reverse.
Sums over all integers are taken over a window; beyond a distance a > 0 of the centre the masses fall by e^{-a/sigma^2}
or more at each step, so that the rest is at most e^{-a^2/(2 sigma^2)}/(1 - e^{-a/sigma^2}) on either side.
Proof: docs/proofs/checker_grids.md, "Discrete Gaussian".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from math import isqrt

from flint import acb, arb, ctx

from ..law import CheckedLaw, exact

TABLE_MAX = 100_000
SIGMAS = 42  # sigma; beyond it lies less than e^-880


@dataclass(frozen=True)
class DiscreteGaussianLaw(CheckedLaw):
    """One use; variance is sigma^2, the parameter's."""

    variance: Fraction
    sensitivity: int
    kept: dict[int, list[arb]] = field(default_factory=dict, compare=False, repr=False)  # sums by precision

    def tails(self, x: arb) -> tuple[arb, arb] | None:
        """l > x for the outputs beyond x sigma^2/D + D/2."""
        sums = self._above()
        if sums is None:
            return None
        edge = x * exact(self.variance) / self.sensitivity + exact(Fraction(self.sensitivity, 2))
        first, last = edge.lower().floor() + 1, edge.upper().floor() + 1
        values = [self._from(sums, first - n).union(self._from(sums, last - n)) for n in (self.sensitivity, 0)]
        return values[0], values[1]

    def reversed(self) -> DiscreteGaussianLaw:
        return self

    def shifted(self, size: int) -> DiscreteGaussianLaw:
        return DiscreteGaussianLaw(self.variance, self.sensitivity * size)

    def moments(self, tilt: arb, step: arb, count: int) -> list[acb] | None:
        """P(x) e^{z l(x)} has the size e^{-(x - m)^2/(2 v)} e^{c (c + 1) D^2/(2 v)}/Z, m = D (1 + c), v = sigma^2."""
        variance, shift = exact(self.variance), self.sensitivity
        sums = self._above()
        middle = (shift * (1 + tilt)).mid().floor().unique_fmpz()
        reach = isqrt(int(2 * ctx.prec * self.variance)) + 2  # e^{-reach^2/(2 v)} <= 2^-prec and less
        if sums is None or middle is None or 2 * reach * count > 50 * TABLE_MAX:
            return None
        scale = (tilt * (tilt + 1) * shift**2 / (2 * variance)).exp() / self._norm()
        weights, turns, found = [], [], []
        for x in range(int(middle) - reach, int(middle) + reach + 2):  # m may be a little more than middle + 1
            weights.append(acb(scale * (-((x - shift * (1 + tilt)) ** 2) / (2 * variance)).exp()))
            turns.append(acb(0, step * exact(Fraction(shift * (2 * x - shift)) / (2 * self.variance))).exp())
        rest = arb(0, (2 * scale * self._rest(arb(reach))).upper())
        for _ in range(count):
            found.append(sum(weights, acb(rest, rest)))
            weights = [weight * turn for weight, turn in zip(weights, turns, strict=True)]
        return found

    def lattice(self) -> tuple[arb, arb]:
        return exact(-Fraction(self.sensitivity**2) / (2 * self.variance)), exact(self.sensitivity / self.variance)

    def _above(self) -> list[arb] | None:
        """S(n), the mass at n and beyond around 0, for n = 0, 1, ...; the last may be anything down to 0."""
        size = isqrt(int(self.variance * SIGMAS**2)) + 2
        if size > TABLE_MAX:
            return None
        if ctx.prec not in self.kept:
            variance = exact(self.variance)
            masses = [(-(x * x) / (2 * variance)).exp() for x in range(size)]
            last = self._rest(arb(size)).union(arb(0))
            sums = list(accumulate(reversed(masses), initial=last))
            norm = 2 * sums[-1] - 1
            self.kept[ctx.prec] = [value / norm for value in reversed(sums)]
        return self.kept[ctx.prec]

    def _norm(self) -> arb:
        """Z: the mass at 0 is S(0) - S(1) = 1/Z."""
        sums = self._above() or []
        return 1 / (sums[0] - sums[1])

    def _from(self, sums: list[arb], first: arb) -> arb:
        """S(n) for the integer n = first; S(n) = 1 - S(1 - n)."""
        place = first.max(arb(2 - len(sums))).min(arb(len(sums) - 1)).unique_fmpz()
        if place is None:
            return arb(0).union(arb(1))
        return sums[int(place)] if place >= 0 else 1 - sums[1 - int(place)]

    def _rest(self, distance: arb) -> arb:
        """At least the sum of e^{-x^2/(2 v)} over all x = distance, distance + 1, ..."""
        variance = exact(self.variance)
        return (-(distance**2) / (2 * variance)).exp() / (1 - (-distance / variance).exp())
