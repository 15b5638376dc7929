"""What a kind of budget is: axes of whole units, and what a job costs on each before it runs.

A budget is a vector of axes, a job a vector of costs, and sums are compared with totals: that is all the ledger does
with them. Everything that makes such a comparison a theorem is decided here, once, when a budget is designed and when a
job is priced. Proofs: docs/proofs/ledger.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ... import Mechanism, Relation

Need = Literal["all", "any"]
SUM = "sum"  # an `any` axis of epsilons that add up: charged for whole jobs, whatever part of one ran


@dataclass(frozen=True, slots=True)
class BudgetAxis:
    """One counter of a budget, in whole units.

    need all: every charge must fit its total. need any: of these, one that was never exceeded must be left.
    ceiling is what the promise rests on and never changes; total is what may be spent now. dead: from the start.
    unit: how many units make 1, as in 2**50 for epsilon.
    """

    name: str
    need: Need
    total: int
    ceiling: int
    unit: int
    dead: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a budget is asked to be, as its maker said it; None where nothing was said."""

    relation: Relation
    epsilon: float | None = None
    delta: float | None = None
    ceiling: float | None = None  # epsilon up to which renewals may go; epsilon itself where None
    slack: float | None = None  # the part of delta that jobs may use up
    floor: float | None = None  # mu^2 that is part of the promise from the start
    plan: Mapping[str, int] | None = None  # expression of a job: how many of it
    rho: float | None = None
    orders: Mapping[str, float] | None = None  # Renyi order: its weight


@dataclass(frozen=True, slots=True)
class Design:
    """A budget as it will stand: what all budgets of its tree share, what it promises, and its axes.

    shared and promise are JSON. shared holds the relation, and all that the price of a job depends on, so that one
    price serves a whole tree.
    """

    kind: str
    shared: Mapping[str, Any]
    promise: Mapping[str, Any]
    axes: tuple[BudgetAxis, ...]


@dataclass(frozen=True, slots=True)
class Price:
    """What a job costs: whole units on each axis; None where the cost is no finite number, which ends an axis.

    additive: whether the cost is a sum over the parts of the job, so that a part that ran alone may be charged alone.
    evidence: JSON for the audit: the bounds that the units were rounded up from, and how they were found.
    unfinished: by axis, units at or below the cost, where work ended the search and the price is much above these.
    """

    units: Mapping[str, int | None]
    additive: bool
    evidence: Mapping[str, Any] = field(default_factory=dict)
    unfinished: Mapping[str, int] = field(default_factory=dict)


class PrivacyFilter(ABC):
    """How budgets of one kind are designed, what jobs cost there, and what can be said of what was used."""

    name: str

    @abstractmethod
    def design(self, wanted: Wanted, inherited: Mapping[str, Any] | None) -> Design:
        """The budget that was asked for; InvalidParameter says what to change.

        inherited: shared of the parent, whose orders, weights, floor and relation a child has too.
        """

    @abstractmethod
    def price(self, shared: Mapping[str, Any], job: Mechanism, slack: float | None) -> Price:
        """The certified upper end of what one run of the job costs, rounded up; UnsupportedMechanism: none is known.

        slack: the part of delta that this job may use, where the kind has one to choose.
        """

    @abstractmethod
    def odometer(
        self, shared: Mapping[str, Any], promise: Mapping[str, Any], used: Mapping[str, int], dead: frozenset[str]
    ) -> Mapping[str, Any]:
        """What was used, as {"epsilon": .., "delta": ..} that holds at any stopping time; {"reason": ..} if none does.

        used: units held or spent, by axis; dead: axes that do not count any more.
        """
