"""One table for all results: text, HTML, LaTeX, CSV, JSON and a DataFrame of the same columns.

A result has two of them: `table` is what people read, rounded outward; `data` is every value with all its digits.
"""

from __future__ import annotations

import csv
import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import Any, NamedTuple

from .core.values.errors import InvalidParameter
from .documents import plain

BETWEEN = "  "  # columns of text
LATEX_MARKS = str.maketrans(
    {
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)


class Column(NamedTuple):
    """A heading, and a cell for each row; None is an empty cell. right: where cells end, as numbers do."""

    heading: str
    cells: Sequence[object]
    right: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of as many cells each, a title above them and notes beneath."""

    columns: tuple[Column, ...]
    title: str = ""
    notes: tuple[str, ...] = ()

    @property
    def headings(self) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        return tuple(column.heading for column in self.columns)

    @property
    def rows(self) -> list[tuple[object, ...]]:
        """The cells, row by row."""
        return list(zip(*(column.cells for column in self.columns), strict=True))

    def __str__(self) -> str:
        return self.text()

    def lines(self, indent: str = "") -> list[str]:
        """The headings and the rows as aligned text."""
        right = [place for place, column in enumerate(self.columns) if column.right]
        return [f"{indent}{line}".rstrip() for line in aligned(self._texts(), right)]

    def text(self) -> str:
        """Aligned columns between the title and the notes."""
        return "\n".join([*([self.title] if self.title else []), *self.lines(), *self.notes])

    def html(self) -> str:
        """As a notebook shows it: the title as a caption, the notes small beneath."""
        head, *body = self._texts()
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        rows = "".join(f"<tr>{_cells('td', row)}</tr>" for row in body)
        notes = "".join(f"<br><small>{escape(note)}</small>" for note in self.notes)
        return f"<table>{caption}<tr>{_cells('th', head)}</tr>{rows}</table>{notes}"

    def latex(self) -> str:
        r"""A tabular of the package booktabs; the title and the notes are comments, for a \caption of one's own."""
        head, *body = (" & ".join(cell.translate(LATEX_MARKS) for cell in row) + r" \\" for row in self._texts())
        kinds = "".join("r" if column.right else "l" for column in self.columns)
        said = [f"% {' '.join(line.split())}" for line in (self.title, *self.notes) if line]
        begin, end = rf"\begin{{tabular}}{{{kinds}}}", r"\end{tabular}"
        return "\n".join([*said, begin, r"\toprule", head, r"\midrule", *body, r"\bottomrule", end]) + "\n"

    def csv(self) -> str:
        """A heading and a line for each row, every double with all its digits; cells with commas in quotes."""
        file = StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.headings)
        writer.writerows(map(exact, row) for row in self.rows)
        return file.getvalue()

    def json(self) -> str:
        """A list with an object for each row, on one line; infinities as text."""
        rows = [dict(zip(self.headings, map(plain, row), strict=True)) for row in self.rows]
        return json.dumps(rows, allow_nan=False, ensure_ascii=False)

    def frame(self) -> Any:
        """A pandas DataFrame with these columns."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise InvalidParameter("a frame needs pandas: pip install pandas, or use to_csv()") from None
        return DataFrame({column.heading: column.cells for column in self.columns})

    def _texts(self) -> list[list[str]]:
        """The headings and the cells as text."""
        return [list(self.headings), *(["" if cell is None else str(cell) for cell in row] for row in self.rows)]


class Tabled(ABC):
    """A result that is a table, in full and as people read it."""

    __slots__ = ()

    @property
    @abstractmethod
    def table(self) -> Table:
        """What people read, rounded outward: `table.text()`, `.html()`, `.latex()`."""

    @property
    @abstractmethod
    def data(self) -> Table:
        """Every value with all its digits: `data.csv()`, `.json()`, `.frame()`."""

    def to_csv(self) -> str:
        """The columns of `data` as comma-separated values; every double has all its digits."""
        return self.data.csv()

    def to_frame(self) -> Any:
        """A pandas DataFrame with the columns of `data`."""
        return self.data.frame()


class NotebookTable(Tabled):
    """A result that a notebook shows as its table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return self.table.html()


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Rows as lines, with their columns beneath each other; right: the places of columns that end together."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        BETWEEN.join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _cells(kind: str, row: Sequence[str]) -> str:
    return "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in row)


def exact(cell: object) -> str:
    """A cell as text that a reader of the table makes the same value of."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, tuple):
        return json.dumps(plain(cell))
    return cell if isinstance(cell, str) else repr(cell)
