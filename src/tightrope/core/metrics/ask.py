"""The path of a reading: arguments are checked, the law is made once, each value is read off it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, cast

from ..conversions.divergence import checked_order
from ..engines.planner import Point, meets, nothing_known
from ..mechanisms.base import Mechanism
from ..mechanisms.parameters import probability
from ..values import compute_budget
from ..values.bound import Bound
from ..values.calls import listed
from ..values.errors import AccuracyNotReached, InvalidParameter, WorkExhausted
from ..values.question import Options, Plain, Question
from .divergences import mean_loss, renyi
from .gdp import gdp
from .law import Law, Told
from .tradeoff import above_zero, bayes_accuracy, distance, posterior, reconstruction, tpr, tradeoff
from .zcdp import checked_order_most, zcdp

# One row per reading: the function that answers it, and what its arguments may be.
#
# Its name is that of the method of a mechanism, and of the quantity in JSON; question.ARGUMENTS names its arguments.

Check = Callable[[Any], float]


@dataclass(frozen=True, slots=True)
class MetricRow:
    """answer takes the law, and its arguments by their names; a check refuses what an argument cannot be."""

    answer: Callable[..., Bound]
    checks: Mapping[str, Check] = field(default_factory=dict)

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, float]:
        """The arguments as doubles."""
        return {name: check(arguments[name]) for name, check in self.checks.items()}


READINGS: Mapping[str, MetricRow] = MappingProxyType(
    {
        "renyi": MetricRow(renyi, {"order": checked_order}),
        "mean_loss": MetricRow(mean_loss),
        "zcdp": MetricRow(zcdp, {"order_most": checked_order_most}),
        "advantage": MetricRow(distance),
        "total_variation": MetricRow(distance),
        "bayes_accuracy": MetricRow(bayes_accuracy, {"prior": partial(probability, "prior")}),
        "gdp": MetricRow(gdp, {"delta_least": partial(probability, "delta_least")}),
        "tradeoff": MetricRow(tradeoff, {"fpr": partial(probability, "fpr")}),
        "tpr": MetricRow(tpr, {"fpr": partial(probability, "fpr")}),
        "posterior": MetricRow(posterior, {"prior": partial(probability, "prior"), "fpr": above_zero}),
        "reconstruction": MetricRow(reconstruction, {"baseline": partial(probability, "baseline")}),
    }
)


def ask(
    mechanism: Mechanism, quantity: str, options: Options | Plain, **arguments: float | Iterable[float]
) -> Bound | tuple[Bound, ...]:
    """The reading at its arguments; one of them may be a sequence, which gives a tuple."""
    reading, question = READINGS[quantity], Question(quantity, **cast(Options, options))
    several = [name for name, value in arguments.items() if listed(value)]
    if len(several) > 1:
        raise InvalidParameter(f"only one of {' and '.join(several)} may be a sequence; ask for one after the other")
    points = [{**arguments, several[0]: value} for value in _values(arguments[several[0]])] if several else [arguments]
    asked = [reading.checked(point) for point in points]
    with compute_budget.allowance(question.seconds):
        law = Law(mechanism, question)
        bounds = []
        for done, point in enumerate(asked):
            with compute_budget.part(max(1.0 / (len(asked) - done), compute_budget.POINT_SHARE)):
                bounds.append(answered(reading, law, point))
    return tuple(bounds) if several else bounds[0]


def ask_each(
    mechanism: Mechanism, questions: Sequence[tuple[str, Mapping[str, float]]], options: Options
) -> tuple[Bound, ...]:
    """Several readings of one law, each in an even share of the time that is left."""
    asked = [(quantity, READINGS[quantity].checked(arguments)) for quantity, arguments in questions]
    question, bounds = Question(asked[0][0], **options), []
    with compute_budget.allowance(question.seconds):
        law = Law(mechanism, question)
        for done, (quantity, arguments) in enumerate(asked):
            with compute_budget.part(1.0 / (len(asked) - done)):
                twin = law.again(replace(question, quantity=quantity))
                bounds.append(answered(READINGS[quantity], twin, arguments))
    return tuple(bounds)


def ask_one(mechanism: Mechanism, quantity: str, options: Options | Plain) -> Bound:
    """A reading that takes no argument."""
    found = ask(mechanism, quantity, options)
    assert isinstance(found, Bound)
    return found


def answered(reading: MetricRow, law: Law, point: Mapping[str, float]) -> Bound:
    """The reading of a law at arguments that were checked; AccuracyNotReached where it is wider than asked for."""
    try:
        bound = reading.answer(law, **point)
    except WorkExhausted as error:  # not even the pairs of the run could be made
        law.exhausted = law.exhausted or error.resource
        nothing = nothing_known(Point(law.question.quantity, 0.0))
        bound = law.bound(nothing.lower, nothing.upper, Told(nothing.reason, engine=nothing.engine.name))
    accuracy = law.question.accuracy
    if accuracy is not None and not meets(bound.lower, bound.upper, accuracy, law.question.quantity):
        raise AccuracyNotReached(bound, accuracy)
    return bound


def _values(value: float | Iterable[float]) -> list[float]:
    return list(value) if listed(value) else [cast(float, value)]
