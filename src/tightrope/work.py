"""Work as part of the question: how much of it, until when, and how much memory.

Whatever can take long says so before it starts: `spend` takes units from the allowance that is in force, `hold` asks
whether so many bytes may be held at once. A unit is about a nanosecond of one core, rated once and for all, so that the
same question does the same work on every machine and under any load; the clock is only a backstop.
    with allowance(seconds): ...    what one call may do
    with part(share): ...           what one attempt may take of what is left; another may follow
Without an allowance nothing is counted: kernels can be used by themselves.
The allowance belongs to the running thread or task, as a decimal context does.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .errors import WorkExhausted

# A quiet core of 2024 does about this in a second, so the units end before the clock does.
UNITS_PER_SECOND = 0.6e9
MEMORY_MOST = 1 << 30  # bytes that one array, or one list, may hold


class Meter:
    """Units that are left; what is spent here is spent in the whole that it is a part of."""

    def __init__(self, units: float, deadline: float, whole: Meter | None = None) -> None:
        self.left = units
        self.deadline = deadline
        self.whole = whole
        self.late = False  # the clock, not the work, ended something: another run may answer otherwise

    def spend(self, units: float) -> None:
        """Takes units, or raises WorkExhausted before the work is done."""
        if time.monotonic() > self.deadline:
            self.root.late = True
            raise WorkExhausted("time")
        each: Meter | None = self
        while each is not None:
            if units > each.left:
                raise WorkExhausted("time")
            each = each.whole
        each = self
        while each is not None:
            each.left -= units
            each = each.whole

    @property
    def root(self) -> Meter:
        """The allowance of the call."""
        return self if self.whole is None else self.whole.root


_METER: ContextVar[Meter | None] = ContextVar("tightrope_work", default=None)


@contextmanager
def allowance(seconds: float) -> Iterator[Meter]:
    """What a call may do; inside another allowance, that one goes on."""
    outer = _METER.get()
    if outer is not None:
        yield outer
        return
    yield from _in_force(Meter(seconds * UNITS_PER_SECOND, time.monotonic() + seconds))


@contextmanager
def part(share: float) -> Iterator[Meter]:
    """A share of the units that are left, for one attempt; the clock is that of the call."""
    outer = _METER.get()
    if outer is None:
        yield Meter(float("inf"), float("inf"))
        return
    yield from _in_force(Meter(share * outer.left, outer.deadline, outer))


def _in_force(meter: Meter) -> Iterator[Meter]:
    token = _METER.set(meter)
    try:
        yield meter
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
        return float("inf")
    least = meter.left
    while meter.whole is not None:
        meter = meter.whole
        least = min(least, meter.left)
    return max(least, 0.0)


def hold(size: float) -> None:
    """Whether so many bytes may be held at once; raises WorkExhausted where not, with or without an allowance."""
    if not size <= MEMORY_MOST:
        raise WorkExhausted("memory")
