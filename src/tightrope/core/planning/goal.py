"""What is asked of a value, and how it answers.

A value meets the target if the answer to one of its probes is at most the limit of that; it misses it if one of them is
shown to be above. Both are certain, or nothing is said.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from ..accountant import AIM, Case, ask_again
from ..mechanisms.base import Mechanism
from ..metrics import power
from ..metrics.ask import READINGS, answered
from ..metrics.law import Law
from ..metrics.power import upper_point
from ..values import compute_budget
from ..values.bound import Bound
from ..values.calls import shortened
from ..values.errors import AccuracyNotReached, UnsupportedMechanism, WorkExhausted, agreed
from ..values.question import AUTO, PROBABILITIES, Question
from .calibration import Target

# How much a reading is: the Gaussian mechanism that has the same one.
#
# With many uses, or much noise, everything looks like a Gaussian mechanism of some mu = sensitivity / sigma, and log mu
# is nearly a straight line in the log of a scale, a rate or a count. log delta is not: it falls like a square; and an
# accuracy or a rate of attackers is hardly above what guessing reaches. Epsilon, mu, rho and divergences are powers of
# a
# scale by themselves: their log does.
# Guarantee: none is needed; it only tells where to look next. Balle, Wang 2018, Thm 8; Dong, Roth, Su 2022.


def gauge_of(target: Target) -> Callable[[float], float]:
    """The gauge of a target's reading: nan for what no Gaussian mechanism within reach has."""
    given = target.arguments
    if target.name in ("advantage", "total_variation"):
        return partial(equivalent, 0.0)
    if target.name in ("tpr", "reconstruction"):
        return partial(apart_by, next(iter(given.values())))
    if target.name == "posterior":
        return partial(_believed, given["prior"], given["fpr"])
    if target.name == "bayes_accuracy":
        return partial(_guessed, given["prior"])
    return logarithm


def logarithm(value: float) -> float:
    """nan where there is none."""
    return math.log(value) if 0.0 < value < math.inf else math.nan


def equivalent(epsilon: float, delta: float) -> float:
    """log mu of the Gaussian mechanism with this delta at epsilon; nan where there is none within reach."""
    return logarithm(power.equivalent(epsilon, delta))


def apart_by(fpr: float, tpr: float) -> float:
    """log mu of the Gaussian mechanism with this tpr at fpr, mu = Phi^-1(tpr) - Phi^-1(fpr)."""
    return logarithm(upper_point(fpr) - upper_point(tpr)) if 0.0 < fpr < tpr < 1.0 else math.nan


def _believed(prior: float, fpr: float, posterior: float) -> float:
    """The tpr that makes such a posterior, gauged."""
    return apart_by(fpr, posterior * (1.0 - prior) * fpr / (prior * (1.0 - posterior))) if posterior < 1.0 else math.nan


def _guessed(prior: float, accuracy: float) -> float:
    """The delta at |log((1 - prior)/prior)| that makes such an accuracy, gauged; both signs have the same mirror."""
    surer, other = max(prior, 1.0 - prior), min(prior, 1.0 - prior)
    return equivalent(math.log(surer / other), (accuracy - surer) / other)


# One question that is asked of every value, and the most that may be answered.
#
# A target of epsilon at delta has two: delta at its epsilon costs less and tells values apart more finely, epsilon at
# its
# delta tells those apart whose delta is 0 or 1. Advantage and total variation are delta at epsilon 0, and at most A
# where
# the run is (0, A)-DP: the same two. Every other reading is one question.
# All speak of the dominating pairs at both ends, so that lower ends are sharp.

