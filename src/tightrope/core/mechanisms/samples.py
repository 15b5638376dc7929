"""Raw draws from files and arrays, a chunk at a time: files may be larger than memory.

    .csv, .txt, ...   one number per line; of several columns, separated by commas, the named one
    .npy              one row of numbers
    .parquet          one column of numbers, or the named one; needs pyarrow
A first line of words is a heading, # starts a comment. Every number must be finite; the place of one that is not is
named, never its text.
"""

from __future__ import annotations

import csv
import os
import stat
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ...version import install_command
from ..values.errors import DataError, InvalidParameter

# Files of data: opened only where the caller allows it, regular ones only, and never larger than expected.
#
# A text or a document names files of one folder, which the caller gives; what lies outside, behind `..` or a link, is
# refused. Messages name a file as it was given and show nothing of what is in it.

GIVE_FILES = "give files=, the folder it may read"  # what callers other than Python say in their own words
COUNTS_BYTES = 1 << 26  # a file of counts is read as a whole
SAMPLES_BYTES = 1 << 34  # a file of samples is streamed

Folder = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class DataFile(os.PathLike[str]):
    """A file by its path, and by the name that messages and titles show."""

    path: str
    name: str

    def __fspath__(self) -> str:
        return self.path

    @property
    def suffix(self) -> str:
        """How the name ends, in lower case: .csv, .npy, .parquet."""
        return Path(self.path).suffix.lower()


def data_file(source: Folder) -> DataFile:
    """The file that a path of Python means."""
    if isinstance(source, DataFile):
        return source
    path = os.fspath(source)
    return DataFile(path, path)


def allowed_file(name: str, files: Folder | None) -> DataFile:
    """The file of that name in the folder that the caller allows; no folder, no file."""
    if files is None:
        raise InvalidParameter(f"an expression or a document opens no file by itself: {GIVE_FILES}, or the numbers")
    try:
        folder = Path(files).resolve(strict=True)
        path = (folder / name).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        raise DataError("there is no such file in the folder that may be read", name) from None
    if not path.is_relative_to(folder):
        raise DataError("only files in the folder that may be read can be named, not what lies outside", name)
    return DataFile(str(path), name)


