"""The smallest mu whose Gaussian pair dominates, where a formula tells it.

Losses in [-a, b]: the two-point pair with these losses dominates, and its power has one corner, (Q*, P*), so that
mu = Phi^-1(P*) - Phi^-1(Q*), P* = (1 - e^-a)/(1 - e^-(a + b)), Q* = e^-b P*. For a = b this is randomized response.
Laplace noise at a shift of e scales: 2 Phi^-1(1 - e^(-e/2)/2).
Guarantee: upper; attained by the two points, and by Laplace noise. Proof: docs/proofs/gdp.md, section 6.
"""

from __future__ import annotations

from flint import arb

from ..kernels.normal_shift import quantile_above


def mu_of_range(lowest: arb, highest: arb) -> arb | None:
    """Of finite losses between these; None where they are too close to 0, or too far out, for balls to tell."""
    most = abs(highest).max(abs(lowest))
    if most.is_zero():
        return arb(0)
    both = -(lowest - highest).expm1()
    wrong, missed = (-highest).exp() * -lowest.expm1() / both, lowest.exp() * -(-highest).expm1() / both
    found = quantile_above(wrong) + quantile_above(missed)
    if not found.is_finite():  # by the larger range alone: both are 1/(1 + e^L)
        found = 2 * quantile_above(1 / (1 + most.exp()))
    return found if found.is_finite() else None


def mu_of_laplace(edge: arb) -> arb:
    """Of Laplace noise."""
    return 2 * quantile_above((-edge / 2).exp() / 2)
