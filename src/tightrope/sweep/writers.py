"""Tables as CSV, JSON lines and Parquet, row by row: the same bytes for the same rows."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from os import PathLike
from typing import IO, Any

from .. import InvalidParameter
from ..extend.documents import plain
from ..extend.tables import exact
from ..extend.wording import install_command
from .table import SweepRow, cells_of

GROUP_ROWS = 10_000  # of a Parquet file
INT64_MAX = (1 << 63) - 1
PARQUET_KINDS = {
    "quantity": "string",
    "value": "float64",
    "lower": "float64",
    "upper": "float64",
    "relation": "string",
    "attained": "bool_",
    "confidence": "float64",
    "engine": "string",
    "ended": "string",
    "error": "string",
    "seconds": "float64",
}


def write_csv(rows: Iterable[SweepRow], columns: Sequence[str], file: IO[str]) -> None:
    """A line with the names, and one per row; doubles with all their digits, lists as JSON, nothing for nothing."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(map(exact, cells_of(row, columns)))


def write_jsonl(rows: Iterable[SweepRow], columns: Sequence[str], file: IO[str]) -> None:
    """An object per line; infinity as "inf"."""
    for row in rows:
        cells = zip(columns, map(plain, cells_of(row, columns)), strict=True)
        file.write(json.dumps(dict(cells), allow_nan=False) + "\n")


def jsonl_text(rows: Iterable[SweepRow], columns: Sequence[str]) -> str:
    """The table as one text."""
    file = io.StringIO()
    write_jsonl(rows, columns, file)
    return file.getvalue()


def check_parquet() -> Any:
    """pyarrow, or how to get it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise InvalidParameter(f"a Parquet file needs pyarrow: {install_command('parquet')}") from None
    return pyarrow


def write_parquet(
    rows: Iterable[SweepRow], columns: Sequence[str], path: str | PathLike[str], kinds: dict[str, str] | None = None
) -> None:
    """A Parquet file; kinds: the types of the names of the grid, found by a look at all rows without it."""
    arrow = check_parquet()
    if kinds is None:
        rows = tuple(rows)
        kinds = kinds_of(columns, (row.configuration for row in rows))
    known = {**PARQUET_KINDS, **kinds}
    schema = arrow.schema([(name, getattr(arrow, known[name])()) for name in columns])
    with arrow.parquet.ParquetWriter(str(path), schema) as writer:
        for group in _groups(iter(rows), GROUP_ROWS):
            cells = [cells_of(row, columns) for row in group]
            arrays = [
                arrow.array([_typed(line[place], known[name]) for line in cells], type=schema.field(name).type)
                for place, name in enumerate(columns)
            ]
            writer.write_table(arrow.table(arrays, schema=schema))


def kinds_of(columns: Sequence[str], configurations: Iterable[Any]) -> dict[str, str]:
    """The type of each name of the grid: whole numbers, numbers, True and False, or words, which hold the rest too."""
    names = [name for name in columns if name not in PARQUET_KINDS]
    found: dict[str, set[str]] = {name: set() for name in names}
    for configuration in configurations:
        for name in names:
            if (value := configuration.get(name)) is not None:
                found[name].add(_kind(value))
    return {name: _common(kinds) for name, kinds in found.items()}


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "bool_"
    if isinstance(value, int):
        return "int64" if abs(value) <= INT64_MAX else "string"
    return "float64" if isinstance(value, float) else "string"


def _common(kinds: set[str]) -> str:
    if len(kinds) == 1:
        return next(iter(kinds))
    return "float64" if kinds == {"int64", "float64"} else "string"


def _typed(value: Any, kind: str) -> Any:
    if value is None:
        return None
    return exact(value) if kind == "string" else float(value) if kind == "float64" else value


def _groups(rows: Iterator[SweepRow], size: int) -> Iterator[tuple[SweepRow, ...]]:
    while group := tuple(islice(rows, size)):
        yield group
