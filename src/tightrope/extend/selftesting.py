"""Random runs on this machine, answered and judged."""

from __future__ import annotations

from ..selftest import selftest
from ..selftest.report import Selftest
from ..selftest.report import question as selftest_question

__all__ = [
    "selftest",
    "Selftest",
    "selftest_question",
]
