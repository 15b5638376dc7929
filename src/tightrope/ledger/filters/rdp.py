"""Budgets of Renyi divergences: a menu of orders of which one must never be exceeded, and slack.

A job costs D_a at each order a of the menu, the sum over its uses; divergences of adaptive steps add up on every path
(Theorem R), and accepting while some order was never exceeded gives (epsilon, delta)-DP (Theorem Menu).
One axis more adds up epsilons of few jobs, for a large one that no order pays for well (Theorem Menu of filters).
A use with infinite losses costs d = max(w+, w-) of slack and, of what is left of its laws,
r = (K(a - 1) - a log(1 - w+))/(a - 1) + log(1 - w-) (Theorem Slack).
Guarantee: upper ends, rounded up; an order at which nothing is known is exceeded by such a job.
Proof: docs/proofs/ledger.md, Theorem R, Theorem Menu, Theorem Slack, Theorem Odometer.
Reference: Feldman, Zrnic 2021, Thm 3.1; Lecuyer 2021.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from flint import arb

from ... import (
    AccuracyNotReached,
    Direction,
    InvalidParameter,
    Mechanism,
    Relation,
    UnsupportedMechanism,
    WorkExhausted,
)
from ...extend import work
from ...extend.moments import cumulant_above
from ...extend.numbers import lower_float, upper_float, working_precision
from .. import units
from ..domination import ended_by_work
from ..menu import (
    SUM_JOBS,
    SUM_WEIGHT,
    axis_name,
    checked_weights,
    default_weights,
    spent_epsilon,
    threshold,
)
from .base import SUM, BudgetAxis, Design, Price, PrivacyFilter, Wanted
from .jobs import Use, check_relation, leak, pieces, refused, uses
from .terms import (
    SLACK,
    BudgetAim,
    aim,
    charged_upper,
    check_inherited,
    no_slack,
    refuse_others,
    relation_of,
    shown,
    slack_axis,
)

PRICE_ACCURACY = 2.0**-10  # of a divergence: what a narrower one would cost in work, other orders use better
RENYI_FINITE_BITS = 256  # of what is left where some losses are infinite
SUM_SHARE = 0.25  # of the work: for the epsilon of a job beside its divergences
WRITING_SHARE = 0.02  # of the work: for writing down what was found
NO_CHOICE = "what a job uses of delta follows from its infinite losses"


class RenyiFilter(PrivacyFilter):
    """One order of several must hold."""

    name = "rdp"

    def design(self, wanted: Wanted, inherited: Mapping[str, Any] | None) -> Design:
        refuse_others(self.name, wanted, ("epsilon", "delta", "ceiling", "slack", "orders"))
        check_inherited(wanted, inherited)
        goal = aim(wanted)
        chosen = chosen_weights(wanted, inherited)
        terms = _sum_terms(goal) if chosen is None else (inherited or {}).get(SUM)
        weights = chosen or default_weights(goal.ceiling, goal.delta, beside_sum=True)
        axes = tuple(_axis(order, weight, goal) for order, weight in weights.items())
        if terms is not None:
            axes = (*axes, _sum_axis(terms, goal))
        if all(axis.dead for axis in axes):
            raise InvalidParameter(
                f"no order of the menu allows anything at epsilon {goal.ceiling!r} and delta {goal.delta!r}: ask for "
                "more, or for higher orders"
            )
        shared = shared_menu(wanted, weights) | ({} if terms is None else {SUM: terms})
        return Design(self.name, shared, goal.document(), (*axes, slack_axis(goal.slack)))

    def price(self, shared: Mapping[str, Any], job: Mechanism, slack: float | None) -> Price:
        no_slack(slack, NO_CHOICE)
        check_relation(job, relation_of(shared))
        orders = {float(order): weight for order, weight in shared["orders"].items()}
        added = None if SUM not in shared else _added(shared[SUM], job, relation_of(shared))
        with work.part(1.0 - WRITING_SHARE):
            priced = [(count, leak(part), _divergences(part, orders)) for part, count in job.terms]
        costs: dict[str, int | None] = {
            axis_name(order): _total([(found[order].upper, count) for count, _, found in priced]) for order in orders
        }
        unfinished = {
            axis_name(order): _at_least([(found[order], count) for count, _, found in priced])
            for order in orders
            if any(found[order].unfinished for _, _, found in priced)
        }
        if added is not None:
            costs[SUM] = units.cost(added.upper, units.LOSS_UNIT) if math.isfinite(added.upper) else None
            if added.unfinished:
                unfinished[SUM] = units.total(added.lower, units.LOSS_UNIT)
        if all(number is None for number in costs.values()):
            raise refused(job, "no order of this budget bounds its Renyi divergence by a finite number")
        lost = sum((one * count for count, one, _ in priced), Fraction(0))
        costs[SLACK] = units.cost(lost, units.DELTA_UNIT)
        if costs[SLACK] is None:
            raise refused(job, "its infinite losses are likelier than any slack allows")
        evidence = [
            {
                "mechanism": repr(part),
                "count": count,
                SLACK: repr(shown(one)),
                "renyi": {axis_name(order): [repr(ends.lower), repr(ends.upper)] for order, ends in found.items()},
            }
            for (part, _), (count, one, found) in zip(job.terms, priced, strict=True)
        ]
        shown_sum = {} if added is None else {SUM: [repr(added.lower), repr(added.upper)]}
        return Price(costs, True, {"uses": evidence, **shown_sum}, unfinished)

    def odometer(
        self, shared: Mapping[str, Any], promise: Mapping[str, Any], used: Mapping[str, int], dead: frozenset[str]
    ) -> Mapping[str, Any]:
        weights = {float(order): weight for order, weight in shared["orders"].items()}
        living = {order: weight for order, weight in weights.items() if axis_name(order) not in dead}
        spent = {order: units.value(used.get(axis_name(order), 0), units.LOSS_UNIT) for order in living}
        if not living and SUM in shared:  # the axis of sums has paid: what is promised holds
            return {"epsilon": float(promise["ceiling"]), "delta": float(promise["delta"])}
        return odometer_of(living, spent, promise)


def _axis(order: float, weight: float, goal: BudgetAim) -> BudgetAxis:
    """What is below 0 at the ceiling allows nothing, ever."""
    now, most = (threshold(order, weight, epsilon, goal.left) for epsilon in (goal.epsilon, goal.ceiling))
    first, last = units.total(now, units.LOSS_UNIT), units.total(most, units.LOSS_UNIT)
    return BudgetAxis(axis_name(order), "any", first, last, units.LOSS_UNIT, dead=most < 0.0)


def _sum_terms(goal: BudgetAim) -> dict[str, float] | None:
    """Delta of one job, and the least that one costs: of a whole tree, as its root has them."""
    with working_precision(RENYI_FINITE_BITS):
        own = lower_float(arb(SUM_WEIGHT) * (arb(goal.delta) - arb(goal.slack)) / SUM_JOBS)
    least = goal.ceiling / SUM_JOBS
    return {"delta": own, "least": least} if own > 0.0 and least > 0.0 else None


def _sum_axis(terms: Mapping[str, float], goal: BudgetAim) -> BudgetAxis:
    """Epsilons of jobs that add up to no more than epsilon, and their deltas to no more than their share."""
    share = Fraction(SUM_WEIGHT) * (Fraction(goal.delta) - Fraction(goal.slack))
    count = math.floor(share / Fraction(terms["delta"]))
    first, last = (
        units.total(min(Fraction(epsilon), count * Fraction(terms["least"])), units.LOSS_UNIT)
        for epsilon in (goal.epsilon, goal.ceiling)
    )
    least = units.cost(terms["least"], units.LOSS_UNIT)
    return BudgetAxis(SUM, "any", first, last, units.LOSS_UNIT, dead=least is None or last < least)


def _added(terms: Mapping[str, float], job: Mechanism, relation: Relation) -> PriceEnds:
    """What epsilons a job adds: of what is charged as one, each at the delta of one; inf where a loss is infinite."""
    if any(leak(part) for part, _ in job.terms):
        return PriceEnds(0.0, math.inf)
    lower, upper, early = Fraction(0), Fraction(0), False
    for piece, count in pieces(job, relation):
        try:
            with work.part(SUM_SHARE):
                bound = piece.epsilon(terms["delta"])
        except UnsupportedMechanism:
            return PriceEnds(0.0, math.inf)
        except WorkExhausted:
            return PriceEnds(0.0, math.inf, True)
        if not math.isfinite(bound.upper):
            return PriceEnds(0.0, math.inf, ended_by_work(bound))
        lower += count * max(Fraction(bound.lower), Fraction(terms["least"]))
        upper += count * max(Fraction(charged_upper(bound)), Fraction(terms["least"]))
        early = early or ended_by_work(bound)
    with working_precision(RENYI_FINITE_BITS):
        above = upper_float(arb(upper.numerator) / upper.denominator)
        below = lower_float(arb(lower.numerator) / lower.denominator)
    return PriceEnds(below, above, early)


def chosen_weights(wanted: Wanted, inherited: Mapping[str, Any] | None) -> dict[float, float] | None:
    """Those of the parent, or those that were asked for; None where nobody has chosen."""
    asked = None if wanted.orders is None else checked_weights(wanted.orders)
    if inherited is None:
        return asked
    own = checked_weights(inherited["orders"])
    if asked not in (None, own):
        raise InvalidParameter("orders must be those of the parent, with the same weights: leave them out")
    return own


def shared_menu(wanted: Wanted, weights: Mapping[float, float]) -> dict[str, Any]:
    """What all budgets of the tree have."""
    return {"relation": wanted.relation.value, "orders": {repr(order): weight for order, weight in weights.items()}}


def odometer_of(
    weights: Mapping[float, float], spent: Mapping[float, Fraction], promise: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The least of the orders, upper end; holds at any stopping time. Proof: Theorem Odometer."""
    left = float(promise["delta"]), float(promise[SLACK])
    if not weights:
        return {"reason": "no order is left of which all that was used is known"}
    with working_precision(RENYI_FINITE_BITS):
        least = min(upper_float(spent_epsilon(order, weights[order], spent[order], left)) for order in weights)
    if least == math.inf:
        return {"reason": "nothing is left of delta but slack"}
    most = float(promise.get("ceiling", math.inf))  # what is promised holds whatever was used
    return {"epsilon": min(max(least, 0.0), most), "delta": left[0]}


