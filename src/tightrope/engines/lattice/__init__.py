"""The lattice engine: certified bounds for any composition of any pairs."""

from __future__ import annotations

from .engine import prepare as prepare
