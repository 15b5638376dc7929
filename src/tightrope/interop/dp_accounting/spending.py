"""Events that are paid for from a ledger, and counted as they run.

An event means another mechanism under other neighbours: those of the budget are taken, so that noise for a record that
comes or goes is never charged to a budget about records that are replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ... import Relation
from ...extend.parameters import whole
from ..spending import StepSpending, counted, relation_of
from .reading import from_event
from .setting import ADD_OR_REMOVE, REPLACE_ONE

if TYPE_CHECKING:
    from ...ledger import Ledger

EVENT_NEIGHBOURS = {Relation.ADD_REMOVE.value: ADD_OR_REMOVE, Relation.REPLACE.value: REPLACE_ONE}


class EventSpending:
    """The events of one reservation: those that were reserved, and those that ran."""

    def __init__(self, steps: StepSpending, neighboring_relation: Any) -> None:
        self.steps, self.neighboring_relation = steps, neighboring_relation

    def compose(self, event: Any, count: int = 1) -> None:
        """Counts an event that is about to run; BudgetExhausted where it was not reserved, and then it must not run."""
        self.steps.step(from_event(event, self.neighboring_relation), whole("count", count, least=1))


@contextmanager
def spending(ledger: Ledger, budget: str, event: Any, key: str, **options: Any) -> Iterator[EventSpending]:
    """Reserves an event, hands out the counter of those that it is composed of, and commits those that ran.

    options: ttl, slack and note, as `Ledger.spend` has them.
    """
    near = EVENT_NEIGHBOURS[relation_of(ledger, budget, *EVENT_NEIGHBOURS)]
    with counted(ledger, budget, from_event(event, near), key, **options) as step_spending:
        yield EventSpending(step_spending, near)
