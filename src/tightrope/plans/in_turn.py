"""Rows of a table, one after the other: each has its share of the time, and what is left goes to those that were late.

The first round gives every row the same seconds, so that a row which is done within does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Protocol, TypeVar


class Timed(Protocol):
    """A row that knows whether more time may help it."""

    @property
    def late(self) -> bool: ...


Kind = TypeVar("Kind", bound=Timed)


def in_turn(count: int, seconds: float, ask: Callable[[int, float], Kind]) -> tuple[Kind, ...]:
    """ask(index, seconds) for each index; once more for late rows, where there is more time than they had."""
    began, share = monotonic(), seconds / count
    rows = [ask(index, share) for index in range(count)]
    waiting = [index for index, row in enumerate(rows) if row.late]
    for place, index in enumerate(waiting):
        left = (seconds - (monotonic() - began)) / (len(waiting) - place)
        if left > share:
            rows[index] = ask(index, left)
    return tuple(rows)
