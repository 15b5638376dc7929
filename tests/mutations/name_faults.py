"""Faults that the tests of names must kill: uses that a name would hide from the answer."""

from __future__ import annotations

from tests.mechanisms import test_named as names
from tightrope.core.mechanisms import composition
from tightrope.core.mechanisms.composition import Composition, compose

from .contour_faults import Fault, Patch


def forget_uses(patch: Patch) -> None:
    """A part counts once, however often it runs."""
    patch.setattr(Composition, "nameless", property(lambda self: compose(part.nameless for part, _ in self.parts)))


def see_names_only(patch: Patch) -> None:
    """A part is another one of the same name."""
    patch.setattr(composition, "_order", lambda item: item[0].label)


def keep_names(patch: Patch) -> None:
    """Equal laws of two names are two laws, and data of two names are drawn twice."""
    patch.setattr(Composition, "nameless", property(lambda self: self.named(None)))


FAULTS = (
    Fault(
        "uses of a named group forgotten",
        forget_uses,
        lambda patch: names.test_a_composition_with_a_name_stays_one_part(),
    ),
    Fault(
        "parts sought by their names",
        see_names_only,
        lambda patch: names.test_a_sum_is_a_composition_however_it_came_about(),
    ),
    Fault(
        "names seen by a question",
        keep_names,
        lambda patch: names.test_data_by_two_names_are_drawn_once(),
    ),
)
