"""What is known so far, beside the file that is to be: a line of JSON per configuration, appended and never changed.

The first line says which sweep it is; a sweep that differs in anything does not go on with it. Each line is one write,
so that a process that is killed leaves whole lines and at most a torn last one, which is cut off before more is
appended. Memory holds no answers: where the line of each configuration is stands in a file of its own, mapped.
Guarantee: what was written is neither lost nor asked again.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from types import TracebackType
from typing import Any, Self

from .. import DataError, InvalidParameter
from ..extend.documents import SCHEMA, plain
from .definition import difference
from .grid import SweepGrid
from .job import Rows
from .table import ANSWER_COLUMNS, SweepRow

SYNCED_EVERY = 5.0  # seconds: what a machine that loses power may forget
NUMBERS = ("value", "lower", "upper", "confidence")


class Journal:
    """The lines of a sweep, by the index of the configuration."""

    def __init__(self, path: str | os.PathLike[str], header: Mapping[str, Any], grid: SweepGrid, resume: bool) -> None:
        self.path, self._grid, self._header = Path(path), grid, {"schema": SCHEMA, **header}
        self.count = 0  # configurations that are known
        self._synced = monotonic()
        self._file = FileIO(self.path, "a+")
        self._places = LinePlaces(len(grid))
        try:
            self._lock()
            if not resume:
                self._begin()
            self._read()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Everything is on the disk."""
        with suppress(OSError):
            os.fsync(self._file.fileno())
        self._file.close()
        self._places.close()

    def __contains__(self, index: int) -> bool:
        return self._places[index] is not None

    def add(self, rows: Rows) -> None:
        """Keeps the rows of one configuration."""
        index, seconds = rows[0].index, rows[0].seconds
        answers = [_document(row) for row in rows]
        self._note(index, self._write({"index": index, "seconds": seconds, "answers": answers}))
        if monotonic() - self._synced > SYNCED_EVERY:
            os.fsync(self._file.fileno())
            self._synced = monotonic()

    def rows(self) -> Iterator[SweepRow]:
        """All rows in the order of the grid."""
        with self.path.open("rb") as file:
            for index in range(len(self._grid)):
                place = self._places[index]
                if place is None:
                    raise DataError(f"configuration {index} is not there: go on with --resume", str(self.path))
                file.seek(place)
                line, configuration = json.loads(file.readline()), self._grid[index]
                for answer in line["answers"]:
                    yield SweepRow(index, configuration, **_numbers(answer), seconds=line["seconds"])

    def _write(self, line: Mapping[str, Any]) -> int:
        """Appends a line in one write, and says where it is."""
        place = self._file.seek(0, os.SEEK_END)
        told = json.dumps(line, allow_nan=False).encode() + b"\n"
        if self._file.write(told) != len(told):
            raise OSError(f"{self.path} cannot grow: make room on the disk, and go on with --resume")
        return place

    def _note(self, index: int, place: int) -> None:
        if self._places[index] is None:
            self.count += 1
            self._places[index] = place

    def _begin(self) -> None:
        """A new journal: one that holds answers, or anything else, stays as it is."""
        with self.path.open("rb") as file:
            first, second = file.readline(), file.readline()
        if second or (first.endswith(b"\n") and not _heading(first, self._header)):
            raise InvalidParameter(
                f"{self.path} holds what an earlier sweep found: --resume goes on with it, or delete it"
            )
        self._file.truncate(0)

    def _read(self) -> None:
        """Notes the lines that are there, and cuts off a torn one; without any, writes which sweep this is."""
        whole = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                self._check(line, number, whole)
                whole += len(line)
        self._file.truncate(whole)
        if not whole:
            self._write(self._header)

    def _check(self, line: bytes, number: int, place: int) -> None:
        try:
            document = json.loads(line)
            if number == 1:
                changed = difference(document, self._header)
            else:
                index, changed = document["index"], None
                if type(index) is not int or not 0 <= index < len(self._grid) or not document["answers"]:
                    raise ValueError
                self._note(index, place)
        except (ValueError, KeyError, TypeError, AttributeError):
            told = "damaged: delete what is from this line on, and go on with --resume"
            raise DataError(told, str(self.path), number) from None
        if changed is not None:
            raise InvalidParameter(
                f"{self.path} is of another sweep: {changed}; change that back, or delete {self.path.name}"
            )

    def _lock(self) -> None:
        """One sweep at a time writes here, where the system can tell."""
        try:
            import fcntl
        except ImportError:
            return
        try:
            fcntl.flock(self._file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InvalidParameter(f"another sweep is writing to {self.path}: wait for it, or end it") from None


class LinePlaces:
    """Where the line of each configuration begins, None where there is none; in a file that has no name."""

    def __init__(self, count: int) -> None:
        with TemporaryFile() as file:  # the map keeps it
            file.truncate(8 * count)
            self._map = mmap.mmap(file.fileno(), 8 * count)
        self._view = memoryview(self._map).cast("Q")

    def __getitem__(self, index: int) -> int | None:
        return self._view[index] - 1 if self._view[index] else None

    def __setitem__(self, index: int, place: int) -> None:
        self._view[index] = place + 1

    def close(self) -> None:
        """Gives it back."""
        self._view.release()
        self._map.close()


def _heading(line: bytes, header: Mapping[str, Any]) -> bool:
    """Whether a line says which sweep this is, or was."""
    try:
        return set(json.loads(line)) == set(header)
    except (ValueError, TypeError):
        return False


def _document(row: SweepRow) -> dict[str, Any]:
    """An answer as JSON, without what is not there."""
    cells = {name: getattr(row, name) for name in ANSWER_COLUMNS if name != "seconds"}
    return {name: plain(cell) for name, cell in cells.items() if cell is not None}


def _numbers(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Infinities are written as text."""
    return {name: float(cell) if name in NUMBERS else cell for name, cell in answer.items()}
