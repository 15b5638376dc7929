"""Histograms from files and arrays: one number per bin; what cannot be read is named by file and line.

A file of counts says that it is one: the heading of its last column is `count` (or frequency, ...), or the call says
samples=False. Anything else may be raw draws, which look just like counts, and is refused with a hint.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from os import PathLike
from typing import BinaryIO, SupportsFloat

import numpy as np

from ..errors import DataError
from .data_file import COUNTS_BYTES, DataFile, data_file, opened
from .parameters import in_order
from .samples import Lines, Source, cell_number, npy_rows, parquet_table

Label = float | str | int
Row = tuple[int | None, Sequence[object]]  # the line, and the cells: a number, or a bin and a number

COUNT_MAX = 2**53
COLUMN_MAX = 1 << 20
SUM_TOLERANCE = Fraction(1, 10**9)
COUNT_WORDS = ("count", "counts", "frequency", "frequencies", "freq", "hits", "n")
RAW = "for raw draws say samples=True, with bins= or width="


def read_pair(a: Source, b: Source, kind: str, said: bool = False) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Both histograms over the same bins; labelled bins that one of them lacks are empty there.

    said: the caller says that these are counts, so that files need no heading.
    """
    first, second = (_bins(source, name, kind, said) for source, name in ((a, "a"), (b, "b")))
    if set(first) != set(second):
        positional = all(isinstance(label, int) for label in (*first, *second))
        if positional:
            hint = f" ({RAW})" if kind == "counts" else ""
            raise DataError(f"the histograms must have as many bins each, not {len(first)} and {len(second)}{hint}")
        if any(isinstance(label, int) for label in (*first, *second)):
            raise DataError("one histogram names its bins and the other does not")
    labels = list(dict.fromkeys((*first, *second)))
    pair = tuple(tuple(bins.get(label, 0) for label in labels) for bins in (first, second))
    for name, source, values in (("a", a, pair[0]), ("b", b, pair[1])):
        file = _file(source)
        _check_sum(name, None if file is None else file.name, values, kind)
    return pair[0], pair[1]


def _file(source: Source) -> DataFile | None:
    return data_file(source) if isinstance(source, (str, PathLike)) else None


def _bins(source: Source, name: str, kind: str, said: bool) -> Mapping[Label, float]:
    file = _file(source)
    if file is None:
        in_order(name, source)
        if not isinstance(source, Iterable):
            raise DataError(f"{name} must be a path or a sequence of numbers, not {type(source).__name__}")
        return {index: _number(value, kind, name) for index, value in enumerate(source)}
    said = said or kind != "counts"
    with opened(file, COUNTS_BYTES) as stream:
        if file.suffix == ".npy":
            if not said:
                raise _unsaid(file.name, "an array has no heading that says so")
            values = (value for block in npy_rows(stream, file.name) for value in block.tolist())
            return _collected(((None, [value]) for value in values), kind, file.name)
        if file.suffix == ".parquet":
            return _collected(_parquet_rows(stream, file.name, said), kind, file.name)
        return _collected(_csv_rows(Lines(stream, file.name), said), kind, file.name)


def _csv_rows(lines: Lines, said: bool) -> Iterator[Row]:
    """Lines of `number` or of `bin, number`; a first line of words is a heading, # starts a comment."""
    columns = 0
    for cells in lines.rows():
        first, columns = not columns, columns or len(cells)
        if len(cells) != columns or columns > 2:
            raise lines.error(f"a line holds a number, or a bin and a number, not {len(cells)} cells")
        heading = first and cell_number(cells[-1]) is None
        if first and not said and not (heading and cells[-1].lower() in COUNT_WORDS):
            raise _unsaid(lines.name, "its last column is not headed 'count'")
        if not heading:
            yield lines.number, [*cells[:-1], cell_number(cells[-1])]


def _parquet_rows(stream: BinaryIO, name: str, said: bool) -> Iterator[Row]:
    """The same from a table."""
    with parquet_table(stream, name) as table:
        names = table.schema_arrow.names
        if len(names) > 2 or table.metadata.num_rows > COLUMN_MAX:
            raise DataError(f"one column, or bins and numbers, of at most {COLUMN_MAX} rows are needed", name)
        if not said and names[-1].lower() not in COUNT_WORDS:
            raise _unsaid(name, "its last column is not called 'count'")
        columns = [column.to_pylist() for column in table.read().columns]
    yield from ((None, list(row)) for row in zip(*columns, strict=True))


def _unsaid(path: str, why: str) -> DataError:
    return DataError(f"are these counts or raw draws? {why}: say samples=False for counts; {RAW}", path)


def _collected(rows: Iterator[Row], kind: str, path: str) -> Mapping[Label, float]:
    bins: dict[Label, float] = {}
    for line, cells in rows:
        label: Label = len(bins)
        if len(cells) > 1:
            number = cell_number(cells[0])
            label = str(cells[0]) if number is None else number
        if label in bins:
            raise DataError("this bin was given before", path, line)
        if len(bins) == COLUMN_MAX:
            raise DataError(f"more than {COLUMN_MAX} bins", path, line)
        bins[label] = _number(cells[-1], kind, "this", path, line)
    if not bins:
        raise DataError("no bins in this file", path)
    return bins


def _number(value: object, kind: str, what: str, path: str | None = None, line: int | None = None) -> float:
    shown = f", not {value!r:.40}" if path is None else ""  # of a file nothing is shown
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, SupportsFloat) or not _is_finite(value):
        raise DataError(f"{what} must be a number, 0 or above{shown}", path, line)
    number = float(value)
    if number < 0.0:
        raise DataError(f"{what} must be 0 or above{shown}", path, line)
    if kind == "probabilities":
        return number + 0.0
    if number != math.floor(number) or number > COUNT_MAX:
        raise DataError(f"{what} must be a count, a whole number up to 2**53{shown}; {RAW}", path, line)
    return int(number)


def _is_finite(value: SupportsFloat) -> bool:
    try:
        return math.isfinite(float(value))
    except (OverflowError, ValueError, TypeError):
        return False


def _check_sum(name: str, path: str | None, values: tuple[float, ...], kind: str) -> None:
    total = sum(map(Fraction, values), Fraction(0))
    if not total:
        raise DataError(f"histogram {name} is empty: all bins are 0", path)
    if kind == "probabilities" and abs(total - 1) > SUM_TOLERANCE:
        raise DataError(f"the probabilities of {name} must sum to 1, not to {float(total)!r}", path)
