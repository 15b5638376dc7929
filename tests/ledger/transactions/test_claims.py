"""One process runs a job: keys are chosen by whoever asks, so no key of their own helps others to it."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlalchemy")

import tightrope.ledger as tl
from tightrope.ledger.database import Database
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.service import LocalService
from tightrope.ledger.transactions.entry import Actor


def test_a_claim_with_another_key_is_no_second_run(ledger_url: str) -> None:
    with tl.init(ledger_url) as ledger:
        ledger.create("b", kind="basic", epsilon=4.0, delta=1e-6, relation="add_remove", unit="one person")
        reservation = ledger.reserve({"b": "PureDP(epsilon=1.0)"}, "k").id
    desk = LocalService(Database(ledger_url), Actor("ann"))
    with Ledger(desk):
        body = {"reservation": reservation}
        first = desk.ask("claim", body, "one", "process-1").content
        assert desk.ask("claim", body, "one", "process-1").content == first  # an answer that was lost on its way
        with pytest.raises(tl.Claimed):
            desk.ask("claim", body, "two", "process-1")
        for key in ("one", "two", "three"):
            with pytest.raises(tl.Claimed):
                desk.ask("claim", body, key, "process-2")
        desk.ask("commit", body, "done", "process-1")
        for key, process in (("four", "process-1"), ("five", "process-2")):
            with pytest.raises(tl.Claimed):
                desk.ask("claim", body, key, process)
