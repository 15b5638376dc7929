"""Lines of an audit for people: each on one line, whatever it holds."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tightrope.ledger
from tightrope.ledger.audit_text import WHAT, WHAT_MAX, audit_line, one_line_text
from tightrope.ledger.replay import Replay

WHO = {"relation": "add_remove", "unit": "one person", "kind": "basic"}


def line(event: str, **body: Any) -> str:
    return audit_line({"seq": 7, "at": 1_770_000_000_000, "actor": "ana", "body": json.dumps({"event": event, **body})})


def test_every_event_that_a_ledger_writes_has_words() -> None:
    silent = {"arrive"}  # nothing is to be said of it
    assert WHAT.keys() | silent == Replay()._moves.keys()


def test_a_life_of_a_budget(sqlite_url: str) -> None:
    with tightrope.ledger.init(sqlite_url, principal="ana") as ledger:
        ledger.create("census", epsilon=1.0, delta=1e-6, **WHO)
        ledger.create("census/bo", epsilon=0.5, delta=1e-6, parent="census", **WHO)
        made = ledger.reserve({"census": "PureDP(epsilon=0.1)"}, "one", start=True, note="table 7")
        made.cancel("never read")
        ledger.freeze("census", "looked at")
        ledger.recover("census", "found well")
        ledger.token("bo", role="analyst", root="census")
        ledger.revoke("bo")
        told = [audit_line(each) for each in ledger.audit("census")]
        people = [audit_line(each) for each in ledger.audit("_ledger")]
    assert all(each.isprintable() for each in told + people)
    assert told[0].endswith("create   ana           census: kind basic, for one person, add_remove")
    assert told[1].endswith("census/bo: kind basic, for one person, add_remove, a part of census")
    assert told[2].endswith(f"{made.id} running: PureDP(epsilon=0.1) on census (table 7)")
    assert told[3].endswith(f"cancel   ana           {made.id} attest: never read")
    assert told[4].endswith("freeze   ana           looked at")
    assert told[5].endswith("found well; what was left is burnt")
    assert "bo: analyst of census, until " in people[1]
    assert people[2].endswith("revoke   ana           bo")


@pytest.mark.parametrize("hostile", ["a\nb", "\x1b[31mred", "left\u202eright", "\u2028", "zero\u200bwidth"])
def test_nothing_hides_or_moves_what_stands_beside_it(hostile: str) -> None:
    assert line("freeze", why=hostile).isprintable()
    assert one_line_text(hostile).isprintable()


def test_long_texts_are_cut() -> None:
    assert len(line("freeze", why="x" * 5000)) < WHAT_MAX + 80
    assert line("commit", reservation="id", part={"a": "b"}).endswith('id part: {"a": "b"}')


def test_an_event_of_a_later_version_is_shown_by_its_name() -> None:
    assert line("dance") == "    7  2026-02-02T02:40:00Z  dance    ana"
