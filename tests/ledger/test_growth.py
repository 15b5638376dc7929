"""What a ledger does as it grows costs what it is about, and holds what lives: not what has been."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")

from sqlalchemy import event

from tests.ledger.server.serving import housed
from tests.ledger.test_maintenance import TERMS, database_of
from tightrope import ledger as tl
from tightrope.core.values.errors import InvalidParameter
from tightrope.ledger import history, reading
from tightrope.ledger.history import HistoryPage, thinned
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.replay import Replay, RowSums

GROWING = ("reservation", "charge", "answer", "audit", "place", "c")
TENTH = "PureDP(epsilon=0.0625)"


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    with tl.init(ledger_url, principal="ann") as found:
        found.create("b", epsilon=4.0, **TERMS)
        yield found


def ran(ledger: Ledger, count: int, start: int = 0) -> list[str]:
    """So many jobs; every third is over."""
    found = []
    for number in range(start, start + count):
        job = ledger.reserve({"b": TENTH}, f"k{number}", start=True)
        if number % 3 == 0:
            job.commit()
        found.append(job.id)
    return found


def test_no_request_looks_at_all_jobs(sqlite_url: str) -> None:
    """Each write looked at every reservation, for those whose time was over: the index was for literals only."""
    asked: set[str] = set()
    with tl.init(sqlite_url) as ledger:
        ledger.create("b", epsilon=4.0, **TERMS)
        engine = database_of(ledger).engine
        event.listen(engine, "before_cursor_execute", lambda connection, cursor, text, *_: asked.add(text))
        ran(ledger, 3)
        ledger.reserve({"b": TENTH}, "back").cancel()
        with pytest.raises(tl.BudgetExhausted):
            ledger.reserve({"b": "PureDP(epsilon=9)"}, "large")
        ledger.status("b", TENTH)
        ledger.reservations("b")
        ledger.reservations("b", state="running")
        with engine.connect() as connection:
            for text in sorted(asked):
                if not text.startswith(("SELECT", "UPDATE")):
                    continue
                plain = text.replace("?", "1")
                plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {plain}").all()
                for step in plan:
                    grown = [
                        name
                        for name in ("reservation", "charge", "answer", "audit", "place")
                        if name in step[3].split()
                    ]
                    assert not (step[3].startswith("SCAN") and grown), (text, step)


def test_jobs_come_in_pages(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "RESERVATIONS_MAX", 2)
    made = ran(ledger, 7)
    found = [each["id"] for each in ledger.reservations("b")]
    assert sorted(found) == sorted(made)
    times = [each["made"] for each in ledger.reservations("b")]
    assert times == sorted(times, reverse=True)
    assert [each["id"] for each in ledger.reservations("b", most=3)] == found[:3]
    over = [each["id"] for each in ledger.reservations("b", state="committed")]
    assert over == [identity for identity in found if identity in made[::3]]
    assert ledger.reservations("b", state="refused") == ()
    for wrong in ("1", "x.y", "1.'", "-1.a", f"{'9' * 30}.a"):
        with pytest.raises(InvalidParameter, match="page before"):
            ledger._ask("reservations", {"name": "b", "after": wrong})
    with pytest.raises(InvalidParameter, match="state is one of"):
        ledger.reservations("b", state="gone")


def test_pages_behind_a_server_and_of_one_s_own(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "RESERVATIONS_MAX", 2)
    with housed(sqlite_url) as house, tl.open(house.url, token=house.token("analyst")) as ledger:
        mine = [ledger.reserve({"census": "Gaussian(sigma=100)"}, f"k{number}").id for number in range(5)]
        house.ledger.reserve({"census": "Gaussian(sigma=100)"}, "holder's")
        assert sorted(each["id"] for each in ledger.reservations("census", state="reserved")) == sorted(mine)


def test_counts_are_kept_as_jobs_move(ledger: Ledger) -> None:
    ledger.create("b/part", parent="b", epsilon=2.0, delta=1e-6)
    one = ledger.reserve({"b/part": TENTH}, "one")
    assert ledger.status("b")["jobs"] == ledger.status("b/part")["jobs"] == {"reserved": 1}
    one.claim()
    assert ledger.status("b")["jobs"] == {"running": 1}
    one.commit()
    ledger.reserve({"b": TENTH}, "two").cancel()
    for name in ("b", "b/part"):
        with pytest.raises(tl.BudgetExhausted):
            ledger.reserve({name: "PureDP(epsilon=9)"}, name)
    assert ledger.status("b")["jobs"] == {"cancelled": 1, "committed": 1, "refused": 2}
    assert ledger.status("b/part")["jobs"] == {"committed": 1, "refused": 1}
    ledger.verify()


def test_verifying_holds_what_lives(ledger: Ledger) -> None:
    ran(ledger, 30)
    ledger.create("c", epsilon=4.0, **TERMS)
    both = ledger.reserve({"b": TENTH, "c": TENTH}, "both", start=True)
    both.commit()
    replay = Replay(keep=False)
    with database_of(ledger).read() as connection:
        for root in ("_ledger", "b", "c"):
            replay.begin(root)
            for line in reading.read_lines(connection, root):
                replay.line(line)
    assert replay.findings == []
    assert len(replay.tables["reservation"]) == len(replay.tables["charge"]) // 2 == 20
    assert len(replay.tables["place"]) == 20
    assert len(replay.tables["answer"]) == 0
    assert replay.sums is not None
    assert replay.sums.counts["reservation"] == 11
    ledger.verify()


def test_sums_of_rows_are_those_of_the_same_rows_in_any_order() -> None:
    rows: list[list[Any]] = [["a", 1], ["a", 1], ["b", 2], ["c", None]]
    one = RowSums()
    two = RowSums(one.key)
    for row in rows:
        one.add("t", row)
    for row in reversed(rows):
        two.add("t", row)
    assert one.sums == two.sums
    two.add("t", ["a", 1])
    assert one.sums != two.sums
    assert RowSums().key != RowSums().key


def test_the_past_is_held_thinly(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOMENTS_MAX", 5)
    ran(ledger, 40)
    moments = ledger.history("b")["moments"]
    assert len(moments) <= 6
    axis = next(each for each in ledger.status("b")["axes"] if each["name"] == "epsilon")
    assert moments[-1]["axes"]["epsilon"][:2] == [axis["held"], axis["spent"]]
    assert [each["at"] for each in moments] == sorted(each["at"] for each in moments)
    held = HistoryPage(5)
    for number in range(1000):
        held.add({"at": number, "axes": {}})
        assert len(held._kept) <= 11
    assert held.thinned()[-1]["at"] == 999
    assert held.thinned()[0]["at"] == 0
    assert thinned(held.thinned(), 5) == held.thinned()


def test_a_refusal_keeps_a_digest_and_a_line(sqlite_url: str) -> None:
    """One of 6.9 kB left 575 kB for good."""
    job = " + ".join(f"Gaussian(sigma={0.5 + number / 1e5})" for number in range(200))
    with tl.init(sqlite_url) as ledger:
        ledger.create("b", epsilon=4.0, delta=1e-6, relation="add_remove", unit="one person")
        with pytest.raises(tl.BudgetExhausted) as refused:
            ledger.reserve({"b": job}, "large")
        with pytest.raises(tl.BudgetExhausted):
            ledger.reserve({"b": job}, "large")  # the key answers the same
        with pytest.raises(tl.KeyReused):
            ledger.reserve({"b": job + " + Gaussian(sigma=1)"}, "large")
        *_, line = ledger.audit("b")
        with database_of(ledger).read() as connection:
            stored = sum(
                len(str(value))
                for table in ("reservation", "answer")
                for row in connection.exec_driver_sql(f"SELECT * FROM {table} WHERE principal <> ''")
                for value in row
            )
        document = ledger.reservation(refused.value.reservation).document
        ledger.verify()
    assert "sha256" in document["jobs"]["b"]
    assert len(line["body"]) + stored < 5000
    assert json.loads(line["body"])["reservation"]["evidence"] == "{}"
