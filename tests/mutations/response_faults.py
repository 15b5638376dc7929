"""Faults that the table must kill in mechanisms of a few losses: formulas out of their range, masses left out."""

from __future__ import annotations

import pytest
from flint import arb

import tightrope as tr
from tests.conformance.cases import ROWS
from tests.conformance.test_single_use import test_worse_direction
from tightrope.pairs.finite.three_losses import StaircaseLaw, SubsetLaw

from .contour_faults import Fault

Patch = pytest.MonkeyPatch


def every_step_is_narrow(patch: Patch) -> None:
    """Half the sensitivity ends beyond the first step, whatever its share."""

    def masses(self: StaircaseLaw) -> tuple[arb, arb]:
        fall, gamma = (-arb(self.epsilon)).exp(), arb(self.gamma or 0.0)
        more = (gamma + fall * (1 - 2 * gamma) / 2) / (gamma + fall * (1 - gamma))
        return more, 1 - more * (1 + fall)

    patch.setattr(StaircaseLaw, "masses", masses)


def sets_are_drawn_with_replacement(patch: Patch) -> None:
    """The other categories are in the set independently of each other."""

    def masses(self: SubsetLaw) -> tuple[arb, arb]:
        odds, share = arb(self.epsilon).exp(), arb(self.size_of_set) / self.categories
        inside = share * odds / (share * odds + 1 - share)
        more = inside * (1 - share)
        return more, 1 - more * (1 + 1 / odds)

    patch.setattr(SubsetLaw, "masses", masses)


def one_use(kind: type[tr.Mechanism]) -> None:
    for row in ROWS:
        if isinstance(row.mechanism, kind):
            test_worse_direction(row)


FAULTS = (
    Fault("steps all narrow", every_step_is_narrow, lambda _: one_use(tr.Staircase)),
    Fault("sets with replacement", sets_are_drawn_with_replacement, lambda _: one_use(tr.SubsetSelection)),
)
