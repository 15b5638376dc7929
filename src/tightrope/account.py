"""The straight path of a question: mechanism -> terms per direction -> plan -> the worse direction -> Bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from . import work
from .bound import Bound, Certificate
from .curve import Curve
from .engines.answer import Answer, Point, meets, nothing_known
from .engines.plan import Planner
from .errors import AccuracyNotReached, InvalidParameter, WorkExhausted
from .mechanisms.base import Mechanism, confidence
from .mechanisms.parameters import nonnegative, probability, whole
from .question import AUTO, SECONDS, Question
from .relation import Direction

AIM = 1e-6
CURVE_AIM = 1e-4  # far below what a plot shows, and few grids serve all points
MORE_SECONDS = 6.0  # times as long may be worth a try
FINITE_SECONDS = 1e6


def ask(
    mechanism: Mechanism, question: Question, given: float | Iterable[float], aim: float = AIM
) -> Bound | tuple[Bound, ...]:
    """Answers for one value or for each of a sequence; see Mechanism.epsilon and Mechanism.delta."""
    several = isinstance(given, Iterable) and not isinstance(given, (str, bytes))
    values: Iterable[float] = given if isinstance(given, Iterable) and several else (given,)  # type: ignore[assignment]
    points = [_point(question.quantity, value) for value in values]
    with work.allowance(question.seconds):
        case = Case.of(mechanism, question, several, aim)
        bounds = []
        for index, point in enumerate(points):
            with work.part(max(1.0 / (len(points) - index), work.POINT_SHARE)) as meter:
                bounds.append(case.bound(point, meter))
    return tuple(bounds) if several else bounds[0]


def ask_again(case: Case, question: Question, given: float) -> Bound:
    """Answers another question about the mechanism of a case, in the same manner, from what was prepared."""
    with work.allowance(question.seconds), work.part(1.0) as meter:
        case = replace(case, question=question, aim=question.accuracy or AIM)
        return case.bound(_point(question.quantity, given), meter)


def curve(mechanism: Mechanism, question: Question, epsilons: tuple[float, ...]) -> Curve:
    """delta at each of the epsilons, which rise."""
    bounds = ask(mechanism, question, epsilons, CURVE_AIM)
    assert isinstance(bounds, tuple)
    return Curve(epsilons=epsilons, bounds=bounds)


def grid(start: float | None, stop: float | None, points: int | None, epsilons: object) -> tuple[float, ...]:
    """Epsilons of one's own, which must rise, or equally spaced ones, both ends included."""
    if epsilons is None:
        first = nonnegative("start", 0.0 if start is None else start)
        last = nonnegative("stop", 4.0 if stop is None else stop)
        count = whole("points", 50 if points is None else points, least=2)
        if not first < last:
            raise InvalidParameter(f"start must lie below stop, not {first!r} and {last!r}")
        return tuple(first + (last - first) * index / (count - 1) for index in range(count))
    if start is not None or stop is not None or points is not None:
        raise InvalidParameter("a curve takes either epsilons, or start, stop and points")
    if isinstance(epsilons, str) or not isinstance(epsilons, Iterable):
        raise InvalidParameter(f"epsilons must be a list of numbers, not {epsilons!r:.60}")
    found = tuple(nonnegative("epsilon", each) for each in epsilons)
    if not found or any(first >= second for first, second in pairwise(found)):
        raise InvalidParameter("epsilons must be one or more numbers that rise; sort them")
    return found


def _point(quantity: str, given: float) -> Point:
    if quantity == "epsilon":
        return Point("epsilon", probability("delta", given))
    if given == float("inf"):
        return Point("delta", given)
    return Point("delta", nonnegative("epsilon", given))


@dataclass(frozen=True)
class Case:
    """A mechanism and how it is asked: one planner per direction, none where even the pairs took too long."""

    mechanism: Mechanism
    question: Question
    planners: Mapping[Direction, Planner]
    aim: float

    @staticmethod
    def of(mechanism: Mechanism, question: Question, several: bool, aim: float) -> Case:
        planners = {}
        for each in question.directions:
            try:
                terms = tuple((part.pair(each), count) for part, count in mechanism.terms)
                planners[each] = Planner(terms, question, several)
            except WorkExhausted:
                return Case(mechanism, question, {}, aim)
        return Case(mechanism, question, planners, question.accuracy or aim)

    def below_by_moments(self, epsilon: float, delta: float) -> bool:
        """Whether moments alone prove that delta at epsilon is at most this, in every direction."""
        return bool(self.planners) and all(each.below_by_moments(epsilon, delta) for each in self.planners.values())

    def bound(self, point: Point, meter: work.Meter) -> Bound:
        """The maximum over the directions, for each end."""
        answers = self._answers(point)
        worst, chosen = max(answers.items(), key=lambda item: (item[1].upper, item[1].lower))
        lower = max(each.lower for each in answers.values())
        narrow = meets(lower, chosen.upper, self.aim, point.quantity)
        ended = meter.exhausted if self.planners else "time"
        bound = Bound(
            lower,
            chosen.upper,
            Certificate(
                engine=chosen.engine.name,
                arithmetic=chosen.arithmetic,
                reason=chosen.reason,
                direction=worst,
                relation=self.mechanism.relation,
                tight=self.mechanism.tight,
                parameters=dict(chosen.parameters),
                budget=chosen.budget,
                confidence=confidence(self.mechanism),
                exhausted=ended if meter.late or not narrow else None,
                advice={} if narrow and not meter.late else self._advice(chosen, ended),
            ),
        )
        accuracy = self.question.accuracy
        if accuracy is not None and not meets(bound.lower, bound.upper, accuracy, point.quantity):
            raise AccuracyNotReached(bound, accuracy)
        return bound

    def _answers(self, point: Point) -> dict[Direction, Answer]:
        """One answer per direction; a direction that is proven not to be the worse is not refined."""
        if not self.planners:
            return {self.question.directions[0]: nothing_known(point)}
        answers: dict[Direction, Answer] = {}
        for direction, planner in self.planners.items():
            if answers:
                same = planner.terms == self.planners[Direction.REMOVE].terms
                if same or planner.stays_below(point, answers[Direction.REMOVE]):
                    continue
            last = len(answers) + 1 == len(self.planners)
            with work.part(1.0 if last else work.DIRECTION_SHARE):
                answers[direction] = planner.answer(point, self.aim)
        return answers

    def _advice(self, chosen: Answer, ended: str | None) -> dict[str, object]:
        """The arguments that may narrow a wide answer: more time where that ended it, engines that did not finish."""
        advice: dict[str, object] = {}
        seconds = self.question.seconds
        if ended == "time" and seconds < FINITE_SECONDS:
            advice["seconds"] = max(float(f"{MORE_SECONDS * seconds:.3g}"), SECONDS)
        skipped = {engine for planner in self.planners.values() for engine in planner.skipped}
        if self.question.engine != AUTO:
            advice["engine"] = AUTO
        elif others := sorted(each.name for each in skipped - {chosen.engine}):
            advice["engine"] = others[0]
        if chosen.budget.widest == "rounding" and chosen.arithmetic == "float64" and ended is None:
            advice["proof"] = True
        return advice
