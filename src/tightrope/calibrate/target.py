"""What is asked of a value, and how it answers.

A value meets the target if epsilon at the target's delta is at most the target's, or delta at its epsilon at most its
delta; it misses it if one of them is shown to be above. Both are certain, or nothing is said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from .. import work
from ..bound import Bound
from ..errors import AccuracyNotReached, UnsupportedMechanism, WorkExhausted
from ..mechanisms.base import Mechanism
from ..question import Question

SHARP = 1e-6  # what is aimed at where no accuracy is asked for
# What is asked until a value is decided: delta tells finer than epsilon, and cheaper.
LADDER = (("epsilon", 0.05), ("epsilon", 1e-4), ("delta", 1e-4), ("delta", SHARP))
FAR, NEAR = 0, 1  # where to start on it
SHARE = 0.5  # of the time that is left: what one question may take


@dataclass(frozen=True, slots=True)
class Tried:
    """What is known of one value; None where no engine could tell."""

    value: float
    mechanism: Mechanism
    epsilon: Bound | None  # at the target's delta
    delta: Bound | None  # at the target's epsilon, where it was asked for
    meets: bool
    misses: bool
    why: str | None  # what was in the way of a narrower answer

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

    def ask(self, value: float, mechanism: Mechanism, level: int) -> Tried:
        """Epsilon or delta, as sharp as it takes to decide; level says how far the value is believed to be off."""
        tried = Tried(value, mechanism, None, None, False, False, None)
        for quantity, accuracy in LADDER[level:]:
            if quantity == "epsilon" and self.epsilon == 0.0:
                continue  # an epsilon of 0 tells nothing of what is left of delta
            tried = self._asked(tried, quantity, accuracy)
            if tried.decided:
                break
        return tried

    def weigh(self, tried: Tried) -> Tried:
        """The same with delta at the target's epsilon, which tells apart what an epsilon of 0 or inf does not."""
        return tried if tried.delta is not None else self._asked(tried, "delta", LADDER[NEAR][1])

    def sharpen(self, tried: Tried) -> Tried:
        """The same with an epsilon that is worth printing."""
        return self._asked(tried, "epsilon", LADDER[NEAR][1])

    def slope(self, one: Tried, two: Tried) -> tuple[float, float] | None:
        """Two numbers, about 0 at the target, that a line in the log of the unknown goes through; None for none."""
        epsilons = _logs(one.epsilon, two.epsilon, self.epsilon)
        if epsilons is not None and _noise(one.epsilon, two.epsilon) <= 0.25 * abs(epsilons[0] - epsilons[1]):
            # Where epsilon points to the wrong side, delta has decided.
            if not any(each.meets if y > 0.0 else each.misses for each, y in zip((one, two), epsilons, strict=True)):
                return epsilons
        return _logs(one.delta, two.delta, self.delta)

    def shown(self, tried: Tried) -> Bound:
        """Epsilon at the target's delta; what delta has shown about it is put in."""
        bound = tried.epsilon or Bound(0.0, math.inf)
        if tried.meets:
            return replace(bound, lower=min(bound.lower, self.epsilon), upper=min(bound.upper, self.epsilon))
        return replace(bound, lower=max(bound.lower, self.epsilon), upper=max(bound.upper, self.epsilon))

    def _asked(self, tried: Tried, quantity: str, accuracy: float) -> Tried:
        """With one more answer, where what is known is not as narrow."""
        known = tried.epsilon if quantity == "epsilon" else tried.delta
        if known is not None and known.width <= accuracy * known.upper:
            return tried
        found = self._bound(tried.mechanism, quantity, None if accuracy == SHARP else accuracy)
        if isinstance(found, str):
            return replace(tried, why=found)
        if known is not None:
            narrower = min(known, found, key=lambda each: each.width)  # both contain the truth
            found = Bound(max(known.lower, found.lower), min(known.upper, found.upper), narrower.certificate)
        e, d = (found, tried.delta) if quantity == "epsilon" else (tried.epsilon, found)
        meets = (e is not None and e.upper <= self.epsilon) or (d is not None and d.upper <= self.delta)
        misses = (e is not None and e.lower > self.epsilon) or (d is not None and d.lower > self.delta)
        return replace(tried, epsilon=e, delta=d, meets=meets, misses=misses)

    def _bound(self, mechanism: Mechanism, quantity: str, accuracy: float | None) -> Bound | str:
        """The bound, however wide, or why there is none."""
        ask = mechanism.epsilon if quantity == "epsilon" else mechanism.delta
        given, how = self.delta if quantity == "epsilon" else self.epsilon, self.question
        direction = None if how.direction is None else how.direction.value
        try:
            with work.part(SHARE):
                return ask(given, accuracy=accuracy, proof=how.proof, engine=how.engine, direction=direction)
        except AccuracyNotReached as wide:
            return wide.bound
        except WorkExhausted as error:
            return f"{error.resource} ran out"
        except UnsupportedMechanism as error:
            self.refusal = self.refusal or error
            return str(error)


def _logs(one: Bound | None, two: Bound | None, level: float) -> tuple[float, float] | None:
    """About log(bound / level) of both, where they differ."""
    if one is None or two is None or level == 0.0:
        return None
    first, second = (each.lower + (each.upper - each.lower) / 2.0 for each in (one, two))
    if not (0.0 < first < math.inf and 0.0 < second < math.inf) or first == second:
        return None
    return math.log(first) - math.log(level), math.log(second) - math.log(level)


def _noise(*bounds: Bound | None) -> float:
    return max(each.width / each.upper for each in bounds if each is not None)
