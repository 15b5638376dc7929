"""Locks that somebody holds, files that others may read, copies that nobody writes to, clocks, names and forgeries."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")

from sqlalchemy import create_engine

from tests.ledger.server.serving import housed
from tests.ledger.test_maintenance import ONE, TERMS, database_of, spend, used
from tightrope import ledger as tl
from tightrope.cli.app import run
from tightrope.core.values.errors import DataError, InvalidParameter, TightropeError
from tightrope.ledger import chain, migrations
from tightrope.ledger import database as databases
from tightrope.ledger.chain import SYSTEM
from tightrope.ledger.database import Database
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.service import LocalService
from tightrope.ledger.transactions.entry import Actor

HERE = Path(__file__).resolve().parent
HOUR = 3_600_000


@pytest.fixture
def key(tmp_path: Path) -> Path:
    place = tmp_path / "key"
    place.write_text("0123456789abcdef" * 2)
    return place


@pytest.fixture
def ledger(ledger_url: str, key: Path) -> Iterator[Ledger]:
    with tl.init(ledger_url, key_file=key) as found:
        found.create("b", epsilon=4.0, **TERMS)
        yield found


def mode(place: Path) -> int:
    return stat.S_IMODE(place.stat().st_mode)


# Locks.


def test_who_waits_for_a_lock_that_is_never_given_back_is_told_so(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a file the turn beside it, of PostgreSQL the row of the chain's head."""
    monkeypatch.setattr(databases, "BUSY_SECONDS", 0.2)
    monkeypatch.setattr("tightrope.ledger.service.AGAIN_SECONDS", 0.0)
    database = database_of(ledger)
    if database.dialect == "sqlite":
        with database._turn(), pytest.raises(tl.Unavailable, match=r"another process has held the lock .*-turn"):
            spend(ledger, "one")
    else:
        holder = create_engine(database._parsed.set(drivername="postgresql+psycopg"))
        with holder.connect() as connection, connection.begin():
            connection.exec_driver_sql("SELECT * FROM head WHERE root = 'b' FOR UPDATE")
            with pytest.raises(tl.Unavailable, match="another session has held the lock"):
                spend(ledger, "one")
        holder.dispose()
    spend(ledger, "one")  # the same request, and nothing was done twice
    assert used(ledger) == 1.0
    ledger.verify()


