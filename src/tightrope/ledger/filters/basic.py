"""Budgets of (epsilon, delta) that add up: the oldest composition, for jobs of which nothing else is known.

A job costs (epsilon, w) with w the probability of an infinite loss, where the loss is bounded else; without a bound it
costs epsilon at a delta of its own, the job's slack. Epsilons and deltas add up on every path, adaptively too.
Guarantee: upper ends, rounded up. Proof: docs/proofs/ledger.md, Theorem D with F = ApproximateDP.
Reference: Dwork, Kenthapadi, McSherry, Mironov, Naor 2006, Thm 1; Rogers, Roth, Ullman, Vadhan 2016, Sec. 3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ... import Bound, InvalidParameter, Mechanism
from ...extend.parameters import real
from .. import units
from ..domination import ended_by_work
from .base import BudgetAxis, Design, Price, PrivacyFilter, Wanted
from .jobs import all_costs, check_relation, pieces, refused
from .terms import (
    JOB_SHARE,
    charged_upper,
    check_inherited,
    checked_epsilon,
    job_slack,
    refuse_others,
    relation_of,
    shown,
)

EPSILON, DELTA = "epsilon", "delta"


class BasicFilter(PrivacyFilter):
    """Sums of epsilon and delta."""

    name = "basic"

    def design(self, wanted: Wanted, inherited: Mapping[str, Any] | None) -> Design:
        refuse_others(self.name, wanted, ("epsilon", "delta", "ceiling"))
        check_inherited(wanted, inherited)
        epsilon, delta = checked_epsilon(EPSILON, wanted.epsilon), real(DELTA, wanted.delta or 0.0)
        ceiling = epsilon if wanted.ceiling is None else checked_epsilon("ceiling", wanted.ceiling)
        if not 0.0 <= delta < 1.0 or ceiling < epsilon:
            raise InvalidParameter(
                f"delta must lie from 0 to below 1, and ceiling be at least epsilon, not {delta!r} and {ceiling!r}"
            )
        first, last = units.total(epsilon, units.LOSS_UNIT), units.total(ceiling, units.LOSS_UNIT)
        most = units.total(delta, units.DELTA_UNIT)
        axes = (
            BudgetAxis(EPSILON, "all", first, last, units.LOSS_UNIT),
            BudgetAxis(DELTA, "all", most, most, units.DELTA_UNIT),
        )
        own = JOB_SHARE * delta if inherited is None else float(inherited["job_slack"])
        shared = {"relation": wanted.relation.value, "job_slack": own}
        return Design(self.name, shared, {"epsilon": epsilon, "delta": delta, "ceiling": ceiling}, axes)

    def price(self, shared: Mapping[str, Any], job: Mechanism, slack: float | None) -> Price:
        check_relation(job, relation_of(shared))
        epsilon, delta, least, ended = Fraction(0), Fraction(0), Fraction(0), False
        evidence: list[dict[str, Any]] = []
        for piece, count in pieces(job, relation_of(shared)):
            bound, own = _epsilon_delta(piece, shared, slack)
            epsilon, delta = epsilon + count * Fraction(charged_upper(bound)), delta + count * Fraction(own)
            least += count * Fraction(max(bound.lower, 0.0))
            ended = ended or ended_by_work(bound)
            evidence.append(
                {"mechanism": repr(piece), "count": count, EPSILON: repr(charged_upper(bound)), DELTA: repr(own)}
            )
        costs = all_costs(job, {EPSILON: (epsilon, units.LOSS_UNIT), DELTA: (delta, units.DELTA_UNIT)})
        unfinished = {EPSILON: units.total(least, units.LOSS_UNIT)} if ended else {}
        return Price(units.at_least_one(costs, EPSILON), False, {"uses": evidence}, unfinished)

    def odometer(
        self, shared: Mapping[str, Any], promise: Mapping[str, Any], used: Mapping[str, int], dead: frozenset[str]
    ) -> Mapping[str, Any]:
        epsilon = units.value(used.get(EPSILON, 0), units.LOSS_UNIT)
        delta = units.value(used.get(DELTA, 0), units.DELTA_UNIT)
        return {"epsilon": shown(epsilon), "delta": shown(delta)}


def _epsilon_delta(piece: Mechanism, shared: Mapping[str, Any], slack: float | None) -> tuple[Bound, float]:
    """(epsilon, w) where that is finite, (epsilon, d) else, or where d was asked for."""
    if slack is None:
        leaked = piece.delta(math.inf).upper
        bound = piece.epsilon(leaked)
        if math.isfinite(bound.upper):
            return bound, leaked
    own = job_slack(shared, slack)
    bound = piece.epsilon(own)
    if not math.isfinite(bound.upper):
        raise refused(piece, f"no finite epsilon is known at a slack of {own!r}; give a larger one")
    return bound, own
