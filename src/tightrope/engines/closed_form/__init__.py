"""Exact answers: a finite part times at most one other part whose profile is known."""

from __future__ import annotations

from .engine import prepare as prepare
