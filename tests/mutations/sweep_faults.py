"""Faults that the tests of sweeps must kill: a clock that is hidden, values that become text, answers that get lost."""

from __future__ import annotations

from io import FileIO
from pathlib import Path
from tempfile import TemporaryDirectory

from tests import test_compute_budget as clocks
from tests.sweep import test_journal as journals
from tests.sweep import test_sweep as sweeps
from tightrope.core.values import compute_budget
from tightrope.sweep import journal, recipe

from .contour_faults import Fault, Patch


def look_at_the_clock_in_secret(patch: Patch) -> None:
    """Who asks whether time is over leaves no mark."""
    patch.setattr(compute_budget.Meter, "over", lambda self: compute_budget.monotonic() > self.deadline)


def put_words_in_bare(patch: Patch) -> None:
    """A word of the grid becomes a part of the text."""
    patch.setattr(recipe, "literal", str)


class Torn(FileIO):
    """A journal whose last line stays torn, and the next one is appended to it."""

    def truncate(self, size: int | None = None) -> int:
        return size or 0


def append_to_a_torn_line(patch: Patch) -> None:
    patch.setattr(journal, "FileIO", Torn)


def torn(patch: Patch) -> None:
    with TemporaryDirectory() as folder:
        journals.test_a_torn_line_is_asked_again_and_no_other(Path(folder))


FAULTS = (
    Fault(
        "looks at the clock without a mark",
        look_at_the_clock_in_secret,
        clocks.test_whoever_asks_the_clock_leaves_a_mark_too,
    ),
    Fault(
        "words of a grid become text",
        put_words_in_bare,
        lambda patch: sweeps.test_a_word_cannot_change_the_text_around_it("'a') + Laplace(scale=1, name='b'"),
    ),
    Fault("torn lines are kept", append_to_a_torn_line, torn),
)
