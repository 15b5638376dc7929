"""Sockets of servers of this machine, and a word when they answer; uvicorn is in the extras explore and ledger."""

from __future__ import annotations

from ..listening import TellingServer, listening_at

__all__ = [
    "listening_at",
    "TellingServer",
]
