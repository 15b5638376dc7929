"""The smallest mu whose Gaussian pair dominates, where a formula tells it.

Losses in [-a, b]: the two-point pair with these losses dominates, and its power has one corner, (Q*, P*), so that
mu = Phi^-1(P*) - Phi^-1(Q*), P* = (1 - e^-a)/(1 - e^-(a + b)), Q* = e^-b P*. For a = b this is randomized response.
Laplace noise at a shift of e scales: 2 Phi^-1(1 - e^(-e/2)/2).
Guarantee: upper; attained by the two points, and by Laplace noise. Proof: docs/proofs/gdp.md, section 6.
"""

from __future__ import annotations

from flint import arb

from ..kernels.ball import least_known
from ..kernels.normal_shift import quantile_above


def mu_of_range(lowest: arb, highest: arb) -> arb | None:
    """Of finite losses between these; None where they are too close to 0, or too far out, for balls to tell."""
    most = abs(highest).max(abs(lowest))
    if most.is_zero():
        return arb(0)
    both = -(lowest - highest).expm1()
    wrong, missed = (-highest).exp() * -lowest.expm1() / both, lowest.exp() * -(-highest).expm1() / both
    values = [quantile_above(wrong) + quantile_above(missed), _both_wrong((most / 2).tanh(), 1 / (1 + most.exp()))]
    return least_known(*(value if value.is_finite() else None for value in values))


def mu_of_laplace(edge: arb) -> arb:
    """Of Laplace noise."""
    return _both_wrong(-(-edge / 2).expm1(), (-edge / 2).exp() / 2)


def _both_wrong(advantage: arb, error: arb) -> arb:
    """The mu of the test with this error on both sides, which is (1 - advantage)/2; nothing cancels."""
    return 2 * arb(2).sqrt() * advantage.erfinv() if advantage < 0.5 else 2 * quantile_above(error)
