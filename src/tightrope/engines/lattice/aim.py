"""Where to look: the saddle of a question, the losses that matter to it, and the tilt with the shortest window.

The tilt theta solves K'(theta) - 1/theta - 1/(1+theta) = epsilon, K the cgf of the sketches.
Guarantee: none needed. Every choice made here is valid; a bad one costs width or time only.
Reference: Zhu, Dong, Wang 2021, Sec. 5 (characteristic functions); Daniels 1954, Sec. 2 (saddle point).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...kernels.enclosure import FloatArray
from ..evaluation import Term
from ..saddle import Saddle, find_saddle, saddle_at
from . import tuning
from .sketch import Sketch, Sketches, gathered, sketched

LOG_STEEPEST = math.log(tuning.STEEPEST_TILT)
LOG_DELTA_MIN = math.log(5e-324)  # below, no double is left to tell


def saddle(sketches: Sketches, epsilon: float | None, delta: float | None) -> Saddle:
    """The saddle of the question: epsilon given, or the epsilon where delta is met.

    Tilts come from a ladder: questions next to each other have the same one, and their grids the same step.
    """
    goal = math.log(delta) if delta else LOG_DELTA_MIN
    found = find_saddle(
        sketches, epsilon, goal, tuning.STEEPEST_TILT, log_least=LOG_DELTA_MIN, closeness=tuning.CLOSENESS
    )
    candidate = math.floor((math.log(found.tilt) - LOG_STEEPEST) / tuning.TILT_RUNG) + 0.5
    here = saddle_at(sketches, math.exp(LOG_STEEPEST + candidate * tuning.TILT_RUNG))
    if epsilon is None and found.epsilon > 0.0:
        return here
    here = replace(here, epsilon=found.epsilon)
    return replace(here, log_delta=here.estimate)


@dataclass(frozen=True, slots=True)
class Aim:
    """Where the question lies, how narrow its answer is to be, and the tilt and window that suit it."""

    sketches: Sketches  # as far as their losses matter
    point: Saddle  # of the question
    wanted: float  # width of log delta
    theta: float  # the tilt that needs the shortest window
    tolerance: float  # of the law so tilted: what may lie outside of the window
    window: float  # about the length of that window, as a loss
    plain: float  # the same without a tilt, with the tolerance of delta itself
    gaps: FloatArray  # tilts around theta, as distances from it
    rises: FloatArray  # of each sketch, how far its cgf lies above that at theta there
    variances: FloatArray  # of each sketch, tilted by theta

    def window_of(self, index: int, uses: int, tolerance: float) -> float:
        """The window that so many uses of one sketch need: by Chernoff at either end, by Bernstein, or all sums."""
        sketch, exponent = self.sketches.each[index], -math.log(tolerance)
        span = float(sketch.edge[-1] - sketch.edge[0] + sketch.width[0])
        normal = math.sqrt(2.0 * uses * float(self.variances[index]) * exponent)
        chernoff = _window(self.gaps, uses * self.rises[index], -exponent)
        return min(chernoff, 2.0 * (normal + span * exponent / 3.0), uses * span)


def aim(terms: Sequence[Term], epsilon: float | None, delta: float | None, accuracy: float) -> Aim:
    """Sketches every pair, finds the saddle, drops losses too rare to matter, and finds it again without them.

    Where one use alone may reach epsilon, the cgf bends upward in between and its saddle tells too large a delta; what
    single uses give is a floor, and losses are dropped by the smaller estimate.
    """
    uses = sum(count for _, count in terms)
    for_delta = epsilon is not None
    full = sketched(terms)
    if epsilon is not None:
        supremum = sum(count * sketch.highest for sketch, (_, count) in zip(full.each, terms, strict=True))
        epsilon = epsilon if epsilon < supremum else max(0.9 * supremum, 0.0)  # beyond, only infinite losses count
    point = saddle(full, epsilon, delta)
    estimate, settled = point.log_delta, False
    cut = full
    for _ in range(tuning.AIMS_MAX):
        wanted = _wanted(point, for_delta, accuracy)
        level = estimate + math.log(tuning.TOP_SHARE * min(wanted, 1.0) / max(uses, 1))
        cut = full.cut(level)
        point = saddle(cut, epsilon, delta)
        if settled:
            break
        before, estimate = estimate, point.log_delta
        if epsilon is not None and estimate < before - 3.0:  # what was dropped made nearly all of delta
            estimate, settled = max(estimate, _log_single(full, epsilon)), True
    goal = math.log(delta) if delta else -math.inf
    if epsilon is None and point.epsilon > 0.0 and abs(point.log_delta - goal) > 1.0 and goal > LOG_DELTA_MIN:
        estimate = goal  # the saddle jumps over this delta
        point = saddle(cut, _single_epsilon(cut, goal), None)
        wanted = _wanted(point, for_delta, accuracy)
    return _tilted(cut, replace(point, log_delta=estimate), wanted)


def _log_single(sketches: Sketches, epsilon: float) -> float:
    """log of about the delta of one use among all, the others without loss."""
    with np.errstate(divide="ignore"):
        return min(float(np.log(sketches.hockey_stick(epsilon))), 0.0)


def _single_epsilon(sketches: Sketches, goal: float) -> float:
    """The epsilon where that meets the goal."""
    low, high = 0.0, max(float(sketch.loss[-1]) for sketch in sketches.each)
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _log_single(sketches, middle) > goal else (low, middle)
    return low


def _wanted(point: Saddle, for_delta: bool, accuracy: float) -> float:
    """The width of log delta: an error of epsilon counts theta times in it; next to epsilon 0 there is an end to
    that."""
    return min(
        accuracy if for_delta else accuracy * max(point.epsilon * point.tilt, tuning.EPSILON_TOLD), tuning.WANTED_MAX
    )


def narrowed(
    sketches: Sequence[tuple[Sketch, int]], epsilon: float | None, delta: float | None, accuracy: float
) -> Aim:
    """The aim for laws that are lattices already: only the tilt is open."""
    both = gathered([sketch for sketch, _ in sketches], [count for _, count in sketches])
    point = saddle(both, epsilon, delta)
    wanted = _wanted(point, epsilon is not None, accuracy)
    return _tilted(both, point, wanted)


class TiltWay(NamedTuple):
    """One tilt: how far its tolerance lies below what is known of a law (log), and the window that it needs."""

    unknown: float
    window: float
    place: int  # in tuning.TILT_SHARES
    tolerance: float


def _tilted(sketches: Sketches, point: Saddle, wanted: float) -> Aim:
    """At the saddle a few huge losses may spread the law; a smaller tilt pays with a smaller tolerance and may win.

    By Chernoff K(s) - K(theta) - (s - theta) end = log tolerance at either end of the window, s on that side of theta.
    """
    goal = point.log_delta + math.log(tuning.WINDOW_SHARE * min(wanted, 1.0))
    places = point.tilt * tuning.TILT_SHARES
    table = np.array([sketches.cgf(float(s)) for s in places])  # a row per place, a column per term
    cgf = table @ sketches.counts
    known = math.log(tuning.KNOWN_MIN * float(sketches.counts.sum()))
    ways = []
    for index in np.flatnonzero(
        (tuning.TILTS_TRIED[0] <= tuning.TILT_SHARES) & (tuning.TILTS_TRIED[1] >= tuning.TILT_SHARES)
    ):
        log_tolerance = float(goal - cgf[index] + places[index] * point.epsilon)
        window = _window(places - places[index], cgf - cgf[index], log_tolerance)
        tolerance = math.exp(min(log_tolerance, -1.0))
        ways.append(TiltWay(max(known - log_tolerance, 0.0), window, int(index), tolerance))
    best = min(ways)
    theta = float(places[best.place])
    return Aim(
        sketches=sketches,
        point=point,
        wanted=wanted,
        theta=theta,
        tolerance=max(best.tolerance, 1e-300),
        window=best.window,
        plain=_window(places, cgf - cgf[tuning.TILT_SHARES == 0.0], goal),
        gaps=places - theta,
        rises=(table - table[best.place]).T,
        variances=sketches.moments(theta)[2],
    )


def _window(gaps: FloatArray, rise: FloatArray, log_tolerance: float) -> float:
    """The distance of the nearest ends above and below that the tilts at these gaps can prove."""
    up, down = gaps > 0.0, gaps < 0.0
    above = np.min((rise[up] - log_tolerance) / gaps[up])
    below = np.max((rise[down] - log_tolerance) / gaps[down])
    return max(float(above - below), 0.0)  # below 0 where the aim lies beyond every sum
