"""Faults that the tests of points, polygons and maxima must kill."""

from __future__ import annotations

from flint import arb

from tests.losses.operators import test_maximum as maxima
from tests.losses.operators import test_polygon as polygons
from tests.mechanisms import test_parallel as cells
from tests.mechanisms import test_privacy_curve as curves
from tightrope.core.losses.finite import curves as curve
from tightrope.core.losses.finite.curves import Corner
from tightrope.core.losses.operators import extremes as maximum
from tightrope.core.losses.operators import polygon
from tightrope.core.losses.pair import Pair

from .contour_faults import Fault, Patch


def round_points_down(patch: Patch) -> None:
    patch.setattr(polygon, "_most", polygon._least)


def round_events_up(patch: Patch) -> None:
    patch.setattr(polygon, "_least", polygon._most)


def forget_mirrors(patch: Patch) -> None:
    """A point of adding a record says nothing of removing one then."""
    patch.setattr(Corner, "mirrored", lambda self: self)


def keep_all_points(patch: Patch) -> None:
    """Points above the hull taken for corners."""
    patch.setattr(curve, "lower_hull", lambda points: (tuple(sorted(points, key=lambda point: point.loss)), True))


def take_the_first(patch: Patch) -> None:
    def profile(self: maximum.MaximumPair, epsilon: arb) -> arb:
        return self.pairs[0].ball_hockey_stick(epsilon)

    patch.setattr(maximum.MaximumPair, "ball_hockey_stick", profile)


def keep_the_first_cell(patch: Patch) -> None:
    def first(pairs: object) -> Pair:
        return next(iter(pairs))  # type: ignore[call-overload, no-any-return]

    patch.setattr(maximum, "maximum_pair", first)


FAULTS: tuple[Fault, ...] = (
    Fault(
        "points rounded down",
        round_points_down,
        lambda patch: polygons.test_points_lie_below_the_pair_above_and_no_further_than_their_hull(3),
    ),
    Fault(
        "events of a polygon rounded up",
        round_events_up,
        lambda patch: polygons.test_the_pair_below_has_the_events_and_nothing_more(1),
    ),
    Fault("mirrors forgotten", forget_mirrors, lambda patch: curves.test_the_profile_is_the_hull(2, True)),
    Fault("points above the hull kept", keep_all_points, lambda patch: curves.test_the_profile_is_the_hull(3, False)),
    Fault("first profile taken", take_the_first, lambda patch: maxima.test_the_largest_of_finite_laws(1)),
    Fault("first cell taken", keep_the_first_cell, lambda patch: cells.test_one_step_is_the_worst_cell(1)),
)
