"""docs/transformations.md is what the registry says now, with a figure for every section."""

from __future__ import annotations

from benchmarks import transformations
from tightrope.cli import entries
from tightrope.core.text.registry import JOINS, TRANSFORMS

SIZE_MAX = 100_000  # bytes of a figure


def test_the_page_is_what_the_registry_says() -> None:
    again = "run make transformations, or python -m benchmarks.transformations"
    assert transformations.PAGE.read_text("utf-8") == transformations.text(), again


def test_every_transformation_has_a_figure_and_no_other() -> None:
    names = {*TRANSFORMS, *JOINS, "compose"}
    assert set(entries.transformations()) == names
    drawn = {path.stem.removeprefix("transform-"): path for path in transformations.FIGURES.glob("transform-*.png")}
    assert set(drawn) == names
    assert all(path.stat().st_size < SIZE_MAX for path in drawn.values())
    assert set(transformations.PICTURES) <= names
