"""Faults that the tests of what libraries report must kill: one direction, a total variation that is not known."""

from __future__ import annotations

from tests.planning import test_accountants as accountants
from tightrope.core.planning import accountants as chords
from tightrope.core.planning import accountants as listed_orders
from tightrope.core.values.question import Direction

from .contour_faults import Fault, Patch


def forget_what_leaks(patch: Patch) -> None:
    """The total variation of a run with infinite losses, read off its finite ones."""
    patch.setattr(listed_orders, "leaked_above", lambda terms: 0.0)


def look_at_adding_only(patch: Patch) -> None:
    """Removing a record costs more."""
    patch.setattr(chords, "Direction", type("OneWay", (), {"REMOVE": Direction.ADD, "ADD": Direction.ADD}))


FAULTS = (
    Fault("leaks are forgotten", forget_what_leaks, lambda _: accountants.test_ends_of_delta()),
    Fault(
        "adding a record only",
        look_at_adding_only,
        lambda _: accountants.test_the_grid_is_that_of_the_library(accountants.ROWS[3]),
    ),
)
