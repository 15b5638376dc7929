"""Faults that the tests of stability must kill: a distance too few, the wrong leak, noise that is not moved."""

from __future__ import annotations

from flint import arb

from tests.mechanisms import test_stability as stability
from tightrope.core.losses.finite.instability import Margin, UnstableLaw
from tightrope.core.losses.finite.laws import Leak
from tightrope.core.losses.leaky_laplace import KeptEdges, LeakyLaplacePair, LeakySum
from tightrope.core.mechanisms.thresholds import DistanceToInstability, StabilityHistogram

from .contour_faults import Fault, Patch


def look_at_one_distance(patch: Patch) -> None:
    """M alone: the next distance is a corner too."""
    patch.setattr(Margin, "corners", 1)


def stay_on_one_side(patch: Patch) -> None:
    """The distance next to M as if the threshold lay in the upper half of its whole numbers."""
    patch.setattr(Margin, "near", False)


def leak_all_of_delta(patch: Patch) -> None:
    """w = delta instead of half of it."""
    patch.setattr(UnstableLaw, "infinite_mass", lambda self: arb(self.margin.delta))


def leak_below_one(patch: Patch) -> None:
    """The formula of thresholds from 1 on at every threshold."""

    def ends(self: Leak) -> tuple[arb, arb]:
        small = (-abs(arb(self.epsilon) * (arb(self.threshold) - 1))).exp() / 2
        return small, 1 - small

    patch.setattr(Leak, "_ends", ends)


def leave_the_loss_where_it_is(patch: Patch) -> None:
    """Noise of edge h that is not moved."""
    patch.setattr(LeakySum, "_move", lambda self: arb(0))


def keep_the_edge(patch: Patch) -> None:
    """The edge of the noise as if nothing leaked."""
    patch.setattr(KeptEdges, "ball_edge", lambda self: arb(self.leak.epsilon))


def turn_the_wrong_way(patch: Patch) -> None:
    """The cgf moved against its losses."""
    patch.setattr(LeakyLaplacePair, "moved", lambda self: self.leak.move() if self.flipped else -self.leak.move())


def need_nobody(patch: Patch) -> None:
    """Floors of samples as if no other record were of any consequence."""
    patch.setattr(StabilityHistogram, "needs_others", lambda self, batch: False)


def step_beyond_the_batch(patch: Patch) -> None:
    """Distances of a batch as if it were as large as it takes."""
    patch.setattr(DistanceToInstability, "needs_others", lambda self, batch: False)


FAULTS = (
    Fault(
        "one distance",
        look_at_one_distance,
        lambda _: stability.test_one_use_is_the_largest_over_all_distances(1.0, 1e-6),
    ),
    Fault("one side", stay_on_one_side, lambda _: stability.test_one_use_is_the_largest_over_all_distances(0.05, 1e-3)),
    Fault("all of delta", leak_all_of_delta, lambda _: stability.test_half_of_delta_leaks()),
    Fault("leak below one", leak_below_one, lambda _: stability.test_one_use_is_the_largest_over_all_counts(3.0, 0.5)),
    Fault(
        "not moved", leave_the_loss_where_it_is, lambda _: stability.test_engines_agree(8.0, 9, "closed_form", "remove")
    ),
    Fault("edge kept", keep_the_edge, lambda _: stability.test_two_uses_with_counts_chosen_anew(0.5, 4.0, True)),
    Fault("wrong turn", turn_the_wrong_way, lambda _: stability.test_engines_agree(8.0, 400, "contour", "add")),
    Fault("nobody needed", need_nobody, lambda _: stability.test_in_samples_real_neighbours_show_less()),
    Fault("beyond the batch", step_beyond_the_batch, lambda _: stability.test_in_samples_real_neighbours_show_less()),
)
