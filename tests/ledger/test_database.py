"""What the databases themselves forbid, whatever program writes; and who waits for whom."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.mutants import ledger as ledger_faults

pytest.importorskip("sqlalchemy")

from sqlalchemy import Connection, select, text, update
from sqlalchemy.exc import DBAPIError, IntegrityError

import tightrope.ledger as tl
from tightrope.core.values.errors import DataError, InvalidParameter
from tightrope.ledger import tables
from tightrope.ledger.chain import SYSTEM
from tightrope.ledger.database import Database, shown_address
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.service import LocalService
from tightrope.ledger.transactions.entry import Actor

TERMS: dict[str, Any] = {"relation": "add_remove", "unit": "one person", "delta": 1e-6, "epsilon": 4.0}
BASIC, MENU = "basic", "menu"


@pytest.fixture
def database(ledger_url: str) -> Iterator[Database]:
    """A ledger with a budget of each need, some of it spent, one order dead."""
    found = Database(ledger_url)
    tl.init(ledger_url).close()
    with Ledger(LocalService(found, Actor("ann"))) as ledger:
        ledger.create(BASIC, kind="basic", **TERMS)
        ledger.create(MENU, orders={"2": 0.3, "8": 0.3, "64": 0.3}, **{**TERMS, "epsilon": 18.0})
        with ledger.spend(BASIC, "PureDP(epsilon=1.0)", "a"), ledger.spend(MENU, "Gaussian(sigma=1.0)", "b"):
            pass
        axes = ledger.status(MENU)["axes"]
        assert [each["name"] for each in axes if each["dead"]] == ["order 64"]
        yield found
        ledger.verify()


def expect_forbidden(database: Database, statement: str) -> None:
    """The statement fails, and nothing of it stays."""

    def work(connection: Connection) -> None:
        connection.execute(text(statement))
        raise AssertionError(f"the database allows it: {statement}")

    with pytest.raises(DBAPIError):
        database.write(work, [])


BEYOND = (
    "held = total - spent + 1 WHERE need = 'all' AND budget = 'basic'",
    "spent = total + 1 WHERE need = 'all' AND budget = 'basic'",
    "held = ceiling - spent + 1 WHERE name = 'order 2'",
    "spent = ceiling - held + 1 WHERE name = 'order 2'",
    "held = -1 WHERE name = 'epsilon'",
    "spent = -1 WHERE name = 'epsilon'",
    "total = total - 1 WHERE name = 'epsilon'",
    "total = ceiling + 1 WHERE name = 'epsilon'",
    "ceiling = ceiling + 1 WHERE name = 'epsilon'",
    "unit = unit + 1 WHERE name = 'epsilon'",
    "need = 'any' WHERE name = 'epsilon'",
    "dead = 1 WHERE name = 'epsilon'",
    "dead = 0 WHERE name = 'order 64'",
    "held = held + 1 WHERE name = 'order 64'",
    "spent = spent + 1 WHERE name = 'order 64'",
    "dead = 1 WHERE budget = 'menu' AND need = 'any'",
    "held = 9223372036854775807 WHERE name = 'epsilon'",
    "held = held + 9223372036854775807 WHERE name = 'epsilon'",
)


def test_no_counter_goes_where_a_promise_ends(database: Database) -> None:
    for change in BEYOND:
        expect_forbidden(database, f"UPDATE axis SET {change}")


def test_the_last_order_of_a_budget_is_kept(database: Database) -> None:
    def work(connection: Connection) -> None:
        connection.execute(text("UPDATE axis SET dead = 1 WHERE budget = 'menu' AND name = 'order 2'"))
        with pytest.raises(DBAPIError, match="no axis of the budget is left"):
            connection.execute(text("UPDATE axis SET dead = 1 WHERE budget = 'menu' AND name = 'order 8'"))
        raise KeyError

    with pytest.raises(KeyError):
        database.write(work, [MENU])


KEPT = (
    "UPDATE audit SET body = '{}'",
    "DELETE FROM audit",
    "DELETE FROM axis",
    "DELETE FROM budget",
    "UPDATE budget SET state = 'gone'",
    "UPDATE reservation SET state = 'free'",
    "UPDATE charge SET units = -1",
    "UPDATE charge SET name = 'another'",
    "INSERT INTO answer SELECT * FROM answer",
)
EMPTIED = {"sqlite": "INSERT OR REPLACE INTO {0} SELECT * FROM {0}", "postgresql": "TRUNCATE {0} CASCADE"}


def test_what_was_written_down_stays(database: Database) -> None:
    emptied = EMPTIED[database.dialect]
    for statement in (*KEPT, *map(emptied.format, ("audit", "axis"))):
        expect_forbidden(database, statement)


def other(database: Database) -> Callable[[str], list[Any]]:
    """Asks on a connection of its own, which waits for nobody."""
    second = Database(database.url)

    def asked(statement: str) -> list[Any]:
        with closing(second), second.engine.connect() as connection:
            return list(connection.execute(text(statement)).all())

    return asked


def test_a_writer_has_its_lock_before_it_reads(database: Database, tmp_path: Path) -> None:
    """From its first question on nobody else writes to these chains: what it finds stays true until it is done."""
    asked = other(database)

    def work(connection: Connection) -> int:
        if database.dialect == "sqlite":
            with closing(sqlite3.connect(database.path, timeout=0.0)) as second:
                with pytest.raises(sqlite3.OperationalError, match="locked"):
                    second.execute("BEGIN IMMEDIATE")
                assert second.execute("SELECT count(*) FROM head").fetchone() == (3,)  # reading goes on
        else:
            for root in (BASIC, MENU):
                with pytest.raises(DBAPIError, match="could not obtain lock"):
                    asked(f"SELECT root FROM head WHERE root = '{root}' FOR UPDATE NOWAIT")
            assert asked(f"SELECT root FROM head WHERE root = '{SYSTEM}' FOR UPDATE NOWAIT")  # another chain is free
        return len(connection.execute(select(tables.head)).all())

    assert database.write(work, [MENU, BASIC]) == 3


def test_writers_of_a_file_stand_in_a_line(database: Database) -> None:
    fcntl = pytest.importorskip("fcntl")

    def work(connection: Connection) -> None:
        if database.dialect == "sqlite":
            with Path(f"{database.path}-turn").open("rb") as turn, pytest.raises(BlockingIOError):
                fcntl.flock(turn, fcntl.LOCK_SH | fcntl.LOCK_NB)

    database.write(work, [])


def test_every_commit_is_on_disk_before_it_is_answered(database: Database) -> None:
    def work(connection: Connection) -> list[Any]:
        if database.dialect == "sqlite":
            return [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("synchronous", "journal_mode")]
        return [connection.exec_driver_sql(f"SHOW {name}").scalar() for name in ("synchronous_commit", "fsync")]

    if database.dialect == "postgresql":  # whatever this user's sessions begin with
        with database.engine.begin() as connection:
            connection.execute(text("ALTER ROLE CURRENT_USER SET synchronous_commit = off"))
        database.close()
    try:
        assert database.write(work, []) == ([2, "wal"] if database.dialect == "sqlite" else ["on", "on"])
    finally:
        if database.dialect == "postgresql":
            with database.engine.begin() as connection:
                connection.execute(text("ALTER ROLE CURRENT_USER RESET synchronous_commit"))


def test_a_write_that_fails_leaves_nothing_and_the_next_goes_on(database: Database) -> None:
    def half(connection: Connection) -> None:
        connection.execute(update(tables.head).values(seq=999))
        raise KeyError

    def whole(connection: Connection) -> set[int]:
        return set(connection.execute(select(tables.head.c.seq)).scalars())

    for _ in range(3):
        with pytest.raises(KeyError):
            database.write(half, [BASIC])
        assert 999 not in database.write(whole, [BASIC])


def test_a_row_that_somebody_wrote_first_is_found_the_next_time(database: Database) -> None:
    """On PostgreSQL a collision is tried again; on SQLite, where writers stand in a line, it is a fault."""
    attempts: list[int] = []

    def work(connection: Connection) -> str:
        attempts.append(1)
        if len(attempts) == 1:
            connection.execute(tables.head.insert().values(root=BASIC, seq=0, hash="", at=0))
        return "found"

    if database.dialect == "postgresql":
        assert database.write(work, []) == "found"
        assert len(attempts) == 2
    else:
        with pytest.raises(IntegrityError):
            database.write(work, [])


def interrupting(connection: Connection) -> Callable[[], None]:
    """From now on an interrupt comes in the middle of a question; gives back what makes it come."""
    raw: Any = connection.connection.driver_connection

    def come(*_: object) -> int:
        raise KeyboardInterrupt

    def ask() -> None:
        rows = connection.exec_driver_sql("SELECT root FROM head")  # somebody has begun to read, and keeps it
        kept.append(rows)
        connection.connection.driver_connection.cursor = come  # type: ignore[union-attr]
        try:
            connection.exec_driver_sql("SELECT 1")
        finally:
            del raw.cursor

    kept: list[object] = []
    return ask


def test_an_interrupt_is_told_and_locks_nothing(database: Database) -> None:
    """Whoever keeps the traceback, as a notebook does, keeps no lock."""

    def work(connection: Connection) -> None:
        connection.execute(update(tables.head).values(seq=999))
        if database.dialect == "sqlite":
            interrupting(connection)()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as kept:
        database.write(work, [BASIC])
    second = Database(database.url)
    with closing(second):
        seen = second.write(lambda connection: set(connection.execute(select(tables.head.c.seq)).scalars()), [BASIC])
    assert 999 not in seen
    assert kept.value.__traceback__ is not None


def test_an_interrupt_of_a_reader_is_told(database: Database) -> None:
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt), database.read() as connection:
            if database.dialect == "sqlite":
                interrupting(connection)()
            raise KeyboardInterrupt
    with database.read() as connection:
        assert connection.execute(select(tables.head)).all()


def test_an_interrupt_of_the_one_whose_turn_it_is(sqlite_url: str) -> None:
    fcntl = pytest.importorskip("fcntl")

    def fault(point: str) -> None:
        raise KeyboardInterrupt

    tl.init(sqlite_url).close()
    database = Database(sqlite_url, fault=fault)
    with closing(database), pytest.raises(KeyboardInterrupt) as kept:
        database.write(lambda connection: None, [])
    assert kept.value.__traceback__ is not None
    with Path(f"{database.path}-turn").open("rb") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)


SHOWN = {
    "postgresql://u:pw1@h/db": "postgresql://u:***@h/db",
    "postgresql://u@h/db?password=pw1": "postgresql://u@h/db?password=***",
    "postgresql://h/db?password=pw1&sslpassword=pw2&user=u": "postgresql://h/db?password=***&sslpassword=***&user=u",
    "postgresql://u@h/db?passfile=/etc/pass": "postgresql://u@h/db?passfile=%2Fetc%2Fpass",
}


@pytest.mark.parametrize("url", SHOWN)
def test_no_password_is_shown_wherever_it_stands(url: str) -> None:
    assert shown_address(url) == Database(url).shown == SHOWN[url]
    assert Database(url)._parsed.render_as_string(hide_password=False).count("pw1") == url.count("pw1")


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///file:mem?mode=memory&cache=shared&uri=true",
        "sqlite:///file:budget.db",
        "sqlite:///budget.db?mode=ro",
    ],
)
def test_a_ledger_in_sqlite_is_one_file(url: str) -> None:
    with pytest.raises(InvalidParameter, match=r"as in sqlite:///budget.db"):
        Database(url)


def test_a_file_is_the_same_from_every_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = tmp_path / "one?", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    monkeypatch.chdir(one)
    with closing(Database("sqlite:///budget 1.db")) as database:
        monkeypatch.chdir(two)
        database.prepare()
        assert (one / "budget 1.db").exists()
        with closing(Database(database.url)) as same:
            assert same.path == database.path == one / "budget 1.db"
            assert same.version() == database.version()
        assert database.shown == "sqlite:///budget 1.db"
        assert not list(two.iterdir())


@pytest.mark.skipif(not hasattr(os, "fchmod"), reason="rights of files are POSIX's")
def test_whoever_may_write_to_the_file_may_stand_in_its_line(sqlite_url: str) -> None:
    tl.init(sqlite_url).close()
    database = Database(sqlite_url)
    turn = Path(f"{database.path}-turn")
    with closing(database):
        for mode in (0o660, 0o666, 0o600):
            database.path.chmod(mode)
            for gone in (False, True):
                if gone:
                    turn.unlink()
                before = os.umask(0o077)
                try:
                    database.write(lambda connection: None, [])
                finally:
                    os.umask(before)
                assert stat.S_IMODE(turn.stat().st_mode) == mode
                assert turn.stat().st_gid == database.path.stat().st_gid


AS_NOBODY = """
import os, sys
from tightrope.core.values.errors import TightropeError
from tightrope.ledger.database import Database
database = Database(sys.argv[1])
database.engine  # all that is imported is in folders of somebody else
if os.getuid() == 0:
    os.setgid(65534), os.setuid(65534)
