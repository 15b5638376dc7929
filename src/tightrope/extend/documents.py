"""What all JSON documents here have in common: how values are written, dated and read."""

from __future__ import annotations

from ..documents import SCHEMA, Date, dated, decoded, plain, read, read_value, write, write_dated

__all__ = [
    "Date",
    "dated",
    "decoded",
    "plain",
    "read",
    "read_value",
    "SCHEMA",
    "write",
    "write_dated",
]
