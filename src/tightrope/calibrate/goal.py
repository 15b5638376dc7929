"""What is asked of a value, and how it answers.

A value meets the target if the answer to one of its probes is at most the limit of that; it misses it if one of them is
shown to be above. Both are certain, or nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from .. import compute_budget
from ..bound import Bound
from ..calls import shortened
from ..errors import AccuracyNotReached, UnsupportedMechanism, WorkExhausted, agreed
from ..mechanisms.base import Mechanism
from ..question import AUTO, Question
from .probe import FAR, NEAR, SHARP, PointProbe, Prepared, Probe, probes, shown
from .target import Target

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
