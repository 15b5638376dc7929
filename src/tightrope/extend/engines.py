"""Which engine may be asked for, by its name and by its settings."""

from __future__ import annotations

from ..core.engines.selection import ENGINE_NAMES
from ..core.values.question import AUTO, EngineSettings

__all__ = [
    "AUTO",
    "ENGINE_NAMES",
    "EngineSettings",
]
