"""Files of data: opened only where the caller allows it, regular ones only, and never larger than expected.

A text or a document names files of one folder, which the caller gives; what lies outside, behind `..` or a link, is
refused. Messages name a file as it was given and show nothing of what is in it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..errors import DataError, InvalidParameter

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
