"""The report on paper: for archives and all readers, texts as they are, the certificate attached, the same twice."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zlib
from importlib.resources import files
from types import SimpleNamespace

import pytest

import tightrope as tr
from tightrope.report import pdf, value

STREAM = re.compile(rb"<<([^\n]*)>>\nstream\n(.*?)\nendstream", re.DOTALL)
HOSTILE = '#panic("read") #read("/etc/passwd") $x$ *b* _i_ `c` @d <e> // f /* g [ ] { } \\u{41} \\'
QUESTION = "import sys, tightrope as tr; from tightrope.report import value; value.find_spec = lambda name: None;"
PRINT = "sys.stdout.buffer.write(tr.Gaussian(sigma=2.0).report(delta=1e-6, date='2026-11-16').pdf('letter'))"


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pictures, which take long."""
    monkeypatch.setattr(value, "find_spec", lambda name: None)


def streams(made: bytes) -> list[tuple[bytes, bytes]]:
    """Every stream with its dictionary, unpacked."""
    return [
        (about, zlib.decompress(held) if b"/FlateDecode" in about else held) for about, held in STREAM.findall(made)
    ]


def metadata(made: bytes) -> str:
    (found,) = (held for about, held in streams(made) if b"/Type/Metadata" in about)
    return found.decode("utf-8")


def test_without_typst_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(tr.InvalidParameter, match=r"pip install '\S+\[pdf\]'"):
        pdf.check_pdf()


@pytest.mark.usefixtures("undrawn")
def test_pages_with_the_certificate_for_archives_and_all_readers() -> None:
    found = tr.Gaussian(sigma=2.0).report(delta=1e-6, date="2026-11-16", title="A title", system="S", author="N. N.")
    made = found.pdf("letter")
    assert made.startswith(b"%PDF-1.7")
    assert b"/MediaBox[0 0 612 792]" in made
    assert b"/MediaBox[0 0 595." in found.pdf()
    (document,) = (held for about, held in streams(made) if b"/EmbeddedFile" in about)
    assert json.loads(document) == json.loads(found.document())
    assert b"/Names[(result.json)" in made
    told = metadata(made)
    conforms = ("<pdfaid:part>3<", "<pdfaid:conformance>A<", "<pdfuaid:part>1<")
    for words in (*conforms, "A title - S", "N. N.", "2026-11-16"):
        assert words in told, words
    assert b"/StructTreeRoot" in made
    assert b"/Outlines" in made
    descriptors = re.findall(rb"/Type/FontDescriptor[^\n]*", made)
    assert len(descriptors) > 1
    assert all(b"/FontFile" in each for each in descriptors)
    with pytest.raises(tr.InvalidParameter, match="a4 or letter"):
        found.pdf("a5")


def test_pictures_are_drawn_and_told() -> None:
    """As forms of lines, with what they show for those who do not see them."""
    pytest.importorskip("matplotlib")
    made = tr.Laplace(scale=2.0).report(delta=1e-6, date="2026-11-16").pdf()
    assert len(re.findall(rb"/S/Figure", made)) == 3
    assert made.count(b"/Alt(") >= 3


@pytest.mark.usefixtures("undrawn")
def test_another_process_writes_the_same_bytes() -> None:
    made = tr.Gaussian(sigma=2.0).report(delta=1e-6, date="2026-11-16").pdf("letter")
    options = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LANG": "C"}
    done = subprocess.run([sys.executable, "-c", QUESTION + PRINT], capture_output=True, check=True, env=options)
    assert done.stdout == made


@pytest.mark.usefixtures("undrawn")
def test_a_text_is_a_text() -> None:
    """What would be markup is neither run nor read: a panic would be an error."""
    texts = dict.fromkeys(("title", "system", "organisation", "author"), HOSTILE)
    made = (tr.Gaussian(sigma=2.0, name=HOSTILE) * 2).report(delta=1e-6, date="2026-11-16", **texts).pdf()
    assert '#panic("read") #read("/etc/passwd") $x$ *b* _i_ `c` @d &lt;e&gt;' in metadata(made).replace("&quot;", '"')
    template = files("tightrope.report").joinpath("page.typ").read_text("utf-8")
    assert not re.search(r"\b(eval|read|import|include|plugin)\b\s*\(", template)


@pytest.mark.usefixtures("undrawn")
def test_letters_that_no_font_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line says what to do: nothing is left out, and no empty box is filed. This machine has no fonts here."""
    typst = pdf._library()

    def compiler(*given: object, ignore_system_fonts: bool, **named: object) -> object:
        return typst.Compiler(*given, ignore_system_fonts=True, **named)

    monkeypatch.setattr(pdf, "_library", lambda: SimpleNamespace(Compiler=compiler, TypstError=typst.TypstError))
    report = tr.Gaussian(sigma=2.0).report(delta=1e-6, date="2026-11-16", title="A \N{EGYPTIAN HIEROGLYPH A001} b")
    with pytest.raises(
        tr.InvalidParameter, match=r"^[^\n]*install a font that has its letters, or write --html[^\n]*$"
    ):
        report.pdf()


@pytest.mark.usefixtures("undrawn")
def test_what_is_nested_deep_has_its_pages() -> None:
    run: tr.Mechanism = tr.Gaussian(sigma=2.0)
    for _ in range(40):
        run = run.poisson(rate=0.99) if _ % 2 else run.group(size=1)
    text = "(" * 30 + "Gaussian(sigma=9)" + " * 2).poisson(rate=0.9)" * 30
    for each in (run, tr.parse(text)):
        assert each.report(delta=1e-2, date="2026-11-16", seconds=0.1).pdf().startswith(b"%PDF")
