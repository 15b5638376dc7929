"""What is attached to a PDF: read where it is one file, refused in a line where it is not, whatever the file says."""

from __future__ import annotations

import zlib

import pytest

from tightrope import DataError
from tightrope.documents import BYTES_MAX, COPIES_MAX, attached

TEXT = b'{"schema": 1}'


def stream(data: bytes, about: bytes = b"/Filter/FlateDecode", ended: bytes = b"\n") -> bytes:
    head = b"7 0 obj\n<</Length %d/Type/EmbeddedFile%s/Params<</Size 3>>>>" % (len(data), about)
    return b"%s%sstream%s%s\nendstream\nendobj\n" % (head, ended, ended, data)


def made(*parts: bytes) -> bytes:
    return b"%PDF-1.7\n" + b"".join(parts) + b"<</Names<</EmbeddedFiles<</Names[(result.json)7 0 R]>>>>>>\n%%EOF"


@pytest.mark.parametrize("ended", [b"\n", b"\r\n"])
@pytest.mark.parametrize("about", [b"/Filter/FlateDecode", b"/Filter /FlateDecode", b"/Filter[/FlateDecode]"])
def test_packed_as_writers_do(about: bytes, ended: bytes) -> None:
    assert attached(made(stream(zlib.compress(TEXT), about, ended))) == TEXT


def test_not_packed_at_all() -> None:
    assert attached(made(stream(TEXT, b""))) == TEXT


def test_copies_are_one_file() -> None:
    assert attached(made(stream(zlib.compress(TEXT)), stream(TEXT, b""))) == TEXT


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "nothing is attached"),
        ([stream(zlib.compress(TEXT)), stream(zlib.compress(TEXT + b" "))], "several files"),
        ([stream(b"not packed")], "damaged or encrypted"),
        ([stream(zlib.compress(TEXT)[:-5])], "damaged"),
        ([stream(zlib.compress(bytes(BYTES_MAX + 1)))], "larger than"),
        ([stream(TEXT, b"/Filter/LZWDecode")], "way not known"),
        ([stream(zlib.compress(TEXT), b"/Filter[/ASCII85Decode/FlateDecode]")], "way not known"),
        ([stream(zlib.compress(TEXT), b"/Filter/FlateDecode/DecodeParms<</Predictor 12>>")], "way not known"),
        ([b"/EmbeddedFile "], "damaged"),
        ([stream(zlib.compress(TEXT)) * (COPIES_MAX + 1)], "more than"),
    ],
)
def test_all_else_is_refused(parts: list[bytes], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        attached(made(*parts))
    assert "\n" not in str(caught.value)