try:
    database.write(lambda connection: connection.exec_driver_sql("UPDATE head SET at = at"), [])
except TightropeError as error:
    print(error.passing, error)
"""


@pytest.mark.skipif(not hasattr(os, "fchmod"), reason="rights of files are POSIX's")
@pytest.mark.parametrize("forbidden", ["-turn", ""])
def test_who_may_not_write_is_told_what_to_change(forbidden: str) -> None:
    with tempfile.TemporaryDirectory() as folder:  # which others may enter, as they may not pytest's
        Path(folder).chmod(0o777)
        url = f"sqlite:///{folder}/budget.db"
        tl.init(url).close()
        for end in ("", "-turn"):
            Path(f"{folder}/budget.db{end}").chmod(0o444 if end == forbidden else 0o666)
        done = subprocess.run([sys.executable, "-c", AS_NOBODY, url], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("False "), done.stderr
    assert "chmod" in done.stdout
    assert done.stdout.count("\n") == 1


def test_a_role_that_may_not_is_told_what_to_change(database: Database) -> None:
    if database.dialect != "postgresql":
        return
    role = f"guest{os.getpid()}"
    with database.engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE ROLE {role} LOGIN")
    guest = Database(database.url.replace("//ledger@", f"//{role}@"))
    work: list[Callable[[], object]] = [
        lambda: guest.write(lambda connection: connection.execute(select(tables.head)).all(), [BASIC]),
        guest.prepare,
        guest.version,
    ]
    try:
        with closing(guest):
            for each in work:
                with pytest.raises(InvalidParameter, match=r"permission denied .*options=-crole%3DOWNER") as told:
                    each()
                assert "\n" not in str(told.value)
    finally:
        with database.engine.begin() as connection:
            connection.exec_driver_sql(f"DROP ROLE {role}")


def test_tables_that_are_not_there_are_told_of(database: Database) -> None:
    if database.dialect != "postgresql":
        return
    elsewhere = Database(f"{database.url}&options=-csearch_path%3Dnowhere")
    work: list[Callable[[], object]] = [elsewhere.prepare, lambda: elsewhere.write(lambda connection: None, [BASIC])]
    with closing(elsewhere):
        for each in work:
            with pytest.raises(DataError, match=r"cannot be read as a ledger: .*search_path") as told:
                each()
            assert "\n" not in str(told.value)


def test_faults_that_are_tried_on_purpose_are_faults_of_this_code() -> None:
    """Each stands once in the file that it names: else nothing would be tried."""
    for fault in ledger_faults.FAULTS:
        text = (ledger_faults.ROOT / ledger_faults.LEDGER / fault.file).read_text("utf-8")
        assert text.count(fault.before) == 1, fault.name
