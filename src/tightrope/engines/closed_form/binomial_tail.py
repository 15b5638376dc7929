"""One law with two atoms, used very often: a binomial tail instead of a list of atoms.

With J uses of the atom of higher loss l1 the loss is J l1 + (k - J) l2, so the best event is J >= m and
delta(eps) = w + (1 - w) I_p(m, k - m + 1) - e^eps (1 - v) I_q(m, k - m + 1), I the regularised beta function,
w and v the masses that P and Q have where the other has none.
Guarantee: exact, in balls; the cost hardly depends on k. Proof: docs/proofs/closed_forms.md.
Reference: Kairouz, Oh, Viswanath 2017, Thm 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flint import arb

from ...facets.finite import FiniteLaw
from ...kernels.ball import integer
from ..evaluation import BallFormula
from .tuning import BINOMIAL_MAX, BINOMIAL_MIN


def applies(law: FiniteLaw, count: int) -> bool:
    """Whether the law has two atoms and is used often."""
    return BINOMIAL_MIN <= count <= BINOMIAL_MAX and law.size() == 2


@dataclass(frozen=True)
class BinomialEvaluator(BallFormula):
    """Binomial tails in balls."""

    law: FiniteLaw
    count: int

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"atoms": self.count + 1}

    def ball(self, epsilon: arb) -> arb:
        law = self.law
        low, high = law.listed()
        if high.loss < low.loss:
            low, high = high, low
        if not high.loss > low.loss:
            return arb(0).union(arb(1))  # the order is not known at this precision
        kept_p, kept_q = (1 - law.infinite_mass()) ** self.count, (1 - law.lost_mass()) ** self.count
        edge = (epsilon - self.count * low.loss) / (high.loss - low.loss)
        first, last = integer(edge.lower().floor()), integer(edge.upper().floor())
        if first is None or last is None or last - first > 2:
            return arb(0).union(arb(1))
        best = arb(0)
        # The true threshold attains the maximum, so the others that the ball admits do no harm.
        for uses in range(first + 1, last + 2):
            p = kept_p * self._tail(high.p, low.p, uses)
            q = kept_q * self._tail(high.q, low.q, uses)
            best = best.max(p - epsilon.exp() * q)
        return (1 - kept_p) + best

    def _tail(self, high: arb, low: arb, least: int) -> arb:
        """P[J >= least] for J binomial of probability high/(high + low); from its complement where that is smaller.

        Arb takes seconds for a tail next to 1, and loses all digits.
        """
        if least <= 0:
            return arb(1)
        if least > self.count:
            return arb(0)
        first, second = arb(least), arb(self.count - least + 1)
        if least < self.count * high / (high + low):
            return 1 - (low / (high + low)).beta_lower(second, first, True)
        return (high / (high + low)).beta_lower(first, second, True)
