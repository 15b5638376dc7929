"""What a budget is asked to be, checked, in the words that several kinds share.

The promise holds at the ceiling, which never changes; what may be spent now is what epsilon allows.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from ... import Bound, InvalidParameter, Relation
from ...extend.numbers import BITS_START, lower_float, upper_float, working_precision
from ...extend.parameters import nonnegative, real
from .. import units
from .base import BudgetAxis, Wanted

PRICE_BITS, FORMULA_WIDTH = 30, 2.0**-40  # of an upper end that was searched for; what is no wider is a formula's
SLACK_SHARE = 0.1  # of delta, for jobs whose loss may be infinite
JOB_SHARE = 0.01  # of the slack, for one job that says nothing
SLACK = "slack"


@dataclass(frozen=True, slots=True)
class BudgetAim:
    """(epsilon, delta), the ceiling of epsilon, and the part of delta that jobs may use up."""

    epsilon: float
    ceiling: float
    delta: float
    slack: float

    @property
    def left(self) -> tuple[float, float]:
        """Delta, and what of it is slack."""
        return self.delta, self.slack

    @property
    def rest(self) -> float:
        """At or below the delta' with S + (1 - S) delta' = delta, 0 or above."""
        with working_precision(BITS_START):
            slack = arb(self.slack)
            return max(lower_float((arb(self.delta) - slack) / (1 - slack)), 0.0)

    def document(self) -> dict[str, Any]:
        """As the promise holds it."""
        return {"epsilon": self.epsilon, "delta": self.delta, "ceiling": self.ceiling, "slack": self.slack}


def aim(wanted: Wanted, slack_share: float = SLACK_SHARE) -> BudgetAim:
    """From what was asked for; slack is this share of delta unless it was given."""
    epsilon = checked_epsilon("epsilon", wanted.epsilon)
    ceiling = epsilon if wanted.ceiling is None else checked_epsilon("ceiling", wanted.ceiling)
    if ceiling < epsilon:
        raise InvalidParameter(f"ceiling must be at least epsilon, {epsilon!r}, not {ceiling!r}")
    delta = checked_delta(wanted.delta)
    return BudgetAim(epsilon, ceiling, delta, checked_slack(wanted.slack, delta, slack_share))


def checked_epsilon(name: str, given: float | None) -> float:
    """From 0 to what an axis can hold."""
    if given is None:
        raise InvalidParameter(f"{name} must be given for this kind of budget")
    value = nonnegative(name, given)
    if value > units.AXIS_LOSS_MAX:
        raise InvalidParameter(f"{name} must be at most {units.AXIS_LOSS_MAX}, not {given!r}: an axis holds no more")
    return value


def checked_delta(given: float | None) -> float:
    """Above 0, below 1."""
    if given is None:
        raise InvalidParameter("delta must be given for this kind of budget")
    value = real("delta", given)
    if not 0.0 < value < 1.0:
        raise InvalidParameter(f"delta must lie above 0 and below 1, not {given!r}")
    return value


def checked_slack(given: float | None, delta: float, share: float) -> float:
    """A part of delta, less than all of it."""
    value = share * delta if given is None else nonnegative("slack", given)
    if not value < delta:
        raise InvalidParameter(f"slack must be less than delta, {delta!r}, of which it is a part, not {given!r}")
    return value


def charged_upper(bound: Bound) -> float:
    """The upper end as it is charged: of one that was searched for, rounded up to PRICE_BITS bits.

    What a program computed before may move the last digits of a ball (constants that a library keeps), and nothing that
    is charged depends on them.
    """
    return bound.upper if bound.upper - bound.lower <= FORMULA_WIDTH * abs(bound.upper) else shortened_up(bound.upper)


def shortened_up(value: float) -> float:
    """At or above, with so many bits."""
    if not math.isfinite(value):
        return value
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.ceil(math.ldexp(mantissa, PRICE_BITS)), exponent - PRICE_BITS)


def refuse_others(kind: str, wanted: Wanted, known: Collection[str]) -> None:
    """Nothing that was said is left unread."""
    for name in ("epsilon", "delta", "ceiling", "slack", "floor", "plan", "rho", "orders"):
        if name not in known and getattr(wanted, name) is not None:
            raise InvalidParameter(f"a budget of the kind {kind} has no {name}: leave it out")


def relation_of(shared: Mapping[str, Any]) -> Relation:
    """Which datasets are neighbours in this tree."""
    return Relation(shared["relation"])


def check_inherited(wanted: Wanted, inherited: Mapping[str, Any] | None) -> None:
    """A child has the relation of its parent."""
    if inherited is not None and wanted.relation is not relation_of(inherited):
        raise InvalidParameter(
            f"relation must be that of the parent, {inherited['relation']!r}, not {wanted.relation.value!r}"
        )


def slack_axis(slack: float) -> BudgetAxis:
    """What jobs may use up of delta."""
    value = units.total(slack, units.DELTA_UNIT)
    return BudgetAxis(SLACK, "all", value, value, units.DELTA_UNIT)


def job_slack(shared: Mapping[str, Any], slack: float | None) -> float:
    """The part of delta that one job may use: as was said, or as the tree has it."""
    value = float(shared["job_slack"]) if slack is None else nonnegative("slack", slack)
    if not value < 1.0:
        raise InvalidParameter(f"slack must be less than 1, not {slack!r}")
    return value


def no_slack(slack: float | None, why: str) -> None:
    """Refuses a choice that this kind does not have."""
    if slack is not None:
        raise InvalidParameter(f"slack must be left out here: {why}")


def shown(number: Fraction) -> float:
    """A double at or above it."""
    with working_precision(BITS_START):
        return upper_float(arb(number.numerator) / number.denominator)
