"""Faults that the tests of laws on graded grids must kill: means that move, mass that is lost, rounding not counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tests.losses.operators.allocation import test_laws as graded
from tests.losses.operators.allocation import test_pair as allocated
from tightrope.core.losses.operators.allocation import composed_law as grid
from tightrope.core.losses.operators.allocation import composed_law as laws
from tightrope.core.losses.operators.allocation import powers as start
from tightrope.core.losses.operators.allocation.composed_law import GradedRow, MergedLaw, SplitLaw
from tightrope.core.numerics.enclosures import FloatArray
from tightrope.core.values.question import Direction

from .contour_faults import Fault, Patch


def split_to_the_left(patch: Patch) -> None:
    """What lies between two points goes to the lower one."""

    def halved(piece: GradedRow, split: bool) -> GradedRow:
        odd = piece.size % 2 if piece.start % 2 == 0 else (piece.size + 1) % 2
        columns = np.pad(piece.columns, ((0, 0), (piece.start % 2, odd)))
        return GradedRow(piece.exponent + 1, piece.start // 2, columns[:, 0::2] + columns[:, 1::2])

    patch.setattr(grid, "halved", halved)
    patch.setattr(laws, "halved", halved)


def forget_zeros(patch: Patch) -> None:
    """A summand that is 0 takes the other one with it."""
    patch.setattr(laws, "_scaled", lambda law, factor: [])


def forget_what_is_beyond(patch: Patch) -> None:
    """Infinite losses of one step are not those of the mean."""
    plain = SplitLaw.plus

    def plus(self: Any, *given: Any) -> Any:
        return replace(plain(self, *given), beyond=0.0)

    patch.setattr(SplitLaw, "plus", plus)


def take_the_value_of_one(patch: Patch) -> None:
    """v of a sum from one of its terms."""

    def product(one: FloatArray, other: FloatArray) -> FloatArray:
        return np.stack([np.convolve(one[0], other[0]), np.convolve(one[1], other[0])])

    patch.setattr(MergedLaw, "_product", staticmethod(product))


def keep_cells_whose_value_is_hidden(patch: Patch) -> None:
    patch.setattr(laws, "LEAST_MASS", 0.0)


def count_no_rounding(patch: Patch) -> None:
    plain = MergedLaw.plus
    patch.setattr(MergedLaw, "plus", lambda self, *given: replace(plain(self, *given), units=0.0))


def round_tails_the_other_way(patch: Patch) -> None:
    """Cells with more of P and less of Q than there is."""
    patch.setattr(start, "TAIL_UNITS", -1e-3 / graded.UNIT)


FAULTS = (
    Fault("split to the left", split_to_the_left, lambda _: graded.test_a_sum_lies_above_that_of_all_pairs()),
    Fault("zeros of one step", forget_zeros, lambda _: graded.test_a_sum_lies_above_that_of_all_pairs()),
    Fault("value beyond", forget_what_is_beyond, lambda _: graded.test_a_sum_lies_above_that_of_all_pairs()),
    Fault(
        "rounding of sums",
        count_no_rounding,
        lambda _: graded.test_a_sum_of_cells_has_the_masses_and_values_of_all_pairs(),
    ),
    Fault(
        "value of one term",
        take_the_value_of_one,
        lambda _: graded.test_a_sum_of_cells_has_the_masses_and_values_of_all_pairs(),
    ),
    Fault(
        "values below the smallest double",
        keep_cells_whose_value_is_hidden,
        lambda _: graded.test_a_value_that_underflows_is_not_none(),
    ),
    Fault(
        "tails the other way",
        round_tails_the_other_way,
        lambda _: allocated.test_two_gaussian_steps(Direction.REMOVE, 1.0, 0.059206501085892653279),
    ),
)
