"""The contour engine: one integral of the cgf through its saddle point, every error term bounded."""

from __future__ import annotations

from .engine import prepare as prepare
