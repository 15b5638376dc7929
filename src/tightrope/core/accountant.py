"""The straight path of a question: mechanism -> terms per direction -> plan -> the worse direction -> Bound."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, cast

from .answers.curve import Curve
from .answers.epochs import Epochs, halved, rising, tells
from .answers.known_deltas import carried
from .engines.planner import Answer, Planner, Point, common, meets, nothing_known
from .engines.tuning import ROUGHLY
from .lower_bounds.witnesses import Adaptive, WitnessRun, highest, parted, with_witnessed_lower_end, witness_runs
from .mechanisms.base import Mechanism, called, claims, confidence
from .mechanisms.composition import (
    choices_of,
    concentrated,
    fixed_choices,
    named_relation,
    terms_of,
    witnessed_by_terms,
)
from .mechanisms.parameters import finite, nonnegative, probability, real, whole
from .values import compute_budget
from .values.bound import CLOCK, Bound, Certificate, ErrorBreakdown, error_lines
from .values.calls import cut, listed
from .values.errors import (
    AccuracyNotReached,
    InternalContradiction,
    InvalidParameter,
    UnsupportedMechanism,
    WorkExhausted,
    agreed,
)
from .values.question import (
    ARGUMENTS,
    AUTO,
    LESS_IS_WORSE,
    OF_LOSS,
    SECONDS,
    Direction,
    Question,
    Relation,
    asked_directions,
    parsed,
)

if TYPE_CHECKING:
    from .engines.loss_planner import LossPlanner


# What zCDP says of a run beside the pairs of its parts.
#
# The composition of the pairs is an upper bound, and loose where no mechanism has one of the pairs: each use of the
# exponential mechanism has another worst neighbour at each epsilon. rho is a number that adds up without such a loss.
# Guarantee: the upper end holds for every run with these parts, the lower end is what real uses of such parts lose.
# Reference: Bun, Steinke 2016, Lemma 2.3 (rho adds up). Proof: docs/proofs/exponential.md, section 6; groups:
# docs/proofs/group.md, section 9.

REASON = "the parts are zCDP, and their rho add up; the lower end is what real uses lose"


@dataclass(frozen=True)
class ZcdpBounds:
    """Planners of an upper and of a lower end; the pairs of both are their own reverse."""

    above: Planner
    below: Planner

    @staticmethod
    def of(law: Mechanism, question: Question) -> ZcdpBounds | None:
        """None where it says nothing more, or where an engine is insisted on: it would be asked about another law."""
        if question.engine != AUTO or question.quantity in OF_LOSS or (law.parts == ((law, 1),) and law.attained_once):
            return None
        found = concentrated(law)
        if found is None:
            return None
        above, below = (Planner(terms_of(mechanism, Direction.REMOVE), question, several=False) for mechanism in found)
        return ZcdpBounds(above, below)

    def answers(self, point: Point, aim: float) -> tuple[Answer, Answer] | None:
        """What holds above, and what real uses have; None where one of them came to no end."""
        with suppress(UnsupportedMechanism, WorkExhausted), compute_budget.part(compute_budget.FLOOR_SHARE):
            above, below = self.above.answer(point, aim), self.below.answer(point, aim)
            lines = error_lines(**{**below.budget.lower, "theorem": max(above.lower - below.lower, 0.0)})
            return replace(above, reason=REASON), replace(below, budget=ErrorBreakdown(above.budget.upper, lines))
        return None


AIM = 1e-6
COARSE_AIM = 1e-3  # of a first answer in each direction, where both take long
CURVE_AIM = 1e-4  # far below what a plot shows, and few grids serve all points
MORE_SECONDS = 6.0  # times as long may be worth a try
FINITE_SECONDS = 1e6
SHOWN_MAX = 160  # letters of a mechanism in a message
POINTS_MAX = 100_000  # of a curve or a picture
FALLING = ("delta", "epsilon")
MIRROR_FAR = 99.0  # from here on the mirror leaves nothing to aim at


def ask(
    mechanism: Mechanism, question: Question, given: float | Iterable[float], aim: float = AIM
) -> Bound | tuple[Bound, ...]:
    """Answers for one value or for each of a sequence; see Mechanism.epsilon and Mechanism.delta."""
    several = listed(given)
    asked = [_given(question.quantity, value) for value in (given if listed(given) else (cast(float, given),))]
    bounds: dict[int, Bound] = {}
    with compute_budget.allowance(question.seconds):
        case = Case.of(mechanism, question, several, aim)
        for done, (index, mirror) in enumerate(_order(question.quantity, asked)):
            case = case.mirrored(several) if mirror and not case.mirror else case
            value = -asked[index] if mirror else asked[index]
            with compute_budget.part(max(1.0 / (len(asked) - done), compute_budget.POINT_SHARE)) as meter:
                bound = case.answered(Point(question.quantity, value), meter)
            bounds[index] = _remarked(bound, mechanism.remark(question.quantity, asked[index]))
    found = tuple(bounds[index] for index in range(len(asked)))
    if question.quantity in FALLING:
        _check_falling(mechanism, question.quantity, asked, found)
        found = carried(case.mechanism, question, asked, found)
    return found if several else found[0]


def _check_falling(mechanism: Mechanism, quantity: str, asked: Sequence[float], bounds: Sequence[Bound]) -> None:
    """delta falls as epsilon rises, and epsilon as delta does: no lower end that real neighbours have lies above an
    upper end at a smaller value."""
    above = math.inf
    for value, bound in sorted(zip(asked, bounds, strict=True), key=itemgetter(0)):
        if bound.certificate is not None and bound.certificate.attained:
            try:
                agreed(bound.lower, above, "what real neighbours lose", "the answer at a smaller value")
            except InternalContradiction as error:
                error.question(
                    f"{quantity} at {' '.join(ARGUMENTS[quantity])} {value!r} of {cut(mechanism, SHOWN_MAX)}"
                )
                raise
        above = min(above, bound.upper)


def _remarked(bound: Bound, remark: str) -> Bound:
    """The bound, with what its user should know in the certificate."""
    about = bound.certificate
    if not remark or about is None:
        return bound
    return replace(bound, certificate=replace(about, parameters={**about.parameters, "remark": remark}))


def ask_again(case: Case, question: Question, given: float) -> Bound:
    """Answers another question about the mechanism of a case, in the same manner, from what was prepared."""
    with compute_budget.allowance(question.seconds), compute_budget.part(1.0) as meter:
        case = replace(case, question=question, aim=question.accuracy or AIM)
        return case.answered(Point(question.quantity, nonnegative(ARGUMENTS[question.quantity][0], given)), meter)


def curve(mechanism: Mechanism, question: Question, epsilons: tuple[float, ...]) -> Curve:
    """delta at each of the epsilons, which rise, of either sign."""
    bounds = ask(mechanism, question, epsilons, CURVE_AIM)
    assert isinstance(bounds, tuple)
    return Curve(epsilons=epsilons, bounds=bounds)


def by_epoch(parts: Sequence[tuple[float, int, Mechanism]], question: Question, delta: float) -> Epochs:
    """The epsilon of each part of a run, which grow: the whole one first, then by halves, as long as there is time."""
    from .engines.joint.bracket import keeping

    bounds: dict[int, Bound] = {}
    with compute_budget.allowance(question.seconds), keeping():
        for done, index in enumerate(halved(len(parts))):
            if done and compute_budget.over():
                break
            with compute_budget.part(1.0 if done + 1 == len(parts) else compute_budget.ENGINE_SHARE):
                bound = ask(parts[index][2], question, delta, CURVE_AIM)
            assert isinstance(bound, Bound)
            if not done or tells(index, bound, bounds):
                bounds[index] = bound
    places = sorted(bounds)
    epochs, steps, runs = zip(*(parts[index] for index in places), strict=True)
    return Epochs(delta, epochs, steps, runs, tuple(rising([bounds[index] for index in places])), len(parts))


def counted(name: str, points: float, least: int) -> int:
    """How many points, checked before any is made."""
    count = whole(name, points, least)
    if count > POINTS_MAX:
        raise InvalidParameter(f"{name} must be at most {POINTS_MAX:,}, not {points!r:.40}")
    return count


def grid(start: float | None, stop: float | None, points: int | None, epsilons: object) -> tuple[float, ...]:
    """Epsilons of one's own, which must rise, or equally spaced ones, both ends included."""
    if epsilons is None:
        first = finite("start", 0.0 if start is None else start)
        last = finite("stop", 4.0 if stop is None else stop)
        count = counted("points", 50 if points is None else points, least=2)
        if not first < last:
            raise InvalidParameter(f"start must lie below stop, not {first!r} and {last!r}")
        return tuple(first + finite("stop - start", last - first) * index / (count - 1) for index in range(count))
    if start is not None or stop is not None or points is not None:
        raise InvalidParameter("a curve takes either epsilons, or start, stop and points")
    if isinstance(epsilons, str) or not isinstance(epsilons, Iterable):
        raise InvalidParameter(f"epsilons must be a list of numbers, not {epsilons!r:.60}")
    values = tuple(finite("epsilon", epsilon) for epsilon in epsilons)
    if not values or any(first >= second for first, second in pairwise(values)):
        raise InvalidParameter("epsilons must be one or more numbers that rise; sort them")
    return values


