"""The joint engine: one sample drawn for several mechanisms, all of which run on it."""

from __future__ import annotations

from .engine import prepare as prepare
