"""Two outcomes, and what a sum of Renyi curves keeps to.

Proof: docs/proofs/renyi_curve.md, section 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from ..law import exact

SOLVE_BITS = 384


@dataclass(frozen=True)
class RenyiBounds:
    """What a sum of such laws keeps to: D_order <= r at the orders of a table, else K(c) <= c (c + 1) rho for c > 0."""

    table: tuple[tuple[Fraction, Fraction], ...]
    rho: Fraction

    def most(self, c: arb) -> arb:
        """What K(c) may be; of a table at one of its orders, of order 1 D_1."""
        if not self.table:
            return exact(self.rho) if c.is_zero() else c * (c + 1) * exact(self.rho)
        return next(
            (exact(r) * (exact(o - 1) if o > 1 else 1) for o, r in self.table if exact(o - 1).overlaps(c)), arb("nan")
        )


@dataclass(frozen=True)
class TwoOutcomes:
    """Two outcomes by up = log p/q > 0 and down = log (1 - q)/(1 - p) > 0."""

    up: arb
    down: arb

    def p(self) -> arb:
        return self.up.exp() * self.q()

    def q(self) -> arb:
        return self.down.expm1() / (self.up + self.down).expm1()

    def rest(self) -> arb:
        """1 - p."""
        return self.up.expm1() / (self.up + self.down).expm1()

    def moment(self, c: arb) -> arb:
        """e^{K(c)} - 1; D_1 for c = 0."""
        if c.is_zero():
            return self.p() * self.up - self.rest() * self.down
        return self.p() * (c * self.up).expm1() + self.rest() * (-c * self.down).expm1()

    def rising(self, c: arb) -> arb:
        """The derivative of that in p."""
        return self.up + self.down if c.is_zero() else (1 + c) * ((c * self.up).exp() - (-c * self.down).exp())

    def slope(self, c: arb) -> arb:
        """dp/dq along a line where it is constant."""
        d = self.up + self.down
        if c.is_zero():
            return -self.up.exp() * (-d).expm1() / d
        return self.up.exp() * c * (-(1 + c) * d).expm1() / ((1 + c) * (-c * d).expm1())

    def peak(self, c: arb) -> arb:
        """Of the sign of the derivative of K(c)/(c (c + 1))."""
        f = 1 + self.moment(c)
        first = self.p() * self.up * (c * self.up).exp() - self.rest() * self.down * (-c * self.down).exp()
        return first / f * (c + 1) * c - f.log() * (2 * c + 1)
