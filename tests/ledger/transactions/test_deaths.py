"""An order that died counts no more: jobs that had charged it end, each in its way, and its counters stay."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("sqlalchemy")

import tightrope.ledger as tl
from tightrope.ledger.database import Database
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.service import LocalService
from tightrope.ledger.transactions.entry import Actor

ONE, LARGE = "Gaussian(sigma=4.0)", "Gaussian(sigma=1.0)"  # 2 and 32 of order 64, of which there are about 18
HOUR = 3_600_000


def order(ledger: Ledger, number: int) -> dict[str, Any]:
    return next(dict(each) for each in ledger.status("b")["axes"] if each["name"] == f"order {number}")


def test_jobs_end_when_an_order_that_they_charged_is_dead(ledger_url: str) -> None:
    late = [0]
    tl.init(ledger_url).close()
    with Ledger(LocalService(Database(ledger_url, clock=lambda now: now + late[0]), Actor("ann"))) as ledger:
        ledger.create(
            "b", epsilon=18.0, delta=1e-6, orders={"2": 0.3, "64": 0.3}, relation="add_remove", unit="one person"
        )
        whole, cancelled, expired = (ledger.reserve({"b": ONE}, key) for key in ("whole", "cancelled", "expired"))
        begun = ledger.reserve({"b": ONE}, "begun", start=True)
        part = ledger.reserve({"b": f"{ONE} * 2"}, "part", start=True)
        with ledger.spend("b", LARGE, "large"):
            pass
        dead = order(ledger, 64)
        assert dead["dead"]
        assert dead["held"] > 0
        before = order(ledger, 2)
        whole.claim().commit()
        cancelled.cancel()
        part.commit(ONE)
        late[0] = 2 * HOUR
        with ledger.spend("b", ONE, "last"):  # before which the others end
            pass
        assert [ledger.reservation(each.id).state for each in (expired, begun)] == ["cancelled", "committed"]
        assert order(ledger, 64) == dead
        after = order(ledger, 2)
        one = before["held"] // 6
        assert (after["held"], after["spent"]) == (0, before["spent"] + 4 * one)
        ledger.verify()
