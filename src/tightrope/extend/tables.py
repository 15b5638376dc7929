"""Results as tables: text, HTML, LaTeX, CSV, JSON and DataFrames of the same columns."""

from __future__ import annotations

from ..core.planning.plan_text import linked
from ..core.planning.plan_text import samplings as samplings_text
from ..tables import Column, NotebookTable, Table, Tabled, aligned, exact

__all__ = [
    "aligned",
    "Column",
    "exact",
    "linked",
    "NotebookTable",
    "samplings_text",
    "Table",
    "Tabled",
]
