"""The answers of a sweep as a value: one row per configuration and number, in the order of the grid."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

from .. import Bound
from ..extend.tables import Column, NotebookTable, Table
from ..extend.wording import FrozenMapping, checked, short, shortened, timed
from .values import Value

if TYPE_CHECKING:
    from ..extend.plots import Axes, Figure

TABLE_ROWS_SHOWN = 20
WORDS_SHOWN = 60  # characters of a cell
RAN_OUT = ("time", "memory", "clock", "killed")


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One number of one configuration, or why there is none.

    quantity: what lower and upper bound. value: what a calibration found; its bound is that of the target's reading
    there. relation, attained, confidence and engine are those of the certificate. ended: what ran out, "time" or
    "memory" as counted by the work itself, "clock" where the clock ended it, so that another run may answer otherwise,
    "killed" where its process had to be ended, or died. error: why there is no number, or not the one wanted. seconds:
    wall time of the configuration, which takes no part in comparisons.
    """

    index: int
    configuration: Mapping[str, Value]
    quantity: str
    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    relation: str | None = None
    attained: bool | None = None
    confidence: float | None = None
    engine: str | None = None
    ended: str | None = None
    error: str | None = None
    seconds: float = field(default=0.0, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "configuration", FrozenMapping(self.configuration))

    @property
    def bound(self) -> Bound | None:
        """The interval; None where there is none."""
        return None if self.lower is None or self.upper is None else Bound(self.lower, self.upper)

    @property
    def repeatable(self) -> bool:
        """Whether every run gives this row again: neither the clock nor the death of a process made it."""
        return self.ended not in ("clock", "killed")


ANSWER_COLUMNS = tuple(each.name for each in fields(SweepRow) if each.name not in ("index", "configuration"))


def columns_of(names: Sequence[str], calibrated: bool, times: bool = True) -> tuple[str, ...]:
    """The columns of a table: the names of the grid, then the answer; value only where something is calibrated."""
    left_out = {*(() if calibrated else ("value",)), *(() if times else ("seconds",))}
    return (*names, *(name for name in ANSWER_COLUMNS if name not in left_out))


def cells_of(row: SweepRow, columns: Sequence[str]) -> list[Any]:
    """What stands in each column."""
    return [getattr(row, name) if name in ANSWER_COLUMNS else row.configuration.get(name) for name in columns]


@dataclass(frozen=True, slots=True, repr=False)
class Sweep(NotebookTable, Sequence[SweepRow]):
    """The rows of a sweep, in the order of the grid; make and ask as they were given.

    An index gives a row, a slice a sweep again.
    """

    make: str
    ask: str
    names: tuple[str, ...]
    rows: tuple[SweepRow, ...]

    @overload
    def __getitem__(self, index: int) -> SweepRow: ...
    @overload
    def __getitem__(self, index: slice) -> Sweep: ...
    def __getitem__(self, index: int | slice) -> SweepRow | Sweep:
        if isinstance(index, slice):
            return Sweep(self.make, self.ask, self.names, self.rows[index])
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[SweepRow]:
        return iter(self.rows)

    @property
    def calibrated(self) -> bool:
        """Whether a value was looked for."""
        return self.ask.lstrip().startswith("calibrate")

    @property
    def failed(self) -> Sweep:
        """The rows with an error."""
        return Sweep(self.make, self.ask, self.names, tuple(row for row in self.rows if row.error is not None))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return columns_of(self.names, self.calibrated)

    def __repr__(self) -> str:
        return f"<Sweep: {told(self.rows)}>"

    def __str__(self) -> str:
        more = [f"... {len(self) - TABLE_ROWS_SHOWN:,} more rows"] if len(self) > TABLE_ROWS_SHOWN else []
        return "\n".join([self._title, *self.table.lines(), *more, told(self.rows)])

    @property
    def _title(self) -> str:
        return f"{self.ask} of {shortened(self.make)}"

    @property
    def table(self) -> Table:
        """The first rows as people read them: the names, the number, and what is to be said of it."""
        values = ["value"] if self.calibrated else []
        related = ["relation"] if len({row.relation for row in self.rows if row.error is None}) > 1 else []
        headings = [*self.names, *values, "quantity", "bound", *related, "note"]
        lines = []
        for row in self.rows[:TABLE_ROWS_SHOWN]:
            found = [row.value] if values else []
            cells = [_word(cell) for cell in (*(row.configuration.get(name) for name in self.names), *found)]
            note = row.error or (f"{row.ended} ran out" if row.ended else "")
            relation = [row.relation or "" for _ in related]  # rows of different relations do not compare
            lines.append([*cells, row.quantity, str(row.bound or ""), *relation, shortened(note, WORDS_SHOWN)])
        columns = (Column(name, [line[place] for line in lines]) for place, name in enumerate(headings))
        return Table(tuple(columns), f"{self._title}; {told(self.rows)}")

    @property
    def data(self) -> Table:
        """A line per row, every double with all its digits; empty where there is nothing."""
        lines = [cells_of(row, self.columns) for row in self.rows]
        return Table(tuple(Column(name, [line[place] for line in lines]) for place, name in enumerate(self.columns)))

    def to_jsonl(self) -> str:
        """An object per line, as schema/sweep.json describes it."""
        from .writers import jsonl_text

        return jsonl_text(self.rows, self.columns)

    @checked
    def to_parquet(self, path: str | PathLike[str]) -> None:
        """A Parquet file with the columns of the table; needs pyarrow."""
        from .writers import write_parquet

        write_parquet(self.rows, self.columns, path)

    @checked
    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        x: str,
        y: str,
        value: str | None = None,
        ax: Axes | None = None,
    ) -> Figure:
        """A map of a number over two names of the grid, or points where these make no grid; needs matplotlib.

        value: epsilon or whatever was asked, whose end that can be promised is shown, or a column: value, lower, upper,
        seconds. A third name that varies makes panels. path: a .png, .pdf or .svg file.
        """
        from .picture import draw, scene_of

        return draw(scene_of(self.rows, self.names, x, y, value), (self.ask, self.make), path, ax)


@dataclass(slots=True)
class Tally:
    """How many rows there are, how many failed, and for how many something ran out."""

    rows: int = 0
    failed: int = 0
    wide: int = 0
    seconds: float = 0.0
    first_error: SweepRow | None = None

    def counted(self, rows: Iterable[SweepRow]) -> Iterator[SweepRow]:
        """The rows, each counted as it goes by."""
        for row in rows:
            self.add(row)
            yield row

    def add(self, row: SweepRow) -> None:
        """Counts one more."""
        self.rows += 1
        self.failed += row.error is not None
        self.wide += row.error is None and row.ended in RAN_OUT
        self.seconds += row.seconds
        if row.error is not None and self.first_error is None:
            self.first_error = row

    def __str__(self) -> str:
        parts = [f"{self.rows:,} row{'s' * (self.rows != 1)}"]
        parts += [f"{self.failed:,} failed"] if self.failed else []
        parts += [f"{self.wide:,} ended early"] if self.wide else []
        return f"{', '.join(parts)}, {timed(self.seconds)} of work"


def told(rows: Sequence[SweepRow]) -> str:
    """The rows, counted."""
    tally = Tally()
    for row in rows:
        tally.add(row)
    return str(tally)


def _word(cell: Value) -> str:
    if isinstance(cell, float):
        return short(cell) if math.isfinite(cell) else str(cell)
    return "" if cell is None else shortened(str(cell), WORDS_SHOWN)
