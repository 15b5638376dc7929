"""Faults that the tests of truncated noise must kill: each drops or weakens one term."""

from __future__ import annotations

import pytest
from flint import acb, arb

from tests.engines.contour import test_bound as bound_tests
from tests.losses.truncated import test_cells as cell_tests
from tests.losses.truncated import test_losses as losses_tests
from tightrope.core.engines.contour.sums import ContourBound
from tightrope.core.losses.truncated.segments import Losses, LossesDecay, NormalDecay
from tightrope.core.losses.truncated.truncated_gaussian import CellSegment

from .contour_faults import Fault

Patch = pytest.MonkeyPatch


def drop_returns(patch: Patch) -> None:
    patch.setattr(ContourBound, "_returns", lambda self: arb(0))


def forget_the_horizon(patch: Patch) -> None:
    patch.setattr(CellSegment, "horizon", lambda self: None)


def drop_the_rest_of_cells(patch: Patch) -> None:
    patch.setattr(CellSegment, "error", lambda self, c, size: arb(0))


def drop_the_square_of_cells(patch: Patch) -> None:
    patch.setattr(CellSegment, "_common", lambda self, z: acb(1))


def forget_hard_ends(patch: Patch) -> None:
    """Believes that what is cut falls like a bell."""
    patch.setattr(NormalDecay, "_direct", lambda self, radius: self.share * (-((radius * self.mu) ** 2) / 2).exp())


def forget_atoms(patch: Patch) -> None:
    """Believes that ends of clamped noise fall like the rest."""
    patch.setattr(LossesDecay, "_log_by_fall", lambda self, radius: self.fall.beyond(radius).log())


def drop_atoms(patch: Patch) -> None:
    plain = Losses.moment
    patch.setattr(
        Losses, "moment", lambda self, z: plain(Losses((), self.segment), z) if self.segment else plain(self, z)
    )


def falls(_: Patch) -> None:
    for seed in range(3):
        losses_tests.test_transforms_fall_as_they_are_said_to(seed)


def cell_moments(_: Patch) -> None:
    cell_tests.test_moments_are_those_of_the_outputs(cell_tests.LARGE[0])


def moments(_: Patch) -> None:
    for seed in range(2):
        losses_tests.test_moments_at_complex_points(seed)


FAULTS = (
    Fault("returns dropped", drop_returns, lambda _: bound_tests.test_what_returns_beyond_the_horizon()),
    Fault("horizon forgotten", forget_the_horizon, lambda _: cell_tests.test_what_returns_is_in_the_budget()),
    Fault("rest of cells dropped", drop_the_rest_of_cells, cell_moments),
    Fault("square of cells dropped", drop_the_square_of_cells, cell_moments),
    Fault("hard ends forgotten", forget_hard_ends, falls),
    Fault("atoms forgotten in the decay", forget_atoms, falls),
    Fault("atoms dropped from moments", drop_atoms, moments),
)
