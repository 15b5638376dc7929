"""A budget over time: its counters after each line of its chain that moved them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .chain import AuditLine
from .replay import Replay

MOMENTS_MAX = 2000

Moment = dict[str, Any]  # at, and axes: held, spent, total and whether it is dead, by name


def past(root: str, lines: Iterable[AuditLine], name: str) -> tuple[Replay, list[Moment]]:
    """The tables as the lines leave them, and what one budget was on the way there."""
    replay = Replay()
    replay.begin(root)
    found: list[Moment] = []
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
        if now and (not found or now != found[-1]["axes"]):
            found.append({"at": line.at, "axes": now})
    return replay, thinned(found, MOMENTS_MAX)


def thinned(moments: Sequence[Moment], most: int) -> list[Moment]:
    """Of very many some, evenly: at most so many, and the last."""
    step = -(-len(moments) // most) or 1
    return [*moments[:-1:step], *moments[-1:]]
