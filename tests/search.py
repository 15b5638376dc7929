"""How far random searches go: a share of the cases in the suite, all of them in `make fuzz`."""

from __future__ import annotations

import os
from zlib import crc32

FULL = os.environ.get("TIGHTROPE_SEARCH") == "full"


def shared(points: tuple[float, ...], direction: str) -> tuple[float, ...]:
    """Both directions share the points, every other one each; a full search asks both for all."""
    return points if FULL else points[direction == "add" :: 2]


def thinned(points: tuple[float, ...], key: str) -> tuple[float, ...]:
    """Every twelfth point, from a place on that the key tells, so that rows together ask all; a full search each."""
    return points if FULL else points[crc32(key.encode()) % 12 :: 12]


def cases(quick: int, full: int) -> int:
    """The first `quick` of `full` cases, or all where a full search is asked for."""
    return full if FULL else quick
