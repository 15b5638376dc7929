"""Rows as text: aligned columns for people, commas for programs."""

from __future__ import annotations

import csv as comma_separated
from collections.abc import Sequence
from io import StringIO
from typing import NamedTuple


class Column(NamedTuple):
    """A heading, and a cell for each row."""

    heading: str
    cells: Sequence[str]


def table(columns: Sequence[Column], indent: str = "  ") -> str:
    """Numbers and words under their headings, two spaces between."""
    widths = [max(map(len, (column.heading, *column.cells))) for column in columns]
    rows = [[column.heading for column in columns], *map(list, zip(*(column.cells for column in columns), strict=True))]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)


def csv(columns: Sequence[Column]) -> str:
    """A heading and a line each; cells with commas in quotes."""
    file = StringIO()
    writer = comma_separated.writer(file, lineterminator="\n")
    writer.writerow([column.heading for column in columns])
    writer.writerows(zip(*(column.cells for column in columns), strict=True))
    return file.getvalue()
