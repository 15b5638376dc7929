"""What an attacker can do, where it is one point of the profile.

Total variation: sup_A P(A) - Q(A) = H(1). Bayes accuracy: (1 - p) + p H((1 - p)/p), p the probability of P.
Guarantee: both ends, rounded outward. Proof: docs/proofs/readings.md, section 3.
"""

from __future__ import annotations

from flint import arb

from .. import compute_budget
from ..bound import Bound
from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision
from .carried import carried
from .law import Law, Told


def distance(law: Law) -> Bound:
    """H(1)."""
    bound = law.one_sided(0.0, law.aim)
    return law.bound(bound.lower, bound.upper, Told("the total variation is delta at epsilon 0"), of=bound)


def bayes_accuracy(law: Law, prior: float) -> Bound:
    """By H at a double next to log((1 - prior)/prior): H falls, by no more than a rises."""
    if prior in (0.0, 1.0):
        return law.bound(1.0, 1.0, Told("who is sure beforehand is right", engine="closed_form"))
    with compute_budget.uncounted(), working_precision(BITS_START):
        t = float(((1 - arb(prior)) / prior).log())
        weight = arb(prior) * (arb(t).exp() if t < 0.0 else 1)
        aim = min(law.aim / max(2.0 * float(weight), law.aim), 0.5)  # the answer is above 1/2
    bound = law.one_sided(t, aim)
    with compute_budget.uncounted(), working_precision(BITS_START):
        likely, other = arb(prior), 1 - arb(prior)
        low, high = (
            (1 - weight * (1 - arb(end)) if t < 0.0 else other + weight * end) for end in (bound.lower, bound.upper)
        )
        missed = other - likely * arb(t).exp()
        low, high = low - missed.max(arb(0)), high + (-missed).max(arb(0))
        lower, upper = lower_float(low.max(likely).max(other)), min(upper_float(high), 1.0)
        scale = upper_float(weight)
    told = Told("accuracy is linear in delta at the odds of the prior", budget=carried(bound, scale, (lower, upper)))
    return law.bound(lower, upper, told, of=bound)
