"""Faults that the tests of plans must kill: a batch that is not the largest, the Poisson number for every loader."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.planning import test_samplings as samplings
from tests.planning import test_unknown as unknown
from tightrope.core.mechanisms.training import training
from tightrope.core.planning import samplings as rows
from tightrope.core.planning import unknown as batches
from tightrope.core.planning.calibration import Calibration, Missed
from tightrope.core.planning.samplings import by_sampling

from .contour_faults import Fault, Patch


def stop_one_too_early(patch: Patch) -> None:
    """The batch before the largest, with the largest as the one that misses."""
    plain = batches.largest_batch

    def largest_batch(*asked: Any) -> Calibration:
        found = plain(*asked)
        less = training(**{**asked[0], "batch": int(found.value) - 1})
        return replace(
            found, value=found.value - 1, mechanism=less, missed=Missed(found.value, found.bound, found.mechanism)
        )

    patch.setattr(batches, "largest_batch", largest_batch)


def answer_for_poisson(patch: Patch) -> None:
    """What Poisson batches cost, whatever the loader does."""

    def poisson(sampling: str, cap: int | None = None, **plan: Any) -> training:
        return training(**plan)

    patch.setattr(rows, "training", poisson)


def ask_every_loader(_: Patch) -> None:
    samplings.test_each_loader_has_a_row_with_its_own_answer(by_sampling(1e-3, cap=40, seconds=60.0, **samplings.RUN))


FAULTS = (
    Fault(
        "a batch too small",
        stop_one_too_early,
        lambda _: unknown.test_it_meets_and_the_next_one_misses("batch", unknown.without("batch")),
    ),
    Fault("Poisson for every loader", answer_for_poisson, ask_every_loader),
)
