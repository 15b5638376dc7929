"""What the page saves: pictures, tables, documents and the report, read back and compared with the package."""

from __future__ import annotations

import csv
import io
import struct
import zlib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

import tightrope as tr
from tightrope import result

from .visits import Visit

RUN, OTHER = "Gaussian(sigma=2) * 3", "Laplace(scale=10) * 10"


def export(visit: Visit, name: str) -> bytes:
    """The bytes of the file that an entry of the menu saves."""
    visit.page.locator("summary", has_text="Export").click()
    with visit.page.expect_download() as saved:
        visit.page.get_by_role("group", name="Export this view").get_by_role("button", name=name).click()
    expect(visit.status).to_have_text(f"{'Report' if 'report' in name else name} saved")
    return Path(saved.value.path()).read_bytes()


def opened(visit: Visit) -> Visit:
    """Two runs with their numbers."""
    visit.open(RUN, OTHER)
    visit.card(0).expect_epsilon(RUN)
    visit.card(1).expect_epsilon(OTHER)
    return visit


def drawn(visit: Visit, view: str) -> Visit:
    """A view with all that belongs to it."""
    visit.view(view)
    visit.wait("() => document.querySelector('#view tbody') !== null")
    visit.wait("() => document.querySelector('#view .waiting') === null")
    if view == "δ over ε":
        visit.wait_for_table()
    return visit


