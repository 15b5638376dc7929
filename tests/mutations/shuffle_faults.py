"""Faults that the tests of shuffled reports must kill: more users to hide among, cells and tails on the wrong side."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from tests.losses.operators.shuffle import test_pair as counted
from tightrope.core.losses.atoms import LatticeStep
from tightrope.core.losses.operators.shuffle import report_rows as float_rows
from tightrope.core.losses.operators.shuffle import shuffled as pair
from tightrope.core.losses.operators.shuffle.report_law import Counts
from tightrope.core.losses.operators.shuffle.shuffled import Cell, ShuffledPair

from .contour_faults import Fault, Patch

CLONES = ShuffledPair(LatticeStep(Fraction(3), True), 3)
MIXED = ShuffledPair(LatticeStep(Fraction(2), False), 90, 4)


def hide_among_one_more(patch: Patch) -> None:
    def counts(epsilon: LatticeStep, draws: int, same: int = 0, third: int | None = None) -> Counts:
        return Counts(epsilon, draws + 1, same, third)

    patch.setattr(pair, "Counts", counts)


def take_the_most_of_each_cell(patch: Patch) -> None:
    """The count that tells least stands for its cell."""
    plain = pair.cells

    def cells(users: int, chance: arb, steps: float) -> list[Cell]:
        return [cell._replace(least=cell.greatest) for cell in plain(users, chance, steps)]

    patch.setattr(pair, "cells", cells)


def forget_the_mirror(patch: Patch) -> None:
    """Below epsilon 0 what holds above it."""
    patch.setattr(pair, "mirrored", lambda delta, epsilon: delta)


def take_the_rare_for_nothing(patch: Patch) -> None:
    """Without the bound that shows it to lie below every double."""
    patch.setattr(float_rows, "gone", lambda law, scores, chances: True)
    patch.setattr(float_rows, "LOG_TINIEST", -100.0)


FAULTS = (
    Fault("one user more", hide_among_one_more, lambda _: counted.test_profiles_are_sums_over_all_counts(CLONES)),
    Fault(
        "most of each cell",
        take_the_most_of_each_cell,
        lambda _: counted.test_finite_pairs_lie_on_both_sides(MIXED, counted.FINENESS[0]),
    ),
    Fault("mirror of reports", forget_the_mirror, lambda _: counted.test_profiles_are_sums_over_all_counts(CLONES)),
    Fault(
        "rare taken for nothing",
        take_the_rare_for_nothing,
        lambda _: counted.test_a_million_users_next_to_nothing(),
    ),
)
