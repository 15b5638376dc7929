"""Budgets of planned jobs: so many of each, by name, and, where epsilon leaves room, a Gaussian axis for all others.

The interaction is dominated by the product of the planned jobs, each as often as planned, of G_sqrt(floor + mu2) and of
ApproximateDP(0, S) (Theorem D): what the product promises is exact. A job that is part of n copies of a planned one
costs n of it, as steps that are left out are post-processing; jobs that are sums of planned ones cost each of them;
all else is priced on the Gaussian axis.
Guarantee: the promise is the certified upper end of epsilon of the product.
Proof: docs/proofs/ledger.md, Theorem D. Reference: Zhu, Dong, Wang 2021, Thm 10 (products of dominating pairs).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ... import GDP, InvalidParameter, Mechanism, Relation, compose, parse
from ...extend.numbers import normal_level, shift_below
from ...extend.parameters import nonnegative, whole
from .. import units
from .base import BudgetAxis, Design, Price, PrivacyFilter, Wanted
from .gaussian import MU2, gaussian_cost
from .gdp import check_floor, floor_of, gaussian_units
from .jobs import check_relation, one_law, refused
from .terms import (
    JOB_SHARE,
    SLACK,
    BudgetAim,
    aim,
    check_inherited,
    checked_delta,
    job_slack,
    no_slack,
    refuse_others,
    relation_of,
    slack_axis,
)

SLOTS_MAX = 64
ROOM_STEPS = 16  # of the search for the Gaussian axis
Counts = dict[Mechanism, int]


class PlanFilter(PrivacyFilter):
    """Named jobs, and a Gaussian for the rest."""

    name = "plan"

    def design(self, wanted: Wanted, inherited: Mapping[str, Any] | None) -> Design:
        refuse_others(self.name, wanted, ("epsilon", "delta", "ceiling", "slack", "floor", "plan"))
        check_inherited(wanted, inherited)
        check_floor(wanted, inherited)
        planned = _planned(wanted)
        slots = tuple(planned) if inherited is None else tuple(inherited["slots"])
        for text in planned:
            if text not in slots:
                raise InvalidParameter(f"the plan of the parent has no {text:.80}")
        run = compose([parse(text) * count for text, count in planned.items()])
        counts = [planned.get(text, 0) for text in slots]
        named = tuple(BudgetAxis(slot_name(at), "all", n, n, units.SLOT_UNIT) for at, n in enumerate(counts))
        floor = nonnegative("floor", wanted.floor or 0.0) if inherited is None else inherited["floor"]
        shared: dict[str, Any] = {
            "relation": wanted.relation.value,
            "slots": list(slots),
            "floor": floor,
            "job_slack": None,
        }
        promise: dict[str, Any] = {"plan": planned}
        if wanted.epsilon is None:
            refuse_others(f"{self.name} without an epsilon", wanted, ("delta", "plan"))
            delta = 0.0 if wanted.delta is None or wanted.delta == 0.0 else checked_delta(wanted.delta)
            epsilon = _epsilon(run, delta)
            promise |= {"epsilon": epsilon, "delta": delta, "ceiling": epsilon, "slack": 0.0}
            axes = named
        else:
            goal = aim(wanted)
            first = _room(run, goal.epsilon, goal.rest)
            last = first if goal.ceiling == goal.epsilon else _room(run, goal.ceiling, goal.rest)
            promise |= goal.document() | {"floor": floor}
            axes = (*named, *_rest_axes(first - Fraction(floor), last - Fraction(floor), goal))
            shared["job_slack"] = JOB_SHARE * goal.slack if len(axes) > len(named) else None
        if inherited is not None:
            shared, axes = _joined(inherited, shared, axes)
        return Design(self.name, shared, promise, axes)

    def price(self, shared: Mapping[str, Any], job: Mechanism, slack: float | None) -> Price:
        relation = relation_of(shared)
        check_relation(job, relation)
        slots = [dict(parse(text).terms) for text in shared["slots"]]
        taken, left = _matched(dict(job.terms), slots)
        costs = {slot_name(at): taken.get(at, 0) for at in range(len(slots))}
        evidence: dict[str, Any] = {"slots": {slot_name(at): count for at, count in taken.items()}}
        if shared["job_slack"] is None:
            no_slack(slack, "this budget has none")
            if left:
                raise refused(job, "it is not part of the plan, and the plan has no room for other jobs")
            return Price(dict(costs), True, evidence)
        if not left:
            return Price({**costs, MU2: 0, SLACK: 0}, True, evidence)
        cost = gaussian_cost(tuple(left.items()), relation, floor_of(shared["floor"]), job_slack(shared, slack))
        costs |= gaussian_units(job, cost)
        unfinished = {MU2: 0} if cost.ended else {}
        return Price(units.at_least_one(costs, MU2), cost.additive, evidence | {"uses": cost.evidence}, unfinished)

    def odometer(
        self, shared: Mapping[str, Any], promise: Mapping[str, Any], used: Mapping[str, int], dead: frozenset[str]
    ) -> Mapping[str, Any]:
        return {"reason": "a plan is promised as a whole: what a part of it used is not proven at a stopping time"}


def slot_name(at: int) -> str:
    """What the axis of a planned job is called."""
    return f"slot {at + 1}"


def _planned(wanted: Wanted) -> dict[str, int]:
    """Canonical expressions, and how many of each."""
    if wanted.plan is None or len(wanted.plan) > SLOTS_MAX:
        raise InvalidParameter(f"plan must name the jobs, at most {SLOTS_MAX}, and how many of each")
    found: dict[str, int] = {}
    for text, count in wanted.plan.items():
        job = parse(text).nameless
        check_relation(job, wanted.relation)
        if wanted.relation is Relation.REPLACE and job.relation is None and not all(one_law(p) for p, _ in job.terms):
            raise refused(job, "its two laws differ, and under replacing a record each use may meet either order")
        number = whole(f"the count of {text:.60}", count, least=1)
        if number > units.UNITS_MAX:
            raise InvalidParameter(f"the count of {text:.60} must be at most 2**62, not {count!r:.40}")
        found[repr(job)] = found.get(repr(job), 0) + number
    return found


def _epsilon(run: Mechanism, delta: float) -> float:
    value = run.epsilon(delta).upper
    if value > units.AXIS_LOSS_MAX:
        raise InvalidParameter(
            f"the plan has no epsilon up to {units.AXIS_LOSS_MAX} at delta {delta!r}: give a larger one"
        )
    return value


def _room(run: Mechanism, epsilon: float, delta: float) -> Fraction:
    """At or below the largest mu^2 that fits beside the plan."""
    alone = run.epsilon(delta).upper
    if not alone <= epsilon:
        raise InvalidParameter(f"the plan alone has epsilon {alone:.6g} at what slack leaves of delta: ask for more")
    low, high = 0.0, shift_below(epsilon, normal_level(delta)) if delta > 0.0 else 0.0
    for _ in range(ROOM_STEPS):
        middle = (low + high) / 2.0
        if middle > 0.0 and (run + GDP(mu=middle)).epsilon(delta).upper <= epsilon:
            low = middle
        else:
            high = middle
    return Fraction(low) ** 2


def _rest_axes(first: Fraction, last: Fraction, goal: BudgetAim) -> tuple[BudgetAxis, ...]:
    """For jobs that are not planned; none where there is no room."""
    now, most = units.total(first, units.LOSS_UNIT), units.total(last, units.LOSS_UNIT)
    return (BudgetAxis(MU2, "all", now, most, units.LOSS_UNIT), slack_axis(goal.slack)) if most > 0 else ()


def _joined(
    inherited: Mapping[str, Any], shared: Mapping[str, Any], axes: tuple[BudgetAxis, ...]
) -> tuple[dict[str, Any], tuple[BudgetAxis, ...]]:
    """A child has the axes of its tree: those that it has no room for hold nothing."""
    known = {axis.name for axis in axes}
    if inherited["job_slack"] is None:
        return dict(inherited), tuple(axis for axis in axes if axis.name not in (MU2, SLACK))
    empty = (
        BudgetAxis(MU2, "all", 0, 0, units.LOSS_UNIT),
        BudgetAxis(SLACK, "all", 0, 0, units.DELTA_UNIT),
    )
    return dict(inherited), (*axes, *(axis for axis in empty if axis.name not in known))


def _matched(job: Counts, slots: Sequence[Counts]) -> tuple[dict[int, int], Counts]:
    """How many of which slots pay for a job, and what of it none of them does.

    One slot that holds all of it, with the fewest uses to spare; else whole slots in turn, and one for what is left.
    """
    single = _held(job, slots)
    if single is not None:
        return {single[0]: single[1]}, {}
    taken: dict[int, int] = {}
    left = dict(job)
    for at, slot in enumerate(slots):
        times = min(left.get(part, 0) // count for part, count in slot.items())
        if times:
            taken[at] = times
            left = {part: more for part, n in left.items() if (more := n - times * slot.get(part, 0))}
    single = _held(left, slots) if left else None
    if single is not None:
        taken[single[0]] = taken.get(single[0], 0) + single[1]
        left = {}
    return taken, left


def _held(job: Counts, slots: Sequence[Counts]) -> tuple[int, int] | None:
    """The slot, and how many of it hold the job, with the fewest uses to spare; None where none does."""
    found = []
    for at, slot in enumerate(slots):
        if all(part in slot for part in job):
            times = max(-(-count // slot[part]) for part, count in job.items())
            found.append((times * sum(slot.values()), at, times))
    return min(found)[1:] if found else None
