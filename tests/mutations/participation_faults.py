"""Faults in the sensitivity of records that take part in several steps: rules without their hypotheses, lost widths."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.numerics import test_participation
from tightrope.core.numerics import columns, participation
from tightrope.core.numerics import participation as unit_vectors
from tightrope.core.numerics.participation import Interval

from .contour_faults import Fault

Patch = pytest.MonkeyPatch
GAPPED = (1.0, 0.0, 1.0)


def take_the_first_slots_always(patch: Patch) -> None:
    patch.setattr(columns.ToeplitzColumns, "fall", lambda self, gap: True)


def take_signs_for_sizes(patch: Patch) -> None:
    """Every coefficient as if signs of the steps made it positive."""
    patch.setattr(columns.ToeplitzColumns, "one_sign", True)


def forget_what_was_cut_off(patch: Patch) -> None:
    patch.setattr(columns, "math", type("Numbers", (), {"isqrt": staticmethod(lambda rows: -1), "ceil": math.ceil}))


def believe_the_dual(patch: Patch) -> None:
    """Multipliers below those of a factorisation."""
    patch.setattr(unit_vectors, "_positive_definite", lambda *_: True)
    patch.setattr(unit_vectors, "RAISE_MIN", -(2.0**-20))


def end_a_search_without_what_is_left(patch: Patch) -> None:
    plain = participation._search

    def search(*given: Any) -> Interval:
        lower, _ = plain(*given)
        return Interval(lower, lower)

    patch.setattr(participation, "_search", search)


def keep_the_earliest_placement_only(patch: Patch) -> None:
    """In trees, whatever the sum of later ones."""
    plain = participation._unbeaten
    patch.setattr(participation, "_unbeaten", lambda options: plain(options)[:1])


FAULTS = (
    Fault(
        "first slots unchecked",
        take_the_first_slots_always,
        lambda _: test_participation.test_the_first_slots_where_they_are_not_the_worst((1.0, 0.0, 1.0), 9, 4, 1, 9),
    ),
    Fault(
        "signs of coefficients",
        take_signs_for_sizes,
        lambda _: test_participation.test_a_coefficient_that_rises_by_its_last_digit_is_no_falling_one(),
    ),
    Fault(
        "digits cut off",
        forget_what_was_cut_off,
        lambda _: test_participation.test_columns_of_a_wide_span_keep_the_truth_inside(),
    ),
    Fault(
        "dual unproven",
        believe_the_dual,
        lambda _: test_participation.test_the_sum_over_vectors_has_ends_that_meet(),
    ),
    Fault(
        "search cut short",
        end_a_search_without_what_is_left,
        lambda patch: test_participation.test_a_search_that_ends_early_keeps_the_truth_inside(4, patch),
    ),
    Fault(
        "placements in trees",
        keep_the_earliest_placement_only,
        lambda _: test_participation.test_trees_have_worse_patterns_than_the_first_slots(),
    ),
)
