"""What a reading may ask of a run: the profile H at any point, and the pairs that it is made of.

H(e^t) is the delta of the run at epsilon t, of either sign; below 0 it is the mirror of the reversed pairs' H, so that
neither H nor 1 - H cancels there: 1 - H(a) = a (1 - H_rev(1/a)).
Guarantee: every Bound contains the truth of the run: where it is not tight, its lower end is that of its floors.
Proof: docs/proofs/mirror.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import NamedTuple

from flint import arb

from ..accountant import AIM, FINITE_SECONDS, MORE_SECONDS, Case
from ..answers.known_deltas import known_of
from ..engines.planner import Point, meets
from ..engines.selection import Term
from ..lower_bounds.witnesses import WitnessRun
from ..mechanisms.base import Mechanism, called, claims, confidence
from ..mechanisms.composition import Choice, choices_of, named_relation, terms_of
from ..numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ..numerics.rounding import FEW, round_up
from ..values import compute_budget
from ..values.bound import CLOCK, Bound, Certificate, ErrorBreakdown, error_lines
from ..values.errors import WorkExhausted, agreed
from ..values.question import SECONDS, Direction, Question, Relation, asked_directions, parsed

AIM_SHARE = 0.25  # of the width that a reading aims at: what it asks of a delta


class Told(NamedTuple):
    """How a reading came about: what decided it, in words, and what the certificate lists."""

    reason: str
    engine: str = ""
    arithmetic: str = ""
    direction: Direction | None = None
    parameters: Mapping[str, object] | None = None
    budget: ErrorBreakdown | None = None
    of_pair: bool = False  # whether the lower end speaks of the dominating pair


class Law:
    """The law of a run as one question asks for it; what was prepared or known for one point serves the next.

    below: whether lower ends are those of the floors; else both ends speak of the dominating pairs.
    """

    def __init__(self, mechanism: Mechanism, question: Question, below: bool = True) -> None:
        self.mechanism = mechanism.nameless
        self.label = called(mechanism, self.mechanism)
        self.question = question
        self.below = below
        self.directions = asked_directions(self.mechanism.relation, parsed(question.direction))
        self.aim = question.accuracy or AIM
        self.exhausted: str | None = None  # what ran out, for the first time
        self._cases: dict[bool, Case] = {}
        self._known: dict[float, Bound] = {}
        self.shared = known_of(self.mechanism, question, several=False) if below else None
        self._toward: dict[Direction, Law] = {}
        self._parted: tuple[Law, tuple[Law, ...]] | None = None
        self._terms: dict[Direction, tuple[Term, ...]] = {}
        self._choices: dict[Direction, tuple[Choice, ...]] = {}

    def again(self, question: Question) -> Law:
        """The same law for another question in the same manner: what was prepared and what is known stay."""
        twin = copy(self)
        twin.question, twin.aim, twin.exhausted = question, question.accuracy or AIM, None
        twin._toward = {
            direction: law.again(replace(question, direction=direction)) for direction, law in self._toward.items()
        }
        if self._parted is not None:
            above, below = self._parted
            twin._parted = above.again(question), tuple(run.again(question) for run in below)
        return twin

    @property
    def none(self) -> str:
        """How an infinite answer begins: of bounds alone, not of the mechanism, where only these are known."""
        with compute_budget.uncounted():
            real = self.mechanism.tight or self.mechanism.attained
        return "there is none" if real else "none follows from the dominating pair"

    def terms(self, direction: Direction) -> tuple[Term, ...]:
        """(pair, count) of the dominating pairs."""
        if direction not in self._terms:
            self._terms[direction] = compute_budget.in_any_case(lambda: terms_of(self.mechanism, direction))
        return self._terms[direction]

    def choices(self, direction: Direction) -> tuple[Choice, ...]:
        """(floors, count) of each part: what lower ends speak of."""
        if direction not in self._choices:
            self._choices[direction] = compute_budget.in_any_case(lambda: choices_of(self.mechanism, direction))
        return self._choices[direction]

    def toward(self, direction: Direction) -> Law:
        """The same law in one direction only."""
        if self.directions == (direction,):
            return self
        if direction not in self._toward:
            one = copy(self)
            one.question, one.directions = replace(self.question, direction=direction), (direction,)
            one._cases, one._known, one._toward, one._parted = {}, {}, {}, None
            one.shared = known_of(self.mechanism, one.question, several=False) if self.below else None
            self._toward[direction] = one
        return self._toward[direction]

    def parted(self) -> tuple[Law, tuple[Law, ...]]:
        """The law of the dominating pairs, and those of fixed runs of real pairs below it; none where these are one."""
        if self._parted is None:
            case = self._case(reverse=False)
            fixed = [floor.planner for floor in case.witnesses if isinstance(floor, WitnessRun)]
            if not fixed:
                return self, ()
            above = replace(case, witnesses=(), below=False)
            below = [replace(above, planners={next(iter(case.planners)): planner}) for planner in fixed]
            self._parted = self._by(above), tuple(self._by(each) for each in below)
        return self._parted

    def _by(self, case: Case) -> Law:
        one = copy(self)
        one._cases, one._known, one._toward, one.shared = {False: case}, {}, {}, None
        return one

    @property
    def known(self) -> dict[float, Bound]:
        """What one_sided told so far, at finite t."""
        return {t: bound for t, bound in self._known.items() if math.isfinite(t)}

    @property
    def over(self) -> bool:
        """Whether time is up: then what is known is the answer."""
        return compute_budget.over()

    def delta(self, t: float, aim: float | None = None) -> Bound:
        """H(e^t), the larger one of the directions asked; aim is the relative width to aim at."""
        bound = self.one_sided(t, aim)
        if t >= 0.0:
            return bound
        with working_precision(BITS_START):
            rest, alpha = -arb(t).expm1(), arb(t).exp()
            lower, upper = lower_float(rest + alpha * bound.lower), upper_float(rest + alpha * bound.upper)
        return Bound(lower, min(upper, 1.0), bound.certificate)

    def rest(self, t: float, aim: float | None = None) -> tuple[arb, arb]:
        """Ends of 1 - H(e^t), which does not cancel below t = 0; at the working precision."""
        bound = self.one_sided(t, aim)
        alpha = arb(t).exp() if t < 0.0 else arb(1)
        return alpha * (1 - arb(bound.upper)), alpha * (1 - arb(bound.lower))

    def one_sided(self, t: float, aim: float | None = None) -> Bound:
        """H(e^t) for t >= 0, and that of the reversed pairs at e^-t below."""
        aim = AIM_SHARE * self.aim if aim is None else aim
        for value in (max(aim, self.aim), aim):  # what is too fine to be had in time must not cost what can be had
            known = self._known.get(t)
            if known is None or not _settled(known, value):
                bound = self._asked(t, value)
                self._known[t] = bound if known is None or bound.width < known.width else known
        return self._known[t]

    def moments_below(self, t: float, delta: float) -> Bound | None:
        """[0, delta] where moments alone prove that one_sided(t) is no larger."""
        with suppress(WorkExhausted), compute_budget.part(1.0):
            if self._case(t < 0.0).below_by_moments(abs(t), delta):
                return Bound(0.0, delta, self._between(t).certificate)
        return None

    def _asked(self, t: float, aim: float) -> Bound:
        try:
            with compute_budget.part(1.0) as meter:
                bound = replace(self._case(t < 0.0), aim=aim).bound(Point("delta", abs(t)), meter)
        except WorkExhausted as error:  # when time is up, what is known of other points is the answer
            bound = self._between(t)
            self.exhausted = self.exhausted or error.resource
        ended = None if bound.certificate is None else bound.certificate.exhausted
        self.exhausted = self.exhausted or ended
        if ended is not None:
            other = self._between(t)  # both contain the truth
            bound = Bound(*agreed(max(bound.lower, other.lower), min(bound.upper, other.upper)), bound.certificate)
        if self.shared is None or t < 0.0:
            return bound
        self.shared.add(t, bound)
        with compute_budget.uncounted():
            return self.shared.narrowed(t, bound)

    def _between(self, t: float) -> Bound:
        """What other points on its side say, since H falls as |t| grows; a probability where there is none."""
        side = [(abs(at), bound) for at, bound in self._known.items() if (at < 0.0) == (t < 0.0)]
        upper = min((bound.upper for at, bound in side if at <= abs(t)), default=1.0)
        lower = max((bound.lower for at, bound in side if at >= abs(t)), default=0.0)
        nearest = min(side, key=lambda point: abs(point[0] - abs(t)), default=None)
        return Bound(lower, upper, None if nearest is None else nearest[1].certificate)

    def _case(self, reverse: bool) -> Case:
        """The planners of the pairs, or of the reversed pairs, which are asked as they are."""
        if reverse not in self._cases:
            if reverse:
                made = replace(self._case(False).mirrored(several=True), mirror=False)
            else:
                question = replace(self.question, quantity="delta", accuracy=None)
                made = Case.of(self.mechanism, question, several=True, aim=self.aim, below=self.below)
            self._cases[reverse] = made
        return self._cases[reverse]

    def bound(self, lower: float, upper: float, told: Told, of: Bound | None = None) -> Bound:
        """A reading with its certificate; of is the delta that decided it."""
        decided = None if of is None else of.certificate
        narrow = meets(lower, upper, self.aim, self.question.quantity)
        direction = told.direction or (None if decided is None else decided.direction)
        with compute_budget.uncounted():
            tight, relation = self.mechanism.tight, named_relation(self.mechanism)
            real = self.mechanism.attained or (decided is not None and decided.attained)
            attained = real if self.below and not told.of_pair else tight
        ended = None if narrow else self.exhausted or ("time" if self.over else None)
        seconds = self.question.seconds
        clocked = {CLOCK: seconds} if ended is not None and compute_budget.late() else {}
        more = {"seconds": max(float(f"{MORE_SECONDS * seconds:.3g}"), SECONDS)} if seconds < FINITE_SECONDS else {}
        return Bound(
            lower,
            upper,
            Certificate(
                engine=told.engine or ("" if decided is None else decided.engine),
                arithmetic=told.arithmetic or ("ball" if decided is None else decided.arithmetic),
                reason=told.reason,
                direction=None if self.mechanism.relation is Relation.REPLACE else direction,
                relation=relation,
                tight=tight,
                attained=attained,
                parameters={**(told.parameters or {}), **claims(self.mechanism), **clocked},
                budget=told.budget or (ErrorBreakdown() if decided is None else decided.budget),
                confidence=confidence(self.mechanism),
                exhausted=ended,
                advice=more if ended == "time" else {},
                label=self.label,
            ),
        )


def _settled(bound: Bound, aim: float) -> bool:
    """Whether this is as narrow as asked, or as the theorem allows."""
    theorem = bound.certificate is not None and bound.certificate.budget.widest == "theorem"
    return theorem or meets(bound.lower, bound.upper, aim, "delta")


# The error budget of a number that is read off deltas, in its own unit.


def carried(
    of: Bound, scale: float, ends: tuple[float, float], theorem: float = 0.0, swapped: bool = False
) -> ErrorBreakdown:
    """The lines of a delta times scale, and as discretisation what they leave of the width between the ends.

    theorem: what lies between real neighbours and the dominating pair: either end may be that far from the truth.
    swapped: the reading falls where delta rises. Guarantee: the lines of either side add up to the width at least.
    """
    budget = ErrorBreakdown() if of.certificate is None else of.certificate.budget
    width = round_up(ends[1] - ends[0], FEW)
    above = _completed(budget.upper, scale, width, theorem)
    below = _completed(budget.lower, scale, width, theorem)
    return ErrorBreakdown(below, above) if swapped else ErrorBreakdown(above, below)


def _completed(side: Mapping[str, float], scale: float, width: float, theorem: float) -> Mapping[str, float]:
    lines = {name: round_up(scale * line, FEW) for name, line in {**error_lines(), **side}.items()}
    lines["theorem"] += theorem
    rest = width - math.fsum(lines.values())
    if rest > 0.0:
        lines["discretisation"] = round_up(lines["discretisation"] + rest, FEW)
    return lines
