"""The server of a ledger; needs the extra ledger."""

from __future__ import annotations

from ..ledger.server.quotas import Quotas
from ..ledger.server.serve import serve

__all__ = [
    "Quotas",
    "serve",
]
