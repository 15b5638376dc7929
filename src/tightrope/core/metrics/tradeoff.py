"""Rates of the most powerful test, and what follows from them by Bayes' rule or by counting guesses.

tpr(x) = g(x), tradeoff(x) = f(x) = 1 - g(x): power.py. posterior: p g / (p g + (1 - p) x), p the probability of the
first law, which rises with g. reconstruction: g at the chance of success without the output, of the pair (with the
record, without it), or of a replaced record: who names a candidate tests whether it is in the data.
Guarantee: both ends, rounded outward. Proof: docs/proofs/readings.md, sections 1 and 4.
Reference: Dong, Roth, Su 2022, Def. 2.1; Hayes, Mahloujifar, Balle 2023, Thm 2.
"""

from __future__ import annotations

from flint import arb

from ..mechanisms.parameters import probability
from ..numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ..values import compute_budget
from ..values.bound import Bound
from ..values.errors import InvalidParameter
from ..values.question import Direction, Relation, parsed
from .law import Law, Told, carried
from .power import Power, power_at


def tpr(law: Law, fpr: float) -> Bound:
    """g(fpr)."""
    power = power_at(law, fpr)
    return _told(law, power, power.lower, power.upper)


def tradeoff(law: Law, fpr: float) -> Bound:
    """f(fpr)."""
    power = power_at(law, fpr, both=True)
    return _told(law, power, power.miss_lower, power.miss_upper, swapped=True)


def posterior(law: Law, prior: float, fpr: float) -> Bound:
    """Rises with g; at prior 0 and 1 nothing is learnt."""
    if prior in (0.0, 1.0):
        return law.bound(prior, prior, Told("who is sure beforehand stays so", engine="closed_form"))
    power = power_at(law, fpr)
    with compute_budget.uncounted(), working_precision(BITS_START):
        rest = (1 - arb(prior)) * fpr
        low, high = (arb(prior) * end for end in (power.lower, power.upper))
        lower, upper = lower_float(low / (low + rest)), min(upper_float(high / (high + rest)), 1.0)
        slope = upper_float(arb(prior) * rest / (low + rest) ** 2)  # it falls with g
    return _told(law, power, lower, upper, scale=slope)


def reconstruction(law: Law, baseline: float) -> Bound:
    """g(baseline) of the record that is removed, or replaced."""
    if parsed(law.question.direction) is Direction.ADD:
        raise InvalidParameter(
            "reconstruction is of a record that is in the data, tested against its absence: leave direction out"
        )
    return tpr(law if law.mechanism.relation is Relation.REPLACE else law.toward(Direction.REMOVE), baseline)


def above_zero(fpr: float) -> float:
    """A rate at which somebody is accused."""
    rate = probability("fpr", fpr)
    if rate == 0.0:
        raise InvalidParameter(
            "fpr must be above 0 for a posterior: a test that never accuses wrongly may accuse nobody; "
            "give a small rate such as 1e-12"
        )
    return rate


def _told(law: Law, power: Power, lower: float, upper: float, scale: float = 1.0, swapped: bool = False) -> Bound:
    if power.points:
        reason = f"the least of delta + a fpr, by secants of the profile at {power.points} points"
    else:
        reason = "a test that always accuses misses nobody"
    budget = carried(power.of, power.weight * scale, (lower, upper), power.given_away * scale, swapped)
    return law.bound(lower, upper, Told(reason, parameters={"points": power.points}, budget=budget), of=power.of)


# What an attacker can do, where it is one point of the profile.
#
# Total variation: sup_A P(A) - Q(A) = H(1). Bayes accuracy: (1 - p) + p H((1 - p)/p), p the probability of P.
# Guarantee: both ends, rounded outward. Proof: docs/proofs/readings.md, section 3.


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
