"""Processes that work for a server: how they are started, what they may use, and how they answer."""

from __future__ import annotations

from ..child import answers, command, cores, environment, held, limited, write

__all__ = [
    "answers",
    "command",
    "cores",
    "environment",
    "held",
    "limited",
    "write",
]
