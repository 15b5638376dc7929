"""What the page saves: pictures, tables, documents and the report, read back and compared with the package."""

from __future__ import annotations

import csv
import io
from base64 import b64encode
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
    expect(visit.status).to_have_text(f"{name.split()[0]} saved")
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


def painted(visit: Visit, png: bytes) -> tuple[list[int], list[str]]:
    """The size of a picture and its colours, as the browser reads the file."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    size, colours = visit.page.evaluate(
        """async (file) => {
            const image = new Image();
            image.src = `data:image/png;base64,${file}`;
            await image.decode();
            const sheet = new OffscreenCanvas(image.naturalWidth, image.naturalHeight).getContext('2d');
            sheet.drawImage(image, 0, 0);
            const {data} = sheet.getImageData(0, 0, image.naturalWidth, image.naturalHeight);
            const seen = new Set();
            for (let at = 0; at < data.length; at += 4) seen.add(data.slice(at, at + 4).join(','));
            return [[image.naturalWidth, image.naturalHeight], [...seen]];
        }""",
        b64encode(png).decode(),
    )
    return size, colours


def test_views_as_png(visit: Visit) -> None:
    """Of the right size, and with more than one colour: those of the runs among them."""
    opened(visit)
    size, colours = painted(visit, export(drawn(visit, "δ over ε"), "PNG"))
    assert size == [1920, 1200]
    assert {"26,111,181,255", "198,93,0,255", "255,255,255,255"} <= set(colours)  # blue and orange on white
    for view in ("Classic bounds", "Error budget"):
        size, colours = painted(visit, export(drawn(visit, view), "PNG"))
        assert size[0] > 600, view
        assert len(colours) > 10, view


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


def test_the_curve_as_csv(visit: Visit) -> None:
    """Doubles, not the rounded texts: those that the package computes at the same epsilons."""
    visit = drawn(opened(visit), "δ over ε")
    rows = list(csv.DictReader(io.StringIO(export(visit, "CSV").decode())))
    for text in (RUN, OTHER):
        mine = [each for each in rows if each["run"] == tr.parse(text).label]
        assert len(mine) == 61
        epsilons = [float(each["epsilon"]) for each in mine]
        curve = tr.parse(text).curve(epsilons=epsilons)
        assert [float(each["delta_lower"]) for each in mine] == [bound.lower for bound in curve.bounds]
        assert [float(each["delta_upper"]) for each in mine] == [bound.upper for bound in curve.bounds]
        assert all(float(each["delta_lower"]) <= float(each["delta_upper"]) for each in mine)


def test_classic_bounds_as_csv(visit: Visit) -> None:
    rows = list(csv.DictReader(io.StringIO(export(drawn(opened(visit), "Classic bounds"), "CSV").decode())))
    compared = tr.compare(tr.parse(RUN), delta=1e-5)
    assert (float(rows[0]["epsilon_lower"]), float(rows[0]["epsilon_upper"])) == (
        compared.truth.lower,
        compared.truth.upper,
    )
    said = {each["method"]: float(each["epsilon_upper"]) for each in rows[1:] if each["epsilon_upper"]}
    assert said == pytest.approx({row.method: row.value for row in compared.rows if not row.silent}, rel=1e-12)


def test_the_budget_as_csv(visit: Visit) -> None:
    rows = list(csv.DictReader(io.StringIO(export(drawn(opened(visit), "Error budget"), "CSV").decode())))
    certificate = tr.parse(RUN).epsilon(delta=1e-5).certificate
    assert certificate is not None
    mine = {each["source"]: float(each["delta_above"]) for each in rows if each["run"] == tr.parse(RUN).label}
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
    html = export(visit, "Report of the run that is chosen, as HTML").decode()
    assert html.lower().startswith("<!doctype html>")
    assert "Gaussian(sigma=2.0) * 3" in html
    assert str(tr.parse(RUN).epsilon(delta=1e-5))[1:-1].split(", ")[1] in html


def test_there_is_nothing_to_export_yet(visit: Visit) -> None:
    """Every format of every view of an empty page says so in a word, and nothing goes wrong."""
    visit.open()
    told: dict[str, str] = {}
    for view in ("Risk", "Classic bounds", "Error budget"):
        visit.view(view)
        for name in ("PNG", "SVG", "JSON", "CSV"):
            visit.page.evaluate("() => { document.getElementById('status').textContent = ''; }")
            visit.page.locator("summary", has_text="Export").click()
            visit.page.get_by_role("group", name="Export this view").get_by_role("button", name=name).click()
            visit.page.evaluate("() => new Promise((done) => setTimeout(done))")
            told[f"{view}, {name}"] = visit.status.inner_text()
    assert set(told.values()) == {"There is nothing to export yet"}, told
