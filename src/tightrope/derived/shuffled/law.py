"""Counts of three symbols: the law that stands for shuffled reports.

N draws have the symbols 0, 1 and "other" with probabilities m, m, 1 - 2m, and d more are "same"; the densities of P and
Q are the means over all n = N + d of u = p, 1, w, 1 and v = 1, p, w, 1. With a, b the counts of the first two and
alpha = e^eps >= 1 the score a tau - b y - (w N + d)(alpha - 1) is n (dP - alpha dQ).
    clones   m = 1/(p + 1), w = 0: what dominates, d of them the same for everybody
    third    m = 1/(p + k - 1), w = (k - 2)/(p + k - 3): k-ary randomized response, the others at a third value
Guarantee: exact. Proof: docs/proofs/shuffle.md, sections 2 and 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from flint import arb

from ...facets.lattice import LatticeStep


class Scores(NamedTuple):
    """One question about the counts, at the working precision."""

    highest: arb  # p - alpha: what no score, over n, exceeds
    tau: arb
    y: arb
    gone: arb  # (w N + d)(alpha - 1)


class Chances(NamedTuple):
    """m, 1 - m, and r, 1 - r: the share of the second symbol in what is not the first."""

    m: arb
    not_m: arb
    r: arb
    not_r: arb


@dataclass(frozen=True, slots=True)
class Counts:
    """third: k, the number of categories, or None for clones."""

    epsilon: LatticeStep
    draws: int
    same: int = 0
    third: int | None = None

    @property
    def users(self) -> int:
        """n."""
        return self.draws + self.same

    def p(self) -> arb:
        """e^epsilon."""
        return self.epsilon.ball().exp()

    def w(self) -> arb:
        """What "other" weighs in both laws."""
        return arb(0) if self.third is None else (self.third - 2) / (self.p() + (self.third - 3))

    def chances(self) -> Chances:
        """Of the symbols; nothing cancels."""
        p, k = self.p(), self.third
        if k is None:
            return Chances(1 / (p + 1), p / (p + 1), 1 / p, self.epsilon.ball().expm1() / p)
        more = p + (k - 2)
        return Chances(1 / (more + 1), more / (more + 1), 1 / more, (p + (k - 3)) / more)

    def scores(self, epsilon: arb) -> Scores:
        """At an epsilon from 0 to below the largest loss."""
        edge, w = self.epsilon.ball(), self.w()
        past = epsilon.expm1()
        highest = epsilon.exp() * (edge - epsilon).expm1()
        return Scores(
            highest, highest + w * past, (edge + epsilon).expm1() - w * past, (w * self.draws + self.same) * past
        )
