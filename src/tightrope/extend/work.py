"""How much work, time and memory a question may take, and how its parts share that."""

from __future__ import annotations

from ..compute_budget import POINT_SHARE, Meter, Rating, allowance, left, part, patience, share_of

__all__ = [
    "allowance",
    "left",
    "Meter",
    "part",
    "patience",
    "POINT_SHARE",
    "Rating",
    "share_of",
]
