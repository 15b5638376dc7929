"""The trade-off function at many false positive rates at once: few points of the profile serve all of them.

Below, each point is a line: f(y) >= 1 - H(a) - a y at every y, a the double at or above e^t, where H has at most its
upper end at t. Above, secants of the points around the best line (power.py).
The points lie beside the tangents at the rates that Gaussians of equal delta have, from a = 1 outward, so that what is
prepared for one point serves the next; where that does not do, as at atoms, where secants meet.
Guarantee: both ends at every rate, however early the work ended. Proof: docs/proofs/readings.md, section 5.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import islice, pairwise
from typing import NamedTuple

from flint import arb

from ..accountant import CURVE_AIM
from ..answers.tradeoff_curve import Tradeoffs
from ..engines.planner import meets
from ..engines.tuning import ROUGHLY
from ..mechanisms.base import Mechanism
from ..mechanisms.parameters import probability, whole
from ..numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ..numerics.rounding import next_up
from ..values import compute_budget
from ..values.bound import Bound
from ..values.errors import AccuracyNotReached, InvalidParameter, agreed
from ..values.question import Options, Question
from .law import Law, Told, carried
from .power import LOG_ROOT_TWO_PI, Knot, Secants, Valley, equivalent, hockey_stick, min_of, turning_point, upper_point

# Where a trade-off curve asks for deltas: beside the tangents at its rates, by Gaussians of equal delta.
#
# Guarantee: none is needed; any points give a valid curve.

TANGENT_TRIES = 2  # the second with the points around the first place
TANGENT_REACH = 8.0  # standard deviations: a place so far from all points is none
PAIRED = 16.0  # steps of two points are not shorter than by this
APART_AT_FIRST = 0.1  # of mu: how far the tangents of neighbouring rates are
SEPARATE = 1.0 - 1e-12  # a total variation from which on no Gaussian tells where to look
FAR_POINTS = 12


def outward(mu: float, fprs: Sequence[float]) -> list[float]:
    """The rates from the one whose tangent has a = 1 on: those below it, then those above."""
    small = [x for x in fprs if upper_point(x) >= mu / 2.0]
    return [*reversed(small), *fprs[len(small) :]]


def beside(mus: Sequence[tuple[float, float]], x: float, aim: float) -> tuple[list[float], float]:
    """Two or three t = log a around the tangent at a rate, and the width of f that is wanted there; none where unknown.

    What lies between three points is about the bend of H times the step squared; two of them leave the bend times the
    step times the distance to others. mus: points t that are known, and mu of the Gaussian with their delta.
    """
    found = _tangent(mus, x)
    if found is None:
        return [], 0.0
    t, mu = found
    z = t / mu - mu / 2.0
    bend = math.exp(-z * z / 2.0 - LOG_ROOT_TWO_PI) / mu
    power = math.erfc(z * math.sqrt(0.5)) / 2.0
    allowed = aim * min(power, 1.0 - power)
    if not (bend > 0.0 and allowed > 0.0):
        return [t], allowed
    apart = max(min(abs(t - value) for value, _ in mus), APART_AT_FIRST * mu)
    alone = min(math.sqrt(allowed / bend), mu)
    together = min(alone, 2.0 * allowed / (bend * apart))
    return [t - together, t + together] if alone < PAIRED * together else [t - alone, t, t + alone], allowed


def far(fprs: Sequence[float]) -> list[float]:
    """Where a rate times a, or 1 less the rate over a, is 1: what tells that nobody can be missed."""
    places = [-math.log(x) if x < 0.5 else math.log1p(-x) for x in fprs]
    return places[:: max(len(places) // FAR_POINTS, 1)]


def _tangent(mus: Sequence[tuple[float, float]], x: float) -> tuple[float, float] | None:
    """log a of the tangent at a rate, and mu there."""
    t, mu = mus[-1]
    t = mu * upper_point(x) - mu * mu / 2.0
    for _ in range(TANGENT_TRIES):
        near = sorted(mus, key=lambda each: abs(each[0] - t))[:3]
        mu = near[0][1]
        t = turning_point(near, x, near[0][0] - TANGENT_REACH * mu, near[0][0] + TANGENT_REACH * mu)
        if math.isnan(t):
            return None
    return t, mu


# The rates of a trade-off curve: one's own, or some that show the whole curve and small rates as well.

RATES = 50
RATES_MAX = 10_000
EVEN_FROM = 0.1  # rates below are spaced by their logarithm
FIRST_RATE = 1e-6  # the first one after 0


def rates(start: float | None, stop: float | None, points: int | None, fprs: object) -> tuple[float, ...]:
    """Rates that rise, both ends included: by their logarithm below 0.1, where a rate of 0 comes before, else even."""
    if fprs is None:
        first = probability("start", 0.0 if start is None else start)
        last = probability("stop", 1.0 if stop is None else stop)
        count = whole("points", RATES if points is None else points, least=2)
        if count > RATES_MAX:
            raise InvalidParameter(f"points must be at most {RATES_MAX:,}, not {points!r:.40}")
        if not first < last:
            raise InvalidParameter(f"start must lie below stop, not {first!r} and {last!r}")
        return _rising(_spread(first, last, count))
    if start is not None or stop is not None or points is not None:
        raise InvalidParameter("a trade-off curve takes either fprs, or start, stop and points")
    if isinstance(fprs, (str, bytes)) or not isinstance(fprs, Iterable):
        raise InvalidParameter(f"fprs must be a list of rates, not {fprs!r:.60}")
    values = tuple(probability("fpr", each) for each in islice(fprs, RATES_MAX + 1))
    if len(values) > RATES_MAX:
        raise InvalidParameter(f"fprs must be at most {RATES_MAX:,} rates")
    return _rising(values)


def _rising(values: tuple[float, ...]) -> tuple[float, ...]:
    if not values or any(first >= second for first, second in pairwise(values)):
        raise InvalidParameter("fprs must be one or more rates that rise; sort them, or ask for fewer points")
    return values


def _spread(first: float, last: float, count: int) -> tuple[float, ...]:
    """Equal steps of the rate from EVEN_FROM on, and of its logarithm below, which go on as large as they were."""
    if first == 0.0 and count > 2:
        return 0.0, *_spread(min(FIRST_RATE, EVEN_FROM * last), last, count - 1)
    if first == 0.0:
        return 0.0, last
    low, high = (rate if rate > EVEN_FROM else EVEN_FROM * (1.0 + math.log(rate / EVEN_FROM)) for rate in (first, last))
    steps = (low + (high - low) * index / (count - 1) for index in range(1, count - 1))
    inner = (step if step > EVEN_FROM else EVEN_FROM * math.exp(step / EVEN_FROM - 1.0) for step in steps)
    return first, *inner, last


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
