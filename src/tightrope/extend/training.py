"""What is known of loaders, and the number of a training plan that is open."""

from __future__ import annotations

from ..mechanisms.loaders import LOADERS
from ..plans.samplings import CAUTIONS
from ..plans.unknown import FOUND as UNKNOWNS_FOUND
from ..plans.unknown import UNKNOWNS, solve

__all__ = [
    "CAUTIONS",
    "LOADERS",
    "solve",
    "UNKNOWNS",
    "UNKNOWNS_FOUND",
]