Prepared = Case | Law
DISTANCES = ("advantage", "total_variation")
FAR, NEAR = 0, 1  # rungs of a ladder: where to start for a value far from the target, and near it
SHARP = 1e-6  # what is aimed at where no accuracy is asked for
LADDER = (0.05, 1e-3, 1e-5, SHARP)
FINEST_SHARE = 0.05  # of the tolerance
ACCURACY_MIN = 1e-15  # nothing is sharper
GAUGE_STEP = 1e-3  # of the way to guessing, or to certainty


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe(ABC):
    """What is asked, how sharply, and the most that may be answered.

    gauge: a number that is nearly linear in the logs of unknowns. ladder: widths to ask for, one after the other, until
    a value is decided; at_ease is the rung to start from near the target, while there is time. title: what messages
    call it.
    """

    quantity: str
    limit: float
    gauge: Callable[[float], float]
    ladder: tuple[float, ...]
    title: str
    at_ease: ClassVar[int] = NEAR

    @abstractmethod
    def prepared(self, mechanism: Mechanism, question: Question) -> Prepared:
        """What serves every question about a mechanism, of all probes of a target."""

    @abstractmethod
    def bound(self, prepared: Prepared, question: Question) -> Bound:
        """The answer; AccuracyNotReached where it is too wide."""

    @property
    def unknown(self) -> Bound:
        """What holds of every mechanism."""
        return Bound(0.0, 1.0 if self.quantity in PROBABILITIES else math.inf)

    def accuracy(self, wanted: float) -> float:
        """The width to ask for, relative to the answer."""
        return wanted

    def narrow(self, bound: Bound, wanted: float) -> bool:
        """Whether it is as narrow as wanted."""
        return bound.width <= self.accuracy(wanted) * bound.upper


@dataclass(frozen=True, slots=True, kw_only=True)
class PointProbe(Probe):
    """Epsilon at a delta, or delta at an epsilon."""

    given: float

    def prepared(self, mechanism: Mechanism, question: Question) -> Case:
        return Case.of(mechanism, question, False, AIM, below=False)

    def bound(self, prepared: Prepared, question: Question) -> Bound:
        assert isinstance(prepared, Case)
        return ask_again(prepared, question, self.given)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricProbe(Probe):
    """Any other reading."""

    arguments: Mapping[str, float]
    steepness: float  # of the log of the answer in the gauge, at the limit
    at_ease: ClassVar[int] = NEAR + 1  # answers are as wide as they are asked for, and sharp ones cost little more

    def prepared(self, mechanism: Mechanism, question: Question) -> Law:
        return Law(mechanism, question, below=False)

    def bound(self, prepared: Prepared, question: Question) -> Bound:
        assert isinstance(prepared, Law)
        return answered(READINGS[self.quantity], prepared.again(question), self.arguments)

    def accuracy(self, wanted: float) -> float:
        """Finer where most of the number is what guessing reaches."""
        return max(wanted * min(self.steepness, 1.0), ACCURACY_MIN)


def probes(target: Target, tolerance: float) -> tuple[Probe, ...]:
    """What to ask for a target, the finer question first, so that values so far apart are told from each other."""
    if target.name not in DISTANCES and target.name != "epsilon":
        gauge = gauge_of(target)
        return (
            MetricProbe(
                quantity=target.quantity,
                limit=target.limit,
                gauge=gauge,
                ladder=(*LADDER[:-1], FINEST_SHARE * tolerance),
                title=target.title,
                arguments=target.arguments,
                steepness=_steepness(target, gauge),
            ),
        )
    epsilon, delta = (0.0, target.limit) if target.name in DISTANCES else (target.limit, target.arguments["delta"])
    title = target.title if target.name in DISTANCES else "delta"
    by_epsilon = PointProbe(
        quantity="epsilon", limit=epsilon, gauge=logarithm, ladder=LADDER, title="epsilon", given=delta
    )
    gauge = partial(equivalent, epsilon)
    by_delta = PointProbe(quantity="delta", limit=delta, gauge=gauge, ladder=LADDER, title=title, given=epsilon)
    return (by_delta, by_epsilon) if delta > 0.0 else (by_epsilon, by_delta)  # where 0 is needed delta tells nothing


def shown(target: Target) -> str:
    """The quantity of the probe whose answer is that of the target."""
    return "delta" if target.name in DISTANCES else target.quantity


def _steepness(target: Target, gauge: Callable[[float], float]) -> float:
    """How much of itself the reading changes with its gauge, at the limit: without one, what lies above guessing."""
    above = target.limit - target.guess
    step = GAUGE_STEP * (min(above, 1.0 - target.limit) if target.quantity in PROBABILITIES else above)
    rise = gauge(target.limit + step) - gauge(target.limit - step)
    return (2.0 * step / rise if rise > 0.0 else above) / target.limit


PRINTED = 1e-4  # the width of a bound that is shown
SHARE, FAR_SHARE = 0.5, 0.15  # of the time that is left: what one question may take, and one for a far value
CASES_MAX = 4  # whose evaluators are kept: the two that are printed, and a look to either side
CLEAR = 0.25  # of what two values differ by: how wide their bounds may be to tell where to look next


