"""What all JSON documents here have in common: how values are written, and what is refused where they are read.

Answers are dated, and have a digest of all the rest: it notices accidents, and nobody who means it (a digest can be
made anew). What makes an answer true is its proof.
Guarantee: doubles are written with all their digits, infinity as "inf"; nothing that is not JSON is written or read.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from enum import Enum
from hashlib import sha256
from typing import Any

from .core.values.calls import cut, quoted
from .core.values.errors import DataError, InvalidParameter
from .version import __version__, install_command

# What is attached to a PDF, read without a library: reports have their document so.
#
# Guarantee: no more is unpacked than the limits here, whatever the file says; a file with another number of attachments
# than one is refused, and so is one that was encrypted or packed in another way.

BYTES_MAX = 2**26  # of an attachment
COPIES_MAX = 16
DICTIONARY_MAX = 2**12  # bytes; those of attachments have some hundred
# An attached file is a stream of its own, which no other stream can hold (ISO 32000-1, 7.11.4 and 7.5.7).
_SUMMARY_MARK = re.compile(rb"/EmbeddedFile(?![A-Za-z0-9])")
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
    for count, mark in enumerate(_SUMMARY_MARK.finditer(data)):
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


SCHEMA = 1
DEPTH_MAX = 100
BRACKETS_MAX = 4 * DEPTH_MAX  # within one another: a composition takes three of them
EXACT_MAX = 2.0**53  # up to here whole numbers are the same, written as integers or as doubles

Date = str | date | None  # of a document: ISO 8601, UTC where nothing else is said; None for now

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MARK = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)  # a text, closed or not, or a bracket


def write(content: Mapping[str, object]) -> str:
    """A document of this schema on one line."""
    return json.dumps({"schema": SCHEMA, **content}, allow_nan=False)


def write_dated(content: Mapping[str, object], when: Date = None) -> str:
    """The same of an answer: with the version that wrote it, a date, and the digest of it all."""
    document = {"schema": SCHEMA, **content, "version": __version__, "date": dated(when)}
    return json.dumps({**document, "digest": digest(document)}, allow_nan=False)


def dated(when: Date = None) -> str:
    """A day as it is, or a time in UTC, as in 2026-11-16T17:40:01Z; None is now."""
    if when is None:
        when = datetime.now(UTC).replace(microsecond=0)
    try:
        if isinstance(when, str):
            when = date.fromisoformat(when) if _DAY.fullmatch(when) else datetime.fromisoformat(when)
        if isinstance(when, datetime):
            when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
            return when.isoformat().replace("+00:00", "Z")
        if isinstance(when, date):
            return when.isoformat()
    except (ValueError, OverflowError):
        pass
    raise InvalidParameter(f"date must be one such as 2026-11-16 or 2026-11-16T17:40:01Z, not {when!r:.60}")


def digest(document: Mapping[str, object]) -> str:
    """SHA-256 of the canonical text of all but the digest: keys in order, no spaces, whole doubles as integers.

    So it is the same whoever wrote the numbers, and in which order, as long as none of them is another.
    """
    held = {key: _canonical(value) for key, value in document.items() if key != "digest"}
    text = json.dumps(held, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def digest_agrees(document: Mapping[str, object]) -> bool | None:
    """Whether a document is as it was written; None where it has no digest, as those of earlier versions."""
    return document["digest"] == digest(document) if "digest" in document else None


def decoded(data: bytes) -> str:
    """The text of a file, or of what is attached to a PDF: UTF-8, or UTF-16 with its mark, as some shells write it;
    DataError otherwise."""
    if data.startswith(b"%PDF"):
        data = attached(data)
    try:
        return data.decode("utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("this file is not text in UTF-8") from None


def read(text: str, about: str, changed: bool = False) -> dict[str, Any]:
    """The object of a document of this schema; DataError otherwise, which tells one of a newer schema.

    changed: one that does not agree with its digest is read all the same.
    """
    document = read_value(text)
    number = document.get("schema") if isinstance(document, dict) else None
    if type(number) is int and number > SCHEMA:
        raise DataError(
            f"this is {about} of schema {cut(number)}, and Tightrope {__version__} reads schema {SCHEMA}: a newer "
            f"version wrote it; update Tightrope ({install_command(upgrade=True)})"
        )
    if not isinstance(document, dict) or number != SCHEMA or isinstance(number, bool):
        raise DataError(f'this is not {about} of schema {SCHEMA}: {{"schema": {SCHEMA}, ...}} is needed')
    if not changed and digest_agrees(document) is False:
        raise DataError(
            "this was changed after it was written: its digest does not agree; tightrope verify says what of it holds"
        )
    return document


def read_value(text: str) -> Any:
    """Any JSON value, strictly: no key twice, no number beyond a double, none of JavaScript's other constants."""
    if isinstance(text, str) and _brackets(text) > BRACKETS_MAX:
        raise DataError(f"nested more than {DEPTH_MAX} deep")
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse_constant, parse_float=_finite)
    except DataError:
        raise
    except json.JSONDecodeError as error:
        raise DataError(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise DataError(f"nested more than {DEPTH_MAX} deep") from None
    except (TypeError, ValueError):
        raise DataError("not JSON: a text, with numbers within the range of a double, is needed") from None


def _brackets(text: str) -> int:
    """How many brackets are open at once: counted here, as Python's reader ends where its stack does, or not at all."""
    opening = text.count("[") + text.count("{")
    if opening <= BRACKETS_MAX:
        return opening
    depth = most = 0
    for match in _MARK.finditer(text):
        if match[0] in "[{":
            depth += 1
            most = max(most, depth)
        elif match[0] in "]}":
            depth -= 1
    return most


def plain(value: object) -> Any:
    """What JSON can hold: infinities as text, members by value, containers by item, anything else as its text."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _canonical(value: object, depth: int = 1) -> object:
    """The same value, whoever writes it: other programs write 1.0 as 1."""
    if depth > DEPTH_MAX:
        raise DataError(f"nested more than {DEPTH_MAX} deep")
    if isinstance(value, Mapping):
        return {key: _canonical(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_canonical(item, depth + 1) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < EXACT_MAX else value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise DataError(f"the key {quoted(key)} is repeated")
        found[key] = value
    return found


def _refuse_constant(word: str) -> float:
    raise DataError(f'{word} is not JSON; infinity is written "inf"')


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise DataError(f'{quoted(digits)} is beyond the range of a double; infinity is written "inf"')
    return number
