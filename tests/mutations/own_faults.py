"""Faults that the tests of trade-off functions and moments of one's own must kill."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import acb, arb

from tests.mechanisms import test_characteristic_function as moments
from tests.mechanisms import test_tradeoff_curve as curves
from tightrope.core.losses.characteristic_function import MomentPair
from tightrope.core.losses.finite import curves as tradeoff
from tightrope.core.losses.pair import LossRange

from .contour_faults import Fault, Patch

Corners = Sequence[tuple[Fraction, Fraction]]


def join_points_by_lines(patch: Patch) -> None:
    """Values of a convex function lie below their chords."""
    patch.setattr(tradeoff, "points_below", lambda points: tradeoff.lines_below(sorted(points)))


def run_to_the_corner(patch: Patch) -> None:
    """Behind the last point f may fall faster than to (1, 0)."""
    plain = tradeoff.lines_below
    corner = (Fraction(1), Fraction(0))
    patch.setattr(tradeoff, "lines_below", lambda points: plain([*points, *([corner] * (points[-1][0] < 1))]))


def start_at_one(patch: Patch) -> None:
    """Before the first point f need not rise to 1."""
    plain = tradeoff.lines_below
    corner = (Fraction(0), Fraction(1))
    patch.setattr(tradeoff, "lines_below", lambda points: plain([*([corner] * (points[0][0] > 0)), *points]))


def forget_the_inverse(patch: Patch) -> None:
    patch.setattr(tradeoff, "symmetric", lambda corners: corners)


def read_both_directions_alike(patch: Patch) -> None:
    def place(self: MomentPair, z: acb) -> acb:
        return z

    patch.setattr(MomentPair, "place", place)


def end_the_losses(patch: Patch) -> None:
    """Takes what is not known of the largest loss for infinity."""
    patch.setattr(MomentPair, "loss_range", lambda self: LossRange(arb.neg_inf(), arb.pos_inf()))


FAULTS: tuple[Fault, ...] = (
    Fault(
        "points joined by lines",
        join_points_by_lines,
        lambda patch: curves.test_no_mechanism_above_what_is_given_loses_more(False, True),
    ),
    Fault(
        "f taken to run to (1, 0)",
        run_to_the_corner,
        lambda patch: curves.test_no_mechanism_above_what_is_given_loses_more(False, False),
    ),
    Fault(
        "f taken to start at 1",
        start_at_one,
        lambda patch: curves.test_no_mechanism_above_what_is_given_loses_more(False, False),
    ),
    Fault(
        "inverse forgotten",
        forget_the_inverse,
        lambda patch: curves.test_both_directions_are_the_worst_of_all_that_obey_both(0),
    ),
    Fault(
        "moments of adding taken for those of removing",
        read_both_directions_alike,
        lambda patch: moments.test_composed_with_others("add", True),
    ),
    Fault("largest loss guessed", end_the_losses, lambda patch: moments.test_nothing_is_said_of_the_largest_loss()),
)
