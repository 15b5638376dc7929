"""One run, canaries in or out by coins of their own: how many guesses may be right.

v of r guesses are right, r fixed before the run. With a = e^epsilon, W ~ Binomial(r, o/(1 + o)), o = a for fair coins,
beta = P(W >= k) and b_k = P(W = k):
P(v >= k) <= beta + B beta (1 - beta)/(k b_k), B = m (H_remove(a) + H_add(a))/2;
guesses "in" alone, coins with probability p: o = a p/(1 - p), B = m p H_remove(a); "out" alone: 1 - p and H_add.
It holds at every slope of a claim, for the same event: their least is taken.
Guarantee: upper, in balls.
Reference: docs/proofs/audit.md, sections 6 to 9; the published bound is Steinke, Nasr, Jagielski 2023, Thm 5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from flint import arb

from ..core.numerics.balls import BITS_START, upper_float, working_precision
from ..core.numerics.counting import binomial_mass, binomial_tails
from ..core.values import compute_budget
from .claims import ClaimSlope, SlopeClaim
from .events import AuditEvent

IN, OUT, BOTH = SIDES = ("in", "out", "both")
SLOPE_WORK = 2e5  # units: one bound


@dataclass(frozen=True)
class GuessEvent(AuditEvent):
    """count of r guesses about m canaries are right; sides: which guesses were made, coin: the chance to be in."""

    method: ClassVar[str] = "O2"
    canaries: int
    guesses: int
    count: int
    sides: str = BOTH
    coin: float = 0.5

    @property
    def trials(self) -> int:
        return self.guesses

    @property
    def place(self) -> int:
        return self.guesses

    @property
    def parameters(self) -> dict[str, Any]:
        return {"canaries": self.canaries, "sides": self.sides, "coin": self.coin}

    def p_upper(self, claim: SlopeClaim) -> float:
        if self.count <= 0:
            return 1.0
        return min(1.0, *(self._at(slope) for slope in claim.slopes))

    def used(self, claim: SlopeClaim) -> frozenset[int]:
        return frozenset([min(range(len(claim.slopes)), key=lambda index: self._at(claim.slopes[index]))])

    def _at(self, slope: ClaimSlope) -> float:
        """O2 at one slope."""
        compute_budget.spend(SLOPE_WORK)
        with compute_budget.uncounted(), working_precision(BITS_START):
            odds, budget = self.odds_and_budget(slope)
            rate = odds / (1 + odds)
            above, below = binomial_tails(self.guesses, rate, self.count)
            mass = binomial_mass(self.guesses, rate, self.count)
            value = above if budget.is_zero() else above + budget * above * below / (self.count * mass)
            return upper_float(value)

    def odds_and_budget(self, slope: ClaimSlope) -> tuple[arb, arb]:
        """The odds of a right guess and B, m times the mean of what either direction adds."""
        a, coin, m = arb(slope.epsilon).exp(), arb(self.coin), self.canaries
        if self.sides == BOTH:
            return a, m * (arb(slope.remove) + arb(slope.add)) / 2
        if self.sides == IN:
            return a * coin / (1 - coin), m * coin * arb(slope.remove)
        return a * (1 - coin) / coin, m * (1 - coin) * arb(slope.add)
