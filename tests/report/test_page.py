"""The report as a file: it needs nothing else, runs nothing, escapes what was typed, and is the same twice."""

from __future__ import annotations

import json
import math
import re
from base64 import b64decode, b64encode
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

import tightrope as tr
from tightrope import documents, result
from tightrope.report import proof, value
from tightrope.report.from_file import document_of
from tightrope.report.html import written
from tightrope.report.ran import neighbours, what_ran

HOSTILE = "</script><script>alert('1')</script><img src=x onerror=\"alert(2)\"> & &amp;"
VOID = {"meta", "img"}


class Reader(HTMLParser):
    """Elements and texts; every element must end where it should."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "script" not in self.open and "style" not in self.open:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def trained() -> tuple[tr.Report, str]:
    run = tr.training(records=600, batch=60, epochs=3, sigma=1.0)
    found = run.report(delta=1e-5, date="2026-11-16", title="A title", system="S", organisation="O", author="N")
    return found, found.html()


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """As without matplotlib."""
    monkeypatch.setattr(value, "find_spec", lambda name: None)


def test_it_needs_nothing_and_runs_nothing(trained: tuple[tr.Report, str]) -> None:
    reader = Reader(trained[1])
    assert [each["type"] for each in reader.all("script")] == ["application/json"]
    assert not {"link", "iframe", "object", "form", "a"} & {tag for tag, _ in reader.found}
    assert all(str(each["src"]).startswith("data:image/svg+xml;base64,") for each in reader.all("img"))
    assert not any(name.startswith("on") or name == "style" for _, given in reader.found for name in given)
    policy = next(each["content"] for each in reader.all("meta") if "http-equiv" in each)
    style = re.search(r"<style>(.*?)</style>", trained[1], re.DOTALL)
    assert style is not None
    known = b64encode(sha256(style[1].encode()).digest()).decode()
    assert policy is not None
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{known}'; img-src data:;")
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_it_is_readable_for_all(trained: tuple[tr.Report, str]) -> None:
    reader = Reader(trained[1])
    assert reader.all("html") == [{"lang": "en-GB"}]
    levels = [int(tag[1]) for tag, _ in reader.found if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(reader.all("img")) == 4
    assert all(each["alt"] for each in reader.all("img"))
    identities = [given["id"] for _, given in reader.found if "id" in given]
    assert len(identities) == len(set(identities))
    assert all(given.get("scope") in ("row", "col") for given in reader.all("th"))


def test_it_says_all_that_is_filed(trained: tuple[tr.Report, str]) -> None:
    found, page = trained
    text = Reader(page).text
    low, high = str(found.results[0].bound).strip("[]").split(", ")
    assert found.risk is not None
    assert found.epochs is not None
    told = [low, high, "16 November 2026", "A title", "Prepared by N", "600", "poisson", "1 in 100,000", "rounding"]
    told += [row.sentence for row in found.risk.rows] + [*found.assumed, *found.not_covered, *found.risk.meant]
    told += [f"{row.steps}" for row in found.epochs.rows] + ["tightrope verify report.html", repr(found.mechanism)]
    assert [each for each in told if " ".join(each.split()) not in text] == []


def test_the_certificate_is_inside(trained: tuple[tr.Report, str]) -> None:
    found, page = trained
    assert json.loads(document_of(page)) == json.loads(found.document())
    (answer,) = result.read(document_of(page))
    assert answer.bound == found.results[0].bound
    assert documents.read(document_of(page), "a result")["date"] == "2026-11-16"


def test_the_same_report_is_the_same_file(trained: tuple[tr.Report, str]) -> None:
    found, page = trained
    again = tr.report(found.mechanism, 1e-5, "2026-11-16", title="A title", system="S", organisation="O", author="N")
    assert again.html() == page
    images = [b64decode(str(each["src"]).split(",")[1]).decode() for each in Reader(page).all("img")]
    assert all(each.startswith("<?xml") and "<dc:date>" not in each for each in images)


@pytest.mark.usefixtures("undrawn")
def test_what_was_typed_is_escaped() -> None:
    run = tr.Gaussian(sigma=2.0, name=HOSTILE) * 2
    options = {"title": HOSTILE, "system": HOSTILE, "organisation": HOSTILE, "author": HOSTILE}
    found = run.report(delta=1e-6, date="2026-11-16", **options)
    page = found.html()
    reader = Reader(page)
    assert len(reader.all("script")) == 1
    assert reader.all("img") == []
    assert HOSTILE in " ".join(reader.texts)
    assert json.loads(document_of(page)) == json.loads(found.document())


@pytest.mark.parametrize("title", ["", " a", "a\nb", "x" * 200, "\u202eabc", 3])
def test_titles_of_one_line(title: str) -> None:
    with pytest.raises(tr.InvalidParameter):
        tr.Gaussian(sigma=2.0).report(delta=1e-6, title=title)


@pytest.mark.usefixtures("undrawn")
def test_without_matplotlib_it_says_so_and_has_the_tables() -> None:
    page = tr.Laplace(scale=2.0).report(delta=1e-6).html()
    reader = Reader(page)
    assert reader.all("img") == []
    assert "matplotlib was not installed" in reader.text
    assert "Delta at most" in reader.text


@pytest.mark.usefixtures("undrawn")
def test_a_run_without_an_epsilon() -> None:
    found = tr.ApproximateDP(epsilon=1.0, delta=1e-3).report(delta=1e-6)
    assert found.results[0].bound.upper == math.inf
    text = Reader(found.html()).text
    assert "No finite epsilon holds at delta 1e-06" in text
    assert "no finite ε" in text
    assert "Before you quote this number" in text


@pytest.mark.usefixtures("undrawn")
def test_several_deltas_and_one_direction() -> None:
    run = tr.Gaussian(sigma=1.0).poisson(rate=0.1) * 3
    found = run.report(delta=[1e-5, 1e-8], direction="add")
    text = Reader(found.html()).text
    assert text.count("This alone is not differential privacy") == 2
    assert [each.bound for each in found.results] == list(run.epsilon([1e-5, 1e-8], direction="add"))
    assert "--direction add --proof" in text


def test_parts_are_told_with_what_is_inside() -> None:
    run = tr.parse("parallel(Laplace(scale=3), Gaussian(sigma=4)) * 2 + (Laplace(scale=9) * 2).poisson(rate=0.5)")
    text = Reader(written(what_ran(run)) + written(neighbours(run))).text
    told = ("parallel, 2 times.", "poisson.", "Laplace, 2 times.", "rate = 0.5", "sigma = 4", "McSherry 2009")
    assert [each for each in (*told, "one after the other", "the base has its sensitivity") if each not in text] == []
    many = sum(tr.Gaussian(sigma=1.0 + index) for index in range(20))
    assert "8 more parts" in Reader(written(what_ran(many))).text


def test_a_schedule_and_a_loader_with_a_caution() -> None:
    phases = [(10, 1.0, 20), (30, 2.0, 60)]
    assert "2 30 2 60" in Reader(written(what_ran(tr.training(records=600, schedule=phases)))).text
    shuffled = tr.training(records=600, batch=60, epochs=2, sigma=1.0, sampling="shuffled")
    assert "The Poisson number is no bound for it" in Reader(written(what_ran(shuffled))).text


def test_a_run_that_no_text_holds_is_to_be_built_again(
    monkeypatch: pytest.MonkeyPatch, trained: tuple[tr.Report, str]
) -> None:
    def refuse(text: str) -> tr.Mechanism:
        raise tr.ExpressionError("unknown mechanism", text, 0)

    monkeypatch.setattr(proof, "parse", refuse)
    text = Reader(written(proof.certificate(trained[0]))).text
    assert "build it again" in text
    assert "tightrope verify" not in text


def test_what_the_checker_does_not_know_is_not_promised(trained: tuple[tr.Report, str]) -> None:
    assert "proves or refutes both ends" in Reader(written(proof.certificate(trained[0]))).text
    other = tr.PureDP(epsilon=1.0).shuffle(users=100).report(delta=1e-6, seconds=5.0, date="2026-11-16")
    text = Reader(written(proof.certificate(other))).text
    assert "its checker does not know this run: .shuffle" in text
    assert "proves or refutes" not in text


@pytest.mark.usefixtures("undrawn")
def test_files_by_their_names(tmp_path: Path, trained: tuple[tr.Report, str]) -> None:
    found, _ = trained
    found.save(tmp_path / "report.html")
    found.save(tmp_path / "report.json")
    assert (tmp_path / "report.html").read_text("utf-8") == found.html()
    assert (tmp_path / "report.json").read_text("utf-8") == found.document() + "\n"
    for name in ("report.txt", "report"):
        with pytest.raises(tr.InvalidParameter, match=r"\.html, \.pdf, \.json"):
            found.save(tmp_path / name)
    with pytest.raises(tr.InvalidParameter, match="make it first"):
        found.save(tmp_path / "nowhere" / "report.html")


@pytest.mark.parametrize("wrong", [{"delta": 2.0}, {"delta": []}, {"prior": 3.0}, {"date": "tomorrow"}])
def test_what_is_wrong_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(tr.InvalidParameter):
        tr.Gaussian(sigma=2.0).report(**{"delta": 1e-6, **wrong})
    with pytest.raises(tr.InvalidParameter, match=r"tr\.parse"):
        tr.report("Gaussian(sigma=2)", 1e-6)  # type: ignore[arg-type]
