"""The law of a run, as a metric reads it; and readings that are made of others."""

from __future__ import annotations

from ..core.accountant import by_epoch, grid
from ..core.metrics.curve_points import RATES_MAX
from ..core.metrics.law import Law, Told
from ..core.metrics.read_risk import notes as risk_notes
from ..core.metrics.read_risk import risk as risk_of
from ..core.values.errors import agreed

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
