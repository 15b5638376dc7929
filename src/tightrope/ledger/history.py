"""A budget over time: its counters after each line of its chain that moved them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .chain import AuditLine
from .replay import Replay

MOMENTS_MAX = 2000

Moment = dict[str, Any]  # at, and axes: held, spent, total and whether it is dead, by name


def past(root: str, lines: Iterable[AuditLine], name: str, *, keep: bool = True) -> tuple[Replay, list[Moment]]:
    """The tables as the lines leave them, and what one budget was on the way there.

    keep: also what is over, for a report; else no more is held than what lives, however long the chain.
    """
    replay = Replay(keep=keep)
    replay.begin(root)
    found, last = HistoryPage(MOMENTS_MAX), Moment()
    places: list[tuple[Any, ...]] = []
    for line in lines:
        replay.line(line)
        axes = replay.tables["axis"]
        if not places:  # its axes are made together, with the budget
            places = [place for place in axes if place[0] == name]
        now = {
            place[1]: [row["held"], row["spent"], row["total"], row["dead"]]
            for place in places
            for row in (axes[place],)
        }
        if now and now != last:
            found.add({"at": line.at, "axes": now})
            last = now
    return replay, found.thinned()


class HistoryPage:
    """Of very many some, evenly, held as they come: every other one goes where there are twice too many."""

    def __init__(self, most: int) -> None:
        self._most, self._step, self._count = most, 1, 0
        self._kept: list[Moment] = []
        self._last: Moment | None = None

    def add(self, moment: Moment) -> None:
        """The next one."""
        if self._count % self._step == 0:
            self._kept.append(moment)
        self._count, self._last = self._count + 1, moment
        if len(self._kept) > 2 * self._most:
            self._kept, self._step = self._kept[::2], 2 * self._step

    def thinned(self) -> list[Moment]:
        """At most so many, and the last."""
        ended = self._last is not None and (not self._kept or self._kept[-1] is not self._last)
        return thinned([*self._kept, *([self._last] if ended and self._last is not None else [])], self._most)


def thinned(moments: Sequence[Moment], most: int) -> list[Moment]:
    """Of very many some, evenly: at most so many, and the last."""
    step = -(-len(moments) // most) or 1
    return [*moments[:-1:step], *moments[-1:]]
