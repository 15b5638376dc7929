"""Faults in training runs: steps that are left out, sums that move too little, rows that promise too much."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

import pytest

from tests import test_epochs
from tests.mechanisms import test_training
from tightrope.core import accountant as account
from tightrope.core.mechanisms import training
from tightrope.core.mechanisms import training as loaders

from .contour_faults import Fault

Patch = pytest.MonkeyPatch


def leave_out_the_last_batch(patch: Patch) -> None:
    patch.setattr(training, "ceil", lambda number: int(number))


def count_epochs_by_doubles(patch: Patch) -> None:
    """A tenth is the double nearest to it."""
    patch.setattr(training, "_decimal", Fraction)


def replace_a_record_by_none(patch: Patch) -> None:
    """A sum of a fixed batch moves by one record only."""
    known = {name: replace(loader, sensitivity=1.0) for name, loader in loaders.LOADERS.items()}
    patch.setattr(training, "LOADERS", MappingProxyType(known))


def every_record_is_in_part_of_an_epoch(patch: Patch) -> None:
    """The first batches of an epoch, as if it had no others."""

    def run(self: loaders.Loader, plan: loaders.BatchPlan, phase: tuple[int, float, int]) -> object:
        steps, sigma, batch = phase
        whole, rest = divmod(steps, int(self.epoch(plan, batch))) if self.passes else (steps, 0)
        made = self.unit(sigma, plan, batch) * whole
        return made + self.unit(sigma, replace(plan, records=rest), 1) if rest else made

    patch.setattr(loaders.Loader, "run", run)


def rows_of_later_epochs_bound_earlier_ones_below(patch: Patch) -> None:
    plain = account.rising
    patch.setattr(test_epochs.epochs, "rising", lambda bounds: plain(bounds[::-1])[::-1])


FAULTS = (
    Fault(
        "a last batch left out",
        leave_out_the_last_batch,
        lambda _: test_training.test_a_run_stands_for_an_expression(*test_training.EXPANDED[0]),
    ),
    Fault(
        "epochs by doubles",
        count_epochs_by_doubles,
        lambda _: test_training.test_steps_are_exact("poisson", 100, 10, 0.1),
    ),
    Fault("a record replaced by none", replace_a_record_by_none, lambda _: test_training.test_one_step_by_hand()),
    Fault(
        "an epoch without its end",
        every_record_is_in_part_of_an_epoch,
        lambda _: test_training.test_a_run_stands_for_an_expression(*test_training.PART),
    ),
    Fault(
        "rows the wrong way",
        rows_of_later_epochs_bound_earlier_ones_below,
        lambda _: test_epochs.test_ends_rise_also_where_answers_do_not(),
    ),
)
