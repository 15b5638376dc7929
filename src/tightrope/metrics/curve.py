"""The trade-off function at many false positive rates at once: few points of the profile serve all of them.

Below, each point is a line: f(y) >= 1 - H(a) - a y at every y, a the double at or above e^t, where H has at most its
upper end at t. Above, secants of the points around the best line (convex.py).
The points lie beside the tangents at the rates that Gaussians of equal delta have, from a = 1 outward, so that what is
prepared for one point serves the next; where that does not do, as at atoms, where secants meet.
Guarantee: both ends at every rate, however early the work ended. Proof: docs/proofs/readings.md, section 5.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from flint import arb

from .. import compute_budget
from ..account import CURVE_AIM
from ..bound import Bound
from ..engines.answer import meets
from ..engines.tuning import ROUGHLY
from ..errors import AccuracyNotReached, agreed
from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ..kernels.directed import next_up
from ..mechanisms.base import Mechanism
from ..question import Options, Question
from ..tradeoffs import Tradeoffs
from .carried import carried
from .convex import Knot, Secants, Valley, min_of
from .gaussian_guess import equivalent
from .law import Law, Told
from .power import hockey_stick
from .rates import rates
from .tangents import SEPARATE, beside, far, outward

NARROWER = 1 / 32  # of the width aimed at: what a delta is asked for, and again where it is too wide
NARROWEST_DELTA = 1e-14
POINTS_NEAR = 3  # points on each side of a rate's best one that its ends are made of
APART_FAR, POINTS_FAR = 10.0, 40
POINTS_APART = 4e-16  # absolutely and relatively
SCOUTED = 0.1  # of the root of the width aimed at: what the first deltas are asked for
LOG_SLOPE_MAX = 700.0  # e^t is a double
STALLED = 0.4  # of the width before
SWEEPS_MAX = 60


class _Ends(NamedTuple):
    """Both ends of f at a rate, the slope of the line below, its point, and where to look next."""

    lower: float
    upper: float
    slope: float
    best: float
    next: Sequence[float] = ()


def tradeoff_curve(
    mechanism: Mechanism,
    options: Options,
    span: tuple[float | None, float | None, int | None] = (None, None, None),
    fprs: object = None,
) -> Tradeoffs:
    """f at each of the rates: those given, or so many from start to stop; see Mechanism.tradeoff_curve."""
    asked, question = rates(*span, fprs), Question("tradeoff", **options)
    with compute_budget.allowance(question.seconds):
        law = Law(mechanism, question)
        law.aim = question.accuracy or CURVE_AIM
        sweep = _Sweep(law)
        sweep.run([x for x in asked if 0.0 < x < 1.0])
        ends = [sweep.found(x) if x in sweep.ends else sweep.outermost(x) for x in asked]
        bounds = tuple(sweep.bound(end) for end in ends)
    for bound in bounds:
        if question.accuracy is not None and not meets(bound.lower, bound.upper, question.accuracy, "tradeoff"):
            raise AccuracyNotReached(bound, question.accuracy)
    return Tradeoffs(asked, bounds, tuple(end.slope for end in ends))


class _Sweep:
    """Certified deltas at some t = log a, of the reversed pair below 0, and what follows from them at each rate."""

    def __init__(self, law: Law) -> None:
        self.law = law
        self.first, self.last = law.one_sided(-math.inf), law.one_sided(math.inf)
        self.known: dict[float, Bound] = {}
        self.aims: dict[float, float] = {}
        self.order: list[float] = []
        self.ends: dict[float, _Ends] = {}
        with compute_budget.uncounted():
            self.tight = law.mechanism.tight

    def run(self, fprs: Sequence[float]) -> None:
        """Asks until the ends are close at every rate, time is up, or no point would help."""
        self._ask({0.0: SCOUTED * math.sqrt(self.law.aim)})
        mu = equivalent(0.0, self.known[0.0].upper)
        if self.known[0.0].upper > SEPARATE:
            self._ask(dict.fromkeys(far(fprs), ROUGHLY))
        elif mu > 0.0:
            self._follow(outward(mu, fprs), [(0.0, mu)])
        open_rates = self._look(fprs)
        for _ in range(SWEEPS_MAX):
            aims: dict[float, float] = {}
            for x in open_rates:
                middle = (self.ends[x].lower + self.ends[x].upper) / 2.0
                for t in self.ends[x].next:
                    aims[t] = min(self._aim(t, self.law.aim * min(middle, 1.0 - middle)), aims.get(t, ROUGHLY))
            if not aims or self.law.over:
                return
            self._ask(aims)
            open_rates = self._look(open_rates)

    def _follow(self, fprs: Sequence[float], mus: list[tuple[float, float]]) -> None:
        """Around the tangent at each rate, one after the other: each tells where the next one is."""
        for done, x in enumerate(fprs):
            if self.law.over or not self._look([x]):
                continue
            places, width = beside(mus, x, self.law.aim)
            with compute_budget.part(max(1.0 / (len(fprs) - done), compute_budget.POINT_SHARE)):
                self._ask({t: min(self._aim(t, width), ROUGHLY) for t in places if t not in self.known})
            found = ((t, equivalent(abs(t), self.known[t].upper)) for t in places if t in self.known)
            mus += [(t, mu) for t, mu in found if mu > 0.0]

    def _ask(self, aims: Mapping[float, float]) -> None:
        # What is prepared for a point serves those after it, on its side of 0.
        asked = sorted((t for t in aims if abs(t) <= LOG_SLOPE_MAX), key=lambda t: (t < 0.0, abs(t)))
        for done, t in enumerate(asked):
            with compute_budget.part(max(1.0 / (len(asked) - done), compute_budget.POINT_SHARE)):
                self.aims[t], self.known[t] = aims[t], self.law.one_sided(t, aims[t])
        self.order = sorted(self.known)

    def _aim(self, t: float, width: float) -> float:
        """The relative width of a delta that adds little to this width of f; delta is at most that of a point before.

        A point that was asked before is asked for less.
        """
        place = bisect(self.order, t)
        nearer = self.order[min(place, len(self.order) - 1)] if t < 0.0 else self.order[max(place - 1, 0)]
        aim = NARROWER * width / math.exp(min(t, 0.0)) / max(self.known[nearer].upper, math.ulp(0.0))
        return max(min(aim, NARROWER * self.aims[t]) if t in self.aims else aim, NARROWEST_DELTA)

    def _look(self, fprs: Sequence[float]) -> list[float]:
        """Both ends at these rates; those that are left open."""
        with compute_budget.uncounted(), working_precision(BITS_START):
            for x in fprs:
                self.ends[x] = self._at(x)
        return [x for x in fprs if self.ends[x].next]

    def _at(self, x: float) -> _Ends:
        place = max(range(len(self.order)), key=lambda index: self._height(self.order[index], x))
        best, near = self.order[place], self.order[max(place - POINTS_NEAR, 0) : place + POINTS_NEAR + 1]
        lower, slope = self._line(best, x)
        small = best < 0.0  # f is the smaller one: 1 - H keeps its digits
        certain = self._valley(near, x, small, sure=True)
        upper = upper_float(-certain.lower if small else 1 - certain.lower)
        if upper > APART_FAR * lower:  # the best line is not where f is made: points from everywhere tell more
            near = self.order[:: len(self.order) // POINTS_FAR + 1]
            certain = self._valley(near, x, small, sure=True)
            upper = min(upper, upper_float(-certain.lower if small else 1 - certain.lower))
        _, upper = agreed(lower, min(upper, 1.0), "the best line", "the points around it")
        wanted = self.law.aim * min(lower, 1.0 - upper)
        if upper - lower <= wanted or next_up(next_up(lower)) >= upper:
            return _Ends(lower, upper, slope, best)
        before = self.ends.get(x)
        stalled = before is not None and upper - lower > STALLED * (before.upper - before.lower)
        values = (hockey_stick(t, self.known[t].lower, small) + arb(t).exp() * x for t in near)
        if reduce(min_of, values) - certain.lower > wanted / 2.0:
            return _Ends(lower, upper, slope, best, self._between(near, certain, stalled))
        exact = self._valley(near, x, small, sure=False)
        if exact.upper - exact.lower > wanted / 2.0:
            return _Ends(lower, upper, slope, best, self._between(near, exact, stalled))
        return _Ends(lower, upper, slope, best, self._narrower(near, certain))

    def found(self, x: float) -> _Ends:
        """The ends at last: where real neighbours lose less than the pair, points from everywhere tell more."""
        ends = self.ends[x]
        if self.tight or ends.upper - ends.lower <= self.law.aim * min(ends.lower, 1.0 - ends.upper):
            return ends
        small = ends.best < 0.0
        with compute_budget.uncounted(), working_precision(BITS_START):
            certain = self._valley(self.order[:: len(self.order) // POINTS_FAR + 1], x, small, sure=True)
            upper = upper_float(-certain.lower if small else 1 - certain.lower)
        return ends._replace(
            upper=agreed(ends.lower, min(ends.upper, upper), "the best line", "points from everywhere")[1]
        )

    def outermost(self, x: float) -> _Ends:
        """At 0 an attacker finds the mass of infinite loss, at 1 everything."""
        if x == 1.0:
            return _Ends(0.0, 0.0, 0.0, -math.inf)
        with compute_budget.uncounted(), working_precision(BITS_START):
            lower, upper = lower_float(1 - arb(self.last.upper)), upper_float(1 - arb(self.last.lower))
        return _Ends(max(lower, 0.0), min(upper, 1.0), math.inf, math.inf)

    def _height(self, t: float, x: float) -> float:
        """The line of a point at x, roughly."""
        high = self.known[t].upper
        return math.exp(t) * (1.0 - x - high) if t < 0.0 else 1.0 - high - math.exp(t) * x

    def _line(self, t: float, x: float) -> tuple[float, float]:
        """The same for certain, and its slope: lower - slope (y - x) is below f at every y."""
        high = arb(self.known[t].upper)
        if t < 0.0:
            slope = lower_float(arb(t).exp())
            lower = lower_float(arb(slope) * (1 - high - x))
        else:
            slope = upper_float(arb(t).exp())
            lower = lower_float(1 - high - arb(slope) * x)
        return (lower, slope) if lower > 0.0 else (0.0, 0.0)

    def _valley(self, near: Sequence[float], x: float, small: bool, sure: bool) -> Valley:
        """What is certain; or, not sure, what upper ends would say of themselves if they were exact."""
        knots = []
        for t in near:
            high = hockey_stick(t, self.known[t].upper, small)
            knots.append(Knot(t, hockey_stick(t, self.known[t].lower, small) if sure else high, high))
        head = 0 if small else 1
        return Secants(knots, arb(head), arb(self.first.lower) - 1, arb(self.last.lower) - 1 + head).least(arb(x))

    def _between(self, near: Sequence[float], valley: Valley, stalled: bool) -> list[float]:
        """Where secants meet, or where that stalls in the middle of two points; nothing where a point is there."""
        t = valley.crossing
        if math.isnan(t) or (stalled and 0 < valley.interval < len(near)):
            t = math.fsum(near[max(valley.interval - 1, 0) : valley.interval + 1]) / 2.0
        place = bisect(self.order, t)
        near = self.order[max(place - 1, 0) : place + 1]
        there = any(abs(t - value) <= POINTS_APART * max(1.0, abs(t)) for value in near)
        return [] if there or abs(t) > LOG_SLOPE_MAX else [t]

    def _narrower(self, near: Sequence[float], valley: Valley) -> list[float]:
        """Points that decide and are wide; where real neighbours lose less than the pair, nothing narrows them."""
        if not self.tight:
            return []
        places = {valley.best, valley.interval - 1, valley.interval}
        deciding = [near[index] for index in places if 0 <= index < len(near)]
        return [t for t in deciding if self.aims[t] > NARROWEST_DELTA and self.known[t].width > 0.0]

    def bound(self, ends: _Ends) -> Bound:
        """With its certificate, by the delta whose line it is."""
        of = self.known.get(ends.best, self.last)
        budget = carried(of, math.exp(min(ends.best, 0.0)), (ends.lower, ends.upper), swapped=True)
        reason = f"lines and secants of the profile at {len(self.known)} points, which is convex"
        return self.law.bound(ends.lower, ends.upper, Told(reason, budget=budget), of=of)
