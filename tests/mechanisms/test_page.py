"""docs/mechanisms.md is what the catalogue says now, with its examples answered and a figure for every mechanism."""

from __future__ import annotations

from benchmarks import mechanisms
from tests.catalogued import written
from tightrope.cli import entries

SIZE_MOST = 60_000  # bytes of a figure


def test_the_page_is_what_the_catalogue_says() -> None:
    again = "run make mechanisms, or python -m benchmarks.mechanisms NAME for one figure"
    assert mechanisms.PAGE.read_text("utf-8") == mechanisms.text(), again


def test_every_mechanism_has_a_figure_and_no_other() -> None:
    assert set(entries.mechanisms()) == set(written())
    drawn = set(mechanisms.FIGURES.glob("mechanism-*.png"))
    assert drawn == {mechanisms.figure(name) for name in written()}
    assert all(path.stat().st_size < SIZE_MOST for path in drawn)
