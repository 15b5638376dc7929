"""The committed pages are those of the committed record, and name what exists."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from studies import claim
from studies.page import Drawn, Source, fitted, page, shown, table
from studies.reproduce import CLAIMS, FIGURES, SOURCES, compute, drawn_name
from studies.tight_on_budget import costs, rate_1
from studies.tight_on_budget.slips import slips

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
NAMED = re.compile(r"`([\w/.]+\.py): (\w+)`")


def test_the_page_shows_the_recorded_claims() -> None:
    for source in SOURCES:
        assert table(source.claims, claim.read()) in (DOCS / "paper.md").read_text("utf-8")
    assert list(claim.read()) == [each.key for each in CLAIMS]


def test_what_a_page_shows_can_be_read_again() -> None:
    drawn = [Drawn("figure-01", "One", "Prose. " * 60), Drawn("map-2", "Two", "Less.")]
    modules = {"a.figure_01": drawn[0], "a.map_2": drawn[1]}
    text = page([Source("A", "opening\n", (), tuple(modules)), Source("B", "more\n", (), ())], modules, {})
    assert max(map(len, text.splitlines())) < 120
    found = shown(text)
    assert [found[drawn_name(module)] for module in modules] == [
        Drawn(each.name, each.title, each.caption.strip()) for each in drawn
    ]


def test_the_page_that_is_kept_can_be_made_in_parts() -> None:
    assert set(shown((DOCS / "paper.md").read_text("utf-8"))) == {drawn_name(module) for module in FIGURES}


@pytest.mark.parametrize("section", [costs.section, rate_1.section, slips], ids=lambda each: each.__module__)
def test_the_page_shows_what_was_recorded(section: Callable[[], str]) -> None:
    lines = (DOCS / "paper.md").read_text("utf-8").splitlines()
    rows = [line for line in section().splitlines() if line.startswith("|")]
    assert len(rows) > 5
    assert [row for row in rows if row not in lines] == []


@pytest.mark.parametrize("module", FIGURES)
def test_every_figure_is_drawn_and_shown(module: str) -> None:
    name = drawn_name(module)
    assert f"figures/{name}.png" in (DOCS / "paper.md").read_text("utf-8")
    assert (DOCS / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "module", ["tight_on_budget.figure_01", "tight_on_budget.figure_08", "characteristic_function.experiment_1"]
)
def test_captions_on_the_page_are_those_of_the_code(module: str) -> None:
    assert fitted(compute(module).caption) in (DOCS / "paper.md").read_text("utf-8")


def test_names_on_the_map_exist() -> None:
    found = NAMED.findall((DOCS / "from_paper_to_code.md").read_text("utf-8"))
    assert len(found) > 50
    for path, name in found:
        package = ROOT / "src" / "tightrope"
        base = ROOT if path.startswith(("studies/", "tests/")) else package
        base = base if (base / path).exists() else package / "core"
        text = (base / path).read_text("utf-8")
        assert re.search(rf"(def|class) {name}\b|^{name}\b.*=", text, re.MULTILINE), (path, name)
