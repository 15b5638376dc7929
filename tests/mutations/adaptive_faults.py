"""Faults that the tests of adaptive lower bounds must kill: masses on the wrong side, and Q that is forgotten."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.lower_bounds import test_bound as bounds
from tests.lower_bounds import test_choices as choices
from tightrope.core.lower_bounds import adaptive_bound as adaptive_plan
from tightrope.core.lower_bounds import adaptive_bound as bound
from tightrope.core.lower_bounds import choices as cells
from tightrope.core.lower_bounds import choices as float_choices
from tightrope.core.lower_bounds import choices as game

from .contour_faults import Fault, Patch


def round_q_down(patch: Patch) -> None:
    """Q-masses as P-masses are rounded."""
    patch.setattr(cells, "whole_above", cells.whole_below)


def accept_too_cheaply(patch: Patch) -> None:
    """What accepting costs is rounded down."""
    patch.setattr(game, "whole_above", cells.whole_below)


def round_p_up(patch: Patch) -> None:
    """P-masses as Q-masses are rounded."""
    patch.setattr(cells, "whole_below", cells.whole_above)


def count_infinite_losses_twice(patch: Patch) -> None:
    """What is infinite is in the top cell as well."""
    plain = float_choices.float_merged

    def twice(*arguments: Any) -> float_choices.FloatCells:
        found = plain(*arguments)
        return replace(found, infinite=2.0 * found.infinite)

    patch.setattr(adaptive_plan, "float_merged", twice)


def forget_the_error_of_tails(patch: Patch) -> None:
    """Tails in float64 taken as they are."""
    patch.setattr(float_choices, "_around", lambda tail: (tail, tail))


def mirror_without_reversing(patch: Patch) -> None:
    """Below 0 the same pairs are asked."""
    plain = bound.delta_at_least

    def same(steps: Any, epsilon: float, **manner: Any) -> float:
        if epsilon >= 0.0:
            return plain(steps, epsilon, **manner)
        backwards = [(tuple(pair.reversed() for pair in pairs), count) for pairs, count in steps]
        return plain(backwards, epsilon, **manner)

    patch.setattr(bounds, "delta_at_least", same)


def _every_seed() -> None:
    for seed in range(8):
        choices.test_no_rounding_is_on_the_wrong_side(seed)


FAULTS = (
    Fault("Q-masses of adaptive cells rounded down", round_q_down, lambda patch: _every_seed()),
    Fault(
        "costs of accepting rounded down",
        accept_too_cheaply,
        lambda patch: choices.test_nothing_seen_is_worth_no_more_than_nothing_done(),
    ),
    Fault("P-masses of adaptive cells rounded up", round_p_up, lambda patch: _every_seed()),
    Fault(
        "infinite losses of adaptive cells counted twice",
        count_infinite_losses_twice,
        lambda patch: [bounds.test_random_pairs(seed) for seed in range(3)].clear(),
    ),
    Fault(
        "errors of tails in adaptive cells forgotten",
        forget_the_error_of_tails,
        lambda patch: [choices.test_float_cells_are_on_their_sides(seed) for seed in range(4)].clear(),
    ),
    Fault(
        "alternatives below 0 not reversed",
        mirror_without_reversing,
        lambda patch: [bounds.test_random_pairs(seed) for seed in range(3)].clear(),
    ),
)
