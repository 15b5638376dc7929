"""docs/mechanisms.md is what the catalogue says now, with its examples answered and a figure for every mechanism."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import pytest
from PIL import Image

import tightrope as tr
from benchmarks import mechanisms
from tests.catalogued import written
from tightrope.cli import entries
from tightrope.core.losses.pair import Pair
from tightrope.core.values.question import Direction

SIZE_MAX = 60_000  # bytes of a figure


def test_the_page_is_what_the_catalogue_says() -> None:
    again = "run make mechanisms, or python -m benchmarks.mechanisms NAME for one figure"
    assert mechanisms.PAGE.read_text("utf-8") == mechanisms.text(), again


def test_every_mechanism_has_a_figure_and_no_other() -> None:
    assert set(entries.mechanisms()) == set(written())
    drawn = set(mechanisms.FIGURES.glob("mechanism-*.png"))
    assert drawn == {mechanisms.figure(name) for name in written()}
    assert all(path.stat().st_size < SIZE_MAX for path in drawn)


@pytest.mark.parametrize("name", written())
def test_a_figure_shows_what_the_example_says(name: str) -> None:
    with Image.open(mechanisms.figure(name)) as image:
        said = image.info["Title"]
    assert said == mechanisms.caption(entries.mechanisms()[name]), f"run python -m benchmarks.mechanisms {name}"


def test_help_says_what_the_page_says() -> None:
    said = " ".join((inspect.getdoc(tr.Laplace) or "").split())
    for text in (
        "Adds Laplace noise",
        f"Pair: {tr.Laplace.formula}",
        f"Theorem: {tr.Laplace.theorem}",
        tr.Laplace.example,
    ):
        assert text in said
    assert inspect.getdoc(tr.Leaf) == entries.docstring(tr.Leaf)  # which has no texts

    @dataclass(frozen=True)
    class Bare(tr.Leaf):
        scale: float

        def pair(self, direction: Direction) -> Pair:
            return tr.Laplace(self.scale).pair(direction)

    assert (Bare.__doc__ or "").startswith("Bare(scale")  # as a dataclass has it
