"""Results as tables: text, HTML, LaTeX, CSV, JSON and DataFrames of the same columns."""

from __future__ import annotations

from ..plans.report import linked
from ..plans.report import samplings as samplings_text
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