class PriceEnds(NamedTuple):
    """Of a divergence; unfinished where work ended the search while the ends were far apart."""

    lower: float
    upper: float
    unfinished: bool = False


def _divergences(part: Mechanism, orders: Mapping[float, float]) -> dict[float, PriceEnds]:
    """PriceEnds of the divergences of one use, of its finite part where some losses are infinite; inf where nothing is.

    Each order has its share of the work, the heaviest first; those that are still wide have what the others left.
    """
    if leak(part):
        both = [uses(part, direction) for direction in Direction]
        return {order: PriceEnds(0.0, max(_finite_part(run, order) for run in both)) for order in orders}
    found: dict[float, PriceEnds] = {}
    ranked = sorted(orders, key=lambda order: (-orders[order], order))
    for done, order in enumerate(ranked):
        with work.part(1.0 / (len(ranked) - done)):  # no order takes the work of the others
            found[order] = _divergence(part, order)
    for order in [each for each in ranked if found[each].unfinished]:
        again = _divergence(part, order)
        found[order] = min(found[order], again, key=lambda ends: ends.upper)
    return {order: found[order] for order in orders}


def _divergence(part: Mechanism, order: float) -> PriceEnds:
    """As narrow as a price needs it; what is not known at all is infinite."""
    try:
        bound = part.renyi(order, accuracy=PRICE_ACCURACY)
    except UnsupportedMechanism:
        return PriceEnds(0.0, math.inf)
    except AccuracyNotReached as wide:
        bound = wide.bound
    except WorkExhausted:
        return PriceEnds(0.0, math.inf, True)
    return PriceEnds(bound.lower, charged_upper(bound), ended_by_work(bound))


