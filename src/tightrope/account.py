"""The straight path of a question: mechanism -> terms per direction -> plan -> the worse direction -> Bound."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from types import MappingProxyType

from .bound import Bound, Certificate
from .curve import Curve
from .engines.plan import Answer, Planner, Question, meets
from .errors import AccuracyNotReached, InvalidParameter
from .mechanisms.base import Mechanism, confidence
from .mechanisms.parameters import nonnegative, probability, whole
from .relation import Direction

AIM = 1e-6
CURVE_AIM = 1e-4  # far below what a plot shows, and few grids serve all points


def ask(
    mechanism: Mechanism,
    quantity: str,
    given: float | Iterable[float],
    accuracy: float | None,
    proof: bool,
    engine: str,
    direction: str | None,
    aim: float = AIM,
) -> Bound | tuple[Bound, ...]:
    """Answers for one value or for each of a sequence; see Mechanism.epsilon and Mechanism.delta."""
    if accuracy is not None and not 0.0 < accuracy < math.inf:
        raise InvalidParameter(f"accuracy must be a finite number above 0, not {accuracy!r}")
    several = isinstance(given, Iterable)
    planners = {
        each: Planner(tuple((part.pair(each), count) for part, count in mechanism.terms), proof, engine, several)
        for each in _directions(direction)
    }
    if isinstance(given, Iterable):
        return tuple(_bound(mechanism, planners, _question(quantity, value), accuracy, aim) for value in given)
    return _bound(mechanism, planners, _question(quantity, given), accuracy, aim)


def curve(
    mechanism: Mechanism,
    epsilons: tuple[float, ...],
    accuracy: float | None,
    proof: bool,
    engine: str,
    direction: str | None,
) -> Curve:
    """delta at each of the epsilons, which rise."""
    bounds = ask(mechanism, "delta", epsilons, accuracy, proof, engine, direction, CURVE_AIM)
    assert isinstance(bounds, tuple)
    return Curve(epsilons=epsilons, bounds=bounds)


def spaced(start: float, stop: float, points: int) -> tuple[float, ...]:
    """Equally spaced epsilons, both ends included."""
    start, stop, points = nonnegative("start", start), nonnegative("stop", stop), whole("points", points, least=2)
    if not start < stop:
        raise InvalidParameter(f"start must lie below stop, not {start!r} and {stop!r}")
    return tuple(start + (stop - start) * index / (points - 1) for index in range(points))


def chosen(epsilons: object, start: float, stop: float, points: int) -> tuple[float, ...]:
    """Epsilons of one's own; start, stop and points must be as if they were not given."""
    if not (start == 0.0 and stop == 4.0 and points == 50):
        raise InvalidParameter("a curve takes either epsilons, or start, stop and points")
    if isinstance(epsilons, str) or not isinstance(epsilons, Iterable):
        raise InvalidParameter(f"epsilons must be a list of numbers, not {epsilons!r:.60}")
    found = tuple(nonnegative("epsilon", each) for each in epsilons)
    if not found or any(first >= second for first, second in pairwise(found)):
        raise InvalidParameter("epsilons must be one or more numbers that rise; sort them")
    return found


def _directions(direction: str | None) -> tuple[Direction, ...]:
    if direction is None:
        return (Direction.REMOVE, Direction.ADD)
    try:
        return (Direction(direction.value if isinstance(direction, Direction) else direction),)
    except ValueError:
        raise InvalidParameter(f"direction must be 'add', 'remove' or None, not {direction!r}") from None


def _question(quantity: str, given: float) -> Question:
    if quantity == "epsilon":
        return Question("epsilon", probability("delta", given))
    if given == math.inf:
        return Question("delta", math.inf)
    return Question("delta", nonnegative("epsilon", given))


def _bound(
    mechanism: Mechanism,
    planners: dict[Direction, Planner],
    question: Question,
    accuracy: float | None,
    aim: float,
) -> Bound:
    """The maximum over the directions, for each end; a direction that is proven not to be the worse is not refined."""
    aim = aim if accuracy is None else accuracy
    answers: dict[Direction, Answer] = {}
    for direction, planner in planners.items():
        if answers:
            same = planner.terms == planners[Direction.REMOVE].terms
            if same or planner.stays_below(question, answers[Direction.REMOVE]):
                continue
        answers[direction] = planner.answer(question, aim)
    worst, chosen = max(answers.items(), key=lambda item: (item[1].upper, item[1].lower))
    certificate = Certificate(
        engine=chosen.engine,
        arithmetic=chosen.arithmetic,
        reason=chosen.reason,
        direction=worst,
        tight=mechanism.tight,
        parameters=MappingProxyType(dict(chosen.parameters)),
        budget=chosen.budget,
        confidence=confidence(mechanism),
    )
    lower = max(each.lower for each in answers.values())
    bound = Bound(lower, chosen.upper, certificate)
    if accuracy is not None and not meets(bound.lower, bound.upper, accuracy, question.quantity):
        raise AccuracyNotReached(bound, accuracy)
    return bound
