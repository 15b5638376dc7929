"""A ledger behind HTTP: the same requests as in Python, for whoever has a token."""

from __future__ import annotations