@dataclass(frozen=True, slots=True)
class Tried:
    """What is known of one value: a bound per probe, None where it was not asked, or no engine could tell."""

    value: float
    mechanism: Mechanism
    bounds: tuple[Bound | None, ...]
    meets: bool
    misses: bool
    why: str | None  # what was in the way of a narrower answer

    @property
    def first(self) -> Bound | None:
        """The first of what is known."""
        return next((bound for bound in self.bounds if bound is not None), None)

    @property
    def decided(self) -> bool:
        """Whether it is certain on which side of the target the value lies."""
        return self.meets or self.misses

    def below(self, other: Tried) -> bool:
        """Whether this value certainly loses less than the other."""
        return (self.meets and other.misses) or any(map(apart, self.bounds, other.bounds))


def apart(one: Bound | None, two: Bound | None) -> bool:
    """Whether the first is certainly below the second."""
    return one is not None and two is not None and one.upper < two.lower


class Goal:
    """The target, its probes, and the way questions are asked."""

    def __init__(self, target: Target, question: Question, tolerance: float) -> None:
        self.target = target
        self.question = question
        self.probes = probes(target, tolerance)
        self.refusal: UnsupportedMechanism | None = None  # the first of them
        self._shown = [probe.quantity for probe in self.probes].index(shown(target))
        self._prepared: dict[float, Prepared] = {}  # for the values that were asked last
        self._gauged: dict[tuple[int, float], float] = {}  # lines through the same bounds are drawn again and again

    def ask(self, value: float, mechanism: Mechanism, far: bool, at_ease: bool) -> Tried:
        """As sharp an answer as it takes to decide; far: the value is believed to be off. at_ease: there is time."""
        level = FAR if far else self.probes[0].at_ease if at_ease else NEAR
        tried = Tried(value, mechanism, (None,) * len(self.probes), False, False, None)
        for accuracy in self.probes[0].ladder[level:]:
            tried = self._asked(tried, 0, accuracy)
            if tried.decided or self._at_its_end(tried, accuracy):
                break
        return tried

    def _at_its_end(self, tried: Tried, accuracy: float) -> bool:
        """Whether the answer is wider than was asked for although nothing ran out: sharper questions change nothing."""
        bound = tried.bounds[0]
        known = bound is not None and bound.certificate is not None and bound.certificate.exhausted is None
        return known and bound is not None and not self.probes[0].narrow(bound, accuracy)

    def glance(self, value: float, mechanism: Mechanism, others: Iterable[Tried]) -> Tried | None:
        """A value that moments show to lose less than all others, in the time of no question; None for any other."""
        probe = self.probes[0]
        if not isinstance(probe, PointProbe) or probe.quantity != "delta" or self.question.engine != AUTO:
            return None
        level = min((0.0 if (bound := tried.bounds[0]) is None else 0.5 * bound.lower for tried in others), default=0.0)
        if not 0.0 < level <= probe.limit:
            return None
        if not probe.prepared(mechanism, self.question).below_by_moments(probe.given, level):
            return None
        return Tried(value, mechanism, (Bound(0.0, level), None), True, False, None)

    def weigh(self, tried: Tried) -> Tried:
        """The same with the other question, which may tell apart what a delta of 0 or 1, or no epsilon, does not."""
        asked = len(self.probes) == 1 or tried.bounds[-1] is not None
        return tried if asked else self._asked(tried, -1, self.probes[-1].ladder[FAR])

    def printed(self, tried: Tried) -> Tried:
        """The same with a bound that is worth printing."""
        return self._asked(tried, self._shown, PRINTED)

    def line(self, one: Tried, two: Tried, swapped: bool) -> tuple[float, float] | None:
        """Two numbers, about 0 at the target, that are nearly linear in the log of most unknowns; None for none."""
        places = range(len(self.probes))
        found = (self._line(one, two, place) for place in (reversed(places) if swapped else places))
        return next((each for each in found if each is not None), None)

    def _line(self, one: Tried, two: Tried, place: int) -> tuple[float, float] | None:
        first, second = one.bounds[place], two.bounds[place]
        if first is None or second is None:
            return None
        goal = self._gauge(place, self.probes[place].limit)
        low0, high0, low1, high1 = (
            self._gauge(place, end) for bound in (first, second) for end in (bound.lower, bound.upper)
        )
        y0, y1 = low0 + (high0 - low0) / 2.0 - goal, low1 + (high1 - low1) / 2.0 - goal
        noise = max(high0 - low0, high1 - low1)
        if not (math.isfinite(y0) and math.isfinite(y1) and y0 != y1 and noise <= CLEAR * abs(y0 - y1)):
            return None
        wrong = any(tried.meets if y > 0.0 else tried.misses for tried, y in ((one, y0), (two, y1)))
        return None if wrong else (y0, y1)  # where this points to the wrong side, the other question has decided

    def _gauge(self, place: int, value: float) -> float:
        """What a reading of this probe is on its gauge, worked out once."""
        if (place, value) not in self._gauged:
            self._gauged[place, value] = self.probes[place].gauge(value)
        return self._gauged[place, value]

    def upper_line(self, one: Tried, two: Tried) -> tuple[float, float] | None:
        """The same of upper ends alone, the first at or below 0 and the second above; None for none."""
        for place, (first, second) in enumerate(zip(one.bounds, two.bounds, strict=True)):
            if first is not None and second is not None:
                goal = self._gauge(place, self.probes[place].limit)
                ends = (self._gauge(place, first.upper) - goal, self._gauge(place, second.upper) - goal)
                if ends[0] <= 0.0 < ends[1] and all(map(math.isfinite, ends)):
                    return ends
        return None

    def shown(self, tried: Tried) -> Bound:
        """The reading of the target; what the other question has shown about it is put in."""
        probe, first = self.probes[self._shown], tried.first or self.probes[self._shown].unknown
        bound = tried.bounds[self._shown] or replace(probe.unknown, certificate=first.certificate)
        cut = min if tried.meets else max
        return replace(bound, lower=cut(bound.lower, probe.limit), upper=cut(bound.upper, probe.limit))

    def told(self, tried: Tried, places: Iterable[int]) -> str:
        """What is known of a value, by the first of these probes, the one that is shown, or any, that knows."""
        order = (*places, self._shown, *range(len(self.probes)))
        known = ((self.probes[place], tried.bounds[place]) for place in order)
        return next((f"{probe.title} in {bound}" for probe, bound in known if bound is not None), "nothing known")

    def reason(self, tried: Tried) -> str:
        """Why a reading is what it is, to follow a message; epsilon and delta need none."""
        bound, probe = tried.bounds[0], self.probes[0]
        if isinstance(probe, PointProbe) or bound is None or bound.certificate is None:
            return ""
        return f"; {probe.title} in {bound}: {bound.certificate.reason}"

    def _asked(self, tried: Tried, place: int, accuracy: float) -> Tried:
        """With one more answer, where what is known is not as narrow."""
        probe, known = self.probes[place], tried.bounds[place]
        if known is not None and probe.narrow(known, accuracy):
            return tried
        found = self._bound(tried, probe, accuracy)
        if isinstance(found, str):
            return replace(tried, why=found)
        if known is not None:
            narrower = min(known, found, key=lambda bound: bound.width)  # both contain the truth
            ends = agreed(max(known.lower, found.lower), min(known.upper, found.upper), "one answer", "a later one")
            found = Bound(*ends, narrower.certificate)
        bounds = tuple(found if each is probe else old for each, old in zip(self.probes, tried.bounds, strict=True))
        pairs = [(each, old) for each, old in zip(self.probes, bounds, strict=True) if old is not None]
        meets = any(old.upper <= each.limit for each, old in pairs)
        misses = any(old.lower > each.limit for each, old in pairs)
        return replace(tried, bounds=bounds, meets=meets, misses=misses)

    def _bound(self, tried: Tried, probe: Probe, accuracy: float) -> Bound | str:
        """The bound, however wide, or why there is none."""
        wanted = probe.accuracy(accuracy)
        question = replace(self.question, quantity=probe.quantity, accuracy=None if wanted == SHARP else wanted)
        try:
            with compute_budget.part(FAR_SHARE if accuracy == probe.ladder[FAR] else SHARE):
                prepared = self._prepared.pop(tried.value, None) or probe.prepared(tried.mechanism, question)
                self._prepared = dict([*self._prepared.items(), (tried.value, prepared)][-CASES_MAX:])
                return probe.bound(prepared, question)
        except AccuracyNotReached as wide:
            return wide.bound
        except WorkExhausted as error:
            return f"{error.resource} ran out"
        except UnsupportedMechanism as error:
            error.rename(shortened(str(tried.mechanism)))
            self.refusal = self.refusal or error
            return str(error)
