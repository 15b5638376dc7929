"""Privacy buckets, exactly as published, with rounding inside the bounds."""

from __future__ import annotations

from .engine import prepare as prepare
