"""Where the contour runs: the saddle, the step, and the second tilt that bounds the aliases.

Everything here is a choice in plain floats: a bad one makes the answer wide, never wrong.
psi(c) = K(c) - c eps - log c(c+1) is least at the saddle, where eps = K'(c) - 1/c - 1/(c+1), and
delta is about e^psi / sqrt(2 pi psi'').
Reference: Daniels 1954 (saddle-point approximations).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ..errors import UnsupportedMechanism
from ..facets.cgf import Cgf, Cumulants
from ..kernels.plain import dyadic
from .tuning import BRACKET_MIN, SAMPLE, SEARCH_FACTOR, SEARCH_STEPS, STEP_BITS, TILT_BITS, TILT_MAX, TILT_MIN

Weighted = Sequence[tuple[Cgf, float]]


@dataclass(frozen=True, slots=True)
class Saddle:
    """The tilt c, the epsilon it belongs to, and the shape of the integrand there."""

    tilt: float
    epsilon: float
    log_delta: float
    cumulants: Cumulants

    @property
    def curvature(self) -> float:
        """psi''."""
        return self.cumulants.variance + self.tilt**-2 + (self.tilt + 1.0) ** -2

    @property
    def estimate(self) -> float:
        """log of the saddle-point approximation of delta."""
        height = self.cumulants.value - self.tilt * self.epsilon - math.log(self.tilt * (self.tilt + 1.0))
        return height - 0.5 * math.log(2.0 * math.pi * self.curvature)

    @property
    def cancellation(self) -> float:
        """How many e-folds the integral is smaller than its integrand suggests."""
        return max(0.0, self.estimate - self.log_delta)


Towards = Callable[[Saddle], tuple[float, bool]]


class Shape(ABC):
    """A measure whose K, K' and K'' are known approximately: all that a contour needs to be placed."""

    @abstractmethod
    def cumulants(self, tilt: float) -> Cumulants:
        """K, K' and K''."""

    def sample(self) -> Shape:
        """Something cheaper that is nearly the same."""
        return self


