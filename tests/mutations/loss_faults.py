"""Faults that the tests of the loss must kill: a side, a tie or an error term is forgotten."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import arb

import tightrope.core.engines.loss_tails as cell
import tightrope.core.engines.loss_tails as secants
import tightrope.core.engines.loss_tails as tails
from tests.engines import test_cell as cell_tests
from tests.engines import test_planner as planner_tests
from tests.engines import test_tails as tail_tests
from tests.engines.contour import test_secant as secant_tests
from tightrope.core import accountant as account
from tightrope.core.engines.contour.sums import ContourBound
from tightrope.core.engines.selection import Evaluation
from tightrope.core.losses.atoms import SumLattice
from tightrope.core.losses.laplace import LaplaceSum

from .contour_faults import Fault, Patch


def forget_ties(patch: Patch) -> None:
    """Takes t at a loss for a t below it."""
    plain = cell.place_of

    def below(lattice: SumLattice, t: float) -> int | None:
        place = plain(lattice, t)
        return place - 1 if place is not None and cell._is_point(lattice, Fraction(t), place) else place

    patch.setattr(cell, "place_of", below)


def forget_that_logarithms_cancel(patch: Patch) -> None:
    patch.setattr(cell, "_is_one", lambda powers: False)


def read_one_side_only(patch: Patch) -> None:
    """Takes the secant to the right for the tail, without the one to the left."""
    plain = secants.between

    def right(evaluator: Any, t: float, reach: float, accuracy: float, second: bool) -> Evaluation:
        found = plain(evaluator, t, reach, accuracy, second)
        upper = min(found.upper, evaluator.secant(t, t + 2.0**-10, second).upper)
        return replace(found, lower=min(found.lower, upper), upper=upper)

    patch.setattr(tails, "between", right)


def read_the_first_law_for_the_second(patch: Patch) -> None:
    plain = secants.between
    patch.setattr(
        tails, "between", lambda evaluator, t, reach, accuracy, second: plain(evaluator, t, reach, accuracy, False)
    )


def take_the_better_direction(patch: Patch) -> None:
    patch.setattr(account, "LESS_IS_WORSE", ("pdp",))


def forget_infinite_losses_in_ramps(patch: Patch) -> None:
    plain = ContourBound._bounded

    def without(self: ContourBound, *found: Any) -> Evaluation:
        node_sum, truncation, aliases, left_out, _, *second = found
        return plain(self, node_sum, truncation, aliases, left_out, arb(0), *second)

    patch.setattr(ContourBound, "_bounded", without)


def count_terms_at_their_end(patch: Patch) -> None:
    """Takes P[l >= t] of several Laplace noises for P[l > t]."""
    plain = LaplaceSum.ball_tails
    patch.setattr(LaplaceSum, "ball_tails", lambda self, t: plain(self, t - arb(2) ** -200))


FAULTS = (
    Fault(
        "t at a loss taken for a smaller one",
        forget_ties,
        lambda patch: tail_tests.test_finite_laws("response", 2, 1.0, "remove"),
    ),
    Fault(
        "logarithms that cancel not told from 0",
        forget_that_logarithms_cancel,
        lambda patch: cell_tests.test_logarithms_that_cancel_are_zero(2),
    ),
    Fault(
        "one secant taken for the tail",
        read_one_side_only,
        lambda patch: tail_tests.test_two_sampled_gaussians(1.0, "remove"),
    ),
    Fault(
        "tail of the other law",
        read_the_first_law_for_the_second,
        lambda patch: tail_tests.test_two_sampled_gaussians(-0.3, "remove"),
    ),
    Fault(
        "better direction given",
        take_the_better_direction,
        lambda patch: planner_tests.test_the_worse_of_both_directions(),
    ),
    Fault(
        "infinite losses not in a ramp",
        forget_infinite_losses_in_ramps,
        lambda patch: secant_tests.test_infinite_losses_are_in_a_secant(),
    ),
    Fault(
        "atom of Laplace noises at t counted", count_terms_at_their_end, lambda patch: tail_tests.test_two_laplaces(0.0)
    ),
)
