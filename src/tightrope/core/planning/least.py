"""The search for the value that just meets a target.

An answer is gauged by the Gaussian mechanism that has the same one: its log mu is nearly a straight line in the log of
most unknowns, so secants find the value in a few questions. Where delta is 0 or 1, log epsilon takes its place, and
bisection where nothing else helps. What is returned was asked for itself: the search rests on nothing that it assumes.
That privacy is monotone in the unknown is observed at every value that is tried, on both sides of the answer too: two
that contradict one another end the search.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import NamedTuple

from ..values import compute_budget
from ..values.errors import BracketNotFound, WorkExhausted
from .domain import GIVE_ENDS, Domain
from .goal import Goal, Tried, apart

PROBES_MAX = 60
SPREADS = (2, 64, 10**4, 10**8, 10**15)  # to see which way privacy goes
CHEAP_SPREAD = 64  # up to here delta alone is asked
STRIDE = math.log(64.0)  # a line through two points is believed so far
NEARBY = 0.4  # in logs: from here on sharp answers pay
SLOW = 3  # steps that must make the bracket four times narrower
BEYOND = 0.1  # of a step, further while no value is known on the other side
BEND_MAX = 0.5  # of a step that a line would make
NEAR_ENOUGH = 0.01  # relative: as close as upper ends alone are followed, where other values are shown to miss
HALVES = 4  # every so manieth step by upper ends halves the bracket
NUDGE = 0.25  # of the tolerance, beyond where the root is expected, so that both ends come close to it
SILENT_MAX = 4  # values without any delta that are asked for epsilon
PROBE = 4  # times further out, to see whether privacy is monotone
LEFT_MIN = 0.01  # of the work: with less there is no time for a question
EASY = 0.01  # of the work: where the last value took no more, the next is asked sharply at once
QUESTION = 1e6  # units of work: what any question takes


class Root(NamedTuple):
    """The best value that meets the target, the nearest that misses it, and why there is none nearer."""

    good: Tried
    bad: Tried | None
    ended: str | None


class RootSearch:
    """All that was tried so far, and what to try next."""

    def __init__(self, domain: Domain, goal: Goal, tolerance: float, meter: compute_budget.Meter) -> None:
        self.domain = domain
        self.goal = goal
        self.tolerance = tolerance
        self.meter = meter
        self.units = meter.left
        self.spent = 0.0  # on the last value
        self.tried: dict[float, Tried] = {}
        self.widths: list[float] = []  # of the bracket, in logs
        self.swapped = False  # whether the second question tells where to look next, rather than the first
        self.rise: tuple[Tried, Tried] | None = None  # two values of which the larger certainly loses more
        self.fall: tuple[Tried, Tried] | None = None  # two of which it loses less
        self.leaning = 0  # as safe, by upper ends alone

    def run(self) -> Root:
        """Direction, bracket, then a look further out."""
        try:
            self._orient()
            ended = self._narrow() if self.rise or self.fall else self._approach(self.tolerance)
        except WorkExhausted:
            ended = "time ran out"
        else:
            self._look_around()
        good, bad = self.good, self.bad
        if good is None:
            raise self._nowhere(ended or "", bad)
        with nullcontext() if self._left() else compute_budget.grace():
            return Root(self.goal.printed(good), None if bad is None else self.goal.printed(bad), ended)

    @property
    def safe(self) -> int:
        """1 if a larger value loses less, -1 if it loses more, 0 while that is open."""
        return 1 if self.fall else -1 if self.rise else self.leaning

    @property
    def good(self) -> Tried | None:
        """The best value that meets the target."""
        return min((tried for tried in self.tried.values() if tried.meets), key=self._safety, default=None)

    @property
    def bad(self) -> Tried | None:
        """The best value that misses it."""
        return max((tried for tried in self.tried.values() if tried.misses), key=self._safety, default=None)

    def _safety(self, tried: Tried) -> float:
        return self.safe * tried.value

    def _left(self) -> bool:
        return self.meter.left >= max(LEFT_MIN * self.units, QUESTION) and not self.meter.over()

    def _look(self, value: float, distance: float, glance: bool = False) -> Tried:
        """Asks for a value that is believed to be so far off, in logs; at a glance where it loses least of all."""
        if not self._left():
            raise WorkExhausted("time")
        mechanism = self.domain.mechanism(value)
        assert mechanism is not None
        seen = self.goal.glance(value, mechanism, self.tried.values()) if glance else None
        left = self.meter.left
        tried = seen or self.goal.ask(value, mechanism, distance > NEARBY, self.spent <= EASY * self.units)
        self.spent = left - self.meter.left
        return self._put(tried)

    def _put(self, new: Tried) -> Tried:
        """Keeps the answer, and compares it with all others."""
        self.tried[new.value] = new
        for other in self.tried.values():
            low, high = sorted((new, other), key=lambda tried: tried.value)
            if low.below(high):
                self.rise = self.rise or (low, high)
            elif high.below(low):
                self.fall = self.fall or (low, high)
        if self.rise and self.fall:
            raise self._not_monotone(self.rise, self.fall)
        return new

    def _not_monotone(self, rise: tuple[Tried, Tried], fall: tuple[Tried, Tried]) -> BracketNotFound:
        seen = sorted({tried.value: tried for tried in (*rise, *fall)}.items())
        telling = [
            place
            for place in range(len(self.goal.probes))
            if all(apart(low.bounds[place], high.bounds[place]) for low, high in (rise, fall[::-1]))
        ]
        places = ", ".join(f"{value:.6g} ({self.goal.told(tried, telling)})" for value, tried in seen)
        name = self.domain.parameter
        told = f"privacy is not monotone in {name}, see {places}: {GIVE_ENDS} between which it is"
        return BracketNotFound(told, name)

    def _orient(self) -> None:
        """Spreads out until two values certainly differ."""
        start = self.domain.start()
        self._look(start, math.inf)
        for spread in SPREADS:
            if spread > CHEAP_SPREAD and self._weighed():
                return
            for wanted in (self.domain.fit(start * spread), self.domain.fit(start / spread)):
                value = self.domain.reach(start, wanted)
                if value not in self.tried:
                    self._look(value, math.inf)
                if self.safe:
                    return
        if self._weighed():
            return
        if self.goal.refusal is not None:
            raise self.goal.refusal
        good = sorted(tried.value for tried in self.tried.values() if tried.meets)
        wide = [tried.value for tried in self.tried.values() if not tried.meets]
        if good and wide:  # lower ends are of no use: do upper ends show a side?
            self.leaning = 1 if max(wide) < good[0] else -1 if min(wide) > good[-1] else 0
        if not self.leaning:
            raise self._indifferent(good, wide)

    def _indifferent(self, good: list[float], wide: list[float]) -> BracketNotFound:
        name, values = self.domain.parameter, f"{min(self.tried):.6g} to {max(self.tried):.6g}"
        if good and wide:
            met = f"meet the target from {good[0]:.6g} to {good[-1]:.6g}, and bounds of the others are too wide to tell"
        elif good:
            met = "meet the target"
        else:
            missed = all(tried.misses for tried in self.tried.values())
            met = "do not meet the target" if missed else "are not shown to meet the target, or to miss it"
        why = self.goal.reason(list(self.tried.values())[-1])
        return BracketNotFound(
            f"privacy is not shown to depend on {name}: the values tried, {values}, {met}{why}", name
        )

    def _weighed(self) -> bool:
        """Whether the other question tells which way privacy goes."""
        return any(self._put(self.goal.weigh(tried)) and self.safe for tried in list(self.tried.values()))

    def _narrow(self) -> str | None:
        """Until the values that meet and miss are as close as asked; else why they are not."""
        for step in range(PROBES_MAX):
            good, bad = self.good, self.bad
            if good is not None and bad is not None and self._close(good, bad):
                return None
            value, distance = self._next(step)
            if value in self.tried:
                return self.domain.end(value)
            tried = self._look(value, distance)
            if not tried.decided:
                ended = self._step_out(tried)
                if ended is not None:
                    if self.good is not None:
                        self._approach(max(self.tolerance, NEAR_ENOUGH))
                    return ended
        return "the search did not come closer"

    def _approach(self, tolerance: float) -> str | None:
        """Where bounds do not tell values apart: the last one whose upper end meets the target, by upper ends alone."""
        known = self.rise or self.fall
        for step in range(PROBES_MAX):
            good, wide = self.good, self._beyond()
            if not known and (self.rise or self.fall):
                return self._narrow()
            if good is None or wide is None or self._close(good, wide, tolerance):
                break
            self._look(self._between(good, wide, step), 0.0)
        name = self.domain.parameter
        last = "" if wide is None else f": {name} = {wide.value:.9g} is neither shown to meet it nor to miss it"
        return f"beyond it the bounds are too wide{last}"

    def _beyond(self) -> Tried | None:
        """The value that comes next to the best that meets the target, and is not shown to meet it."""
        good = self.good
        others = [
            tried for tried in self.tried.values() if good is not None and self._safety(tried) < self._safety(good)
        ]
        return max(others, key=self._safety, default=None)

    def _between(self, good: Tried, wide: Tried, step: int) -> float:
        """Where the line through the upper ends of two values reaches the target, now before and now behind it."""
        low, high = sorted((good.value, wide.value))
        guess = math.sqrt(low) * math.sqrt(high)
        good, wide = self._put(self.goal.weigh(good)), self._put(self.goal.weigh(wide))
        ends = self.goal.upper_line(good, wide)
        if ends is not None and step % HALVES:
            log = math.log(wide.value / good.value)
            nudge = math.copysign(NUDGE * self.tolerance, log) * (1 if step % 2 else -1)
            guess = _times(good.value, ends[0] / (ends[0] - ends[1]) * log + nudge)
        guess = self._rounded(guess, guess > good.value)
        return guess if low < guess < high else self.domain.fit(low + (high - low) / 2)

    def _close(self, one: Tried, two: Tried, tolerance: float | None = None) -> bool:
        distance = abs(one.value - two.value)
        if self.domain.integer and distance <= 1:
            return True
        relative = 0.0 if self.domain.integer and tolerance is None else tolerance or self.tolerance
        return distance <= relative * one.value

    def _next(self, step: int) -> tuple[float, float]:
        """The value to try next, and how far it is from what is known; one that was tried if there is none."""
        good, bad = self.good, self.bad
        last = list(self.tried.values())[-1].value
        if good is not None and bad is not None:
            low, high = sorted((good.value, bad.value))
            self.widths.append(math.log(high / low))
            slow = len(self.widths) > SLOW and self.widths[-1] > 0.25 * self.widths[-1 - SLOW]
            if slow:  # the other question may be straighter; if it was not, halves
                self.swapped, slow = not self.swapped, self.swapped or len(self.goal.probes) == 1
                self.widths.clear()
            guess = None if slow else self._secant(low, high, 0.0)
            if guess is None:
                guess = math.sqrt(low) * math.sqrt(high) if high > 1.2 * low else low + (high - low) / 2.0
            guess = self._rounded(guess, guess > last)
            if not low < guess < high:
                guess = (int(low) + int(high)) // 2 if self.domain.integer else low + (high - low) / 2.0
            return guess, abs(math.log(guess / last))
        away = -self.safe if good is not None else self.safe
        edge = max(self.tried) if away > 0 else min(self.tried)
        wanted = self._secant(*((edge, math.inf) if away > 0 else (0.0, edge)), BEYOND)
        if wanted is None:
            wanted = _times(edge, away * min(1.4 * 2.0**step, 10.0))
        wanted = min(max(wanted, _times(edge, -STRIDE)), _times(edge, STRIDE))
        wanted = self.domain.fit(self._rounded(wanted, away > 0))
        if self.domain.integer and wanted == edge:
            wanted = self.domain.fit(edge + away)
        return self.domain.reach(edge, wanted), abs(math.log(wanted / edge))

    def _secant(self, low: float, high: float, beyond: float) -> float | None:
        """Where the line through two points in logs reaches the target, and a little further, between low and high."""
        pairs = [tuple(self.tried.values())[-2:]]
        good, bad = self.good, self.bad
        if good is not None and bad is not None:
            pairs.append((bad, good))
        for one, two in pairs:
            ends = self.goal.line(one, two, self.swapped)
            if (ends is None or self.swapped) and high < math.inf and low > 0.0:
                one, two = self._put(self.goal.weigh(one)), self._put(self.goal.weigh(two))
                ends = self.goal.line(one, two, self.swapped)
            if ends is None:
                continue
            move = self._bent(one, two, ends)
            least = 0.0 if self.domain.integer else NUDGE * self.tolerance
            nudge = math.copysign(max(min(beyond, BEYOND * abs(move)), least), move)
            for end in (move + nudge, move - nudge, move):  # across the root if there is room, else just before it
                if low < (guess := _times(two.value, end)) < high:
                    return guess
        return None

    def _bent(self, one: Tried, two: Tried, ends: tuple[float, float]) -> float:
        """How far the target is from the second value, in logs: on the line, or on the parabola through the one before.

        Parabolas of log value in what is gauged, by Neville's formula, where they do not bend much.
        """
        y0, y1 = ends
        move = -y1 * math.log(two.value / one.value) / (y1 - y0)
        before = [tried for tried in self.tried.values() if tried is not one and tried is not two][-1:]
        third = self.goal.line(before[0], two, self.swapped) if before else None
        if third is None or third[0] == y0 or third[1] != y1:
            return move
        other = -y1 * math.log(two.value / before[0].value) / (y1 - third[0])
        bent = (third[0] * move - y0 * other) / (third[0] - y0)
        return bent if abs(bent - move) < BEND_MAX * abs(move) else move

    def _rounded(self, value: float, up: bool) -> float:
        """Few digits, or a whole number further on."""
        if self.domain.integer:
            return math.ceil(value) if up else math.floor(value)
        return float(f"{value:.{2 - math.floor(math.log10(self.tolerance))}g}")

    def _step_out(self, middle: Tried) -> str | None:
        """From a value that cannot be decided, to both sides until one can; None where the search may go on."""
        bound = middle.first
        noise = bound.width / bound.upper if bound is not None and 0.0 < bound.upper < math.inf else 1.0
        step = max(noise, 1.0 / middle.value if self.domain.integer else NUDGE * self.tolerance)
        for side in (1, -1):
            distance = step
            while True:
                inner = self.good if side == self.safe else self.bad
                wanted = self.domain.fit(self._rounded(_times(middle.value, side * distance), side > 0))
                if inner is not None and side * (inner.value - wanted) <= 0.0:
                    break
                value = self.domain.reach(middle.value, wanted)
                if value in self.tried or self._look(value, distance).decided:
                    break
                distance *= 2.0
        good, bad = self.good, self.bad
        if bad is not None and self._safety(bad) >= self._safety(middle):
            return None  # it was only a gap among those that miss the target
        if good is not None and (
            self._safety(good) <= self._safety(middle) or (bad is not None and self._close(good, bad))
        ):
            return None
        return _why(middle)

    def _look_around(self) -> None:
        """One value well outside on each side, where none was tried: what contradicts there ends the search too."""
        ends = [tried.value for tried in (self.good, self.bad) if tried is not None]
        if self.good is None:
            ends = list(self.tried)  # that no value meets the target is a claim about all of them
        low, high = min(ends), max(ends)
        try:
            for end, wanted, seen in (
                (low, low / PROBE, any(2 * each <= low for each in self.tried)),
                (high, high * PROBE, any(each >= 2 * high for each in self.tried)),
            ):
                value = self.domain.reach(end, self.domain.fit(wanted))
                if not seen and value not in self.tried:
                    self._look(value, math.inf, glance=self.safe * (value - end) > 0)
            silent = [
                tried for tried in self.tried.values() if tried.bounds[0] is not None and not tried.bounds[0].upper
            ]
            for each in silent[-SILENT_MAX:] if len(silent) > 1 else []:
                self._put(self.goal.weigh(each))  # a delta of 0 hides which of them loses less
        except WorkExhausted:
            pass  # the two values found are proven by themselves

    def _nowhere(self, ended: str, bad: Tried | None) -> Exception:
        if bad is None and self.goal.refusal is not None:
            return self.goal.refusal
        name = self.domain.parameter
        tried = "" if bad is None else f"; {name} = {bad.value:.6g} misses it"
        return BracketNotFound(f"no {name} was shown to meet {self.goal.target}: {ended}{tried}", name)


def _times(value: float, log: float) -> float:
    """value e^log, within the range of doubles."""
    if abs(log) < 1e-3:
        return value + value * math.expm1(log)
    return math.exp(min(max(math.log(value) + log, -700.0), 700.0))


def _why(tried: Tried) -> str:
    certificate = None if tried.first is None else tried.first.certificate
    if certificate is not None and certificate.exhausted is not None:
        return f"{certificate.exhausted} ran out"
    return tried.why or "the bounds are too wide to tell values in between apart"
