"""Faults that the tests of the best run must kill: without the growth by selection, without the case of no run."""

from __future__ import annotations

from flint import arb

from tests.mechanisms import test_best_of as best
from tightrope.core.losses.operators import polygon, private_selection
from tightrope.core.losses.operators.private_selection import NegativeBinomialRuns, PoissonRuns

from .contour_faults import Fault, Patch


def select_for_nothing(patch: Patch) -> None:
    """c = 0: as if the best run lost no more than any other."""
    patch.setattr(private_selection, "_steepest", lambda corners, law, bits: arb(0))


def look_at_the_ends_alone(patch: Patch) -> None:
    """c at the last corner, where every law has 0."""
    plain = private_selection._steepest
    patch.setattr(private_selection, "_steepest", lambda corners, law, bits: plain(corners[-1:], law, bits))


def count_no_run_once(patch: Patch) -> None:
    """The case of no run as part of P, not of Q."""

    def masses(self: private_selection.RisingPair, mass: arb) -> tuple[arb, arb]:
        found = 1 - self.law.phi(1 - mass)
        return found, found

    def events(self: private_selection.RisingPair, base: private_selection.DyadicPair) -> list[tuple[arb, arb]]:
        return [
            (
                self.masses(private_selection._ball(y, base.bits))[0] + self.law.none(),
                self.masses(private_selection._ball(x, base.bits))[0],
            )
            for x, y in polygon.corners(base, base.bits)
        ]

    patch.setattr(private_selection.RisingPair, "masses", masses)
    patch.setattr(private_selection.RisingPair, "_events", events)


def run_once_more(patch: Patch) -> None:
    """phi of one run more than there are."""
    plain = NegativeBinomialRuns.phi
    patch.setattr(NegativeBinomialRuns, "phi", lambda self, z: plain(self, z) * z)


def forget_the_mean(patch: Patch) -> None:
    """The ratio of phi' as if there were one run on average."""
    patch.setattr(PoissonRuns, "log_ratio", lambda self, x, y: y - x)


FAULTS = (
    Fault(
        "selection for nothing", select_for_nothing, lambda _: best.test_randomized_response_with_two_runs_on_average()
    ),
    Fault(
        "one corner looked at",
        look_at_the_ends_alone,
        lambda _: best.test_randomized_response_with_two_runs_on_average(),
    ),
    Fault("no run on one side", count_no_run_once, lambda _: best.test_between_two_finite_pairs()),
    Fault("one run more", run_once_more, lambda _: best.test_laws_of_the_number_of_runs("geometric", 2.0, None)),
    Fault("mean forgotten", forget_the_mean, lambda _: best.test_poisson_runs_add_the_total_variation()),
)
