"""Every item of both sources: the command that the map names is run, and gives what the map says."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from studies import claim, sources
from studies.page import shown
from studies.sources import PAGE, Row, rows, same
from tightrope import Bound

TEXT = PAGE.read_text("utf-8")
# They take from 2 to 30 s each: make sources computes them, and here it is seen that they are drawn as the map says.
SLOWEST = (
    *(f"figure-{number}" for number in ("03", "11", "12", "13", "14", "16", "19", "20", "21", "22")),
    "experiment-3",
    "talk-slide-1",
)
ROWS = [row for _, row in rows(TEXT) if row is not None]


@cache
def known() -> dict[str, Any]:
    """The page's own names; claims as they are recorded, since another test decides each of them again."""
    return {**sources.names(TEXT), "claims": recorded, "figure": drawn}


def drawn(name: str) -> str:
    if name not in SLOWEST:
        return sources.figure(name)
    title = shown((PAGE.parent / "paper.md").read_text("utf-8"))[name].title
    return next(row.gives for row in ROWS if f'"{name}"' in row.command and row.gives.startswith(f"{title}: panels "))


def recorded(*keys: str) -> str:
    return ", ".join("holds" if claim.read()[key].holds else "does not hold" for key in keys)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.item)
def test_the_command_gives_what_the_map_says(row: Row, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)
    found = sources.answer(row, known())
    assert same(found, row.gives), f"{row.command} gives {sources.shown(found)}, not {row.gives}"


def test_rows_without_a_command_say_that_they_have_none() -> None:
    lines = [line for line, row in rows(TEXT) if row is None and line.startswith("| ") and line.count(" | ") == 3]
    others = [line for line in lines if not line.startswith("| item |")]
    assert all("| none |" in line and ("not there yet" in line or "not covered" in line) for line in others)
    assert len(others) <= 5


def test_every_numbered_item_of_both_sources_has_a_row() -> None:
    items = "\n".join(f"{row.item}\n{row.says}" for row in ROWS)
    numbered = {
        "definition": range(1, 12),
        "lemma": range(1, 14),
        "theorem": (1, 2, 3, 10, 11),
        "figure": range(1, 23),
        "experiment": range(1, 4),
    }
    wanted = [f"{kind} {number}" for kind, numbers in numbered.items() for number in numbers]
    missing = [each for each in wanted if each not in items]
    assert missing == []


@pytest.mark.parametrize(
    ("value", "gives", "found"),
    [
        (Bound(0.25, 0.2500000001), "[0.25, 0.250001]", True),
        (Bound(0.3, 0.3000000001), "[0.25, 0.250001]", False),
        (Bound(0.2, 0.3), "[0.25, 0.250001]", False),
        (Bound(0.5, 0.5), "0.5", True),
        (0.1234567, "0.123457", True),
        (True, "True", True),
        (True, "False", False),
        ("delta in [0.25, 0.26] at epsilon 1", "delta in [0.2500000001, 0.26] at epsilon 1", True),
        ("delta in [0.25, 0.26] at epsilon 1", "delta in [0.25, 0.26] at epsilon 2", False),
        ("delta in [0.35, 0.36] at epsilon 1", "delta in [0.25, 0.26] at epsilon 1", False),
    ],
)
def test_what_counts_as_the_same(value: object, gives: str, found: bool) -> None:
    assert same(value, gives) is found
