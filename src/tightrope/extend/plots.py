"""Results as pictures, in the one style of the project; they need matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..plotting.risk import MarkedRate, one_panel, rates
from ..plotting.style import (
    COLOURS,
    DASHES,
    LABEL_WIDTH,
    MARKED_MAX,
    TITLE_WIDTH,
    check_path,
    figure_of,
    sheet,
    svg,
    tick,
    verbatim,
    wrapped,
)

if TYPE_CHECKING:
    from ..plotting.style import Axes as Axes
    from ..plotting.style import Figure as Figure

__all__ = [
    "check_path",
    "COLOURS",
    "DASHES",
    "figure_of",
    "LABEL_WIDTH",
    "MARKED_MAX",
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
