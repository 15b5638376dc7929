"""Both tails of the normal law, to a few ulps from the middle down to the smallest normal double.

P[N > a] = erfcx(a / sqrt 2) e^(-a^2 / 2) / 2 for a >= 0; the other side is one minus it, at least a half.
P[|N| <= a] = sqrt(2 / pi) e^(-a^2 / 2) sum of a^(2n+1)/(1 3 ... (2n+1)) for small a: nothing cancels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from flint import arb

from . import rounding
from .balls import BITS_START, erfc, lower_float, upper_float, working_precision
from .double_double import DoubleDouble, FloatArray, double_double
from .enclosures import Enclosure, around, exact, where
from .enclosures import FloatArray as enclosure_FloatArray
from .fp_environment import demand_erfcx
from .rounding import SUBNORMAL, UNIT

# Relative error of either tail; where it is below the normal doubles, add ulps.SUBNORMAL.
NORMAL_TAIL_ERROR = (rounding.ERFCX + 2.0 * rounding.EXP + 9.0) * rounding.UNIT

# Tails beyond are under 1e-349, far below the smallest double.
_BEYOND = 40.0

# 1 3 5 ... 35 is above 1e20.
_LAST_ODD = 35


def normal_tails(z: DoubleDouble) -> tuple[FloatArray, FloatArray]:
    """P[N > z] and P[N <= z] of a standard normal N; 0 and 1 at the infinities.

    a^2 is taken in two doubles h + l, since one would cost a^2 / 2 ulps: e^(-a^2/2) = e^(-h/4) e^(-h/4) (1 - l/2); the
    halves keep each factor a normal number. What a.lo adds to erfcx is below half an ulp and left out.
    Guarantee: |computed - tail| <= NORMAL_TAIL_ERROR tail + SUBNORMAL, NaN for NaN. Proof: docs/proofs/rounding.md.
    """
    from scipy.special import erfcx, errstate

    demand_erfcx()
    with np.errstate(all="ignore"), errstate(all="ignore"):
        sign = np.where(z.hi < 0.0, -1.0, 1.0)
        near = abs(z.hi) < _BEYOND
        a = DoubleDouble(np.minimum(abs(z.hi), _BEYOND), np.where(near, z.lo * sign, 0.0))
        square = a * a
        half = np.exp(-0.25 * square.hi)
        scaled = erfcx(a.hi * math.sqrt(0.5)) * (0.5 - 0.25 * square.lo)
        small = (scaled * half) * half
        large = 1.0 - small
    return np.where(z.hi < 0.0, large, small), np.where(z.hi < 0.0, small, large)


def both_sides(z: DoubleDouble) -> tuple[FloatArray, FloatArray]:
    """P[|N| > z] and P[|N| <= z] for z >= 0.

    Up to 1 the second is the sum, cut where a term is below 1e-18; z.lo changes it by less than a unit.
    Guarantee: NORMAL_TAIL_ERROR and 2 SUBNORMAL, NaN for NaN. Proof: docs/proofs/gaussian_variance.md, section 3.
    """
    beyond = 2.0 * normal_tails(z)[0]
    with np.errstate(all="ignore"):
        a = np.minimum(z.hi, 1.0)
        square, total = a * a, np.ones_like(a)
        for odd in range(_LAST_ODD, 1, -2):
            total = 1.0 + square / odd * total
        within = math.sqrt(2.0 / math.pi) * a * np.exp(-0.5 * square) * total
    return beyond, np.where(z.hi < 1.0, within, 1.0 - beyond)


# The masses of a normal law in the cells of a row of points, each with a relative precision of its own.
#
# A cell [c - h, c + h] that is narrow has the mass phi(c) times the integral of e^(-c s - s^2/2) over [-h, h], and
#     that = 2 h sum over n of A_2n/(2n + 1),  A_n = He_n(c) (-h)^n/n!,  (n + 1) A_(n+1) = -c h A_n - h^2 A_(n-1).
# e^(-c s - s^2/2) is entire and at most e^(|c| r + r^2/2) for |s| = r, so with r = 8 h (Cauchy)
#     |A_n| <= 8^-n e^(8 |c| h + 32 h^2).
# Of a wide cell the mass is the difference of the tails on its smaller side.
# Guarantee: enclosed. Proof: docs/proofs/allocation.md, section 13.

NARROW_CELL = 0.25  # of h, and of |c| h
LAST = 20  # the first even n that is left out
CAUCHY = (
    math.exp(8.0 * NARROW_CELL + 32.0 * NARROW_CELL**2) * 8.0**-LAST
)  # bounds all even terms from there on, and more
NORMAL_PEAK = Enclosure(np.asarray(0.3989422804014327), np.asarray(1e-16))


def cell_masses(points: enclosure_FloatArray, shift: Enclosure) -> Enclosure:
    """P[N + shift in (points_i, points_i+1)] for rising points, of which the first may be -inf."""
    left, right = points[:-1], points[1:]
    with np.errstate(all="ignore"):
        finite = np.isfinite(left)
        start = np.where(finite, left, right)
        centre = (exact(start) + exact(right)) * 0.5 - shift
        half = (exact(right) - exact(start)) * 0.5
        size = np.maximum(abs(centre.value), 1.0) + centre.radius
        narrow = finite & (half.upper * size <= NARROW_CELL)
        series = _series(where(narrow, centre, exact(0.0 * start)), where(narrow, half, exact(0.0 * start)))
        return where(narrow, series, _difference(points, shift))


def _series(centre: Enclosure, half: Enclosure) -> Enclosure:
    step, square = -(centre * half), half * half
    before, now = exact(np.ones_like(half.value)), step
    total = before
    for n in range(2, LAST):
        before, now = now, (step * now - square * before) * around(1.0 / n, 2.0 * UNIT / n)
        if n % 2 == 0:
            total = total + now * around(1.0 / (n + 1), 2.0 * UNIT / (n + 1))
    total = Enclosure(total.value, total.radius + CAUCHY)
    return (centre * centre * -0.5).exp() * NORMAL_PEAK * half * 2.0 * total


def _difference(points: enclosure_FloatArray, shift: Enclosure) -> Enclosure:
    """Tails at the points as they are, moved by the doubles that enclose the shift."""
    ends = [normal_tails(double_double(points) - float(values)) for values in (shift.lower, shift.upper)]
    (above, below), (above_more, below_more) = ends
    low, high = points[:-1] - float(shift.upper), points[1:] - float(shift.lower)
    upper = low + high > 0.0

    def hull(least: enclosure_FloatArray, most: enclosure_FloatArray) -> Enclosure:
        spread = abs(most - least) + 1.01 * NORMAL_TAIL_ERROR * np.maximum(least, most) + 2.0 * SUBNORMAL
        return around(least, spread)

    tail, head = hull(above, above_more), hull(below, below_more)
    return where(upper, tail[:-1] - tail[1:], head[1:] - head[:-1])


# How far apart two normal laws must be: the mu of N(mu, 1) against N(0, 1), in balls.
#
# H_mu(e^t) = Phi(-x) - e^t Phi(-y), x = t/mu - mu/2, y = t/mu + mu/2, and 1 - H_mu(e^t) = Phi(x) + e^t Phi(-y), of
# which
# nothing cancels. H_mu grows with mu: dH/dmu = phi(x). Above a whole line b - s a of slope -s it is where
# mu >= Phi^-1(b) - Phi^-1(s): the power of the best test of size s is Phi(Phi^-1(s) + mu).
# Guarantee: ends are proven by comparisons of balls, whatever the guess was. Proof: docs/proofs/gdp.md, sections 1 and
# 2.
# Reference: Dong, Roth, Su 2022, Cor. 2.13; Balle, Wang 2018, Thm 8.

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
