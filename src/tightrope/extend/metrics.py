"""The law of a run, as a metric reads it; and readings that are made of others."""

from __future__ import annotations

from ..account import by_epoch, grid
from ..errors import agreed
from ..metrics.law import Law, Told
from ..metrics.rates import RATES_MAX
from ..metrics.risk import notes as risk_notes
from ..metrics.risk import risk as risk_of

__all__ = [
    "agreed",
    "by_epoch",
    "grid",
    "Law",
    "RATES_MAX",
    "risk_notes",
    "risk_of",
    "Told",
]