def _given(quantity: str, given: float) -> float:
    """A delta in [0, 1], or any epsilon: inf and -inf are limits."""
    if quantity == "epsilon":
        return probability("delta", given)
    if quantity == "loss_quantile":
        return probability("p", given)
    if quantity == "pdp":  # its limit and its value at inf differ
        return finite("epsilon", given)
    (name,) = ARGUMENTS[quantity]
    value = real(name, given)
    if math.isnan(value):
        raise InvalidParameter(f"{name} must be a number, not {given!r}")
    return value + 0.0


def _order(quantity: str, asked: Sequence[float]) -> list[tuple[int, bool]]:
    """Each place, and whether it is answered by the mirror: those come last, so that what is rising stays so."""
    places = [(index, quantity == "delta" and value < 0.0) for index, value in enumerate(asked)]
    return [place for place in places if not place[1]] + [place for place in reversed(places) if place[1]]


def _mirrored(answers: dict[Direction, Answer], point: Point) -> dict[Direction, Answer]:
    """The answers at -epsilon, also where their own question took all the time: a formula of each."""
    with compute_budget.uncounted():
        return {direction: answer.mirrored(point.given) for direction, answer in answers.items()}


def _worse(answers: Mapping[Direction, Answer], less: bool) -> tuple[Direction, float, float]:
    """The direction whose safe end is the worse one, so that its budget covers the width, and both ends."""
    lowers, uppers = [answer.lower for answer in answers.values()], [answer.upper for answer in answers.values()]
    if less:
        return (
            min(answers, key=lambda direction: (answers[direction].lower, answers[direction].upper)),
            min(lowers),
            min(uppers),
        )
    return (
        max(answers, key=lambda direction: (answers[direction].upper, answers[direction].lower)),
        max(lowers),
        max(uppers),
    )


