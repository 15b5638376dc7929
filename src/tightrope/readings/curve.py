"""The trade-off function at many false positive rates at once: few points of the profile serve all of them.

The first points lie where a Gaussian of the same total variation has its tangents at the rates; then, while the ends at
a rate are too far apart, where the secants around it meet (convex.py), or the same again where a delta is too wide.
Below: f(y) >= 1 - H(a) - a y at every y, by the double a at or above e^t, where H is not above its upper end at t.
Guarantee: both ends at every rate, however early the work ended. Proof: docs/proofs/readings.md.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from flint import arb

from .. import work
from ..account import CURVE_AIM, counted
from ..bound import Bound, Budget, budget_lines
from ..engines.answer import meets
from ..errors import AccuracyNotReached, InvalidParameter
from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ..kernels.directed import next_up
from ..mechanisms.base import Mechanism
from ..mechanisms.parameters import probability
from ..question import Question
from ..tradeoffs import Tradeoffs
from .convex import ONE, ZERO, Knot, Secants
from .gaussian_guess import equivalent, turning_point, upper_point
from .law import Law, Told

SMALL = 0.1  # rates below are spaced by their logarithm
RATE_LEAST = 1e-6  # the first one above 0
RATES_MOST = 10_000
DELTA_AIM = 1 / 32  # of the width aimed at: what a delta is asked for
SHARPER, SHARPEST = 1 / 32, 1e-14  # what it is asked for again, and nothing is sharper
NEAR = 3  # points on each side of a rate's best one that its ends are made of
APART = 1e-13  # of points, absolutely and relatively
FIRST_APART = 0.12  # of the first points, in deviations of the loss
DEVIATION_MOST = 16.0
FIRST_POINTS = 12
T_MOST = 700.0  # e^t is a double
ROUNDS_MOST = 60


class _Ends(NamedTuple):
    """Both ends at a rate, the slope of the line below, its point, and where the secants above meet."""

    lower: float
    upper: float
    slope: float
    best: float
    around: tuple[float, ...]
    crossing: float

    @property
    def gap(self) -> float:
        return self.upper - self.lower

    def narrow(self, aim: float) -> bool:
        """Whether the ends are as close as wanted, of the smaller one of f and 1 - f, or as doubles are."""
        return self.gap <= aim * min(self.lower, 1.0 - self.upper) or next_up(next_up(self.lower)) >= self.upper


def tradeoff_curve(mechanism: Mechanism, question: Question, fprs: tuple[float, ...]) -> Tradeoffs:
    """f at each of the rates, which rise."""
    with work.allowance(question.seconds):
        law = Law(mechanism, question)
        search = _Search(law, fprs, question.accuracy or CURVE_AIM)
        search.run()
        bounds = tuple(search.bound(x) for x in fprs)
    slopes = tuple(search.ends[x].slope for x in fprs)
    for bound in bounds:
        if question.accuracy is not None and not meets(bound.lower, bound.upper, question.accuracy, "tradeoff"):
            raise AccuracyNotReached(bound, question.accuracy)
    return Tradeoffs(fprs, bounds, slopes)


class _Search:
    """The profile at some t = log a, and both ends of f at each rate that follow from it."""

    def __init__(self, law: Law, fprs: Sequence[float], aim: float) -> None:
        self.law, self.aim = law, aim
        self.known: dict[float, Bound] = {}
        self.aims: dict[float, float] = {}
        self.order: list[float] = []
        self.limit = law.one_sided(math.inf)
        self.ends: dict[float, _Ends] = {x: self._at_the_end(x) for x in fprs if x in (0.0, 1.0)}
        self.inner = [x for x in fprs if 0.0 < x < 1.0]

    def run(self) -> None:
        """Asks until the ends are close at every rate, time is up, or no point would help."""
        self._ask({0.0: DELTA_AIM * self.aim})
        self._ask(self._first())
        wanted, left = self._second(), self.inner
        for _ in range(ROUNDS_MOST):
            self._ask(wanted)
            with work.uncounted(), working_precision(BITS_START):
                for x in left:
                    self.ends[x] = self._ends(x)
            left = [x for x in left if not self.ends[x].narrow(self.aim)]
            wanted = {}
            for x in left:
                wanted |= self._next(x)
            if not wanted or self.law.over:
                return

    def _ask(self, wanted: dict[float, float]) -> None:
        for t, aim in wanted.items():
            self.aims[t], self.known[t] = aim, self.law.one_sided(t, aim)
        self.order = sorted(self.known)

    def _first(self) -> dict[float, float]:
        """Around the tangents at the rates, of a Gaussian with this total variation."""
        mu = equivalent(0.0, self.known[0.0].upper)
        if not mu > 0.0 or not self.inner:
            return {}
        places = [mu * upper_point(x) - mu * mu / 2.0 for x in (self.inner[-1], self.inner[0])]
        count = min(FIRST_POINTS, len(self.inner))
        found = {}
        for index in range(count + 1):
            t = places[0] + (places[1] - places[0]) * index / count
            if abs(t) < T_MOST and t != 0.0:
                found[t] = DELTA_AIM * self.aim
        return found

    def _second(self) -> dict[float, float]:
        """One on each side of the tangents at the rates, of Gaussians that change from point to point."""
        mus = [(t, equivalent(abs(t), self.known[t].upper)) for t in self.order]
        mus = [each for each in mus if each[1] > 0.0]
        if not mus:
            return {}
        places = {}
        for x in self.inner:
            near = mus
            t = turning_point(mus[:1], x, -T_MOST, T_MOST)
            for _ in range(2):
                near = sorted(mus, key=lambda each: abs(each[0] - t))[:3]
                t = turning_point(near, x, *self._around(t))
            if abs(t) < T_MOST:
                places[t] = near[0][1], x
        found = {}
        order = sorted(places)
        for index, t in enumerate(order):
            mu, x = places[t]
            gaps = [abs(order[other] - t) for other in (index-1, index+1) if 0 <= other < len(order)]
            apart = max(gaps, default=mu)
            z = t / mu - mu / 2.0
            dense = math.exp(-z*z/2)/math.sqrt(2*math.pi)/mu
            g = 0.5*math.erfc(z*math.sqrt(.5))
            small = self.aim*min(g, 1-g)
            step = min(math.sqrt(small/dense), 2*small/(dense*apart)) if dense>0 and small>0 else 0.0
            for each in (t-step, t+step):
                if abs(each)<T_MOST and each not in self.known: found[each]=DELTA_AIM*self.aim
        return found

    def _around(self, t: float) -> tuple[float, float]:
        place = bisect(self.order, t)
        low = self.order[place-2] if place >= 2 else -T_MOST
        high = self.order[place+1] if place + 1 < len(self.order) else T_MOST
        return low, high

    def _next(self, x: float) -> dict[float, float]:
        """Where to ask next for a rate, and how sharply: wide points first, else where the secants meet."""
        ends = self.ends[x]
        found: dict[float, float] = {}
        for t in {ends.best, *ends.around}:
            width, aim = self.known[t].width * math.exp(min(t, 0.0)), SHARPER * self.aims[t]
            if width > 0.2 * ends.gap and aim >= SHARPEST and not meets(*self._pair(t), aim, "delta"):
                found[t] = aim
        if found:
            return found
        t = ends.crossing
        if not abs(t) < T_MOST:
            return {}
        place = bisect(self.order, t)
        near = self.order[max(place - 1, 0) : place + 1]
        if any(abs(t - each) <= APART * max(1.0, abs(t)) for each in near):
            return {}
        return {t: DELTA_AIM * self.aim}

    def _pair(self, t: float) -> tuple[float, float]:
        return self.known[t].lower, self.known[t].upper

    def _at_the_end(self, x: float) -> _Ends:
        """At 0 the mass of infinite loss, at 1 nothing."""
        if x == 1.0:
            return _Ends(0.0, 0.0, 0.0, 0.0, (), math.nan)
        with working_precision(BITS_START):
            lower, upper = lower_float(1 - arb(self.limit.upper)), upper_float(1 - arb(self.limit.lower))
        return _Ends(max(lower, 0.0), min(upper, 1.0), math.inf, math.inf, (), math.nan)

    def _ends(self, x: float) -> _Ends:
        """The highest line of the points at x, and the secants of the points around it."""
        place = max(range(len(self.order)), key=lambda index: self._height(self.order[index], x))
        best = self.order[place]
        near = self.order[max(place - NEAR, 0) : place + NEAR + 1]
        small = best < 0.0  # then f is the small one, and 1 - H keeps its digits
        secants = Secants([self._knot(t, small) for t in near], ZERO if small else ONE, self._tail(small))
        valley = secants.least(arb(x))
        upper = upper_float(-valley.lower if small else 1 - valley.lower)
        around = tuple(near[index] for index in (valley.interval - 1, valley.interval) if 0 <= index < len(near))
        high = arb(self.known[best].upper)
        if best < 0.0:
            slope = lower_float(arb(best).exp())
            lower = lower_float(arb(slope) * (1 - high - x))
        else:
            slope = upper_float(arb(best).exp())
            lower = lower_float(1 - high - arb(slope) * x)
        if lower <= 0.0:
            lower, slope = 0.0, 0.0
        return _Ends(lower, max(min(upper, 1.0), lower), slope, best, around, valley.crossing)

    def _height(self, t: float, x: float) -> float:
        """f(x) at least, roughly."""
        high = self.known[t].upper
        return math.exp(t) * (1.0 - x - high) if t < 0.0 else 1.0 - high - math.exp(t) * x

    def _knot(self, t: float, small: bool) -> Knot:
        bound = self.known[t]
        if t < 0.0:
            alpha = arb(t).exp()
            low, up = -alpha * (1 - arb(bound.lower)), -alpha * (1 - arb(bound.upper))
            return Knot(t, low, up) if small else Knot(t, 1 + low, 1 + up)
        less = 1 if small else 0
        return Knot(t, arb(bound.lower) - less, arb(bound.upper) - less)

    def _tail(self, small: bool) -> arb:
        return arb(self.limit.lower) - (1 if small else 0)

    def bound(self, x: float) -> Bound:
        """With its certificate: what lies between points and is no width of a delta is discretisation."""
        ends = self.ends[x]
        of = self.limit if x in (0.0, 1.0) else self.known[ends.best]
        scale = math.exp(min(ends.best, 0.0))
        told = Told(
            f"{len(self.known)} points of the profile: their lines below, secants of a convex function above",
            budget=_budget(ends, of, scale),
        )
        return self.law.bound(ends.lower, ends.upper, told, of=of)


def _budget(ends: _Ends, of: Bound, scale: float) -> Budget:
    return Budget(budget_lines(discretisation=max(ends.gap, 0.0)), budget_lines())