@dataclass(frozen=True)
class CgfSum(Shape):
    """Terms with counts: cgfs add."""

    terms: Weighted

    def cumulants(self, tilt: float) -> Cumulants:
        parts = [(cgf.cumulants(tilt), count) for cgf, count in self.terms]
        if len(parts) == 1:
            (value, mean, variance), count = parts[0]
            return Cumulants(count * value, count * mean, count * variance)
        return Cumulants(*(math.fsum(count * part[index] for part, count in parts) for index in range(3)))

    def sample(self) -> Shape:
        """Some of many terms, which stand for all of them."""
        if len(self.terms) < 2 * SAMPLE:
            return self
        stride = max(1, len(self.terms) // SAMPLE)
        few = self.terms[stride // 2 :: stride]
        return CgfSum([(cgf, count * len(self.terms) / len(few)) for cgf, count in few])


def saddle_at(shape: Shape, tilt: float) -> Saddle:
    """The saddle values at a tilt, for its own epsilon."""
    now = shape.cumulants(tilt)
    return _estimated(tilt, now.mean - 1.0 / tilt - 1.0 / (tilt + 1.0), now)


def _estimated(tilt: float, epsilon: float, now: Cumulants) -> Saddle:
    """With the saddle-point approximation of delta."""
    return Saddle(tilt, epsilon, Saddle(tilt, epsilon, 0.0, now).estimate, now)


def find_saddle(
    shape: Shape,
    epsilon: float | None,
    log_delta: float | None,
    tilt_most: float = TILT_MAX,
    start: float = 1.0,
    *,
    log_least: float = -math.inf,
    closeness: float = 1.0,
) -> Saddle:
    """The saddle for a given epsilon, or for the epsilon that has this log delta (not below 0).

    log_least: a tilt that makes log delta at epsilon so small is steep enough. closeness: below 1, the search goes on.
    """
    if epsilon is None and log_delta is not None:
        found = _solve(shape, lambda saddle: _towards_delta(saddle, log_delta, closeness), tilt_most, start)
        if found.epsilon >= 0.0:
            return found
    at = epsilon or 0.0
    found = _solve(shape, lambda saddle: _towards_epsilon(saddle, at, log_least, closeness), tilt_most, start)
    return _estimated(found.tilt, at, found.cumulants)


def _towards_delta(saddle: Saddle, log_delta: float, closeness: float) -> tuple[float, bool]:
    """Newton's step for log(4 - log delta) in log c, which is nearly straight; and whether it is close enough."""
    reached, wanted = 4.0 - saddle.log_delta, 4.0 - log_delta
    slope = saddle.tilt**2 * saddle.curvature
    step = math.log(wanted / reached) * reached / slope if reached > 0.0 else 1.0
    return step, abs(saddle.log_delta - log_delta) < 0.2 * closeness


def _towards_epsilon(saddle: Saddle, epsilon: float, log_least: float, closeness: float) -> tuple[float, bool]:
    """Newton's step for eps in log c; close enough where the loss of a wrong c is a factor near 1."""
    missing = epsilon - saddle.epsilon
    if missing > 0.0 and log_least > -math.inf and replace(saddle, epsilon=epsilon).estimate < log_least:
        return -1.0, False
    return missing / (saddle.tilt * saddle.curvature), missing * missing < 0.01 * closeness**2 * saddle.curvature


def _solve(shape: Shape, towards: Towards, tilt_most: float, start: float) -> Saddle:
    """The search, which starts where some of many terms would have their saddle."""
    few = shape.sample()
    if few is not shape:
        with suppress(UnsupportedMechanism, OverflowError):
            start = _search(few, towards, start, tilt_most).tilt
    return _search(shape, towards, start, tilt_most)


def _search(shape: Shape, towards: Towards, start: float, tilt_most: float) -> Saddle:
    """Newton in log c inside a shrinking bracket, halving it where Newton is slow."""
    low, high, log_tilt = math.log(TILT_MIN), math.log(tilt_most), math.log(min(start, tilt_most))
    last = math.inf
    for _ in range(120):
        saddle = saddle_at(shape, dyadic(math.exp(log_tilt), TILT_BITS))
        step, done = towards(saddle)
        if done or high - low < BRACKET_MIN:
            return saddle
        low, high = (max(low, log_tilt), high) if step > 0.0 else (low, min(high, log_tilt))
        following = log_tilt + max(-1.5, min(1.5, step))
        slow = abs(step) > 0.7 * abs(last) and high - low < 3.0
        last, log_tilt = step, 0.5 * (low + high) if slow or not low < following < high else following
    raise UnsupportedMechanism("the saddle point is out of reach; try engine='lattice'")


@dataclass(frozen=True, slots=True)
class NodeStep:
    """The step h of the contour sum, and the tilt s > c of the alias bound."""

    step: float
    alias_tilt: float


def choose_step(shape: Shape, saddle: Saddle, log_tolerance: float) -> NodeStep:
    """The largest step whose aliases stay below delta e^-log_tolerance, about.

    Some of many terms tell about where the best tilt lies; all of them decide.
    """
    c, allowed = saddle.tilt, min(saddle.log_delta, 0.0) - log_tolerance
    distance = math.sqrt(2.0 * log_tolerance / saddle.curvature)
    few = shape.sample()
    if few is not shape:
        distance = (_least_period(few, saddle, allowed, distance)[1] - c) / SEARCH_FACTOR
    best, chosen = _least_period(shape, saddle, allowed, distance)
    period = max(best, -allowed / c)
    return NodeStep(dyadic(2.0 * math.pi / period, STEP_BITS), chosen)


def _least_period(shape: Shape, saddle: Saddle, allowed: float, distance: float) -> tuple[float, float]:
    """The best distance is near this one for a normal loss, and shorter where K grows faster."""
    best, chosen = math.inf, 2.0 * saddle.tilt
    for _ in range(SEARCH_STEPS):
        s = dyadic(saddle.tilt + distance, TILT_BITS + 4)
        period, falls = _period(shape, saddle, allowed, s)
        if period > best:
            break
        best, chosen, distance = period, s, SEARCH_FACTOR * distance
        if falls:
            break
    return best, chosen


def _period(shape: Shape, saddle: Saddle, allowed: float, s: float) -> tuple[float, bool]:
    """How far apart aliases must be for their bound at the tilt s to be e^allowed, and whether that falls with s."""
    if not s > saddle.tilt:
        return math.inf, False
    now = shape.cumulants(s)
    period = (log_alias_height(now.value, s, saddle.epsilon) - allowed) / (s - saddle.tilt)
    return period, now.mean - saddle.epsilon - math.log1p(1.0 / s) < period


def log_alias_height(value: float, s: float, epsilon: float) -> float:
    """log of kappa(s) e^{K(s) - s eps}, kappa(s) = s^s/(1+s)^{1+s} = (1 + 1/s)^{-s}/(1 + s)."""
    return value - s * epsilon - s * math.log1p(1.0 / s) - math.log1p(s)
