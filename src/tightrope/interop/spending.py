"""A run that is paid for from a ledger before its first step, and counts its steps: what the adapters share.

    with counted(ledger, "census", "Gaussian(sigma=1).poisson(rate=0.01) * 1000", key="model-3") as spending:
        for batch in batches:
            spending.step()  # before the step is taken
The whole run is reserved. A step that was not reserved is refused before it is taken. At the end the steps that were
taken are committed, and what is left of the reservation is free again where costs add up step by step; elsewhere all of
it is spent. An exception leaves the run as it is, which counts as spent: where it stopped may depend on the data.
Guarantee: every step that was counted is paid for, and no step that was not reserved is let through.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import InvalidParameter, Mechanism, UnsupportedMechanism, compose, parse
from ..extend.mechanisms import IDENTITY, repeat
from ..extend.parameters import whole
from ..ledger import BudgetExhausted, NotAdditive, RelationMismatch, WrongState

if TYPE_CHECKING:
    from ..ledger import Ledger, Reservation

NO_STEP = "the run ended before its first step was counted"


class StepSpending:
    """The steps of one reservation: those that were reserved, and those that were taken. Threads may share it."""

    def __init__(self, reservation: Reservation, run: Mechanism) -> None:
        self.reservation = reservation
        self._reserved = dict(run.terms)
        self._taken = dict.fromkeys(self._reserved, 0)
        self._guard = threading.Lock()
        self._over = False

    def step(self, mechanism: Mechanism | None = None, count: int = 1) -> None:
        """Counts what is about to run; BudgetExhausted where it was not reserved, and then it must not run.

        mechanism: what runs; it may be left out where all steps are alike.
        """
        times = whole("count", count, least=1)
        if mechanism is None and len(self._reserved) != 1:
            raise InvalidParameter("the run has steps of several kinds: say which one is taken")
        run = repeat(next(iter(self._reserved)) if mechanism is None else mechanism, times)
        wanted = [(part, uses) for part, uses in run.terms if part != IDENTITY]  # what tells nothing costs nothing
        with self._guard:
            if self._over:
                raise BudgetExhausted(
                    "the run is over, and what it took is committed: reserve more, under another key",
                    self.reservation.id,
                )
            for part, uses in wanted:
                reserved = self._reserved.get(part, 0)
                if self._taken.get(part, 0) + uses > reserved:
                    raise BudgetExhausted(_refusal(part, reserved), self.reservation.id)
            for part, uses in wanted:
                self._taken[part] += uses

    @property
    def taken(self) -> int:
        """How many steps were counted."""
        return sum(self._taken.values())

    @property
    def left(self) -> int:
        """How many of those that were reserved were not."""
        return sum(self._reserved.values()) - self.taken

    @property
    def part(self) -> Mechanism:
        """The steps that were counted."""
        return compose([repeat(mechanism, times) for mechanism, times in self._taken.items() if times])

    def settle(self) -> None:
        """Commits what was counted, after which nothing more is; what its time ended before is spent already.

        Where a part has no price of its own, as with two slots of a plan that it took bits of, all of it is spent.
        """
        with self._guard:
            self._over = True
        if not (self.left and self.reservation.document["additive"]):
            self.reservation.end()
        elif self.taken:
            try:
                self.reservation.end(self.part)
            except (NotAdditive, UnsupportedMechanism):
                self.reservation.end()
        else:
            try:
                self.reservation.cancel(attest=NO_STEP)
            except WrongState:
                self.reservation.end()


def _refusal(part: Mechanism, reserved: int) -> str:
    if not reserved:
        return f"no step {part!s:.100} was reserved: reserve the run with it, under another key"
    return f"all {reserved:,} steps {part!s:.100} that were reserved have been taken: reserve more, under another key"


@contextmanager
def counted(ledger: Ledger, budget: str, run: Mechanism | str, key: str, **options: Any) -> Iterator[StepSpending]:
    """Reserves a run, hands out the counter of its steps, and commits those that were taken.

    options: ttl, slack and note, as `Ledger.spend` has them; a run that takes longer than ttl is spent in full.
    """
    whole_run = parse(run) if isinstance(run, str) else run
    with ledger.spend(budget, whole_run, key, **options) as reservation:
        spending = StepSpending(reservation, whole_run)
        yield spending
        if reservation.state == "running":
            spending.settle()


def relation_of(ledger: Ledger, budget: str, *known: str) -> str:
    """Which data are neighbours for this budget; RelationMismatch where a library's steps are not about such data."""
    text = str(ledger.status(budget)["relation"])
    if text not in known:
        raise RelationMismatch(
            f"the budget {budget!r} is about {text} neighbours, and these steps about {' or '.join(known)}"
        )
    return text
