"""Budgets of a ledger in words and cells, from their status alone: what is left is rounded down, what is used up."""

from __future__ import annotations

from ..ledger.audit_text import audit_line
from ..ledger.picture import draw_history, odometers
from ..ledger.table import (
    ENDLESS,
    about_words,
    axes_notes,
    axes_rows,
    budget_tree,
    budgets_text,
    cost_lines,
    cost_rows,
    more_words,
    number,
    odometer_words,
    percent,
    promised,
    state_words,
    status_text,
    telling,
    used_share,
    used_words,
)
from ..ledger.values import moment

__all__ = [
    "about_words",
    "audit_line",
    "axes_notes",
    "axes_rows",
    "budget_tree",
    "budgets_text",
    "cost_lines",
    "cost_rows",
    "draw_history",
    "ENDLESS",
    "moment",
    "more_words",
    "number",
    "odometer_words",
    "odometers",
    "percent",
    "promised",
    "state_words",
    "status_text",
    "telling",
    "used_share",
    "used_words",
]
