"""How much work, time and memory a question may take, how its parts share that, and what they know of each other."""

from __future__ import annotations

from ..core.answers.known_deltas import carried, sharing
from ..core.values.compute_budget import POINT_SHARE, Meter, Rating, allowance, left, part, patience, share_of

__all__ = [
    "allowance",
    "carried",
    "left",
    "Meter",
    "part",
    "patience",
    "POINT_SHARE",
    "Rating",
    "share_of",
    "sharing",
]
