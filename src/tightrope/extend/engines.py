"""Which engine may be asked for, by its name and by its settings."""

from __future__ import annotations

from ..engines.selection import ENGINE_NAMES
from ..question import AUTO, EngineSettings

__all__ = [
    "AUTO",
    "ENGINE_NAMES",
    "EngineSettings",
]
