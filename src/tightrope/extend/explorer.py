"""The page of the explorer, opened; needs the extra explore."""

from __future__ import annotations

from ..explore.asked import RUNS_MAX
from ..explore.ledger import LedgerReader
from ..explore.server import serve, shared_state

__all__ = [
    "LedgerReader",
    "RUNS_MAX",
    "serve",
    "shared_state",
]
