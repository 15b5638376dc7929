"""How far apart two normal laws must be: the mu of N(mu, 1) against N(0, 1), in balls.

H_mu(e^t) = Phi(-x) - e^t Phi(-y), x = t/mu - mu/2, y = t/mu + mu/2, and 1 - H_mu(e^t) = Phi(x) + e^t Phi(-y), of which
nothing cancels. H_mu grows with mu: dH/dmu = phi(x). Above a whole line b - s a of slope -s it is where
mu >= Phi^-1(b) - Phi^-1(s): the power of the best test of size s is Phi(Phi^-1(s) + mu).
Guarantee: ends are proven by comparisons of balls, whatever the guess was. Proof: docs/proofs/gdp.md, sections 1 and 2.
Reference: Dong, Roth, Su 2022, Cor. 2.13; Balle, Wang 2018, Thm 8.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from flint import arb

from .ball import BITS_START, erfc, lower_float, upper_float, working_precision

SHIFT_STEPS = 80
SHIFT_DONE = 1e-9  # a step of Newton's: the next one would be its square
SHIFT_STRIDE = 1.0  # of log mu, in one step
SHIFT_SLACKS = (2.0**-50, 2.0**-46, 2.0**-36, 2.0**-24, 2.0**-12)  # around a guess, relative
SHIFT_BITS_MAX = 4096
LEAST_SHIFT, LARGEST_SHIFT = 1e-300, 1e300  # others are not looked for


class Level(NamedTuple):
    """A value of H and what is left to 1, both as balls that cancel nothing."""

    value: arb
    rest: arb


def level(value: float | arb) -> Level:
    """That of a double, exactly."""
    with working_precision(2 * SHIFT_BITS_MAX):
        return Level(arb(value), 1 - arb(value))


def hockey_stick(mu: arb, t: arb) -> arb:
    """H_mu(e^t)."""
    x, y = _places(mu, t)
    return normal_above(x) - t.exp() * normal_above(y)


def rest(mu: arb, t: arb) -> arb:
    """1 - H_mu(e^t)."""
    x, y = _places(mu, t)
    return normal_above(-x) + t.exp() * normal_above(y)


def normal_above(z: arb) -> arb:
    """P[N > z]."""
    return erfc(z / arb(2).sqrt()) / 2


def quantile_above(p: arb) -> arb:
    """z with P[N > z] = p, for 0 < p < 1."""
    return arb(2).sqrt() * (2 * p).erfcinv()


def _places(mu: arb, t: arb) -> tuple[arb, arb]:
    return t / mu - mu / 2, t / mu + mu / 2


def reaches(mu: float, t: float, goal: Level) -> bool | None:
    """Whether H_mu(e^t) is at or above the goal, for certain; None where that cannot be told."""
    if mu == 0.0:
        return None if goal.value > 0 else True
    small = bool(goal.value < 0.5)

    def gap() -> arb:
        at, place = arb(mu), arb(t)
        return hockey_stick(at, place) - goal.value if small else goal.rest - rest(at, place)

    return _sign(gap, _bits(mu))


def shift_below(t: float, goal: Level, guess: float = 0.0) -> float:
    """A double at or below the mu with H_mu(e^t) = goal, t >= 0, and next to it; 0 where that cannot be told."""
    if not (goal.value > 0 and goal.rest > 0):
        return 0.0
    value = _newton(t, goal, guess)
    return next((each for slack in SHIFT_SLACKS if reaches(each := value * (1.0 - slack), t, goal) is False), 0.0)


def shift_above(t: float, goal: Level, guess: float = 0.0) -> float:
    """A double at or above it, likewise; inf where that cannot be told."""
    if goal.value <= 0:
        return 0.0
    if not goal.rest > 0:
        return math.inf
    value = _newton(t, goal, guess)
    return next((each for slack in SHIFT_SLACKS if reaches(each := value * (1.0 + slack), t, goal)), math.inf)


def shift_above_line(intercept: Level, slope: arb, size: float) -> float:
    """At or above the mu whose H is above the line intercept - slope a; size is about how large it is."""
    with working_precision(_bits(size)):
        if not (intercept.rest > 0 and slope > 0):
            return math.inf
        return max(upper_float(quantile_above(slope) + quantile_above(intercept.rest)), 0.0)


def _newton(t: float, goal: Level, guess: float) -> float:
    """About the root, from the guess on or from the left."""
    with working_precision(BITS_START):
        about, small = max(guess or _below(t, goal), LEAST_SHIFT), bool(goal.value < 0.5)
    for _ in range(SHIFT_STEPS):
        with working_precision(_bits(about)):
            mu, place = arb(about), arb(t)
            x, _ = _places(mu, place)
            value = hockey_stick(mu, place) if small else rest(mu, place)
            slope = mu * (-x * x / 2).exp() / (2 * arb.pi()).sqrt() / value
            step = (goal.value / value).log() / slope if small else (value / goal.rest).log() / slope
            move = float(step.mid()) if step.is_finite() else SHIFT_STRIDE
        about *= math.exp(min(max(move, -SHIFT_STRIDE), SHIFT_STRIDE))
        if abs(move) < SHIFT_DONE or not about < LARGEST_SHIFT:
            break
    return about


def _below(t: float, goal: Level) -> float:
    """At or below the root: H_mu(e^t) <= H_mu(1), and <= e^(-x^2/2)."""
    first = 2 * arb(2).sqrt() * goal.value.erfinv() if goal.value < 0.5 else 2 * quantile_above(goal.rest / 2)
    fall = (-2 * goal.value.log()).sqrt()
    second = 2 * arb(t) / (fall + (fall * fall + 2 * arb(t)).sqrt())
    return max(lower_float(first), lower_float(second))


def _bits(size: float) -> int:
    """Of H_mu about so many bits cancel twice as mu is small."""
    lost = 0 if size >= 1.0 else -2 * math.frexp(max(size, LEAST_SHIFT))[1]
    return BITS_START + lost


def _sign(gap: Callable[[], arb], bits: int) -> bool | None:
    """Whether a number is at least 0; more bits until that is certain."""
    while True:
        with working_precision(bits):
            value = gap()
            if value >= 0:
                return True
            if value < 0:
                return False
        bits *= 2
        if bits > SHIFT_BITS_MAX:
            return None