def _beside(answers: Mapping[Direction, Answer], worst: Direction) -> dict[str, object]:
    """How the other direction was bounded, where it was asked too: an upper end holds for both."""
    others = [
        {
            "direction": direction.value,
            "engine": answer.engine.name,
            "arithmetic": answer.arithmetic,
            **answer.parameters,
        }
        for direction, answer in answers.items()
        if direction is not worst
    ]
    return {"other": others[0]} if others else {}


class Standing(NamedTuple):
    """What a certificate says of the mechanism itself."""

    tight: bool
    attained: bool
    relation: Relation | None
    claims: dict[str, object]
    confidence: float | None


@dataclass(frozen=True)
class Case:
    """A mechanism and how it is asked: one planner per direction, none where even the pairs took too long.

    The mechanism has no names, so that they change no answer; label is what they call it.
    mirror: the planners are those of the reversed pairs, and a point of theirs answers for the negative epsilon.
    """

    mechanism: Mechanism
    label: str
    question: Question
    planners: Mapping[Direction, Planner | LossPlanner]
    aim: float
    mirror: bool = False
    witnesses: tuple[WitnessRun | Adaptive, ...] = ()
    below: bool = True  # whether lower ends are those of the floors
    concentrated: ZcdpBounds | None = None

    @staticmethod
    def of(mechanism: Mechanism, question: Question, several: bool, aim: float, below: bool = True) -> Case:
        """below: with the floors of the mechanism, where they are not its pairs; else both ends speak of the pairs."""
        planners: dict[Direction, Planner | LossPlanner] = {}
        law = mechanism.nameless
        label = called(mechanism, law)
        floors: tuple[WitnessRun | Adaptive, ...] = ()
        alone = witnessed_by_terms(law)
        for direction in asked_directions(law.relation, parsed(question.direction)):
            try:
                terms = terms_of(law, direction)
                if question.quantity in OF_LOSS:
                    from .engines.loss_planner import LossPlanner

                    planners[direction] = LossPlanner(terms, question)
                    continue
                planners[direction] = Planner(terms, question, several)
                if below and not alone:
                    floors += witness_runs(choices_of(law, direction, pointwise=True), terms, question, several)
            except WorkExhausted:
                return Case(law, label, question, {}, aim, below=below)
        bounds = ZcdpBounds.of(law, question) if below else None
        return Case(law, label, question, planners, question.accuracy or aim, False, floors, below, bounds)

    def mirrored(self, several: bool) -> Case:
        """The case of the negative epsilons: every pair is its own reverse, also where the directions are not.

        Where the reverse of one direction is the other, its planner serves both; the worse one is asked first again.
        Proof: docs/proofs/mirror.md.
        """
        known = list(self.planners.items())
        if len({planner.terms for _, planner in known}) > 1:
            known.reverse()
        planners: dict[Direction, Planner | LossPlanner] = {}
        try:
            for direction, planner in known:
                terms = tuple((pair.reversed(), count) for pair, count in planner.terms)
                same = (other for other in self.planners.values() if other.terms == terms)
                planners[direction] = next(same, None) or Planner(terms, self.question, several)
            return replace(
                self, planners=planners, mirror=True, witnesses=tuple(floor.mirrored() for floor in self.witnesses)
            )
        except WorkExhausted:
            return replace(self, planners={}, mirror=True, witnesses=())

    def below_by_moments(self, epsilon: float, delta: float) -> bool:
        """Whether moments alone prove that delta at epsilon is at most this, in every direction."""
        return bool(self.planners) and all(
            isinstance(planner, Planner) and planner.below_by_moments(epsilon, delta)
            for planner in self.planners.values()
        )

    def answered(self, point: Point, meter: compute_budget.Meter) -> Bound:
        """The bound, or who contradicts whom at which question."""
        try:
            return self.bound(point, meter)
        except InternalContradiction as error:
            of = cut(self.mechanism, SHOWN_MAX)
            error.question(f"{point.quantity} at {' '.join(ARGUMENTS[point.quantity])} {point.given!r} of {of}")
            raise

    def bound(self, point: Point, meter: compute_budget.Meter) -> Bound:
        """The worse of the directions, for each end."""
        adaptive = [floor for floor in self.witnesses if isinstance(floor, Adaptive)]
        below: Answer | None = None
        if self.witnesses:  # before the pair, which may take all the time there is
            with compute_budget.part(compute_budget.FLOOR_SHARE, clock=True):
                below = highest(
                    [floor for floor in self.witnesses if isinstance(floor, WitnessRun)], point, self._aim(point)
                )
        by_rho = (
            None if self.concentrated is None or self.mirror else self.concentrated.answers(point, self._aim(point))
        )
        with compute_budget.part(compute_budget.PAIR_SHARE if adaptive else 1.0):
            answers = self._answers(point)
        if self.mirror:
            answers = _mirrored(answers, point)
        worst, lower, upper = _worse(answers, point.quantity in LESS_IS_WORSE)
        narrow = meets(lower, upper, self.aim, point.quantity)
        chosen = replace(answers[worst], lower=lower, upper=upper)
        planner = self.planners.get(worst)
        attained = None
        wide = by_rho is not None and by_rho[0].upper < upper and not meets(lower, upper, COARSE_AIM, point.quantity)
        if by_rho is not None and (wide or by_rho[0].upper < lower):
            # The lower end of the pairs is no bound of this: their product is more than any mechanism has.
            above, real = by_rho
            narrow, attained = meets(above.lower, above.upper, self.aim, point.quantity), True
            chosen = replace(above, lower=real.lower, budget=real.budget)
        elif self.witnesses and upper > 0.0 and isinstance(planner, Planner):
            with compute_budget.part(compute_budget.GAME_SHARE if self.question.accuracy is None else 1.0):
                below = highest(adaptive, point, self._aim(point), below)
            real = with_witnessed_lower_end(chosen, below, point, self.mirror)
            chosen = parted(real, chosen, planner, point)
        chosen = replace(chosen, parameters={**chosen.parameters, **_beside(answers, worst)})
        bound = self.certified(chosen, worst, meter, narrow, attained)
        accuracy = self.question.accuracy
        if accuracy is not None and not meets(bound.lower, bound.upper, accuracy, point.quantity):
            raise AccuracyNotReached(bound, accuracy)
        return bound

    def certified(
        self, chosen: Answer, worst: Direction, meter: compute_budget.Meter, narrow: bool, attained: bool | None = None
    ) -> Bound:
        """An answer as a bound that says how it came about; attained: whether real neighbours have the lower end, None
        where it is that of the pairs or of the floors."""
        ended = meter.exhausted if self.planners else "time"
        with compute_budget.uncounted():
            standing = self._standing
        lower, upper = agreed(chosen.lower, chosen.upper, "one direction or engine", "another")
        return Bound(
            lower,
            upper,
            Certificate(
                engine=chosen.engine.name,
                arithmetic=chosen.arithmetic,
                reason=chosen.reason,
                direction=None if self.mechanism.relation is Relation.REPLACE else worst,
                relation=standing.relation,
                tight=standing.tight,
                attained=standing.attained if attained is None else attained,
                parameters={**chosen.parameters, **standing.claims, **self._clocked()},
                budget=chosen.budget,
                confidence=standing.confidence,
                exhausted=ended if meter.late or not narrow else None,
                advice=self._advice(chosen, ended) if meter.late or not narrow else self._finer(),
                label=self.label,
            ),
        )

    @cached_property
    def _standing(self) -> Standing:
        """The same for every point."""
        mechanism = self.mechanism
        tight, attained = mechanism.tight, mechanism.attained_once
        if self.question.quantity in OF_LOSS or not self.below:
            tight = attained = tight and self._of_real_pairs()
        return Standing(tight, attained, named_relation(mechanism), claims(mechanism), confidence(mechanism))

    def _of_real_pairs(self) -> bool:
        """Whether the pairs are those that real neighbours have, and not at a rate that was rounded up to a double."""
        law = self.mechanism
        return all(
            set(fixed_choices(choices_of(law, direction, pointwise=True))) == {terms_of(law, direction)}
            for direction in self.planners
        )

    def _clocked(self) -> dict[str, object]:
        """The seconds asked for, where the clock ended what more work would have narrowed: another run may differ."""
        return {CLOCK: self.question.seconds} if compute_budget.late() else {}

    def _answers(self, point: Point) -> dict[Direction, Answer]:
        """One answer per direction; where each takes long, coarse ones of all come first, should time run out."""
        if not self.planners:
            return {parsed(self.question.direction) or Direction.REMOVE: nothing_known(point)}
        aim, every = self._aim(point), tuple(self.planners)
        if len(every) == 1 or aim >= COARSE_AIM or not self._takes_long():
            return self._refined(point, aim, every)
        with compute_budget.part(compute_budget.COARSE_SHARE, clock=True):
            coarse = self._refined(point, COARSE_AIM, every)
        fine = self._refined(point, aim, tuple(coarse))
        return {
            direction: common([fine[direction], answer], self.planners[direction].terms)
            if direction in fine
            else answer
            for direction, answer in coarse.items()
        }

    def _takes_long(self) -> bool:
        """Whether a direction may, and there is time for a coarse answer before."""
        with suppress(WorkExhausted):
            return any(isinstance(planner, Planner) and planner.takes_long() for planner in self.planners.values())
        return False

    def _refined(self, point: Point, aim: float, directions: Sequence[Direction]) -> dict[Direction, Answer]:
        """One answer per direction; a direction that is proven not to be the worse is not refined."""
        answers: dict[Direction, Answer] = {}
        first = directions[0]
        for direction in directions:
            planner = self.planners[direction]
            if answers:
                same = planner.terms == self.planners[first].terms
                if same or (isinstance(planner, Planner) and planner.stays_below(point, answers[first])):
                    continue
            last = len(answers) + 1 == len(directions)
            # By the clock too: on a busy machine the other direction must not come away empty.
            with compute_budget.part(1.0 if last else compute_budget.DIRECTION_SHARE, clock=True):
                answers[direction] = planner.answer(point, aim)
        return answers

    def _aim(self, point: Point) -> float:
        """What a planner aims at: the mirror makes a relative width smaller by e^epsilon at least."""
        if not self.mirror:
            return self.aim
        return max(self.aim, min(self.aim * math.exp(min(point.given, MIRROR_FAR)), ROUGHLY))

    def _finer(self) -> dict[str, object]:
        """What narrows an answer that is as narrow as it was asked for, and no narrower."""
        asked = self.question.accuracy
        return {"accuracy": AIM} if asked is not None and asked > AIM else {}

    def _advice(self, chosen: Answer, ended: str | None) -> dict[str, object]:
        """The arguments that may narrow a wide answer: more time where that ended it, engines that did not finish."""
        advice: dict[str, object] = {}
        seconds = self.question.seconds
        if ended == "time" and seconds < FINITE_SECONDS:
            advice["seconds"] = max(float(f"{MORE_SECONDS * seconds:.3g}"), SECONDS)
        skipped = {engine for planner in self.planners.values() for engine in planner.skipped}
        if self.question.engine != AUTO:
            advice["engine"] = AUTO
        elif others := sorted(engine.name for engine in skipped - {chosen.engine}):
            advice["engine"] = others[0]
        if chosen.budget.widest == "rounding" and chosen.arithmetic == "float64" and ended is None:
            advice["proof"] = True
        return advice
