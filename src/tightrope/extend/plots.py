"""Results as pictures, in the one style of the project; they need matplotlib."""

from __future__ import annotations

from ..plot import (
    COLOURS,
    DASHES,
    LABEL_WIDTH,
    MARKED_MOST,
    TITLE_WIDTH,
    check_path,
    figure_of,
    sheet,
    svg,
    tick,
    verbatim,
    wrapped,
)
from ..risk_plot import MarkedRate, one_panel, rates

__all__ = [
    "check_path",
    "COLOURS",
    "DASHES",
    "figure_of",
    "LABEL_WIDTH",
    "MARKED_MOST",
    "MarkedRate",
    "one_panel",
    "rates",
    "sheet",
    "svg",
    "tick",
    "TITLE_WIDTH",
    "verbatim",
    "wrapped",
]
