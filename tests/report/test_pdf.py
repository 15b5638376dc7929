"""The report on paper: pages, the certificate attached, the same bytes twice; only where WeasyPrint and Pango are."""

from __future__ import annotations

import re
import sys
import zlib

import pytest

import tightrope as tr
from tightrope.report import pdf, value

STREAM = re.compile(rb"/FlateDecode[^>]*>>\nstream\n(.*?)\nendstream", re.DOTALL)


def test_without_weasyprint_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(tr.InvalidParameter, match=r"pip install 'tightrope-dp\[pdf\]'"):
        pdf.check_pdf()


def test_without_pango_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> object:
        raise OSError("cannot load library 'libgobject-2.0-0'")

    monkeypatch.delitem(sys.modules, "weasyprint", raising=False)
    monkeypatch.setattr("builtins.__import__", _importing(fail))
    with pytest.raises(tr.InvalidParameter, match="apt install libpango"):
        pdf.check_pdf()


def _importing(fail: object) -> object:
    before = __import__

    def load(name: str, *arguments: object, **options: object) -> object:
        if name.startswith("weasyprint"):
            fail()  # type: ignore[operator]
        return before(name, *arguments, **options)  # type: ignore[arg-type]

    return load


def test_pages_with_the_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        import weasyprint  # noqa: F401
    except (ImportError, OSError):
        pytest.skip("WeasyPrint or its libraries are not there")
    monkeypatch.setattr(value, "find_spec", lambda name: None)  # pictures take long, and are looked at elsewhere
    found = tr.Gaussian(sigma=2.0).report(delta=1e-6, date="2026-11-16")
    made = found.pdf("letter")
    assert made.startswith(b"%PDF-")
    inside = b"".join(zlib.decompress(each) for each in STREAM.findall(made))
    assert b"result.json" in inside
    assert b"/MediaBox [0 0 612 792]" in inside
    assert made == found.pdf("letter")
    with pytest.raises(tr.InvalidParameter, match="a4 or letter"):
        found.pdf("a5")