def _at_least(ends: list[tuple[PriceEnds, int]]) -> int:
    """Units at or below the cost of all uses together."""
    return units.total(
        sum((Fraction(max(each.lower, 0.0)) * count for each, count in ends), Fraction(0)), units.LOSS_UNIT
    )


def _finite_part(parts: tuple[Use, ...], order: float) -> float:
    """At or above the divergence of what is left of all of them."""
    value, a = arb(0), arb(order)
    for use in parts:
        moment = cumulant_above(use.pair, order - 1.0)  # exact: order is a double above 1
        with working_precision(RENYI_FINITE_BITS):
            above, below = use.pair.infinite_mass(), use.pair.reversed().infinite_mass()
            if not (math.isfinite(moment) and above < 1 and below < 1):
                return math.inf
            one = (arb(moment) - a * (-above).log1p()) / (a - 1) + (-below).log1p()
            value += use.times * one.max(arb(0))
    with working_precision(RENYI_FINITE_BITS):
        return upper_float(value)


def _total(costs: list[tuple[float, int]]) -> int | None:
    """Units of all uses together, at least 1: no job is free, on whatever order."""
    if not all(math.isfinite(upper) for upper, _ in costs):
        return None
    value = units.cost(sum((Fraction(upper) * count for upper, count in costs), Fraction(0)), units.LOSS_UNIT)
    return None if value is None else max(value, 1)
