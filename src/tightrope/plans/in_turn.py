"""Rows of a table, one after the other: what one does not need of its share of the time goes to those after it.

No row has less than an equal share while those before it keep theirs, so that one which is done within does not depend
on the others; what is left at the end goes to those that were late. Time is what the work that was done
is rated at, and no less than what the clock says where seconds were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from .. import compute_budget

ROW_SHARE_MIN = 0.25  # of an equal share, where rows before it took longer than they should


class Timed(Protocol):
    """A row that knows whether more time may help it, and how wide it is."""

    @property
    def late(self) -> bool: ...
    @property
    def width(self) -> float: ...


Kind = TypeVar("Kind", bound=Timed)


def in_turn(
    count: int, seconds: float, ask: Callable[[int, float], Kind], order: Sequence[int] | None = None
) -> tuple[Kind, ...]:
    """ask(index, seconds) for each index, in this order; once more for late rows, where there is more time than before.

    The narrower answer stays.
    """
    rated = isinstance(seconds, compute_budget.Rating)
    began, rows, had = compute_budget.monotonic(), dict[int, Kind](), dict[int, float]()

    def left(rows_left: int) -> float:
        gone = spent.seconds if rated else max(compute_budget.monotonic() - began, spent.seconds)
        return compute_budget.share_of(seconds, (seconds - gone) / rows_left)

    with compute_budget.tally() as spent:
        for place, index in enumerate(order or range(count)):
            had[index] = compute_budget.share_of(seconds, max(left(count - place), ROW_SHARE_MIN * seconds / count))
            rows[index] = ask(index, had[index])
        waiting = [index for index in rows if rows[index].late]
        for place, index in enumerate(waiting):
            share = left(len(waiting) - place)
            if share > had[index]:
                again = ask(index, share)
                rows[index] = again if again.width <= rows[index].width else rows[index]
    return tuple(rows[index] for index in range(count))
