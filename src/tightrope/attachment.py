"""What is attached to a PDF, read without a library: reports have their document so.

Guarantee: no more is unpacked than the limits here, whatever the file says; a file with another number of attachments
than one is refused, and so is one that was encrypted or packed in another way.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

from .errors import DataError

BYTES_MAX = 2**26  # of an attachment
COPIES_MAX = 16
DICTIONARY_MAX = 2**12  # bytes; those of attachments have some hundred
# An attached file is a stream of its own, which no other stream can hold (ISO 32000-1, 7.11.4 and 7.5.7).
_MARK = re.compile(rb"/EmbeddedFile(?![A-Za-z0-9])")
_BEGIN = re.compile(rb">>\s*stream\r?\n")


def attached(data: bytes) -> bytes:
    """The one file that is attached; copies of it do not count. DataError where there is none, or another one too."""
    found = set(_streams(data))
    if not found:
        raise DataError("nothing is attached to this PDF: reports that Tightrope wrote have their document attached")
    if len(found) > 1:
        raise DataError("several files are attached to this PDF: save the one that is meant, and take that")
    return found.pop()


def _streams(data: bytes) -> Iterator[bytes]:
    for count, mark in enumerate(_MARK.finditer(data)):
        if count == COPIES_MAX:
            raise DataError(f"more than {COPIES_MAX} files are attached to this PDF: save the one that is meant")
        begin = _BEGIN.search(data, mark.end(), mark.end() + DICTIONARY_MAX)
        opened = data.rfind(b"obj", max(0, mark.start() - DICTIONARY_MAX), mark.start())
        if begin is None or opened < 0:
            raise DataError("what is attached to this PDF cannot be read: the file is damaged")
        yield _unpacked(data, data[opened : begin.start()], begin.end())


def _unpacked(data: bytes, about: bytes, begin: int) -> bytes:
    """A stream by what its dictionary says of it."""
    if b"/Filter" not in about:
        end = data.find(b"endstream", begin)
        return data[begin : max(begin, end)][:BYTES_MAX].rstrip(b"\r\n")
    packed = re.search(rb"/Filter\s*\[?\s*/FlateDecode\s*(\]|/|>|$)", about)
    if packed is None or b"/DecodeParms" in about:
        raise DataError("what is attached to this PDF is packed in a way not known here: save it, and take that")
    unpacking = zlib.decompressobj()
    try:
        found = unpacking.decompress(memoryview(data)[begin:], BYTES_MAX)
    except zlib.error:
        raise DataError("what is attached to this PDF cannot be unpacked: the file is damaged or encrypted") from None
    if not unpacking.eof:
        limit = f"is larger than {BYTES_MAX:,} bytes, or the file is damaged"
        raise DataError(f"what is attached to this PDF {limit}")
    return found