@contextmanager
def opened(file: DataFile, most: int) -> Iterator[BinaryIO]:
    """The file for reading; devices, pipes and folders are refused before a byte is read."""
    try:
        # Non-blocking: a pipe without a writer would wait for ever.
        handle = os.open(file.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise DataError(f"cannot be opened: {error.strerror}", file.name) from None
    except ValueError:
        raise DataError("this is no name of a file", file.name) from None
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        os.close(handle)
        raise DataError("not a regular file", file.name)
    with open(handle, "rb") as stream:
        if about.st_size > most:
            raise DataError(f"{about.st_size} bytes are more than the {most} that are read", file.name)
        yield stream


FloatArray = npt.NDArray[np.float64]
Source = str | PathLike[str] | Iterable[float]

ROWS = 1 << 18  # in one chunk
SAMPLE_LINE_MAX = 1 << 16  # bytes
NPY_HEADERS: dict[tuple[int, int], Callable[[BinaryIO], tuple[tuple[int, ...], bool, np.dtype[Any]]]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def chunks(source: Source, name: str, column: str = "") -> Iterator[FloatArray]:
    """The draws in order, some at a time; a fresh iterator reads from the start."""
    if isinstance(source, (str, PathLike)):
        yield from _from_file(data_file(source), column)
        return
    if column:
        raise DataError(f"column names a column of a file; {name} is not a file")
    yield from _from_array(source, name)


def _from_array(source: Iterable[float], name: str) -> Iterator[FloatArray]:
    try:
        values = np.asarray(source)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be a path or a row of numbers") from None
    if values.ndim != 1 or values.dtype.kind not in "iuf":
        raise DataError(f"{name} must be a path or a row of numbers, not {values.ndim} dimensions of {values.dtype}")
    for start in range(0, len(values), ROWS):
        yield _finite(values[start : start + ROWS], name, start, None)


def _from_file(file: DataFile, column: str) -> Iterator[FloatArray]:
    with opened(file, SAMPLES_BYTES) as stream:
        if file.suffix == ".npy":
            if column:
                raise DataError("a .npy file has no columns to choose from", file.name)
            rows = npy_rows(stream, file.name)
        elif file.suffix == ".parquet":
            rows = _parquet_rows(stream, file.name, column)
        else:
            rows = _csv_rows(stream, file.name, column)
        start = 0
        for values in rows:
            yield _finite(values, "the number", start, file.name)
            start += len(values)


def _finite(values: npt.NDArray[Any], what: str, start: int, path: str | None) -> FloatArray:
    with np.errstate(over="ignore"):
        found = np.asarray(values, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(found))
    if len(bad):
        raise DataError(f"{what} at place {start + int(bad[0]) + 1} is not finite: leave it out or repair it", path)
    return found


def npy_rows(stream: BinaryIO, name: str) -> Iterator[npt.NDArray[Any]]:
    """The array of a .npy file, some numbers at a time."""
    try:
        version = np.lib.format.read_magic(stream)
        shape, _, dtype = NPY_HEADERS[version](stream)
    except (ValueError, KeyError, EOFError, SyntaxError):
        raise DataError("not a numpy array", name) from None
    if len(shape) != 1 or dtype.kind not in "iuf":
        raise DataError(f"one row of numbers is needed, not {len(shape)} dimensions of {dtype}", name)
    left = shape[0]
    while left > 0:
        size = min(left, ROWS)
        block = stream.read(size * dtype.itemsize)
        if len(block) < size * dtype.itemsize:
            raise DataError("the array ends before it should", name)
        yield np.frombuffer(block, dtype=dtype)
        left -= size


class Lines:
    """Lines of a text with their number; one that never ends is refused before it fills the memory."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.stream = stream
        self.name = name
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self.stream.readline(SAMPLE_LINE_MAX + 1)
        if not line:
            raise StopIteration
        self.number += 1
        if len(line) > SAMPLE_LINE_MAX:
            raise self.error(f"a line of more than {SAMPLE_LINE_MAX} bytes")
        try:
            return line.decode("utf-8-sig" if self.number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise self.error("not a text file") from None

    def error(self, message: str) -> DataError:
        """The message, at the line that was read last."""
        return DataError(message, self.name, self.number)

    def rows(self, comments: bool = True) -> Iterator[list[str]]:
        """Cells of each line, stripped; empty lines are left out, and comments, or those before the heading alone."""
        reader = csv.reader(self)
        while True:
            try:
                cells = [cell.strip() for cell in next(reader)]
            except StopIteration:
                return
            except csv.Error:
                raise self.error("cells cannot be told apart here: a quote that is never closed?") from None
            if any(cells) and not (comments and cells[0].startswith("#")):
                yield cells


def cell_number(cell: object) -> float | None:
    """The number in a cell; None where there is none. A first line without any is a heading."""
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _csv_rows(stream: BinaryIO, name: str, column: str) -> Iterator[FloatArray]:
    lines = Lines(stream, name)
    first = next(lines.rows(), None)
    if first is None:
        return
    heading = all(cell_number(cell) is None for cell in first)
    place = _place(first if heading else None, len(first), column, name)
    if not heading:
        try:
            yield np.array([float(first[place])])
        except ValueError:
            raise lines.error("a number is needed here") from None
    while True:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of an end without numbers
                values = np.loadtxt(
                    lines, dtype=np.float64, delimiter=",", usecols=place, max_rows=ROWS, quotechar='"', ndmin=1
                )
        except DataError:
            raise
        except (ValueError, IndexError):
            raise lines.error("a number is needed here, in as many columns as above") from None
        if not len(values):
            return
        yield values


def _parquet_rows(stream: BinaryIO, name: str, column: str) -> Iterator[npt.NDArray[Any]]:
    with parquet_table(stream, name) as table:
        names = table.schema_arrow.names
        place = _place(names, len(names), column, name)
        for batch in table.iter_batches(batch_size=ROWS, columns=[names[place]]):
            values = batch.column(0)
            if values.null_count:
                raise DataError("a value is missing: leave it out or repair it", name)
            found = values.to_numpy(zero_copy_only=False)
            if found.dtype.kind not in "iuf":
                raise DataError("the column holds no numbers", name)
            yield found


@contextmanager
def parquet_table(stream: BinaryIO, name: str) -> Iterator[Any]:
    """The pyarrow.parquet.ParquetFile; what goes wrong with it is said of the file."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise DataError(
            f"Parquet files need pyarrow: {install_command('parquet')}, or save the column as CSV", name
        ) from None
    try:
        yield ParquetFile(stream)
    except DataError:
        raise
    except (ArrowException, OSError, ValueError, IndexError):
        raise DataError("not a Parquet file that can be read", name) from None


def _place(names: Sequence[str] | None, count: int, column: str, name: str) -> int:
    """Which column holds the draws."""
    if column:
        if names is None:
            raise DataError(f"the file has no heading to find the column {column!r:.60} in", name)
        if list(names).count(column) != 1:
            raise DataError(f"its heading does not have the column {column!r:.60} once", name)
        return list(names).index(column)
    if count != 1:
        raise DataError(f"it has {count} columns: say column=, the name of the one that holds the draws", name)
    return 0
