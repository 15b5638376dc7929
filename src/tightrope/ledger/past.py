"""A budget over time: its counters after each line of its chain that moved them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .chain import AuditLine
from .replay import Replay

MOMENTS_MOST = 2000  # of very many some are kept, the last among them

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
    step = -(-len(found) // MOMENTS_MOST) or 1
    return replay, found[:-1:step] + found[-1:]
