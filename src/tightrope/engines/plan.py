"""Chooses the engine and asks it: (terms, question) in, a certified interval out.

Every engine bounds delta at an epsilon; an epsilon is found by a certified search on those bounds. The engines are
tried from the cheapest on, each in float64 and then in balls where it has them, until the interval is as narrow as
asked; what is too wide everywhere is answered by the narrowest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module

from flint import arb

from .. import work
from ..bound import Budget, budget_lines
from ..errors import InvalidParameter, Refusal, UnsupportedMechanism, WorkExhausted
from ..kernels import conditions
from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ..pairs.poisson import sampled_once
from ..pairs.product import serves_several
from ..question import Question
from . import closed_form, leaks, outline
from .edges import Edges, edges
from .evaluation import Evaluator, SelfInverse, Term, inverse, named

# What a search on a cheap engine aims at in any case; the interval ends where its rounding does.
FLOAT_TOLERANCE = 1e-12


# An engine's way to prepare for one question: (terms, *, epsilon, delta, accuracy) -> Evaluator, with `beat` where it
# weighs its work; it refuses with UnsupportedMechanism.
Prepare = Callable[..., Evaluator]


@dataclass(frozen=True, slots=True)
class Rung:
    """One engine in one arithmetic, and when it is the one to ask.

    settles: it goes to balls by itself. weighs: it takes `beat`, a relative width that is known already, and refuses
    work that cannot halve it. aims: it may miss where epsilon lies, and finds it at a second aim. finest: the relative
    width that a search on it aims at in any case.
    """

    engine: str
    prepare: Prepare
    ball: bool
    reason: str
    settles: bool = False
    weighs: bool = False
    aims: bool = False
    finest: float = FLOAT_TOLERANCE


HITS, CONTOUR, LATTICE, JOINT, BUCKETS = "hits", "contour", "lattice", "joint", "buckets"


def _late(engine: str, **options: bool) -> Prepare:
    """The engine's prepare, imported when it is first asked: exact answers need no other engine."""

    def prepare(*terms: Sequence[Term], **question: float | None) -> Evaluator:
        made: Evaluator = import_module(f".{engine}", __package__).prepare(*terms, **question, **options)
        return made

    return prepare


# From the cheapest on.
LADDER = (
    Rung(closed_form.NAME, closed_form.prepare, False, "an exact formula covers every term"),
    Rung(closed_form.NAME, partial(closed_form.prepare, proof=True), True, "an exact formula covers every term"),
    Rung(HITS, _late(HITS), False, "few hits decide, or every hit is seen"),
    Rung(HITS, _late(HITS, proof=True), True, "every hit is seen"),
    Rung(CONTOUR, _late(CONTOUR), False, "every term has a cgf, and the integral is proven to converge", settles=True),
    Rung(CONTOUR, _late(CONTOUR, proof=True), True, "every term has a cgf, and the integral converges", settles=True),
    Rung(LATTICE, _late(LATTICE), False, "any pair can be put on a grid", weighs=True, aims=True),
    Rung(LATTICE, _late(LATTICE, proof=True), True, "any pair can be put on a grid", aims=True),
    Rung(JOINT, _late(JOINT), False, "one sample serves several mechanisms"),
    Rung(JOINT, _late(JOINT, proof=True), True, "one sample serves several mechanisms"),
)
# The historical reference answers when asked by name.
ON_REQUEST = (Rung(BUCKETS, _late(BUCKETS), False, "privacy buckets as published"),)
ENGINES = ("auto", *dict.fromkeys(rung.engine for rung in LADDER + ON_REQUEST))

# What is given where no engine came to an end in time.
OUTLINE = Rung(outline.NAME, outline.prepare, False, "moments above, single events below", finest=outline.TOLERANCE)

# Of the work that is left: an engine that takes more leaves the rest to the next.
RUNG_SHARE = 0.6

# An epsilon that is as good as 0, and the total variation from which on it is not expected.
NEXT_TO_NOTHING, SMALL = 1e-12, 1e-9