def colours(png: bytes, width: int, height: int) -> set[bytes]:
    """The colours of a PNG of 8 bits a channel, by its own decoder: signature, IHDR, IDAT, filters."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    parts: dict[bytes, bytes] = {}
    place = 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        kind, data = png[place + 4 : place + 8], png[place + 8 : place + 8 + length]
        assert zlib.crc32(kind + data) == struct.unpack(">I", png[place + 8 + length : place + 12 + length])[0]
        parts[kind] = parts.get(kind, b"") + data
        place += 12 + length
    assert struct.unpack(">II", parts[b"IHDR"][:8]) == (width, height)
    depth, kind_of_colour = parts[b"IHDR"][8:10]
    assert (depth, kind_of_colour) in ((8, 6), (8, 2))
    size = 4 if kind_of_colour == 6 else 3
    raw, stride, before, found = zlib.decompress(parts[b"IDAT"]), width * size, bytearray(width * size), set()
    assert len(raw) == (stride + 1) * height
    for row in range(height):
        line = bytearray(raw[row * (stride + 1) + 1 : (row + 1) * (stride + 1)])
        unfilter(raw[row * (stride + 1)], line, before, size)
        if row % 7 == 0:
            found |= {bytes(line[each : each + size]) for each in range(0, stride, size)}
        before = line
    return found


def unfilter(kind: int, line: bytearray, above: bytearray, size: int) -> None:
    """One row of a PNG, in place."""
    for each in range(len(line)):
        left, corner = (line[each - size], above[each - size]) if each >= size else (0, 0)
        up = above[each]
        if kind == 4:
            guess = left + up - corner
            distances = (abs(guess - left), abs(guess - up), abs(guess - corner))
            added = (left, up, corner)[distances.index(min(distances))]
        else:
            added = (0, left, up, (left + up) // 2)[kind]
        line[each] = (line[each] + added) & 255


def test_the_curve_as_png(visit: Visit) -> None:
    found = colours(export(drawn(opened(visit), "δ over ε"), "PNG"), 1920, 1200)
    assert {b"\x1a\x6f\xb5\xff", b"\xff\xff\xff\xff"} <= found  # the first run's blue on white
    assert len(found) > 20


def test_views_as_svg(visit: Visit) -> None:
    """Each stands alone: XML, with a size, no script, no address of elsewhere, and what was computed in words."""
    said = {
        "δ over ε": ("Gaussian(sigma=2.0) * 3", "Laplace(scale=10.0) * 10", "δ = 1e-5"),
        "Classic bounds": ("Tightrope", str(tr.parse(RUN).epsilon(delta=1e-5)), "naive composition"),
        "Error budget": ("Run 1", "Run 2", "rounding"),
    }
    opened(visit)
    for view, expected in said.items():
        text = export(drawn(visit, view), "SVG").decode()
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert float(root.attrib["width"]) > 300
        assert float(root.attrib["height"]) > 40
        words = " ".join("".join(root.itertext()).split())
        assert [each for each in expected if each not in words] == []
        assert "<script" not in text
        assert not {"href", "src"} & {name for element in root.iter() for name in element.attrib}


def test_other_views_as_png(visit: Visit) -> None:
    opened(visit)
    for view in ("Classic bounds", "Error budget"):
        png = export(drawn(visit, view), "PNG")
        width, height = struct.unpack(">II", png[16:24])
        assert len(colours(png, width, height)) > 10, view
        assert width > 600, view


def test_the_curve_as_csv(visit: Visit) -> None:
    """Doubles, not the rounded texts: those that the package computes at the same epsilons."""
    visit = drawn(opened(visit), "δ over ε")
    rows = list(csv.DictReader(io.StringIO(export(visit, "CSV").decode())))
    for place, text in enumerate((RUN, OTHER), 1):
        mine = [each for each in rows if each["run"] == f"Run {place}"]
        assert len(mine) == 61
        epsilons = [float(each["epsilon"]) for each in mine]
        curve = tr.parse(text).curve(epsilons=epsilons)
        assert [float(each["lower"]) for each in mine] == [bound.lower for bound in curve.bounds]
        assert [float(each["upper"]) for each in mine] == [bound.upper for bound in curve.bounds]
        assert all(float(each["lower"]) <= float(each["upper"]) for each in mine)


def test_classic_bounds_as_csv(visit: Visit) -> None:
    rows = list(csv.DictReader(io.StringIO(export(drawn(opened(visit), "Classic bounds"), "CSV").decode())))
    compared = tr.compare(tr.parse(RUN), delta=1e-5)
    assert (float(rows[0]["lower"]), float(rows[0]["upper"])) == (compared.truth.lower, compared.truth.upper)
    said = {each["method"]: float(each["upper"]) for each in rows[1:] if each["upper"]}
    assert said == pytest.approx({row.method: row.value for row in compared.rows if not row.silent}, rel=1e-12)


def test_the_budget_as_csv(visit: Visit) -> None:
    rows = list(csv.DictReader(io.StringIO(export(drawn(opened(visit), "Error budget"), "CSV").decode())))
    certificate = tr.parse(RUN).epsilon(delta=1e-5).certificate
    assert certificate is not None
    mine = {
        each["source"]: float(each["above"]) for each in rows if "Gaussian" in each["run"] or each["run"] == "Run 1"
    }
    assert mine == {name.replace("_", " "): value for name, value in certificate.budget.upper.items()}


def test_views_as_json(visit: Visit) -> None:
    """Documents that result.read takes, with their digest; their bounds are those of the package."""
    opened(visit)
    for view, results in {"δ over ε": 122, "Classic bounds": 1, "Error budget": 2}.items():
        found = result.read(export(drawn(visit, view), "JSON").decode())
        assert len(found) == results, view
        for each in found[:: max(1, results // 6)]:
            bound = getattr(tr.parse(each.expression), each.quantity)(**each.arguments)
            assert (each.bound.lower, each.bound.upper) == (bound.lower, bound.upper), view


def test_other_views_have_a_document(visit: Visit) -> None:
    visit.open(RUN).card().expect_epsilon(RUN)
    visit.view("Risk")
    expect(visit.page.get_by_role("region", name="The same numbers")).to_be_visible()
    assert "tpr" in {each.quantity for each in result.read(export(visit, "JSON").decode())}
    visit.view("Trade-off")
    assert "tradeoff" in {each.quantity for each in result.read(export(visit, "JSON").decode())}


def test_the_report(visit: Visit) -> None:
    visit = drawn(opened(visit), "δ over ε")
    html = export(visit, "The report of the chosen run, as HTML").decode()
    assert html.lower().startswith("<!doctype html>")
    assert "Gaussian(sigma=2.0) * 3" in html
    assert str(tr.parse(RUN).epsilon(delta=1e-5))[1:-1].split(", ")[1] in html


def test_there_is_nothing_to_export_yet(visit: Visit) -> None:
    """Every format of every view of an empty page says so in a word, and nothing goes wrong."""
    visit.open()
    for view in ("Error budget", "Risk", "Classic bounds"):
        visit.view(view)
        for name in ("PNG", "SVG", "JSON", "CSV"):
            visit.page.locator("summary", has_text="Export").click()
            visit.page.get_by_role("group", name="Export this view").get_by_role("button", name=name).click()
            expect(visit.status).to_have_text("there is nothing to export yet")
            visit.page.evaluate("() => { document.getElementById('status').textContent = ''; }")
