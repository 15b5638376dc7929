"""Results as aligned text."""

from __future__ import annotations

from ..plans.columns import Column
from ..plans.columns import table as aligned
from ..plans.report import linked
from ..plans.report import samplings as samplings_text

__all__ = [
    "aligned",
    "Column",
    "linked",
    "samplings_text",
]
