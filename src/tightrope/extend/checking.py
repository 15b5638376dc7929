"""Verdicts of the checker, which shares no formula with what it judges."""

from __future__ import annotations

from ..checker.audit import judged_audit
from ..checker.expression import terms_of as checkable_terms
from ..checker.judge import PROVED, REFUTED, EndVerdict
from ..checker.law import NotCheckable

__all__ = [
    "checkable_terms",
    "EndVerdict",
    "judged_audit",
    "NotCheckable",
    "PROVED",
    "REFUTED",
]
