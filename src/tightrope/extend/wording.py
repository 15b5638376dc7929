"""Numbers and names in messages; arguments of calls, and values that do not change."""

from __future__ import annotations

from ..core.values.bound import FrozenMapping
from ..core.values.calls import (
    FIXED_FROM,
    FIXED_TO,
    check_folder,
    checked,
    cut,
    listed,
    nearest,
    quoted,
    rounded,
    short,
    shortened,
    timed,
)
from ..version import install_command

__all__ = [
    "check_folder",
    "checked",
    "cut",
    "FIXED_FROM",
    "FIXED_TO",
    "FrozenMapping",
    "install_command",
    "listed",
    "nearest",
    "quoted",
    "rounded",
    "short",
    "shortened",
    "timed",
]
