"""What is known of loaders, and the number of a training plan that is open."""

from __future__ import annotations

from ..core.mechanisms.training import LOADERS
from ..core.planning.samplings import CAUTIONS
from ..core.planning.unknown import FOUND as UNKNOWNS_FOUND
from ..core.planning.unknown import UNKNOWNS, solve

__all__ = [
    "CAUTIONS",
    "LOADERS",
    "solve",
    "UNKNOWNS",
    "UNKNOWNS_FOUND",
]
