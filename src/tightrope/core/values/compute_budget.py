"""Work as part of the question: how much of it, until when, and how much memory.

Whatever can take long says so before it starts: `spend` takes units from the allowance that is in force, `hold` asks
whether so many bytes may be held at once. A unit is about a nanosecond of one core, rated once and for all, so that the
same question does the same work on every machine and under any load. Seconds that nobody asked for are a `Rating`:
units alone decide. Seconds that a caller names are also by the clock, unless TIGHTROPE_CLOCK=off in the environment
stops it, for tests; then nobody gives up on a process that works either.
    with allowance(seconds): ...    what one call may do
    with part(share): ...           what one attempt may take of what is left; another may follow
    with grace(): ...               what was kept for making an answer of what there is
    in_any_case(make)               what must be there: once more with that where time is up
    kept(make, *key)                what one call needs more than once: made once, and gone with the call
    with tally() as units: ...      what several calls take together
    meter.cancel()                  from another thread: whoever works under that meter ends at its next look
Without an allowance nothing is counted: kernels can be used by themselves.
The allowance belongs to the running thread or task, as a decimal context does.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, NoReturn, TypeVar

from .errors import WorkExhausted

T = TypeVar("T")


def still() -> float:
    """The clock where there is none: it never moves."""
    return 0.0


CLOCK = "TIGHTROPE_CLOCK"  # in the environment, which processes hand on to those that they start
monotonic: Callable[[], float] = still if os.environ.get(CLOCK) == "off" else time.monotonic

# A quiet core of 2024 does about this in a second, so the units end before the clock does.
UNITS_PER_SECOND = 0.8e9
GRACE = 0.1  # of a call: kept for making an answer of what there is when the rest is used up
GRACE_MIN = 0.2  # seconds by the clock, however busy the machine is
SIZE_MIN = 512  # entries of an array: shorter ones take no longer than counting them
# What one attempt may take of what is left. Attempts know their cost and refuse what does not fit, so most of it is
# theirs; nested, the first direction's first engine's first way has a little under half of the call.
DIRECTION_SHARE, ENGINE_SHARE, WAY_SHARE = 0.75, 0.8, 0.8
FLOOR_SHARE, PAIR_SHARE = 0.25, 0.8  # of floors of lower ends, and of the pair where more of these follow
COARSE_SHARE = 0.6  # of coarse answers in both directions, before finer ones
GAME_SHARE = 0.05  # of choices made anew at each use, which gain little, unless an accuracy is asked for
POINT_SHARE = 0.25  # of many points: the first ones prepare for the others
MEMORY_MAX = 1 << 30  # bytes that one array, or one list, may hold
PATIENCE_MAX = 86_400.0  # seconds, for what is waited for where there is no clock


class Rating(float):
    """Seconds as a measure of work alone: no clock ends what is allowed so much, on however busy a machine."""

    __slots__ = ()


def share_of(seconds: float, share: float) -> float:
    """A part of these seconds, a rating of a rating."""
    return Rating(share) if isinstance(seconds, Rating) else share


class Meter:
    """Units that are left; what is spent here is spent in the whole that it is a part of.

    exhausted names what ran out, for the first time, here or in a part of this; late says that it was the clock, or
    whoever cancelled, so that another run may answer otherwise. inside is what it came into force in: for a part the
    whole, for what was kept whatever used up the rest.
    """

    __slots__ = ("cancelled", "deadline", "exhausted", "grace", "inside", "kept", "late", "left", "whole")

    def __init__(
        self,
        units: float,
        deadline: float,
        whole: Meter | None = None,
        grace: Meter | None = None,
        inside: Meter | None = None,
    ) -> None:
        self.left = units
        self.deadline = deadline
        self.whole = whole
        self.grace = grace
        self.inside = whole if inside is None else inside
        self.kept: dict[Hashable, Any] = {} if self.inside is None else self.inside.kept
        self.cancelled = False
        self.exhausted: str | None = None
        self.late = False

    def chain(self) -> Iterator[Meter]:
        """This one, what it is a part of, and so on."""
        meter: Meter | None = self
        while meter is not None:
            yield meter
            meter = meter.whole

    def cancel(self) -> None:
        """From any thread: whoever works under this, also in what was kept for an answer, ends at its next look."""
        self.cancelled = True  # a flag that nobody takes back: units are written by the working thread alone

    def stopped(self) -> bool:
        """Whether this was cancelled, or what it is inside of."""
        meter: Meter | None = self
        while meter is not None:
            if meter.cancelled:
                return True
            meter = meter.inside
        return False

    def over(self) -> bool:
        """Whether the clock, or another thread, says that it is enough: who hears so answers otherwise another time."""
        if monotonic() <= self.deadline and not self.stopped():
            return False
        for meter in self.chain():
            meter.late = True
        return True

    def spend(self, units: float) -> None:
        """Takes units, or raises WorkExhausted before the work is done."""
        meter: Meter | None = self
        late = monotonic() > self.deadline
        while meter is not None and not late:
            late, meter = meter.cancelled, meter.inside
        late = late and self.over()  # who is late says so
        meter = self
        while meter is not None:
            if late or units > meter.left:
                self.end("time", late)
            meter = meter.whole
        meter = self
        while meter is not None:
            meter.left -= units
            meter = meter.whole
        count = _TALLY.get()
        if count is not None:
            count.units += units

    def end(self, resource: str, late: bool = False) -> NoReturn:
        """Says so in all that this is a part of."""
        for meter in self.chain():
            meter.exhausted = meter.exhausted or resource
            meter.late = meter.late or late
        raise WorkExhausted(resource)


class WorkDone:
    """Units that were spent, in whichever allowance."""

    __slots__ = ("units",)

    def __init__(self) -> None:
        self.units = 0.0

    @property
    def seconds(self) -> float:
        """What these are rated at."""
        return self.units / UNITS_PER_SECOND


_METER: ContextVar[Meter | None] = ContextVar("tightrope_work", default=None)
_TALLY: ContextVar[WorkDone | None] = ContextVar("tightrope_tally", default=None)


@contextmanager
def tally() -> Iterator[WorkDone]:
    """Counts what is spent meanwhile; one inside another counts for itself, and for the outer one at its end."""
    outer, count = _TALLY.get(), WorkDone()
    token = _TALLY.set(count)
    try:
        yield count
    finally:
        _TALLY.reset(token)
        if outer is not None:
            outer.units += count.units


def patience(seconds: float) -> float:
    """For how long another process is waited for before it is ended: so long, or without a clock for a day."""
    return PATIENCE_MAX if monotonic is still else seconds


class InForce:
    """A meter that counts inside."""

    __slots__ = ("_meter", "_token")

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def __enter__(self) -> Meter:
        self._token = _METER.set(self._meter)
        return self._meter

    def __exit__(self, *raised: object) -> None:
        _METER.reset(self._token)


Metered = AbstractContextManager[Meter]


def allowance(seconds: float) -> Metered:
    """What a call may do, by the clock too where these seconds were asked for; inside another allowance, that one goes
    on."""
    outer = _METER.get()
    if outer is not None:
        return nullcontext(outer)
    units, now = seconds * UNITS_PER_SECOND, math.inf if isinstance(seconds, Rating) else monotonic()
    grace = Meter(GRACE * units, now + seconds + GRACE_MIN)
    return InForce(Meter((1.0 - GRACE) * units, now + (1.0 - GRACE) * seconds, None, grace))


def part(share: float, clock: bool = False) -> Metered:
    """A share of the units that are left, for one attempt; the clock is that of the call, or shared too."""
    outer = _METER.get()
    if outer is None:
        return nullcontext(Meter(math.inf, math.inf))
    now = monotonic()
    deadline = now + share * (outer.deadline - now) if clock and now < outer.deadline else outer.deadline
    return InForce(Meter(share * left(), deadline, outer))


def grace() -> Metered:
    """What was kept of the call, to make an answer of what there is."""
    outer = _METER.get()
    if outer is None:
        return nullcontext(Meter(math.inf, math.inf))
    kept = next((meter.grace for meter in outer.chain() if meter.grace is not None), outer)
    return InForce(Meter(kept.left, kept.deadline, kept, inside=outer))


def in_any_case(make: Callable[[], T]) -> T:
    """What it makes; where time is up, of what was kept of the call."""
    try:
        return make()
    except WorkExhausted:
        with grace():
            return make()


def kept(make: Callable[..., T], *key: Hashable) -> T:
    """make(*key), once in a call, however often it is asked for; without an allowance nothing is kept."""
    meter = _METER.get()
    if meter is None:
        return make(*key)
    name = (make, *key)
    if name not in meter.kept:
        meter.kept[name] = make(*key)
    value: T = meter.kept[name]
    return value


@contextmanager
def uncounted() -> Iterator[None]:
    """What costs next to nothing and must not fail, such as saying how an answer came about, when time is up."""
    token = _METER.set(None)
    try:
        yield
    finally:
        _METER.reset(token)


def spend(units: float) -> None:
    """Takes units of work from the allowance in force; raises WorkExhausted where they are not left."""
    meter = _METER.get()
    if meter is not None:
        meter.spend(units)


def left() -> float:
    """Units of work that are left; inf without an allowance."""
    meter = _METER.get()
    if meter is None:
        return math.inf
    if meter.stopped():
        return 0.0
    least, each = meter.left, meter.whole
    while each is not None:
        least, each = min(least, each.left), each.whole
    return max(least, 0.0)


def over() -> bool:
    """Whether time is up: by the clock, or no unit is left."""
    meter = _METER.get()
    return meter is not None and (meter.over() or left() <= 0.0)


def late() -> bool:
    """Whether the clock, or whoever cancelled, ended something of this call: another run may answer otherwise."""
    meter = _METER.get()
    return meter is not None and any(each.late for each in meter.chain())


def hold(size: float) -> None:
    """Whether so many bytes may be held at once; raises WorkExhausted where not, with or without an allowance."""
    if size <= MEMORY_MAX:
        return
    meter = _METER.get()
    if meter is not None:
        meter.end("memory")
    raise WorkExhausted("memory")
