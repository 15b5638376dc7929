"""Faults that the table must kill in mechanisms of a few losses: formulas out of their range, masses left out."""

from __future__ import annotations

import math

import pytest
from flint import arb

import tightrope as tr
from tests.conformance.cases import ROWS
from tests.conformance.test_single_use import test_worse_direction
from tests.mechanisms import test_channel, test_matrix_mechanism, test_tree_aggregation
from tightrope.core.losses.finite import curves as channel
from tightrope.core.losses.finite.laws import StaircaseLaw, SubsetLaw
from tightrope.core.mechanisms import matrix_mechanism, shuffle
from tightrope.core.numerics import columns as squares

from .contour_faults import Fault

Patch = pytest.MonkeyPatch


def every_step_is_narrow(patch: Patch) -> None:
    """Half the sensitivity ends beyond the first step, whatever its share."""

    def masses(self: StaircaseLaw) -> tuple[arb, arb]:
        fall, gamma = (-arb(self.epsilon)).exp(), arb(self.gamma or 0.0)
        more = (gamma + fall * (1 - 2 * gamma) / 2) / (gamma + fall * (1 - gamma))
        return more, 1 - more * (1 + fall)

    patch.setattr(StaircaseLaw, "masses", masses)


def sets_are_drawn_with_replacement(patch: Patch) -> None:
    """The other categories are in the set independently of each other."""

    def masses(self: SubsetLaw) -> tuple[arb, arb]:
        odds, share = arb(self.epsilon).exp(), arb(self.size_of_set) / self.categories
        inside = share * odds / (share * odds + 1 - share)
        more = inside * (1 - share)
        return more, 1 - more * (1 + 1 / odds)

    patch.setattr(SubsetLaw, "masses", masses)


def compare_with_the_first_row_only(patch: Patch) -> None:
    patch.setattr(channel, "combinations", lambda rows, _: [(0, row) for row in rows if row])


def leave_out_corners_of_the_hull(patch: Patch) -> None:
    """What lies within a hundredth of the hull counts as below it."""
    patch.setattr(channel, "NEARLY_EQUAL", -0.01)


def shuffle_a_channel_as_categories(patch: Patch) -> None:
    """By odds that it does not have."""
    plain = shuffle._loss
    patch.setattr(shuffle, "_loss", lambda base: plain(tr.RandomizedResponse(epsilon=base.epsilon_per_use or 0.0)))


def rows_against_each_other(_: Patch) -> None:
    for seed in range(6):
        test_channel.test_the_profile_is_the_largest_of_all_pairs_of_rows(seed)


def one_use(kind: type[tr.Mechanism]) -> None:
    for row in ROWS:
        if isinstance(row.mechanism, kind):
            test_worse_direction(row)


def forget_the_root(patch: Patch) -> None:
    """log2 of the steps, rounded up: of a power of 2 one node too few."""
    patch.setattr(tr.TreeAggregation, "levels", property(lambda self: max((self.steps - 1).bit_length(), 1)))


def compare_groups_by_their_largest_norm(patch: Patch) -> None:
    patch.setattr(matrix_mechanism, "_exceeds", lambda one, other: one[:1] >= other[:1])


def drop_the_last_squares(patch: Patch) -> None:
    """A norm as the nearest double below it."""
    plain = squares.as_squares
    patch.setattr(squares, "as_squares", lambda total: (plain(total) or ())[:1])


def choose_the_column_by_its_float(patch: Patch) -> None:
    """The first one of those whose norms are the same double."""
    largest = lambda columns: squares.square_sum(max(columns, key=lambda column: math.hypot(*column)))  # noqa: E731
    patch.setattr(squares, "largest_square_sum", largest)


FAULTS = (
    Fault(
        "columns by floats",
        choose_the_column_by_its_float,
        lambda _: test_matrix_mechanism.test_columns_that_floats_cannot_tell_apart(1.0),
    ),
    Fault(
        "groups by one norm",
        compare_groups_by_their_largest_norm,
        lambda _: test_matrix_mechanism.test_groups_that_do_not_compare_lie_below_the_largest_of_both(),
    ),
    Fault(
        "norms rounded down",
        drop_the_last_squares,
        lambda _: test_matrix_mechanism.test_the_shift_is_the_largest_column_norm_exactly(0),
    ),
    Fault(
        "root of a tree",
        forget_the_root,
        lambda _: test_tree_aggregation.test_levels_are_the_nodes_that_hold_the_first_step(8),
    ),
    Fault("steps all narrow", every_step_is_narrow, lambda _: one_use(tr.Staircase)),
    Fault("sets with replacement", sets_are_drawn_with_replacement, lambda _: one_use(tr.SubsetSelection)),
    Fault("first row of a channel", compare_with_the_first_row_only, rows_against_each_other),
    Fault("corners of a channel", leave_out_corners_of_the_hull, rows_against_each_other),
    Fault(
        "channel shuffled as categories",
        shuffle_a_channel_as_categories,
        lambda _: test_channel.test_a_channel_is_shuffled_by_its_largest_loss(),
    ),
)
