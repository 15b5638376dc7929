"""What is asked of a value, and how it answers.

A value meets the target if delta at the target's epsilon is at most the target's, or epsilon at its delta at most its
epsilon; it misses it if one of them is shown to be above. Both are certain, or nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from .. import work
from ..account import AIM, Case, ask_again
from ..bound import Bound
from ..calls import shortened
from ..errors import AccuracyNotReached, UnsupportedMechanism, WorkExhausted
from ..mechanisms.base import Mechanism
from ..question import AUTO, Question
from .gauge import equivalent

SHARP = 1e-6  # what is aimed at where no accuracy is asked for
LADDER = (0.05, 1e-3, 1e-5, SHARP)  # accuracies to ask for until a value is decided
FAR, NEAR = 0, 1  # where to start on it
PRINTED = 1e-4  # the width of an epsilon that is shown
SHARE, FAR_SHARE = 0.5, 0.15  # of the time that is left: what one question may take, and one for a far value
CASES_MOST = 4  # whose evaluators are kept: the two that are printed, and a look to either side
CLEAR = 0.25  # of what two values differ by: how wide their bounds may be to tell where to look next


@dataclass(frozen=True, slots=True)
class Tried:
    """What is known of one value; None where it was not asked, or no engine could tell."""

    value: float
    mechanism: Mechanism
    epsilon: Bound | None  # at the target's delta
    delta: Bound | None  # at the target's epsilon
    meets: bool
    misses: bool
    why: str | None  # what was in the way of a narrower answer

    def bound(self, quantity: str) -> Bound | None:
        """What is known of epsilon or of delta."""
        return self.epsilon if quantity == "epsilon" else self.delta

    @property
    def decided(self) -> bool:
        """Whether it is certain on which side of the target the value lies."""
        return self.meets or self.misses

    def below(self, other: Tried) -> bool:
        """Whether this value certainly loses less than the other."""
        if self.meets and other.misses:
            return True
        return apart(self.epsilon, other.epsilon) or apart(self.delta, other.delta)


def apart(one: Bound | None, two: Bound | None) -> bool:
    """Whether the first is certainly below the second."""
    return one is not None and two is not None and one.upper < two.lower


class Target:
    """The pair (epsilon, delta) to meet, and the way questions are asked."""

    def __init__(self, epsilon: float, delta: float, question: Question) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.question = question
        self.refusal: UnsupportedMechanism | None = None  # the first of them
        self._cases: dict[float, Case] = {}  # what was prepared for the values that were asked last
        # delta is the cheaper question, and tells values apart more finely; at a target of 0 it tells nothing.
        self.first, self.second = ("delta", "epsilon") if delta > 0.0 else ("epsilon", "delta")

    def ask(self, value: float, mechanism: Mechanism, level: int) -> Tried:
        """As sharp an answer as it takes to decide; level says how far the value is believed to be off."""
        tried = Tried(value, mechanism, None, None, False, False, None)
        for accuracy in LADDER[level:]:
            tried = self._asked(tried, self.first, accuracy)
            if tried.decided:
                break
        return tried

    def glance(self, value: float, mechanism: Mechanism, others: Iterable[Tried]) -> Tried | None:
        """A value that moments show to lose less than all others, in the time of no question; None for any other."""
        level = min((0.0 if each.delta is None else 0.5 * each.delta.lower for each in others), default=0.0)
        if self.question.engine != AUTO or not 0.0 < level <= self.delta:
            return None
        if not Case.of(mechanism, self.question, False, AIM, below=False).below_by_moments(self.epsilon, level):
            return None
        return Tried(value, mechanism, None, Bound(0.0, level), True, False, None)

    def weigh(self, tried: Tried) -> Tried:
        """The same with the other question, which may tell apart what a delta of 0 or 1, or no epsilon, does not."""
        return tried if tried.bound(self.second) is not None else self._asked(tried, self.second, LADDER[FAR])

    def printed(self, tried: Tried) -> Tried:
        """The same with an epsilon that is worth printing."""
        return self._asked(tried, "epsilon", PRINTED)

    def line(self, one: Tried, two: Tried, by_epsilon: bool) -> tuple[float, float] | None:
        """Two numbers, about 0 at the target, that are nearly linear in the log of most unknowns; None for none."""
        first, second = ("epsilon", "delta") if by_epsilon else ("delta", "epsilon")
        return self._line(one, two, first) or self._line(one, two, second)

    def _line(self, one: Tried, two: Tried, quantity: str) -> tuple[float, float] | None:
        first, second = one.bound(quantity), two.bound(quantity)
        if first is None or second is None:
            return None
        gauge = _log if quantity == "epsilon" else partial(equivalent, self.epsilon)
        goal = gauge(self.epsilon if quantity == "epsilon" else self.delta)
        (low0, high0), (low1, high1) = ((gauge(each.lower), gauge(each.upper)) for each in (first, second))
        y0, y1 = low0 + (high0 - low0) / 2.0 - goal, low1 + (high1 - low1) / 2.0 - goal
        noise = max(high0 - low0, high1 - low1)
        if not (math.isfinite(y0) and math.isfinite(y1) and y0 != y1 and noise <= CLEAR * abs(y0 - y1)):
            return None
        wrong = any(each.meets if y > 0.0 else each.misses for each, y in ((one, y0), (two, y1)))
        return None if wrong else (y0, y1)  # where this points to the wrong side, the other question has decided

    def shown(self, tried: Tried) -> Bound:
        """Epsilon at the target's delta; what delta has shown about it is put in."""
        bound = tried.epsilon or Bound(0.0, math.inf, None if tried.delta is None else tried.delta.certificate)
        if tried.meets:
            return replace(bound, lower=min(bound.lower, self.epsilon), upper=min(bound.upper, self.epsilon))
        return replace(bound, lower=max(bound.lower, self.epsilon), upper=max(bound.upper, self.epsilon))

    def _asked(self, tried: Tried, quantity: str, accuracy: float) -> Tried:
        """With one more answer, where what is known is not as narrow."""
        known = tried.bound(quantity)
        if known is not None and known.width <= accuracy * known.upper:
            return tried
        found = self._bound(tried, quantity, None if accuracy == SHARP else accuracy)
        if isinstance(found, str):
            return replace(tried, why=found)
        if known is not None:
            narrower = min(known, found, key=lambda each: each.width)  # both contain the truth
            found = Bound(max(known.lower, found.lower), min(known.upper, found.upper), narrower.certificate)
        e, d = (found, tried.delta) if quantity == "epsilon" else (tried.epsilon, found)
        meets = (e is not None and e.upper <= self.epsilon) or (d is not None and d.upper <= self.delta)
        misses = (e is not None and e.lower > self.epsilon) or (d is not None and d.lower > self.delta)
        return replace(tried, epsilon=e, delta=d, meets=meets, misses=misses)

    def _bound(self, tried: Tried, quantity: str, accuracy: float | None) -> Bound | str:
        """The bound, however wide, or why there is none."""
        question = replace(self.question, quantity=quantity, accuracy=accuracy)
        try:
            with work.part(FAR_SHARE if accuracy == LADDER[FAR] else SHARE):
                case = self._cases.pop(tried.value, None) or Case.of(tried.mechanism, question, False, AIM, below=False)
                self._cases = dict([*self._cases.items(), (tried.value, case)][-CASES_MOST:])
                return ask_again(case, question, self.delta if quantity == "epsilon" else self.epsilon)
        except AccuracyNotReached as wide:
            return wide.bound
        except WorkExhausted as error:
            return f"{error.resource} ran out"
        except UnsupportedMechanism as error:
            error.rename(shortened(str(tried.mechanism)))
            self.refusal = self.refusal or error
            return str(error)


def _log(value: float) -> float:
    return math.log(value) if 0.0 < value < math.inf else math.nan
