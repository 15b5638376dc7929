"""The committed pages are those of the committed record, and name what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from studies.reproduce import FIGURES, compute
from studies.tight_on_budget import claim
from studies.tight_on_budget.claims import CLAIMS
from studies.tight_on_budget.page import fitted, table

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
NAMED = re.compile(r"`([\w/.]+\.py): (\w+)`")


def test_the_page_shows_the_recorded_claims() -> None:
    assert table(claim.read()) in (DOCS / "paper.md").read_text("utf-8")
    assert set(claim.read()) == {each.key for each in CLAIMS}


@pytest.mark.parametrize("module", FIGURES)
def test_every_figure_is_drawn_and_shown(module: str) -> None:
    _, kind, number = re.split(r"\.|_(?=\d)", module)
    name = f"{kind}-{number}"
    assert f"figures/{name}.png" in (DOCS / "paper.md").read_text("utf-8")
    assert (DOCS / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("module", ["tight_on_budget.figure_01", "characteristic_function.experiment_1"])
def test_captions_on_the_page_are_those_of_the_code(module: str) -> None:
    assert fitted(compute(module).caption) in (DOCS / "paper.md").read_text("utf-8")


def test_names_on_the_map_exist() -> None:
    found = NAMED.findall((DOCS / "from_paper_to_code.md").read_text("utf-8"))
    assert len(found) > 50
    for path, name in found:
        base = ROOT if path.startswith(("studies/", "tests/")) else ROOT / "src" / "tightrope"
        text = (base / path).read_text("utf-8")
        assert re.search(rf"(def|class) {name}\b|^{name}\b.*=", text, re.MULTILINE), (path, name)
