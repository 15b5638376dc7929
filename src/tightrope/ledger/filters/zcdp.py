"""Budgets of zero-concentrated privacy: one number rho, and slack.

A job costs the sum of the rho of its uses, each with D_a <= rho a at every order a > 1 by a formula: mu^2/2 of Gaussian
noise and of mu-GDP, L tanh(L/2) <= L^2/2 of losses in [-L, L], e - 1 + e^-e of Laplace noise. A supremum over some
orders would be no proof. A use that is (epsilon, d)-DP or the like costs rho of its laws where both live, and slack d.
From (epsilon, delta): every order a allows rho = B(a)/a, B the threshold of the menu with weight 1; the best is taken.
Guarantee: upper ends of costs, lower ends of totals.
Proof: docs/proofs/ledger.md, Theorem R and Theorem Slack; docs/proofs/zcdp.md, sections 1 to 3 (rho by formulas).
Reference: Bun, Steinke 2016, Def. 1.1 and 8.1; Whitehouse, Ramdas, Rogers, Wu 2023, Thm 1 (filter).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flint import arb

from ... import Direction, InvalidParameter, Mechanism
from ...extend.laws import condition_on_finite_loss
from ...extend.numbers import BITS_START, lower_float, upper_float, working_precision
from ...extend.parameters import nonnegative
from .. import units
from ..menu import default_weights, gaussian_order, threshold
from .base import BudgetAxis, Design, Price, PrivacyFilter, Wanted
from .jobs import all_costs, check_relation, leak, refused, uses
from .rdp import NO_CHOICE, odometer_of
from .terms import SLACK, BudgetAim, aim, check_inherited, no_slack, refuse_others, relation_of, shown, slack_axis

RHO = "rho"


class ConcentratedFilter(PrivacyFilter):
    """One line above the divergences of all orders."""

    name = "zcdp"

    def design(self, wanted: Wanted, inherited: Mapping[str, Any] | None) -> Design:
        check_inherited(wanted, inherited)
        shared = {"relation": wanted.relation.value}
        if wanted.rho is not None:
            refuse_others(f"{self.name} with a rho", wanted, ("rho", "slack"))
            rho, slack = nonnegative(RHO, wanted.rho), nonnegative("slack", wanted.slack or 0.0)
            if rho > units.AXIS_LOSS_MAX or not slack < 1.0:
                raise InvalidParameter(f"rho must be at most {units.AXIS_LOSS_MAX} and slack below 1")
            axis = _axis(rho, rho)
            return Design(self.name, shared, {"rho": rho, "slack": slack}, (axis, slack_axis(slack)))
        refuse_others(self.name, wanted, ("epsilon", "delta", "ceiling", "slack"))
        goal = aim(wanted)
        first, last = (_rho_at(goal, epsilon) for epsilon in (goal.epsilon, goal.ceiling))
        if not last > 0.0:
            raise InvalidParameter(
                f"no rho above 0 gives epsilon {goal.ceiling!r} at delta {goal.delta!r}: ask for more"
            )
        return Design(self.name, shared, goal.document(), (_axis(first, last), slack_axis(goal.slack)))

    def price(self, shared: Mapping[str, Any], job: Mechanism, slack: float | None) -> Price:
        no_slack(slack, NO_CHOICE)
        check_relation(job, relation_of(shared))
        rho, lost = Fraction(0), Fraction(0)
        evidence: list[dict[str, Any]] = []
        for part, count in job.terms:
            one, leaked = _rho(part), leak(part)
            rho, lost = rho + count * Fraction(one), lost + count * leaked
            evidence.append({"mechanism": repr(part), "count": count, RHO: repr(one), SLACK: repr(shown(leaked))})
        costs = all_costs(job, {RHO: (rho, units.LOSS_UNIT), SLACK: (lost, units.DELTA_UNIT)})
        return Price(units.at_least_one(costs, RHO), True, {"uses": evidence})

    def odometer(
        self, shared: Mapping[str, Any], promise: Mapping[str, Any], used: Mapping[str, int], dead: frozenset[str]
    ) -> Mapping[str, Any]:
        if "delta" not in promise:
            return {"reason": "the budget was given by rho: no delta was fixed beforehand"}
        rho = units.value(used.get(RHO, 0), units.LOSS_UNIT)
        weights = default_weights(promise["ceiling"], promise["delta"])
        return odometer_of(weights, {order: Fraction(order) * rho for order in weights}, promise)


def _axis(first: float, last: float) -> BudgetAxis:
    total, ceiling = units.total(first, units.LOSS_UNIT), units.total(last, units.LOSS_UNIT)
    return BudgetAxis(RHO, "all", total, ceiling, units.LOSS_UNIT)


def _rho_at(goal: BudgetAim, epsilon: float) -> float:
    """At or below the largest rho that gives this epsilon at what is left of delta."""
    order = gaussian_order(epsilon, goal.delta - goal.slack)
    known = threshold(order, 1.0, epsilon, goal.left)
    if known == -math.inf:
        return 0.0
    with working_precision(BITS_START):
        return lower_float(arb(known) / arb(order))


def _rho(part: Mechanism) -> float:
    """At or above rho of one use, of its laws where both live; UnsupportedMechanism where no formula tells it."""
    values = [_rho_directed(part, direction) for direction in Direction]
    if not all(map(math.isfinite, values)):
        raise refused(
            part,
            "no formula bounds its Renyi divergences at all orders by a line, and a supremum over some orders would be "
            "no proof; a budget of the kind rdp may do",
        )
    return max(values)


def _rho_directed(part: Mechanism, direction: Direction) -> float:
    with working_precision(BITS_START):
        kept = [(condition_on_finite_loss(use.pair), use.times) for use in uses(part, direction)]
        known = [(None if pair is None else pair.moments().zcdp_rho(), count) for pair, count in kept]
        balls = [count * rho for rho, count in known if rho is not None]
        return upper_float(sum(balls[1:], balls[0])) if balls and len(balls) == len(known) else math.inf
