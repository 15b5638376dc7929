"""Faults that the tests of Renyi curves must kill: one way taken for both, events outside, uses not counted."""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb

from tests.mechanisms import test_renyi_curve as curves
from tightrope.core.losses.operators.registered import compose_dominating
from tightrope.core.losses.renyi.optimum import Search
from tightrope.core.losses.renyi.region import Cut, Region, Stop, TwoPoint
from tightrope.core.losses.renyi.renyi_pair import RenyiPair

from .contour_faults import Fault, Patch


def take_one_way_for_both(patch: Patch) -> None:
    """What bounds (P, Q) is taken to bound (Q, P)."""
    patch.setattr(RenyiPair, "_turned", lambda self: self)


def assume_the_middle(patch: Patch) -> None:
    """p + q <= 1 of one way alone, where the best event may lie beyond."""
    plain = Region.fixed_cuts
    patch.setattr(Region, "fixed_cuts", lambda self: [*plain(self), Cut(arb(-1), arb(1))])


def step_outside(patch: Patch) -> None:
    """Events a little beyond what the curve allows, with nothing proven."""

    def event(self: Search, stop: Stop, shares: Sequence[int] = ()) -> TwoPoint:
        more = 1 + arb(2) ** -20
        return TwoPoint((stop.at.loss * more).mid(), (stop.at.m * more).mid())

    patch.setattr(Search, "event", event)


def leak_once(patch: Patch) -> None:
    """Uses that are joined leak as one of them does."""
    plain = compose_dominating.of(RenyiPair)

    def joined(self: RenyiPair, like: Sequence[tuple[object, int]]) -> object:
        found = plain(self, like)  # type: ignore[arg-type]
        return found and RenyiPair(found.curve, found.both, found.flipped, self.leaks)  # type: ignore[attr-defined]

    patch.setitem(compose_dominating.resolved, RenyiPair, joined)


FAULTS = (
    Fault("one way taken for both", take_one_way_for_both, lambda _: curves.test_the_mirror_of_one_direction()),
    Fault("middle assumed", assume_the_middle, lambda _: curves.test_one_order_has_the_worst_two_points(2.0, 1.5)),
    Fault("events outside", step_outside, lambda _: curves.test_zcdp_at_epsilon_0_is_randomized_response(0.5)),
    Fault("uses leak as one", leak_once, lambda _: curves.test_a_delta_per_use_leaks()),
)
