"""How far random searches go: a share of the cases in the suite, all of them in `make fuzz`."""

from __future__ import annotations

import os

FULL = os.environ.get("TIGHTROPE_SEARCH") == "full"


def shared(points: tuple[float, ...], direction: str) -> tuple[float, ...]:
    """Both directions share the points, every other one each; a full search asks both for all."""
    return points if FULL else points[direction == "add" :: 2]


def cases(quick: int, full: int) -> int:
    """The first `quick` of `full` cases, or all where a full search is asked for."""
    return full if FULL else quick
