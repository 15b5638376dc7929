"""The law of a run, as a metric reads it; and readings that are made of others."""

from __future__ import annotations

from ..account import by_epoch, grid
from ..errors import agreed
from ..readings.law import Law, Told
from ..readings.rates import RATES_MOST
from ..readings.risk import notes as risk_notes
from ..readings.risk import risk as risk_of

__all__ = [
    "agreed",
    "by_epoch",
    "grid",
    "Law",
    "RATES_MOST",
    "risk_notes",
    "risk_of",
    "Told",
]