# Good enough to see that one direction is not the worse one.
LOOSE = 0.02

# Of epsilon: an engine that leaves so much open did not aim well.
WIDE = 0.01


@dataclass(frozen=True, slots=True)
class Point:
    """One value of a question: its quantity (epsilon or delta) at the given value of the other one."""

    quantity: str
    given: float


@dataclass(frozen=True, slots=True)
class Answer:
    """One direction's interval and how it came about."""

    lower: float
    upper: float
    engine: str
    arithmetic: str
    reason: str
    parameters: Mapping[str, object]
    budget: Budget

    @property
    def width(self) -> float:
        """upper - lower."""
        return self.upper - self.lower

    def wide_epsilon(self, question: Point) -> bool:
        """Whether the engine missed where epsilon lies: its lower end is then a better place to aim at."""
        return question.quantity == "epsilon" and 0.0 < self.lower < (1.0 - WIDE) * self.upper < math.inf

    @property
    def relative_width(self) -> float:
        """width / upper; inf where the upper end is infinite."""
        return self.width / self.upper if 0.0 < self.upper < math.inf else math.inf if self.upper else 0.0

    def tells(self, point: Point) -> bool:
        """Whether this says more than that delta is a probability, or that epsilon is not negative."""
        return self.lower > 0.0 or self.upper < (1.0 if point.quantity == "delta" else math.inf)

    def meets(self, accuracy: float, quantity: str) -> bool:
        """Whether this interval is as narrow as asked, or as doubles are."""
        return math.nextafter(self.lower, math.inf) >= self.upper or meets(self.lower, self.upper, accuracy, quantity)


def meets(lower: float, upper: float, accuracy: float, quantity: str) -> bool:
    """Whether an interval is as narrow as asked; near epsilon 0 a width of 1e-12 will do."""
    if lower == upper:
        return True
    width = upper - lower
    near_zero = quantity == "epsilon" and upper <= 1e-3 and width <= 1e-12
    return width < math.inf and (width <= accuracy * upper or near_zero)


