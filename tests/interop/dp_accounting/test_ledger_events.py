"""Events that a ledger pays for: under the neighbours of the budget, and no event that was not reserved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("dp_accounting")
pytest.importorskip("sqlalchemy")

from dp_accounting import dp_event as library

import tightrope.ledger as tl
from tightrope.interop.dp_accounting import UnsupportedEvent, spending
from tightrope.ledger.ledger import Ledger

STEP = library.PoissonSampledDpEvent(0.01, library.GaussianDpEvent(1.0))
COUNT = library.GaussianDpEvent(20.0)
RUN = library.ComposedDpEvent([library.SelfComposedDpEvent(STEP, 100), library.SelfComposedDpEvent(COUNT, 3)])


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with tl.init(f"sqlite:///{tmp_path}/budget.db") as made:
        for relation in ("add_remove", "replace"):
            made.create(relation, epsilon=8.0, delta=1e-6, relation=relation, unit="one record")
        yield made
        made.verify()


def spent(ledger: Ledger, budget: str) -> dict[str, int]:
    return {axis["name"]: axis["spent"] for axis in ledger.status(budget)["axes"] if not axis["dead"]}


def cost(ledger: Ledger, budget: str, job: str) -> dict[str, int | None]:
    units = ledger.quote(budget, job).units
    return {name: units[name] for name in spent(ledger, budget)}


def test_events_that_ran_are_charged(ledger: Ledger) -> None:
    with spending(ledger, "add_remove", RUN, "part") as paid:
        paid.compose(STEP, 40)
        paid.compose(library.NoOpDpEvent())
        paid.compose(COUNT)
    job = "Gaussian(sigma=1).poisson(rate=0.01) * 40 + Gaussian(sigma=20)"
    assert spent(ledger, "add_remove") == cost(ledger, "add_remove", job)


def test_one_event_may_be_composed_of_several(ledger: Ledger) -> None:
    with spending(ledger, "add_remove", RUN, "whole") as paid:
        paid.compose(RUN)
        with pytest.raises(tl.BudgetExhausted, match="all 3 steps"):
            paid.compose(COUNT)
    assert paid.steps.left == 0


def test_an_event_that_was_not_reserved_is_refused(ledger: Ledger) -> None:
    with (
        pytest.raises(tl.BudgetExhausted, match="no step Gaussian"),
        spending(ledger, "add_remove", RUN, "other") as paid,
    ):
        paid.compose(library.GaussianDpEvent(19.0))


def test_neighbours_are_those_of_the_budget(ledger: Ledger) -> None:
    """A replaced record moves a sum by twice its norm."""
    with spending(ledger, "replace", library.SelfComposedDpEvent(COUNT, 2), "twice") as paid:
        paid.compose(COUNT)
    assert spent(ledger, "replace") == cost(ledger, "replace", "Gaussian(sigma=20, sensitivity=2)")


def test_events_without_a_meaning_are_refused(ledger: Ledger) -> None:
    tree = library.SingleEpochTreeAggregationDpEvent(1.0, [4])
    with pytest.raises(UnsupportedEvent), spending(ledger, "add_remove", tree, "tree"):
        pytest.fail("an event runs that is not paid for")
