"""The most powerful test at a false positive rate x: its power g(x) = inf_{a >= 0} H(a) + a x, and f(x) = 1 - g(x).

Neyman, Pearson: sup {P(A) : Q(A) <= x} over randomised tests A. A convex minimum from finitely many certified deltas:
the upper end of g is the least of H_up(a) + a x, the lower end comes from secants (power.py). The next point is where
the Gaussian mechanisms of equal delta have their least (power.py); once found, one point on each side of it,
as far away as the width that is wanted allows; where that does not help, as at atoms of the loss where H has a kink,
the point where the lower lines meet.
Where g is above 1/2, f is what is bounded, by 1 - H(a) = a (1 - H_rev(1/a)) for a < 1: the smaller of the two keeps
its digits. Nothing more is known of 1 - H(a) for a > 1 than delta below 1 tells: an f far below 1e-16 at a small x,
where attackers are always right, has no lower end.
Guarantee: both ends, rounded outward. Proof: docs/proofs/readings.md, sections 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import attrgetter
from typing import NamedTuple

from flint import arb

from ..engines.tuning import ROUGHLY
from ..numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ..numerics.rounding import TINIEST
from ..values import compute_budget
from ..values.bound import Bound
from ..values.errors import agreed
from .law import Law

# The least of H(a) + a x over a >= 0, for a convex H that is known between two ends at some points a = e^t.
#
# H is convex, falls, starts at H(0) = head with a slope of at least `slope`, and stays at or above tail. Secants lie
# below a convex function outside of their points: right of a_i, H lies above the line through (a_j, up_j) and
# (a_i, low_i), any j < i; left of a_i above that through (a_i, low_i) and (a_j, up_j), any j > i. Each interval has one
# line from its left end and one from its right, and the mean of the two whose slope is just not below 0 is least at the
# left end: no crossing of lines is needed for a proof.
# A constant may be taken off head, tail and all values alike: -(1 - H) in place of H, where 1 - H is small.
# Guarantee: lower <= the least <= upper, at the working precision. Proof: docs/proofs/readings.md, section 2.

ZERO, ONE, FALL = arb(0), arb(1), arb(-1)


class Knot(NamedTuple):
    """low <= H(e^t) <= up; t is finite."""

    t: float
    low: arb
    up: arb


class Valley(NamedTuple):
    """lower <= inf H(a) + a x <= upper, and where to look next.

    best: the knot that has the upper end, -1 for a = 0. interval: the one that has the lower end, between the knots
    interval - 1 and interval; 0 begins at a = 0, the last has no end. crossing: log a where its two lines meet.
    """

    lower: arb
    upper: arb
    best: int
    interval: int
    crossing: float


class Secants:
    """The lines below H that its knots give, for any number of x."""

    def __init__(self, knots: Iterable[Knot], head: arb = ONE, slope: arb = FALL, tail: arb = ZERO) -> None:
        ordered = sorted(knots, key=lambda knot: knot.t)
        self.head, self.slope, self.tail = head, slope, tail
        self.alphas = [arb(knot.t).exp() for knot in ordered]
        lows = [max_of(head + slope * alpha, tail) for alpha in self.alphas]
        self.knots = [Knot(t, max_of(low, least), up) for (t, low, up), least in zip(ordered, lows, strict=True)]
        # H(a) >= low + after (a - a_i) to the right of a knot, >= low + before (a_i - a) to its left.
        self.after = [
            max_of(slope, (knot.low - head) / alpha) for alpha, knot in zip(self.alphas, self.knots, strict=True)
        ]
        self.before = [ZERO for _ in self.knots]
        for right, (_, low, up) in enumerate(self.knots):
            for left in range(right):
                width = self.width(left, right)
                self.after[right] = max_of(self.after[right], (low - self.knots[left].up) / width)
                self.before[left] = max_of(self.before[left], (self.knots[left].low - up) / width)

    def width(self, left: int, right: int) -> arb:
        """a_right - a_left, which does not cancel."""
        return self.alphas[left] * (arb(self.knots[right].t) - arb(self.knots[left].t)).expm1()

    def least(self, x: arb) -> Valley:
        """Both ends of inf H(a) + a x, x above 0."""
        upper, best = self.head, -1
        for index, (alpha, knot) in enumerate(zip(self.alphas, self.knots, strict=True)):
            value = (knot.up + alpha * x).upper()
            if value < upper:
                upper, best = value, index
        lowers = [self._inside(index, x) for index in range(len(self.knots))] + [self._beyond(x)]
        interval = min(range(len(lowers)), key=lambda index: lowers[index])
        return Valley(lowers[interval], upper, best, interval, self._crossing(interval))

    def _left(self, interval: int) -> tuple[arb, arb, arb]:
        """Where the interval begins: a, a value below H(a), and a slope below that of H from there on."""
        if interval == 0:
            return ZERO, self.head, self.slope
        return self.alphas[interval - 1], self.knots[interval - 1].low, self.after[interval - 1]

    def _width(self, interval: int) -> arb:
        return self.alphas[0] if interval == 0 else self.width(interval - 1, interval)

    def _inside(self, interval: int, x: arb) -> arb:
        """At or below H(a) + a x from a knot, or from 0, to the next knot: a mean whose slope is not below 0."""
        alpha, low, after = self._left(interval)
        end, low_end, before = self.alphas[interval], self.knots[interval].low, self.before[interval]
        width = self._width(interval)
        fall, rise = after + x, x - before  # slopes of the two lines
        if fall >= 0:
            return (low + alpha * x).lower()
        if not rise > 0:  # the line from the right is least at its own end
            return min_of(low_end + before * width + alpha * x, low_end + end * x)
        share = (rise / (rise - fall)).lower().min(ONE).max(ZERO) if rise > fall else ZERO
        return (share * low + (1 - share) * (low_end + before * width) + alpha * x).lower()

    def _beyond(self, x: arb) -> arb:
        """At or below H(a) + a x from the last knot on: share low + (1 - share) tail, its slope not below 0."""
        alpha, low, after = self._left(len(self.knots))
        steep = after.abs_upper()
        share = ONE if steep.is_zero() else (x / steep).lower().min(ONE)
        return (share * low + (1 - share) * self.tail + alpha * x).lower()

    def _crossing(self, interval: int) -> float:
        """log a where the two lines of an interval meet, nan where they do not: no more than a place to look at."""
        alpha, low, after = self._left(interval)
        if interval == len(self.knots):
            ratio = (self.tail - low) / after
            return float((alpha + ratio).log()) if ratio > 0 else math.nan
        before, width = self.before[interval], self._width(interval)
        part = (self.knots[interval].low + before * width - low) / ((after + before) * width)
        if not 0 < part < 1:
            return math.nan
        if interval == 0:
            return float((part * width).log())
        start = self.knots[interval - 1].t
        return float(arb(start) + (part * (width / alpha)).log1p())


def max_of(one: arb, two: arb) -> arb:
    """The larger one, or a ball around it."""
    return one if one > two else two if two > one else one.max(two)


def min_of(one: arb, two: arb) -> arb:
    """At or below both."""
    low, other = one.lower(), two.lower()
    return low if low < other else other


# Where H(a) + a x is least, if H is that of a Gaussian mechanism whose mu = sensitivity / sigma changes slowly with a.
#
# Every H is that of some mu at each a. With mu(t) through the last few of them, t = log a, the least is where
# Phi(-z) - phi(z) mu'(t) = x, z = t/mu + mu/2 (Balle, Wang 2018, Thm 8, differentiated).
# Guarantee: none is needed; it only tells where to look next. No numpy: proofs look here too.

GUESS_HALVINGS = 64
LOG_MU = 700.0  # at most, either sign
LITTLE_MU = 1e-5  # below, the first order in mu tells more than a difference
ERFC_MAX = 36.0  # standard deviations: from here on erfc underflows
LOG_ROOT_TWO_PI = 0.9189385332046727


def log_normal(z: float) -> float:
    """log Phi(z)."""
    if z > 0.0:
        return math.log1p(-math.erfc(z * math.sqrt(0.5)) / 2.0)
    if z > -ERFC_MAX:
        return math.log(math.erfc(-z * math.sqrt(0.5)) / 2.0)
    return -z * z / 2.0 - math.log(-z) - LOG_ROOT_TWO_PI + math.log1p(-1.0 / (z * z))


def upper_point(x: float) -> float:
    """z with Phi(-z) = x, for x above 0 and below 1."""
    goal, low, high = math.log(x), -ERFC_MAX, ERFC_MAX
    for _ in range(GUESS_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if log_normal(-middle) > goal else (low, middle)
    return low


def equivalent(t: float, delta: float) -> float:
    """mu of the Gaussian mechanism with this H(e^t), t >= 0; nan where there is none within reach."""
    if not 0.0 < delta < 1.0:
        return math.nan
    goal, low, high = math.log(delta), -LOG_MU, LOG_MU
    for _ in range(GUESS_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if log_hockey_stick(t, math.exp(middle)) < goal else (low, middle)
    return math.exp(low) if low > -LOG_MU and high < LOG_MU else math.nan


def log_hockey_stick(t: float, mu: float) -> float:
    """log H(e^t) of the Gaussian mechanism, t >= 0."""
    if mu < LITTLE_MU:  # mu (phi(u) - u Phi(-u)), u = t/mu
        u = t / mu
        density = -u * u / 2.0 - LOG_ROOT_TWO_PI
        if u > ERFC_MAX:
            return math.log(mu) + density - 2.0 * math.log(u)
        return math.log(mu) + math.log(math.exp(density) - u * math.erfc(u * math.sqrt(0.5)) / 2.0)
    above, below = log_normal(mu / 2.0 - t / mu), log_normal(-mu / 2.0 - t / mu)
    gap = t + below - above
    return above + math.log(-math.expm1(gap)) if gap < 0.0 else -math.inf


def turning_point(known: Sequence[tuple[float, float]], x: float, low: float, high: float) -> float:
    """t between low and high where H(e^t) + e^t x is least, by one, two or three known (t, mu); nan where none is."""

    def falls(t: float) -> bool:
        mu, slope = _parabola(known, t)
        if not mu > 0.0:
            return False
        z = t / mu + mu / 2.0
        return math.erfc(z * math.sqrt(0.5)) / 2.0 - slope * math.exp(-z * z / 2.0 - LOG_ROOT_TWO_PI) > x

    if falls(low) == falls(high):
        return math.nan
    for _ in range(GUESS_HALVINGS):
        middle = low + (high - low) / 2.0
        low, high = (middle, high) if falls(middle) else (low, middle)
    return low


def _parabola(known: Sequence[tuple[float, float]], t: float) -> tuple[float, float]:
    """The value and the slope at t of the polynomial through one to three points, by divided differences."""
    (t0, m0), *others = known
    value, slope, basis, growth = m0, 0.0, 1.0, 0.0
    if others:
        (t1, m1), *rest = others
        first = (m1 - m0) / (t1 - t0)
        growth, basis = basis + growth * (t - t0), basis * (t - t0)
        value, slope = value + first * basis, slope + first * growth
        for t2, m2 in rest:
            second = ((m2 - m1) / (t2 - t1) - first) / (t2 - t0)
            growth, basis = basis + growth * (t - t1), basis * (t - t1)
            value, slope = value + second * basis, slope + second * growth
    return value, slope


MOST_POINTS = 60
BETWEEN_POINTS = 0.5  # of the width that is aimed at: for what lies between the points
OUTREACH = 8.0  # times as far as the Gaussian of the last point says: where mu changes with t
NEARLY_THERE = 0.1  # standard deviations: a guess is trusted that is no further from a point
IDLE_POINTS = 6  # points that bring the ends no nearer, where deltas are not sharper either
FIRST_POINT_SHARE = 0.5  # of the time: for the first delta
AS_GOOD_AS_ZERO = 0.125  # of what may lie between the points
FIRST_AIM = 1e-3  # relative width of a delta that only says where to look
LOG_MAX = 700.0
FINEST_AIM = 1e-13  # relative width of a delta: asked for before anything finer is known to help
OUTWARD_STRIDE = 4.0  # each step outward is so many times as long as the one before
T_MAX = 1e15  # log a is not looked for further out


class Power(NamedTuple):
    """Ends of g and of f; the delta that decided the upper end of g, and what it weighs there; how many were asked.

    given_away: how far the lower end of g is below that of the dominating pair.
    """

    lower: float
    upper: float
    miss_lower: float
    miss_upper: float
    of: Bound
    weight: float
    points: int
    given_away: float = 0.0


def power_at(law: Law, x: float, both: bool = False) -> Power:
    """g(x) and f(x) of the run, x from 0 to 1; both: the width is relative to the smaller one, not to g."""
    if 0.0 < x < 1.0:
        return _known_too(law, x, _between(law, x, both))
    mass = law.one_sided(math.inf)
    if x == 1.0:
        return Power(1.0, 1.0, 0.0, 0.0, mass, 0.0, 0)
    with compute_budget.uncounted(), working_precision(BITS_START):
        low, up = lower_float(1 - arb(mass.upper)), upper_float(1 - arb(mass.lower))
    return Power(mass.lower, mass.upper, low, up, mass, 1.0, 1)


def _between(law: Law, x: float, both: bool) -> Power:
    """Both ends of the dominating pair, or its upper end and the lower one of the best run of real pairs."""
    above, runs = law.parted()
    if not runs:
        return _PowerSearch(law, x, both).answer()
    real = Power(x, 1.0, 0.0, 1.0, above.one_sided(math.inf), 0.0, 0)  # before the pair, which may take all the time
    turn, reached = 0.0, -math.inf
    with compute_budget.part(compute_budget.FLOOR_SHARE, clock=True):
        for run in runs:
            if reached >= 0.0 and run.one_sided(turn, ROUGHLY).lower <= reached:
                continue
            search = _PowerSearch(run, x, both, turn)
            real = max(real, search.answer(), key=attrgetter("lower"))
            turn, reached = search.turn, run.one_sided(search.turn, ROUGHLY).lower
    power = _PowerSearch(above, x, both, turn).answer()
    law.exhausted = law.exhausted or above.exhausted
    return power._replace(lower=real.lower, miss_upper=real.miss_upper, given_away=max(power.lower - real.lower, 0.0))


def _known_too(law: Law, x: float, power: Power) -> Power:
    """g(x) <= H(a) + a x with the deltas that other answers on the same page have found."""
    if law.shared is None:
        return power
    with compute_budget.uncounted(), working_precision(BITS_START):
        upper = min((upper_float(arb(up) + arb(t).exp() * x) for t, up in law.shared.corners()), default=1.0)
        if upper >= power.upper:
            return power
        if power.lower > upper and not law.mechanism.attained:  # it spoke of the dominating pair, which has more
            power = power._replace(lower=x, miss_upper=1.0 - x)
        agreed(power.lower, upper, "the power of a test", "the deltas of the same run")
        return power._replace(upper=upper, miss_lower=max(power.miss_lower, lower_float(1 - arb(upper))))


def _range(law: Law) -> tuple[float, float]:
    """The smallest and the largest loss, rounded outward: there H is at its limits."""
    with compute_budget.uncounted(), working_precision(BITS_START):
        lows, highs = [], []
        for direction in law.directions:
            ranges = [(pair.loss_range(), count) for pair, count in law.terms(direction)]
            lows.append(lower_float(sum((count * each.lowest for each, count in ranges), ZERO)))
            highs.append(upper_float(sum((count * each.highest for each, count in ranges), ZERO)))
    return min(lows), max(highs)


def hockey_stick(t: float, end: float, small: bool) -> arb:
    """H(e^t), or H(e^t) - 1 where f is the smaller one, by an end of what Law.one_sided tells there."""
    if t >= 0.0:
        return arb(end) - 1 if small else arb(end)
    return arb(t).exp() * (arb(end) - 1) if small else arb(t).exp() * end - arb(t).expm1()


class _PowerSearch:
    """Certified deltas at some t = log a, and where to ask next.

    small: values are those of H - 1, as f is smaller than g; else those of H. turn: where the least is, or may be.
    """

    def __init__(self, law: Law, x: float, both: bool, start: float = 0.0) -> None:
        self.law, self.x, self.both, self.small, self.turn = law, x, both, x >= 0.5, start
        self.tail, self.start = law.one_sided(math.inf), law.one_sided(-math.inf)  # H(inf), and 1 + H'(0)
        self.known: dict[float, Bound] = {}  # at t; below 0 those of the reversed pairs at -t
        self.mus: dict[float, float] = {}
        self.aims: dict[float, float] = {}
        self.enough: dict[float, float] = {}  # a delta below is as good as 0
        self.gaps: list[arb] = []
        self.quantile = upper_point(x)
        self.step, self.way = 1.0, 0  # outward, in t; which way to the next point is tried first
        self.lowest, self.highest = _range(law)

    def answer(self) -> Power:
        """Asks until the width is reached, time is up, or no point would help."""
        t: float | None = self.turn
        while t is not None and len(self.known) < MOST_POINTS:
            aim = self.aims.setdefault(t, self._aim(t))
            with compute_budget.part(
                compute_budget.POINT_SHARE if self.known else FIRST_POINT_SHARE
            ):  # what is prepared serves the others
                self.known[t] = bound = self._negligible(t) or self.law.one_sided(t, aim)
            self.mus[t] = equivalent(abs(t), (bound.lower + bound.upper) / 2.0 if bound.upper < 1.0 else 1.0)
            with compute_budget.uncounted(), working_precision(BITS_START):
                t = None if self.law.over else self._next()
        if self.law.over:  # what other questions found out about the law helps this one
            self.known = {**self.law.known, **self.known}
        with compute_budget.uncounted(), working_precision(BITS_START):
            return self._found(self._valley(lower=True))

    def _negligible(self, t: float) -> Bound | None:
        """Beside the end of the loss a delta may be too small to matter, and its digits cost much: moments tell."""
        enough = self.enough.pop(t, 0.0)
        return self.law.moments_below(t, enough) if enough > 0.0 else None

    def _aim(self, t: float) -> float:
        """The relative width of delta that matters in delta + a x; at first only where to look is asked."""
        if not self.known:
            return FIRST_AIM
        near = min(self.known, key=lambda other: abs(other - t))
        mu = self.mus[near]
        size = math.exp(log_hockey_stick(abs(t), mu)) if mu > 0.0 else self.known[near].upper
        share = BETWEEN_POINTS * BETWEEN_POINTS * self.law.aim
        if self.small:
            return max(share, FINEST_AIM)
        return max(min(share * (1.0 + self.x * math.exp(min(t, LOG_MAX)) / max(size, TINIEST)), FIRST_AIM), FINEST_AIM)

    def _found(self, valley: Valley) -> Power:
        self.turn = t = sorted(self.known)[max(valley.best, 0)]
        lower, upper, x = valley.lower, valley.upper, arb(self.x)
        power, miss = (
            ((lower + 1, upper + 1), (-upper, -lower)) if self.small else ((lower, upper), (1 - upper, 1 - lower))
        )
        return Power(
            max(lower_float(power[0]), self.x),
            min(upper_float(power[1]), 1.0),
            max(lower_float(miss[0]), 0.0),
            min(upper_float(miss[1].min(1 - x)), 1.0),
            self.known[t],
            min(upper_float(arb(t).exp()), 1.0),
            len(self.known),
        )

    def _value(self, t: float, end: float) -> arb:
        return hockey_stick(t, end, self.small)

    def _valley(self, lower: bool) -> Valley:
        """What is certain; or, without the lower ends, what upper ends would say of themselves if they were exact."""
        knots = []
        for t, bound in self.known.items():
            up = self._value(t, bound.upper)
            knots.append(Knot(t, self._value(t, bound.lower) if lower else up, up))
        head = 0 if self.small else 1
        tail, start = ((each.lower if lower else each.upper) for each in (self.tail, self.start))
        return Secants(knots, arb(head), arb(start) - 1, arb(tail) - 1 + head).least(arb(self.x))

    def _next(self) -> float | None:
        """Where to ask next: first for the upper end, then for the lower one, then for sharper deltas."""
        certain = self._valley(lower=True)
        if not self.small and certain.lower > 0.5:
            self.small = True
            certain = self._valley(lower=True)
        size = abs(certain.lower).max(abs(certain.upper))
        wanted = self.law.aim * (size if self.both or not self.small else 1 + certain.lower)
        if certain.upper - certain.lower <= wanted or size <= TINIEST:
            return None
        allowed, noise = BETWEEN_POINTS * wanted, self._noise(certain.best)
        valley = self._valley(lower=False)
        idle = len(self.gaps) > IDLE_POINTS and not self.gaps[-1] < self.gaps[-IDLE_POINTS] / 2
        if not valley.upper - valley.lower <= allowed.max(noise * (4 if idle else 0.25)):
            return self._place(valley, allowed)
        values = (self._value(t, bound.lower) + arb(t).exp() * self.x for t, bound in self.known.items())
        if not reduce(min_of, values) - certain.lower <= allowed.max(2 * noise):
            return self._place(certain, allowed)
        return self._blunt(certain, allowed)

    def _noise(self, index: int) -> arb:
        t = sorted(self.known)[max(index, 0)]
        return self._value(t, self.known[t].upper) - self._value(t, self.known[t].lower)

    def _place(self, valley: Valley, allowed: arb) -> float | None:
        """A new t: by the Gaussian of equal delta, where lines meet, in the middle; another way where one stalls."""
        ts = sorted(self.known)
        left = ts[valley.interval - 1] if valley.interval else -math.inf
        right = ts[valley.interval] if valley.interval < len(ts) else math.inf
        self.gaps.append(valley.upper - valley.lower)
        stalled = len(self.gaps) > 2 and not self.gaps[-1] < self.gaps[-3] / 2
        self.way = (self.way + 1) % 3 if stalled else self.way % 2  # halving goes on no longer than it must
        inner = valley.interval not in (0, len(ts))
        middle = left + (right - left) / 2.0 if inner else left + self.step if valley.interval else right - self.step
        guesses = list(self._guesses(ts, valley, allowed))
        ways = [guesses, [valley.crossing if inner or guesses else middle], [middle]]
        for values in (ways * 2)[self.way : self.way + 3]:
            for t in values:
                if abs(t) <= T_MAX and t not in self.known:
                    self.step *= 1.0 if inner or t != middle else OUTWARD_STRIDE
                    return t
        return None

    def _guesses(self, ts: list[float], valley: Valley, allowed: arb) -> Iterable[float]:
        """By the Gaussian of equal delta; beside the best point where that is already there."""
        best = max(valley.best, 0)
        told = [t for t in ts if self.mus[t] > 0.0]
        near = [(t, self.mus[t]) for t in sorted(told, key=lambda t: abs(t - ts[best]))[:3]]
        if not near:
            return
        mu = near[0][1]
        flat = mu * self.quantile - mu * mu / 2.0
        inner = 0 < best < len(ts) - 1
        low = ts[best - 1] if best else min(flat + OUTREACH * (flat - ts[0]), ts[0]) - mu
        high = ts[best + 1] if best + 1 < len(ts) else max(flat + OUTREACH * (flat - ts[-1]), ts[-1]) + mu
        guess = turning_point(near if inner else near[:2], self.x, low, high)
        guess = flat if math.isnan(guess) else guess
        if not self.lowest < guess < self.highest:  # a corner of H: the next point is near enough to tell its slope
            edge = self.highest if guess >= self.highest else self.lowest
            near_by = float(allowed / self.x * (-arb(edge)).exp())
            yield edge
            for t in (edge - near_by, edge + near_by):
                self.enough[t] = min(AS_GOOD_AS_ZERO * float(allowed) * math.exp(min(max(-t, 0.0), LOG_MAX)), 1.0)
                yield t
            return
        z = guess / mu + mu / 2.0
        log_bend = guess - z * z / 2.0 - LOG_ROOT_TWO_PI - math.log(mu)  # log of the second derivative in t
        reach = math.exp(min((float(allowed.log()) - log_bend) / 2.0, math.log(mu)))
        nearest = min(range(len(ts)), key=lambda index: abs(ts[index] - guess))
        away = guess - ts[nearest]
        if abs(away) > reach / 2.0:
            outside = (
                not ts[0] < guess < ts[-1] and abs(away) < NEARLY_THERE * mu
            )  # nearly there, and all points on one side
            yield guess + (away + math.copysign(reach, away) if outside else 0.0)
        elif valley.interval == nearest + 1:
            yield ts[nearest] + reach
        elif valley.interval == nearest:
            yield ts[nearest] - reach

    def _blunt(self, certain: Valley, allowed: arb) -> float | None:
        """A t whose delta could be sharper and is in the way; None where all are as sharp as can be."""
        for index in range(max(certain.best - 1, 0), min(certain.best + 2, len(self.known))):
            t, noise = sorted(self.known)[index], self._noise(index)
            if noise > allowed / 2:
                bound = self.known[t]
                aim = max(BETWEEN_POINTS * float(allowed / noise) * (1.0 - bound.lower / bound.upper), FINEST_AIM)
                if aim < self.aims[t]:
                    self.aims[t] = aim
                    return t
        return None