class Planner:
    """Answers questions about one direction of one composition; what was prepared for one serves the next if it can.

    unfinished names the engines that time or memory ended, and those that were not expected to pay.
    """

    def __init__(self, terms: Sequence[Term], question: Question, several: bool) -> None:
        engine = question.engine
        if engine not in ENGINES:
            raise InvalidParameter(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
        self.terms, self._question = tuple(terms), question
        self.unfinished: set[str] = set()
        # The law of a product is for one engine, which asks the others.
        joint = any(serves_several(pair) for pair, _ in terms)
        auto = [rung for rung in LADDER if (rung.engine == JOINT) == joint]
        asked = auto if engine == "auto" else [rung for rung in LADDER + ON_REQUEST if rung.engine == engine]
        # Without proof the lattice ends the ladder: in exact integers it has fewer points and is wider still.
        escalating = [rung for rung in asked if not (rung.ball and rung.engine in (LATTICE, JOINT))]
        # Where float64 is not what its bounds rest on, balls answer.
        self._proof, self._auto = question.proof or not conditions.hold(), engine == "auto"
        self._ladder = [rung for rung in asked if rung.ball] if self._proof else escalating
        conditions.demand_normal(self.terms)
        self._edges = edges(terms)
        # Half of the width is kept for the questions that follow.
        self._share, self._several = 0.5 if several else 1.0, several
        self._sides: tuple[Planner, ...] | None = None
        self._last: tuple[Rung, Evaluator] | None = None

    def answer(self, point: Point, accuracy: float) -> Answer:
        """The straight path: known edges, then the ladder of engines until one is narrow enough."""
        conditions.demand_normal(point)
        known = self._known(point, accuracy) or self._joined(point, accuracy)
        if known is not None:
            return known
        best: Answer | None = None
        refusals: list[UnsupportedMechanism] = []
        refused: set[str] = set()
        for rung in self._ladder:
            if best is not None and best.engine == rung.engine and (best.arithmetic == "ball" or rung.settles):
                continue  # it went to balls by itself where that helps
            if rung.engine in refused:
                continue  # what is not proven to converge is not in balls either
            try:
                with work.part(1.0 if rung is self._ladder[-1] else RUNG_SHARE):
                    found = self._climb(rung, point, accuracy, math.inf if best is None else best.relative_width)
            except UnsupportedMechanism as refusal:
                refusals.append(refusal)
                if refusal.kind is Refusal.TOO_MUCH_WORK:
                    self.unfinished.add(rung.engine)
                if refusal.kind is not Refusal.NEEDS_BALLS:
                    refused.add(rung.engine)
                continue
            except OverflowError:
                refusals.append(UnsupportedMechanism(named(self.terms), "its numbers leave the range of float64"))
                continue
            except WorkExhausted:
                self.unfinished.add(rung.engine)
                continue
            if best is None or found.width < best.width:
                best = found
            exact = (found.engine, found.arithmetic) == (closed_form.NAME, "ball")
            if exact or best.meets(accuracy, point.quantity):
                return best  # exact formulas in balls are the last word
        if self.unfinished or (best is None and self._auto):
            rough = self._outlined(point, best)
            if self.unfinished or rough.tells(point):
                return rough
        if best is not None:
            return best
        if refusals:
            raise refusals[-1]
        raise UnsupportedMechanism(
            named(self.terms), "this engine has no ball arithmetic; leave out proof, or choose another engine"
        )

    def _known(self, point: Point, accuracy: float) -> Answer | None:
        """What needs no engine, or none again."""
        with suppress(WorkExhausted):
            return (
                _from_edges(self._edges, point)
                or self._again(point, accuracy)
                or self._next_to_nothing(point)
                or self._sealed(point, accuracy)
            )
        return None

    def _sealed(self, point: Point, accuracy: float) -> Answer | None:
        """epsilon where delta is next to the infinite mass: that of the composition without its leaks."""
        levels = leaks.rest(self._edges.mass, point.given) if point.quantity == "epsilon" else None
        terms = None if levels is None else leaks.sealed(self.terms)
        if levels is None or terms is None:
            return None
        inner = Planner(terms, self._question, several=False)
        with suppress(UnsupportedMechanism):
            found = inner.answer(Point("epsilon", levels[0]), accuracy)
            other = found if levels[1] == levels[0] else inner.answer(Point("epsilon", levels[1]), accuracy)
            self.unfinished |= inner.unfinished
            return replace(found, lower=min(other.lower, found.upper))
        return None

    def _next_to_nothing(self, point: Point) -> Answer | None:
        """Epsilon where it is 0, or too small to matter, by two bounds that cost little.

        The total variation of a composition is at most the sum of those of its parts; where delta is at least that,
        epsilon is 0. Where moments show that delta is met at NEXT_TO_NOTHING already, nobody asks for more.
        """
        if point.quantity == "delta":
            return None
        variation = arb(0)
        with working_precision(BITS_START):
            for pair, count in self.terms:
                try:
                    variation += count * pair.ball_profile(arb(0))
                except UnsupportedMechanism:
                    return None  # a product is known by its engine only
                if not (variation <= point.given or variation < SMALL):
                    return None
        if variation <= point.given:
            return _exact(arb(0), arb(0), "delta is at least the total variation of all parts together")
        if not self._proof:
            from .contour.chernoff import delta_above

            with conditions.float64():
                if delta_above(self.terms, NEXT_TO_NOTHING, upper_float(self._edges.mass)) <= point.given:
                    lines = budget_lines(truncation=point.given)
                    return _answer(OUTLINE, outline.prepare(self.terms), 0.0, NEXT_TO_NOTHING, Budget(lines, lines))
        return None

    def _joined(self, point: Point, accuracy: float) -> Answer | None:
        """Samples of samples as one: the rate is between two doubles, so the answer is between theirs."""
        if self._sides is None:
            sides = [tuple((sampled_once(pair)[side], count) for pair, count in self.terms) for side in (0, 1)]
            made = () if sides[0] == self.terms else dict.fromkeys(sides)
            self._sides = tuple(Planner(side, self._question, self._several) for side in made)
        if not self._sides:
            return None
        with suppress(UnsupportedMechanism):
            with work.part(1.0 / len(self._sides)):
                below = self._sides[0].answer(point, accuracy)
            above = self._sides[-1].answer(point, accuracy) if len(self._sides) > 1 else below
            self.unfinished |= {engine for side in self._sides for engine in side.unfinished}
            return replace(above, lower=min(below.lower, above.upper))
        return None

    def _climb(self, rung: Rung, point: Point, accuracy: float, beat: float) -> Answer:
        """One rung's answer; an engine that missed where epsilon lies is asked once more at its lower end."""
        found = self._ask(rung, point, accuracy, beat=beat)
        if not (rung.aims and found.wide_epsilon(point)):
            return found
        with suppress(UnsupportedMechanism, OverflowError, WorkExhausted):
            return min(found, self._ask(rung, point, accuracy, near=found.lower), key=lambda each: each.width)
        return found

    def _outlined(self, point: Point, best: Answer | None) -> Answer:
        """What the evaluators that were prepared, and the outline, say together; from what was kept for that."""
        known = [] if best is None else [best]
        with work.grace():
            if self._last is not None:
                rung, evaluator = self._last
                with suppress(WorkExhausted, UnsupportedMechanism, OverflowError), _arithmetic(rung):
                    known.append(self._read(rung, evaluator, point, outline.TOLERANCE))
            if best is None or not best.width < math.inf:
                rung = replace(OUTLINE, ball=self._proof)
                with suppress(WorkExhausted, UnsupportedMechanism, OverflowError), _arithmetic(rung):
                    rough = outline.prepare(self.terms, proof=self._proof)
                    known.append(self._read(rung, rough, point, outline.TOLERANCE))
        if not known:
            return self._unknown(point)
        narrowest = min(known, key=lambda each: (each.width, -each.lower))
        lower, upper = max(each.lower for each in known), min(each.upper for each in known)
        return replace(narrowest, lower=min(lower, upper), upper=upper)

    def _unknown(self, point: Point) -> Answer:
        """What holds without any engine: the infinite mass, and the supremum of the loss."""
        nothing = nothing_known(point)
        if point.quantity == "delta":
            return replace(nothing, lower=max(lower_float(self._edges.mass), 0.0))
        bounded = self._edges.mass <= point.given and self._edges.supremum.is_finite()
        return replace(nothing, upper=upper_float(self._edges.supremum)) if bounded else nothing

    def stays_below(self, point: Point, other: Answer) -> bool:
        """Whether one loose evaluation proves that the answer is at or below the lower end of another direction's."""
        if point.quantity == "epsilon" and other.lower == 0.0:
            known = self._known(point, LOOSE)
            return known is not None and known.upper <= other.lower  # else what is small is cheaper found than compared
        for_delta = point.quantity == "delta"
        epsilon, delta = (point.given, other.lower) if for_delta else (other.lower, point.given)
        if epsilon == math.inf and not for_delta:
            return True
        # The moments cost a fraction of a contour, and mostly they are enough.
        if self._last is None and (other.engine, other.arithmetic) == (CONTOUR, "float64"):
            from .contour.chernoff import delta_above

            with suppress(WorkExhausted), conditions.float64():
                if delta_above(self.terms, epsilon, upper_float(self._edges.mass)) <= delta:
                    return True
        return self.answer(Point("delta", epsilon), LOOSE).upper <= delta

    def _again(self, point: Point, accuracy: float) -> Answer | None:
        """delta from the evaluator that served last, if it is narrow enough here too."""
        if self._last is None or point.quantity != "delta":
            return None
        rung, evaluator = self._last
        if not (rung.ball or conditions.hold()):
            return None
        with _arithmetic(rung):
            value = evaluator.delta(point.given)
            if meets(value.lower, value.upper, accuracy, "delta"):
                return _answer(rung, evaluator, value.lower, value.upper, value.budget)
        return None

    def _ask(
        self, rung: Rung, point: Point, accuracy: float, near: float | None = None, beat: float = math.inf
    ) -> Answer:
        """The engine's answer; for epsilon, prepared at an epsilon that is near if there is one."""
        epsilon = point.given if point.quantity == "delta" else near
        with _arithmetic(rung):
            evaluator = rung.prepare(
                self.terms,
                epsilon=epsilon,
                delta=point.given if epsilon is None else None,
                accuracy=accuracy * self._share,
                **({"beat": beat} if rung.weighs else {}),
            )
            self._last = rung, evaluator
            return self._read(rung, evaluator, point, accuracy)

    def _read(self, rung: Rung, evaluator: Evaluator, point: Point, accuracy: float) -> Answer:
        """What a prepared evaluator says."""
        if point.quantity == "delta":
            value = evaluator.delta(point.given)
            return _answer(rung, evaluator, value.lower, value.upper, value.budget)
        ends = self._edges
        ceiling = upper_float(ends.supremum) if ends.mass <= point.given else math.inf
        if isinstance(evaluator, SelfInverse):
            found = evaluator.inverse(point.given, ceiling, accuracy)
        else:
            found = inverse(evaluator, point.given, ceiling, min(rung.finest, accuracy / 8.0))
        nothing = Budget()
        budget = Budget(
            (found.at_upper.budget if found.at_upper else nothing).upper,
            (found.at_lower.budget if found.at_lower else nothing).lower,
        )
        return _answer(rung, evaluator, found.lower, min(found.upper, ceiling), budget)


def _arithmetic(rung: Rung) -> AbstractContextManager[None]:
    """float64 where it can be trusted; the lattice in integers takes its grid from it, other balls do without."""
    if not rung.ball:
        return conditions.float64()
    return conditions.quiet() if rung.engine in (LATTICE, JOINT) else nullcontext()


def _from_edges(ends: Edges, point: Point) -> Answer | None:
    """Answers that need no engine: beyond the supremum of the loss, below the infinite mass, at delta 0 and 1."""
    if point.quantity == "delta":
        if ends.supremum <= point.given:
            return _exact(ends.mass, ends.mass, "epsilon is at or above every finite loss")
        return None
    if ends.mass > point.given:
        return _exact(arb.pos_inf(), arb.pos_inf(), ends.why_infinite(point.given))
    if point.given >= 1.0:
        return _exact(arb(0), arb(0), "delta 1 promises nothing")
    if ends.mass <= point.given and ends.supremum <= 0:
        return _exact(arb(0), arb(0), "no finite loss is above 0")
    if point.given == 0.0:
        upper = ends.supremum if ends.mass.is_zero() else arb.pos_inf()
        return _exact(ends.supremum, upper, "delta 0 asks for the supremum of the loss")
    return None


def nothing_known(point: Point) -> Answer:
    """delta is a probability, epsilon is not negative."""
    upper = 1.0 if point.quantity == "delta" else math.inf
    return Answer(0.0, upper, outline.NAME, "ball", "nothing was proven in the time that was given", {}, Budget())


def _exact(lower: arb, upper: arb, reason: str) -> Answer:
    low, high = max(lower_float(lower), 0.0), max(upper_float(upper), 0.0)
    lines = budget_lines(rounding=high - low if math.isfinite(high) else 0.0)
    return Answer(low, high, closed_form.NAME, "ball", reason, {}, Budget(lines, lines))


def _answer(rung: Rung, evaluator: Evaluator, lower: float, upper: float, budget: Budget) -> Answer:
    return Answer(lower, upper, rung.engine, evaluator.arithmetic, rung.reason, dict(evaluator.parameters), budget)