def test_who_gave_up_waiting_lets_go_of_what_is_given_later(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with tl.init(sqlite_url) as ledger:
        database = database_of(ledger)
        with monkeypatch.context() as short, database._turn():
            short.setattr(databases, "BUSY_SECONDS", 0.05)
            with pytest.raises(tl.Unavailable):
                database._turn()
        for thread in [each for each in threading.enumerate() if each.name == "turn"]:
            thread.join()
        ledger.create("b", epsilon=4.0, **TERMS)


def test_reads_wait_for_no_lock(sqlite_url: str) -> None:
    with tl.init(sqlite_url) as ledger:
        ledger.create("b", epsilon=4.0, **TERMS)
        with database_of(ledger)._turn():
            assert ledger.status("b")["state"] == "open"


# Files.


def test_files_are_for_their_owner_alone(tmp_path: Path, key: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = os.umask(0o000)
    try:
        place = tmp_path / "x.db"
        with tl.init(f"sqlite:///{place}", key_file=key) as ledger:
            ledger.create("b", epsilon=4.0, **TERMS)
            assert {mode(Path(f"{place}{end}")) for end in ("", "-wal", "-shm", "-turn")} == {0o600}
            ledger.backup(tmp_path / "backup.db")
            ledger.export(tmp_path / "out.jsonl")
        assert run(["ledger", "anchor", "--ledger", str(place), "-o", str(tmp_path / "an.chor")]) == 0
        assert {mode(tmp_path / name) for name in ("backup.db", "out.jsonl", "an.chor")} == {0o600}
    finally:
        os.umask(before)


def test_a_folder_for_a_group_has_files_for_the_group(tmp_path: Path) -> None:
    folder = tmp_path / "team"
    folder.mkdir()
    folder.chmod(0o2770)
    before = os.umask(0o002)
    try:
        with tl.init(f"sqlite:///{folder / 'x.db'}") as ledger:
            ledger.create("b", epsilon=4.0, **TERMS)
            assert {mode(each) for each in folder.iterdir()} == {0o660}
    finally:
        os.umask(before)


def test_a_copy_that_nobody_may_write_to_opens(tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tl.init(f"sqlite:///{tmp_path / 'x.db'}", key_file=key) as ledger:
        ledger.create("b", epsilon=4.0, **TERMS)
        spend(ledger, "one")
        (tmp_path / "copy").mkdir()
        ledger.backup(tmp_path / "copy" / "x.db")
        anchor = ledger.anchor()
    monkeypatch.setattr(os, "access", lambda place, how: "copy" not in str(place))
    with tl.open(f"sqlite:///{tmp_path / 'copy' / 'x.db'}", key_file=key, anchor=anchor) as copy:
        assert used(copy) == 1.0
        copy.verify(anchor)
        with pytest.raises(tl.Unavailable):
            database_of(copy).write(lambda connection: connection.exec_driver_sql("DELETE FROM head"), [])
    assert [each.name for each in (tmp_path / "copy").iterdir() if not each.name.endswith("-turn")] == ["x.db"]


def test_a_damaged_page_does_not_verify(tmp_path: Path) -> None:
    """An index that no question of verifying reads: every table agrees with the chains."""
    place = tmp_path / "x.db"
    with tl.init(f"sqlite:///{place}") as ledger:
        ledger.create("b", epsilon=4.0, **TERMS)
        for number in range(3):
            spend(ledger, f"k{number}", "PureDP(epsilon=0.5)")
    with closing(sqlite3.connect(place)) as file:
        [page] = file.execute("SELECT rootpage FROM sqlite_master WHERE name = 'place_mine'").fetchone()
        size = file.execute("PRAGMA page_size").fetchone()[0]
    content = bytearray(place.read_bytes())
    start = (page - 1) * size
    content[start + size - 40 : start + size] = bytes(40)
    place.write_bytes(content)
    with (
        tl.open(f"sqlite:///{place}") as ledger,
        pytest.raises((tl.VerificationFailed, DataError), match=r"damaged|malformed"),
    ):
        ledger.verify()


# Clocks.


@pytest.fixture
def ahead() -> list[int]:
    return [0]


@pytest.fixture
def timed(ledger_url: str, ahead: list[int]) -> Iterator[Ledger]:
    tl.init(ledger_url).close()
    with Ledger(LocalService(Database(ledger_url, clock=lambda now: now + ahead[0]), Actor("ann"))) as found:
        found.create("b", epsilon=4.0, **TERMS)
        yield found


def test_a_clock_that_ran_ahead_once_is_repaired_on_the_record(
    timed: Ledger, ahead: list[int], ledger_url: str
) -> None:
    held = timed.reserve({"b": ONE}, "held", ttl=7200)
    with pytest.raises(tl.WrongState, match="nothing to repair"):
        timed.set_clock("a test")
    ahead[0] = 24 * 365 * HOUR
    spend(timed, "late")  # the whole ledger is a year ahead now
    ahead[0] = 0
    stuck = timed.reserve({"b": ONE}, "stuck", ttl=60)
    year = stuck.document["made"] - held.document["made"]
    assert year > 8000 * HOUR
    with Ledger(LocalService(Database(ledger_url, clock=lambda now: now + ahead[0]), Actor("bob"))) as other:
        assert other.reservation(held.id).state == "cancelled"  # the wrong clock ended it, and it stays so
        found = timed.set_clock("it was set right")
        assert found["from"] - found["to"] > 8000 * HOUR
        again = other.reserve({"b": "PureDP(epsilon=0.5)"}, "again", ttl=60)  # in a process that saw the wrong time
        assert abs(again.document["made"] - held.document["made"]) < HOUR
    lines = [json.loads(line["body"]) for line in timed.audit("b")]
    assert [body["why"] for body in lines if body["event"] == "clock"] == ["it was set right"]
    timed.verify()


def test_who_is_no_administrator_sets_no_clock(timed: Ledger, ahead: list[int]) -> None:
    desk = timed._desk
    assert isinstance(desk, LocalService)
    with pytest.raises(tl.Denied):
        Ledger(desk.as_actor(Actor("eve", "analyst", "b"))).set_clock("mine")


def test_nobody_is_said_to_have_ended_what_its_time_ended(timed: Ledger, ahead: list[int]) -> None:
    timed.reserve({"b": ONE}, "short", ttl=60)
    ahead[0] = HOUR
    spend(timed, "next")
    ended = [line for line in timed.audit("b") if json.loads(line["body"])["event"] == "expire"]
    assert [line["actor"] for line in ended] == [SYSTEM]
    with pytest.raises(InvalidParameter, match="the ledger itself"):
        tl.open(database_of(timed).url, principal=SYSTEM)


# Names.


def test_no_root_has_a_name_among_those_of_another(ledger: Ledger) -> None:
    ledger.create("b/ana", parent="b", epsilon=1.0, delta=1e-6)
    ledger.create("x", epsilon=1.0, **TERMS)
    ledger.create("x_y/z", epsilon=1.0, **TERMS)
    for name, parent in (("b/eve", None), ("b/ana/eve", None), ("b/eve", "x"), ("x_y", None)):
        with pytest.raises(InvalidParameter, match="among the names of"):
            ledger.create(name, epsilon=0.5, **{**TERMS, "parent": parent})
    ledger.create("xzy", epsilon=1.0, **TERMS)  # _ stands for itself
    ledger.create("bb/c", epsilon=1.0, **TERMS)
    ledger.verify()


# What came from elsewhere.


def imported(folder: Path, lines: list[str], **options: Any) -> None:
    (folder / "in.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    tl.import_file(f"sqlite:///{folder / 'there.db'}", folder / "in.jsonl", **options).close()


def test_an_export_that_somebody_made_up_is_not_imported(ledger: Ledger, tmp_path: Path, key: Path) -> None:
    """Every line of it hashes, and its first line names their ends: only the key, or an anchor, can tell."""
    spend(ledger, "one")
    anchor = ledger.anchor()
    ledger.export(tmp_path / "out.jsonl")
    true = (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
    with tl.init(f"sqlite:///{tmp_path / 'forged.db'}") as forger:
        forger.create("b", epsilon=4.0, **TERMS)
        forger.export(tmp_path / "forged.jsonl")
    forged = (tmp_path / "forged.jsonl").read_text("utf-8").splitlines()
    head = json.loads(forged[0])
    other = tmp_path / "other"
    other.write_text("f" * 32)
    for lines in (forged, [json.dumps({**head, "mac": json.loads(true[0])["mac"]}), *forged[1:]]):
        with pytest.raises(DataError, match="key"):
            imported(tmp_path, lines, key_file=key)
    for options in ({"anchor": anchor}, {"anchor": anchor, "key_file": key}):
        with pytest.raises(tl.WentBack):
            imported(tmp_path, forged, **options)
    with pytest.raises(DataError, match="another key"):
        imported(tmp_path, true, key_file=other)
    assert not list(tmp_path.glob("there.db*"))
    imported(tmp_path, true, key_file=key, anchor=anchor)
    with tl.open(f"sqlite:///{tmp_path / 'there.db'}") as there:
        assert used(there) == 1.0


def test_an_import_that_fails_leaves_nothing(ledger: Ledger, ledger_url: str, tmp_path: Path, key: Path) -> None:
    """Also where it fails while it writes."""
    from tests.ledger import cluster

    spend(ledger, "one")
    ledger.export(tmp_path / "out.jsonl")
    server = os.environ.get(cluster.ADDRESS)
    empty = (
        cluster.fresh(server) if ledger_url.startswith("postgresql") and server else f"sqlite:///{tmp_path}/there.db"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain, "append", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            tl.import_file(empty, tmp_path / "out.jsonl", key_file=key)
    assert not list(tmp_path.glob("there.db*"))
    database = Database(empty)
    assert not database.exists
    database.close()
    with tl.import_file(empty, tmp_path / "out.jsonl", key_file=key) as there:
        spend(there, "on")
        there.verify()
    if server and empty.startswith("postgresql"):
        cluster.drop(server, empty)


VALUES: tuple[Any, ...] = (None, True, -1, 10**30, 1.5, "", "x", "b", "\x00", [], [[]], {}, {"b": 1}, [1, 2])


def test_whatever_stands_in_an_export_there_is_no_traceback(sqlite_url: str, tmp_path: Path) -> None:
    with tl.init(sqlite_url) as ledger:
        ledger.create("b", epsilon=4.0, **TERMS)
        spend(ledger, "one")
        anchor = ledger.anchor()
        ledger.export(tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
    dice = random.Random(40)
    for _ in range(300):
        changed, at = list(lines), dice.randrange(len(lines))
        document = json.loads(changed[at])
        inside = json.loads(document["body"]) if at and dice.random() < 0.7 else document
        names = list(inside)
        inside[dice.choice(names)] = dice.choice(VALUES)
        if inside is not document:
            document["body"] = json.dumps(inside)
        changed[at] = json.dumps(document)
        if json.loads(changed[at]) == json.loads(lines[at]):
            continue
        with pytest.raises(TightropeError):
            imported(tmp_path, changed)
    assert not list(tmp_path.glob("there.db*"))
    with tl.open(sqlite_url) as ledger:
        for name in ("roots", "at"):
            for value in VALUES:
                try:
                    ledger.compare({**anchor, name: value})
                except TightropeError:
                    continue
        for name in ("seq", "hash", "used", "dead"):
            for value in VALUES:
                document = {**anchor, "roots": {"b": {**anchor["roots"]["b"], name: value}}}
                for done in (ledger.compare, lambda each: ledger.recover("b", "a test", anchor=each)):
                    try:
                        done(document)
                    except TightropeError:
                        continue


def test_old_ledgers_are_verified_and_brought_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file and an export of version 1."""
    place = tmp_path / "old.db"
    with closing(sqlite3.connect(place)) as file:
        file.executescript((HERE / "version_1.sql").read_text("utf-8"))
    with pytest.raises(tl.Conflict, match="migrate"):
        tl.open(f"sqlite:///{place}")
    shutil.copy(place, tmp_path / "other.db")
    assert tl.migrate(f"sqlite:///{place}", backup=tmp_path / "before.db") == len(migrations.STEPS)
    (tmp_path / "there").mkdir()
    with (
        tl.open(f"sqlite:///{place}", principal="ann") as migrated,
        tl.import_file(f"sqlite:///{tmp_path / 'there' / 'x.db'}", HERE / "version_1.jsonl") as carried,
    ):
        for found in (migrated, carried):
            assert found.verify()["reservations"] == 5
            assert found.status("sums")["jobs"]["cancelled"] == 1
            assert found.verify_prices()["priced"] == 6  # one of four jobs stands in two chains, and one ended early
            spend(found, "further", "PureDP(epsilon=0.1)", "sums")
            found.verify()


# Servers.


def test_what_verified_nothing_says_so(sqlite_url: str, tmp_path: Path) -> None:
    """A token for a part sees no root, and had "0 lines" verified."""
    with housed(sqlite_url) as house:
        house.ledger.create("census/ana", parent="census", kind="zcdp", rho=0.01)
        token = house.token("viewer", "census/ana")
        with tl.open(house.url, token=token) as seen, pytest.raises(tl.Denied, match="nothing was verified"):
            seen.verify()
        (tmp_path / "token").write_text(token)
        assert run(["ledger", "verify", "--ledger", house.url, "--token-file", str(tmp_path / "token")]) == 2


def test_health_is_that_of_the_database(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with housed(sqlite_url) as house:
        client = house.client("viewer")
        assert client.get("/v1/health", authorization=None).status == 200

        def away(*_: object) -> None:
            raise tl.Unavailable("the ledger's database does not answer")

        monkeypatch.setattr(house.desk.database, "now", away)
        answer = client.get("/v1/health", authorization=None)
        assert (answer.status, answer.urn) == (503, "unavailable")
        assert client.get("/v1/live", authorization=None).status == 200


def test_who_listens_to_everybody_is_warned(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tightrope.extend.ledger_server.serve", lambda *given, **named: named["ready"]("http://x"))
    assert run(["ledger", "serve", "--ledger", sqlite_url]) == 0
    assert capsys.readouterr().err == ""
    assert run(["ledger", "serve", "--ledger", sqlite_url, "--host", "0.0.0.0"]) == 0
    assert "without encryption" in capsys.readouterr().err
