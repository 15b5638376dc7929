"""Budgets of Gaussian differential privacy: mu^2 adds up, for any mechanism that a Gaussian dominates, and slack.

The interaction is dominated by G_sqrt(floor + total) x ApproximateDP(0, S) (Theorem D), so that (epsilon, delta) holds
where S + (1 - S) H_mu(e^epsilon) <= delta. The floor is part of the promise from the start: beside it a job that is
no Gaussian costs less.
Guarantee: upper ends of costs, lower ends of totals; exact for Gaussian noise.
Proof: docs/proofs/ledger.md, Theorem D. Reference: Dong, Roth, Su 2022, Cor. 3.3; Smith, Thakurta 2022 (filter).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flint import arb

from ... import InvalidParameter, Mechanism
from ...extend.numbers import BITS_START, lower_float, normal_level, shift_below, working_precision
from ...extend.parameters import nonnegative
from .. import units
from ..menu import default_weights
from .base import BudgetAxis, Design, Price, PrivacyFilter, Wanted
from .gaussian import MU2, GaussianCost, gaussian_cost
from .jobs import all_costs, check_relation
from .rdp import odometer_of
from .terms import JOB_SHARE, SLACK, aim, check_inherited, job_slack, refuse_others, relation_of, slack_axis


class GdpFilter(PrivacyFilter):
    """One Gaussian above all that happens."""

    name = "gdp"

    def design(self, wanted: Wanted, inherited: Mapping[str, Any] | None) -> Design:
        refuse_others(self.name, wanted, ("epsilon", "delta", "ceiling", "slack", "floor"))
        check_inherited(wanted, inherited)
        goal, floor = aim(wanted), nonnegative("floor", wanted.floor or 0.0)
        check_floor(wanted, inherited)
        shared = inherited or {
            "relation": wanted.relation.value,
            "floor": floor,
            "job_slack": JOB_SHARE * goal.slack,
        }
        own = Fraction(shared["floor"])
        first, last = (square_at(epsilon, goal.rest) - own for epsilon in (goal.epsilon, goal.ceiling))
        if not last > 0:
            raise InvalidParameter(
                f"the floor {shared['floor']!r} leaves nothing of epsilon {goal.ceiling!r} at delta {goal.delta!r}: "
                "ask for more, or for a smaller floor"
            )
        axis = BudgetAxis(
            MU2, "all", units.total(first, units.LOSS_UNIT), units.total(last, units.LOSS_UNIT), units.LOSS_UNIT
        )
        promise = goal.document() | {"floor": shared["floor"]}
        return Design(self.name, dict(shared), promise, (axis, slack_axis(goal.slack)))

    def price(self, shared: Mapping[str, Any], job: Mechanism, slack: float | None) -> Price:
        relation = relation_of(shared)
        check_relation(job, relation)
        cost = gaussian_cost(job.terms, relation, floor_of(shared["floor"]), job_slack(shared, slack))
        costs = units.at_least_one(gaussian_units(job, cost), MU2)
        return Price(costs, cost.additive, {"uses": cost.evidence}, {MU2: 0} if cost.ended else {})

    def odometer(
        self, shared: Mapping[str, Any], promise: Mapping[str, Any], used: Mapping[str, int], dead: frozenset[str]
    ) -> Mapping[str, Any]:
        if shared["floor"] > 0.0:
            return {"reason": "with a floor no bound is proven on what was used: the floor is part of the promise"}
        square = units.value(used.get(MU2, 0), units.LOSS_UNIT)
        weights = default_weights(promise["ceiling"], promise["delta"])
        return odometer_of(weights, {order: Fraction(order) * square / 2 for order in weights}, promise)


def check_floor(wanted: Wanted, inherited: Mapping[str, Any] | None) -> None:
    """A child has the floor of its parent."""
    if inherited is not None and wanted.floor not in (None, inherited["floor"]):
        raise InvalidParameter(f"floor must be that of the parent, {inherited['floor']!r}, not {wanted.floor!r}")


def gaussian_units(job: Mechanism, cost: GaussianCost) -> dict[str, int]:
    """What the Gaussian axis and slack are charged."""
    return all_costs(job, {MU2: (cost.square, units.LOSS_UNIT), SLACK: (cost.slack, units.DELTA_UNIT)})


def square_at(epsilon: float, delta: float) -> Fraction:
    """At or below the mu^2 whose Gaussian has this epsilon at this delta; 0 where none is known."""
    if delta <= 0.0:
        return Fraction(0)
    return Fraction(shift_below(epsilon, normal_level(delta))) ** 2


def floor_of(square: float) -> float:
    """mu of the floor that jobs are priced beside: at or below the root, so that it is within the promise."""
    if square == 0.0:
        return 0.0
    with working_precision(BITS_START):
        return max(lower_float(arb(square).sqrt()), 0.0)
