"""The least noise, the largest rate or count that meets a target.

A value is returned only if the upper bound meets the target there; the value named as missed is one where the lower
bound shows that the target is not met. The two lie within the tolerance of one another (one apart for whole numbers),
unless the engines cannot tell them apart.
Guarantee: value meets (epsilon, delta), missed does not; both by certified bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from .bound import Bound
from .calls import checked
from .errors import AccuracyNotReached, BracketNotFound, InvalidParameter
from .kernels.search import Compared, compare, invert
from .mechanisms.base import Mechanism
from .mechanisms.parameters import nonnegative, probability

TOLERANCE = 1e-6
REAL_MOST = 1e15
STEPS_MOST = 50
FAR_ACCURACY = 0.05  # enough to see on which side of the target a value lies
WHOLE_MOST = 10**15


@dataclass(frozen=True, slots=True)
class Missed:
    """A value that does not meet the target, and the epsilon that it has at the target's delta."""

    value: float
    bound: Bound


@dataclass(frozen=True, slots=True)
class Calibration:
    """The best value found, its epsilon at the target's delta, and the nearest value shown to miss the target.

    missed is None where the parameter ends before the target is missed.
    """

    parameter: str
    value: float
    bound: Bound
    missed: Missed | None


@dataclass(frozen=True, slots=True)
class _Loss:
    """delta at the target's epsilon as the interval that the search compares with the target's delta."""

    lower: float
    upper: float

    @property
    def middle(self) -> float:
        return self.lower + (self.upper - self.lower) / 2.0


_NOTHING = _Loss(1.0, 1.0)  # no noise at all, or a rate above its end


@checked
def calibrate(
    make: Callable[[float], Mechanism],
    *,
    epsilon: float,
    delta: float,
    parameter: str = "value",
    integer: bool = False,
    most: float | None = None,
    tolerance: float = TOLERANCE,
    proof: bool = False,
    engine: str = "auto",
    direction: str | None = None,
) -> Calibration:
    """The value closest to the target (epsilon, delta) from the safe side.

    make builds the mechanism from the unknown, which privacy must depend on monotonically, either way. integer: the
    unknown is a whole number. most: the largest value that makes sense (1 for a rate). tolerance: relative distance
    to the value that is shown to miss the target. The other arguments are those of Mechanism.epsilon.
    """
    epsilon, delta = nonnegative("epsilon", epsilon), probability("delta", delta)
    if delta == 1.0:
        raise InvalidParameter("delta 1 promises nothing: every value meets it")
    if not 0.0 < tolerance < 1.0:
        raise InvalidParameter(f"tolerance must lie between 0 and 1, not {tolerance!r}")
    target = _Target(make, epsilon, delta, parameter, proof, engine, direction)
    end = float(most) if most is not None else (WHOLE_MOST if integer else REAL_MOST)
    value, missed = _whole(target, int(end)) if integer else _real(target, end, tolerance)
    return Calibration(
        parameter, value, target.meeting(value), None if missed is None else Missed(missed, target.missing(missed))
    )


@dataclass(frozen=True, slots=True)
class _Target:
    """What is asked, and how a value answers."""

    make: Callable[[float], Mechanism]
    epsilon: float
    delta: float
    parameter: str
    proof: bool
    engine: str
    direction: str | None

    def loss(self, value: float) -> _Loss:
        """delta at this value, refined only where it is close to the target."""
        mechanism = self.make(value)
        far = self._delta(mechanism, FAR_ACCURACY)
        if far.upper <= 0.5 * self.delta or far.lower > 2.0 * self.delta:
            return far
        return self._delta(mechanism, None)

    def _delta(self, mechanism: Mechanism, accuracy: float | None) -> _Loss:
        try:
            bound = mechanism.delta(
                self.epsilon, accuracy=accuracy, proof=self.proof, engine=self.engine, direction=self.direction
            )
        except AccuracyNotReached as wide:
            bound = wide.bound
        return _Loss(bound.lower, bound.upper)

    def _epsilon(self, value: float) -> Bound:
        return self.make(value).epsilon(self.delta, proof=self.proof, engine=self.engine, direction=self.direction)

    def meeting(self, value: float) -> Bound:
        """delta(epsilon) <= delta was proven here, so epsilon at delta is at most the target as well."""
        bound = self._epsilon(value)
        return replace(bound, lower=min(bound.lower, self.epsilon), upper=min(bound.upper, self.epsilon))

    def missing(self, value: float) -> Bound:
        """delta(epsilon) > delta was proven here, so epsilon at delta is at least the target as well."""
        bound = self._epsilon(value)
        return replace(bound, lower=max(bound.lower, self.epsilon), upper=max(bound.upper, self.epsilon))

    def nowhere(self, detail: str) -> BracketNotFound:
        return BracketNotFound(
            f"no {self.parameter} meets epsilon {self.epsilon:g} at delta {self.delta:g}: {detail}", self.parameter
        )


def _real(target: _Target, most: float, tolerance: float) -> tuple[float, float | None]:
    """More noise or less of a rate: in either case a decreasing function of y, y = x or 1/x, is inverted."""
    middle = 1.0 if most >= 4.0 else most / 4.0
    noise = _is_noise(target, ((middle / spread, min(middle * spread, most)) for spread in (2.0, 64.0, 1e4, 1e8)))
    if not noise and target.loss(most).upper <= target.delta:
        return most, None

    def falling(y: float) -> Compared[_Loss]:
        if y == 0.0 or (not noise and y < 1.0 / most):
            return compare(1.0, 1.0, target.delta, _NOTHING)
        if y > (most if noise else REAL_MOST):
            raise target.nowhere(f"tried {'up to' if noise else 'down to 1 /'} {y:g}; is privacy monotone in it?")
        loss = target.loss(y if noise else 1.0 / y)
        return compare(loss.lower, loss.upper, target.delta, loss)

    found = invert(falling, math.inf, 0.9 * tolerance)
    good = found.upper if noise else 1.0 / found.upper
    bad = found.lower if noise else (1.0 / found.lower if found.lower > 0.0 else math.inf)
    for _ in range(STEPS_MOST):
        if target.loss(good).upper <= target.delta:  # 1/y was rounded: what counts holds at the value itself
            proven = found.at_lower not in (None, _NOTHING) and target.loss(bad).lower > target.delta
            return good, bad if proven else None
        good *= 1.0 + 1e-9 if noise else 1.0 - 1e-9
    raise target.nowhere("the bounds are too wide to tell")


def _is_noise(target: _Target, pairs: Iterable[tuple[float, float]]) -> bool:
    """Whether delta falls as the value grows, by the first pair of values that differ."""
    for low, high in pairs:
        near, far = target.loss(low), target.loss(high)
        if near.middle != far.middle:
            return far.middle < near.middle
    if far.upper <= target.delta:
        return False  # every value meets the target, so the largest does
    raise target.nowhere(f"delta does not depend on {target.parameter}")


def _whole(target: _Target, most: int) -> tuple[int, int | None]:
    """Bisection on whole numbers, after doubling."""
    noise = _is_noise(target, ((1, min(high, most)) for high in (2, 64, 10**4, 10**8)))

    def meets(n: int) -> bool:
        return target.loss(n).upper <= target.delta

    low, high = 0, 1
    while meets(high) != noise:
        if high == most:
            if noise:
                raise target.nowhere(f"tried up to {most}")
            return most, None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        if meets(middle) == noise:
            high = middle
        else:
            low = middle
    good, bad = (high, low) if noise else (low, high)
    if good == 0:
        raise target.nowhere("not even one")
    return good, bad if bad >= 1 and target.loss(bad).lower > target.delta else None
