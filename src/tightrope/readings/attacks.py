"""What an attacker can do, where it is one point of the profile.

Total variation: sup_A P(A) - Q(A) = H(1). Bayes accuracy: (1 - p) + p H((1 - p)/p), p the probability of P.
Guarantee: both ends, rounded outward. Proof: docs/proofs/readings.md.
"""

from __future__ import annotations

from flint import arb

from ..bound import Bound
from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision
from .law import Law, Told


def distance(law: Law) -> Bound:
    """H(1)."""
    found = law.delta(0.0, law.aim)
    return law.bound(found.lower, found.upper, Told("the total variation is delta at epsilon 0"), of=found)


def bayes_accuracy(law: Law, prior: float) -> Bound:
    """H falls in a, so the doubles on either side of log((1 - prior)/prior) bound it."""
    if prior in (0.0, 1.0):
        return law.bound(1.0, 1.0, Told("who is sure beforehand is right", engine="closed_form"))
    with working_precision(BITS_START):
        odds = ((1 - arb(prior)) / arb(prior)).log()
        after, before = upper_float(odds), lower_float(odds)
    low, high = law.delta(after), law.delta(before)
    with working_precision(BITS_START):
        lower = lower_float(1 - arb(prior) + arb(prior) * low.lower)
        upper = min(upper_float(1 - arb(prior) + arb(prior) * high.upper), 1.0)
    return law.bound(lower, upper, Told("accuracy is linear in delta at the odds of the prior"), of=high)
