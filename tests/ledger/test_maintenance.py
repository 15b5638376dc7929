"""What may happen to a ledger over the years: old backups, edited and cut audits, clocks, moves, new versions."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")

from sqlalchemy import Connection, event, text

from tightrope import ledger as tl
from tightrope.core.values.errors import DataError, InvalidParameter
from tightrope.ledger import chain, maintenance, migrations
from tightrope.ledger.database import Database
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.service import LocalService
from tightrope.ledger.transactions.entry import Actor

TERMS: dict[str, Any] = {"relation": "add_remove", "unit": "one person", "delta": 1e-6, "kind": "basic"}
ONE = "PureDP(epsilon=1.0)"
DAY = 86_400_000


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


def used(ledger: Ledger, budget: str = "b") -> float:
    axis = next(each for each in ledger.status(budget)["axes"] if each["name"] == "epsilon")
    return float(round((axis["held"] + axis["spent"]) / axis["unit"], 6))


def database_of(ledger: Ledger) -> Database:
    return ledger._desk.database  # type: ignore[attr-defined, no-any-return]


def spend(ledger: Ledger, name: str, job: str = ONE, budget: str = "b") -> None:
    with ledger.spend(budget, job, name):
        pass


# An old backup: SQLite, where a file is put back.


class Restored:
    """A ledger of which a backup was made, and that went on."""

    def __init__(self, folder: Path, key: Path) -> None:
        self.key, self.place = key, folder / "x.db"
        self.address = f"sqlite:///{self.place}"
        with tl.init(self.address, key_file=key) as before:
            before.create("b", epsilon=4.0, **TERMS)
            self.waiting = before.reserve({"b": ONE}, "waiting").id
            self.secret = before.token("eve", role="analyst", root="b")
            before.backup(folder / "old.db")
            self.later(before)
            self.anchor, self.receipts = before.anchor(), before.receipts
        for end in ("", "-wal", "-shm", "-turn"):
            Path(f"{self.place}{end}").unlink(missing_ok=True)
        shutil.copy(folder / "old.db", self.place)

    def later(self, ledger: Ledger) -> None:
        ledger.reservation(self.waiting).claim().commit()
        spend(ledger, "since")
        ledger.revoke("eve")

    def open(self, **options: Any) -> Ledger:
        return tl.open(self.address, key_file=self.key, **options)


@pytest.fixture
def restored(tmp_path: Path, key: Path) -> Restored:
    return Restored(tmp_path, key)


def test_a_backup_alone_does_not_tell_that_it_is_old(restored: Restored) -> None:
    with tl.open(restored.address) as unaware:
        assert unaware.verify()["reservations"] == 1
        assert unaware.quote("b", ONE).more == 3


@pytest.mark.parametrize("witness", ["anchor", "receipts"])
def test_a_witness_notices_and_the_root_is_frozen(restored: Restored, witness: str) -> None:
    shown: Any = {witness: getattr(restored, witness)}
    with pytest.raises(tl.WentBack, match="old backup"):
        restored.open(**shown)
    with restored.open() as after:
        assert after.status("b")["state"] == "frozen"
        for move in (
            lambda: spend(after, "more"),
            lambda: after.reservation(restored.waiting).claim(),
            lambda: after.renew("b", epsilon=4.0),
        ):
            with pytest.raises(tl.Frozen):
                move()


@pytest.mark.parametrize("witness", ["anchor", "receipts"])
def test_a_witness_that_anybody_could_have_written_freezes_nothing(restored: Restored, witness: str) -> None:
    forged = {
        "anchor": {name: value for name, value in restored.anchor.items() if name != "mac"},
        "receipts": [each.rpartition(":")[0] for each in restored.receipts],
    }
    with pytest.raises(tl.WentBack):
        restored.open(**{witness: forged[witness]})
    changed = [each[:-1] + ("0" if each[-1] != "0" else "1") for each in restored.receipts]
    with pytest.raises(tl.WentBack):
        restored.open(receipts=changed)
    with restored.open() as after:
        assert after.status("b")["state"] == "open"


def test_what_the_backup_holds_is_spent_by_a_recovery(restored: Restored) -> None:
    """The job that waited in the backup ran since: it must be neither given back nor run again."""
    with pytest.raises(tl.WentBack):
        restored.open(anchor=restored.anchor)
    with restored.open() as after:
        after.recover("b", "restored old.db", anchor=restored.anchor, complete=True)
        assert used(after) == 2.0
        waiting = after.reservation(restored.waiting)
        assert waiting.state == "committed"
        with pytest.raises(tl.Claimed):
            waiting.claim()
        with pytest.raises(tl.WrongState):
            waiting.cancel()
        assert after.quote("b", ONE).more == 2
        after.verify()


def test_what_nobody_knows_is_burnt(restored: Restored) -> None:
    with pytest.raises(tl.WentBack):
        restored.open(receipts=restored.receipts)
    with restored.open() as after:
        after.recover("b", "restored old.db, and no anchor is from after it")
        assert used(after) == 4.0
        with pytest.raises(tl.BudgetExhausted):
            spend(after, "more")
        after.verify(receipts=[each for each in restored.receipts if not each.startswith("_ledger")])


def test_what_was_spent_before_and_after_a_loss_is_not_mixed_up(restored: Restored) -> None:
    """The anchor knows two that were spent, the ledger two as well, and together they are three."""
    with restored.open() as unaware:
        spend(unaware, "after")
    with pytest.raises(tl.WentBack):
        restored.open(anchor=restored.anchor)
    with restored.open() as after:
        with pytest.raises(tl.WrongState, match="burn"):
            after.recover("b", "restored old.db", anchor=restored.anchor, complete=True)
        after.recover("b", "restored old.db", anchor=restored.anchor)
        assert used(after) == 4.0
        after.recover("_ledger", "restored old.db")
        after.verify(restored.anchor, restored.receipts)


def test_no_odometer_speaks_of_what_was_lost(tmp_path: Path) -> None:
    """An order that was exceeded in the lost lines lives again, and its counter understates."""
    with tl.init(f"sqlite:///{tmp_path / 'x.db'}") as ledger:
        ledger.create("b", epsilon=4.0, delta=1e-6, relation="add_remove", unit="one person")
        assert "epsilon" in ledger.status("b")["odometer"]
        ledger.freeze("b", "a test")
        ledger.recover("b", "a test")
        assert "recovered" in ledger.status("b")["odometer"]["reason"]


def test_tokens_that_a_restore_revived_are_revoked_by_a_recovery(restored: Restored) -> None:
    with restored.open() as after:
        desk = after._desk
        assert isinstance(desk, LocalService)
        assert desk.token(restored.secret).name == "eve"  # which is why an anchor is compared at every start
        with pytest.raises(tl.WentBack):
            after.compare(restored.anchor)
        after.recover("_ledger", "restored old.db")
        with pytest.raises(tl.Denied):
            desk.token(restored.secret)
        after.recover("b", "restored old.db", anchor=restored.anchor, complete=True)
        after.verify(restored.anchor, restored.receipts)  # all that was lost is made up for


def test_a_budget_that_only_the_anchor_knows_is_not_forgotten(tmp_path: Path, key: Path) -> None:
    class WithPart(Restored):
        def later(self, ledger: Ledger) -> None:
            ledger.create("ann", epsilon=2.0, parent="b", **TERMS)
            spend(ledger, "hers", budget="ann")

    restored = WithPart(tmp_path, key)
    with pytest.raises(tl.WentBack):
        restored.open(anchor=restored.anchor)
    with restored.open() as after:
        with pytest.raises(InvalidParameter, match="'ann'"):
            after.recover("b", "restored", anchor=restored.anchor, complete=True)
        after.recover("b", "restored", anchor=restored.anchor)
        assert used(after) == 4.0


def test_a_recovery_settles_jobs_that_other_roots_share(ledger: Ledger) -> None:
    ledger.create("c", epsilon=4.0, **TERMS)
    ledger.create("d", epsilon=4.0, **TERMS)
    shared = ledger.reserve({"b": ONE, "c": ONE}, "both")
    apart = ledger.reserve({"d": ONE}, "other")
    ledger.freeze("b", "a test")
    ledger.recover("b", "a test", anchor=ledger.anchor(), complete=True)
    assert [ledger.reservation(each.id).state for each in (shared, apart)] == ["committed", "reserved"]
    assert used(ledger, "c") == 1.0
    ledger.verify()


def test_a_backup_has_what_was_committed_last(tmp_path: Path, key: Path) -> None:
    """The file alone, copied beside its log, lacks it."""
    with tl.init(f"sqlite:///{tmp_path / 'x.db'}", key_file=key) as ledger:
        ledger.create("b", epsilon=4.0, **TERMS)
        spend(ledger, "one")
        ledger.backup(tmp_path / "whole.db")
        shutil.copy(tmp_path / "x.db", tmp_path / "copied.db")
        with pytest.raises(InvalidParameter, match="exists"):
            ledger.backup(tmp_path / "whole.db")
    with tl.open(f"sqlite:///{tmp_path / 'whole.db'}") as whole:
        assert used(whole) == 1.0
        whole.verify()
    with closing(sqlite3.connect(tmp_path / "copied.db")) as copied:  # its own context would not close it
        assert copied.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


# An audit that somebody edited.


def edited(ledger: Ledger, *statements: str) -> None:
    """By somebody who owns the database, and takes the triggers away first."""
    database = database_of(ledger)
    postgresql = database.dialect == "postgresql"
    names = [(name, table) for name, _, table, *_ in migrations._FORBIDDEN]
    with database.engine.connect() as connection:
        connection.begin() if postgresql else connection.exec_driver_sql("BEGIN IMMEDIATE")
        for name, table in names:
            connection.execute(text(f"DROP TRIGGER {name} ON {table}" if postgresql else f"DROP TRIGGER {name}"))
        for each in statements:
            connection.exec_driver_sql(each)
        connection.commit() if postgresql else connection.exec_driver_sql("COMMIT")


EDITS: Mapping[str, tuple[str, str]] = {
    "a line is changed": (
        "UPDATE audit SET body = replace(body, '\"units\"', '\"unitz\"'), actor = 'eve' WHERE root = 'b' AND seq = 2",
        "line 2 is not the one",
    ),
    "a time is changed": ("UPDATE audit SET at = at - 1 WHERE root = 'b' AND seq = 3", "line 3"),
    "a line is cut out": ("DELETE FROM audit WHERE root = 'b' AND seq = 2", "line 3 is not the one"),
    "the end is cut off": (
        "DELETE FROM audit WHERE root = 'b' AND seq = 3",
        "state is committed, and the audit gives running",
    ),
    "all is cut off": ("DELETE FROM audit WHERE root = 'b'", "b"),
    "a counter is lowered": ("UPDATE axis SET spent = 0 WHERE budget = 'b' AND name = 'epsilon'", "spent is 0"),
    "a total is raised": ("UPDATE axis SET total = ceiling, ceiling = ceiling WHERE total < ceiling", ""),
    "a ceiling is raised": ("UPDATE axis SET ceiling = ceiling + 1 WHERE budget = 'b'", "ceiling is"),
    "a job is taken out": ("UPDATE reservation SET state = 'cancelled'", "state is cancelled"),
    "a job is forgotten": ("DELETE FROM charge", "charge"),
    "a count is changed": ("UPDATE tally SET number = 7 WHERE budget = 'b' AND state = 'committed'", "number is 7"),
    "a place is forgotten": ("DELETE FROM place", "place"),
    "a place is another's": ("UPDATE place SET principal = 'eve'", "principal is eve"),
    "what a job did is changed": ("UPDATE reservation SET note = 'x'", "note is x"),
    "an answer is another": ("UPDATE answer SET body_hash = 'x' WHERE events <> ''", "body_hash is x"),
    "an answer is forgotten": ("DELETE FROM answer", "answer"),
    "a token is made": (
        "INSERT INTO token VALUES ('eve', 'x', 'admin', NULL, NULL, 4611686018427387904, 0)",
        "token eve has no line",
    ),
    "a promise is changed": ("UPDATE budget SET promise = '{}' WHERE id = 'b'", "promise is"),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_somebody_edited_is_found(ledger: Ledger, name: str) -> None:
    spend(ledger, "one")
    ledger.verify()
    statement, finding = EDITS[name]
    edited(ledger, statement)
    if not finding:  # nothing to raise here: the totals are the ceilings
        ledger.verify()
        return
    with pytest.raises(tl.VerificationFailed, match=finding):
        ledger.verify()


def test_who_rewrites_the_whole_chain_is_noticed_by_an_anchor_and_by_receipts(ledger: Ledger) -> None:
    spend(ledger, "one")
    anchor, receipts = ledger.anchor(), ledger.receipts
    database = database_of(ledger)
    with database.read() as connection:
        heads = connection.execute(text("SELECT hash FROM audit WHERE root = 'b' AND seq = 1")).scalar_one()
    edited(
        ledger,
        "DELETE FROM audit WHERE root = 'b' AND seq > 1",
        f"UPDATE head SET seq = 1, hash = '{heads}' WHERE root = 'b'",
        "UPDATE axis SET spent = 0 WHERE budget = 'b'",
        "DELETE FROM charge",
        "DELETE FROM place",
        "DELETE FROM reservation",
        "UPDATE tally SET number = 0",
        "DELETE FROM answer WHERE events <> '[[\"b\",1]]'",
        "UPDATE head SET at = (SELECT at FROM audit WHERE root = 'b' AND seq = 1) WHERE root = 'b'",
    )
    ledger.verify()  # it holds together, and is another story
    with pytest.raises(tl.WentBack):
        ledger.verify(anchor)
    with pytest.raises((tl.WentBack, tl.Frozen)):
        ledger.verify(receipts=receipts)
    assert ledger.status("b")["state"] == "frozen"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET actor = 'eve'",
        "DELETE FROM audit",
        "UPDATE axis SET ceiling = ceiling + 1",
        "UPDATE axis SET total = total - 1",
        "UPDATE axis SET spent = ceiling + 1",
        "UPDATE axis SET held = -1",
        "UPDATE axis SET dead = 1 WHERE need = 'all'",
        "DELETE FROM axis",
    ],
)
def test_the_database_itself_forbids_it(ledger: Ledger, statement: str) -> None:
    spend(ledger, "one")
    with pytest.raises(Exception, match=r"written once|keeps its ceiling|stays|CHECK|check"):
        _execute(ledger, lambda connection: connection.exec_driver_sql(statement))
    ledger.verify()


def _execute(ledger: Ledger, work: Callable[[Connection], Any]) -> None:
    database_of(ledger).write(work, ["b"])


def test_replacing_a_line_goes_around_no_trigger(tmp_path: Path) -> None:
    with tl.init(f"sqlite:///{tmp_path / 'x.db'}") as ledger:
        ledger.create("b", epsilon=4.0, **TERMS)
        row = "SELECT root, seq, at, 'eve', body, prev, hash FROM audit WHERE root = 'b'"
        with pytest.raises(Exception, match="written once"):
            _execute(ledger, lambda each: each.exec_driver_sql(f"INSERT OR REPLACE INTO audit {row}"))


def test_sums_beyond_64_bits_raise(tmp_path: Path) -> None:
    with tl.init(f"sqlite:///{tmp_path / 'x.db'}") as ledger:
        ledger.create("b", epsilon=4.0, **TERMS)
        with pytest.raises(Exception, match=r"CHECK|cannot store REAL"):
            _execute(ledger, lambda each: each.exec_driver_sql("UPDATE axis SET held = 9223372036854775807 + 1"))


def test_a_dead_order_stays_dead(ledger: Ledger) -> None:
    ledger.create(
        "menu", epsilon=20.0, delta=1e-6, relation="add_remove", unit="one person", orders={"2": 0.5, "64": 0.5}
    )
    ledger.reserve({"menu": "Gaussian(sigma=1.0)"}, "kills 64")
    dead = [each["name"] for each in ledger.status("menu")["axes"] if each["dead"]]
    assert dead == ["order 64"]
    for change in ("dead = 0", "spent = spent + 1", "held = held + 1"):
        with pytest.raises(Exception, match="stays dead"):
            _execute(ledger, lambda each, to=change: each.exec_driver_sql(f"UPDATE axis SET {to} WHERE dead = 1"))  # type: ignore[misc]
    with pytest.raises(Exception, match="no axis of the budget is left"):
        _execute(ledger, lambda each: each.exec_driver_sql("UPDATE axis SET dead = 1 WHERE name = 'order 2'"))
    ledger.verify()


# A clock that jumps.


@pytest.fixture
def clock() -> list[int]:
    return [0]


@pytest.fixture
def timed(ledger_url: str, clock: list[int]) -> Iterator[Ledger]:
    tl.init(ledger_url).close()
    with Ledger(LocalService(Database(ledger_url, clock=lambda now: now + clock[0]), Actor("ann"))) as found:
        found.create("b", epsilon=4.0, **TERMS)
        yield found
        found.verify()


def test_a_clock_that_is_set_back_gives_nothing_back(timed: Ledger, clock: list[int]) -> None:
    running = timed.reserve({"b": ONE}, "running", ttl=60, start=True)
    waiting = timed.reserve({"b": ONE}, "waiting", ttl=60)
    clock[0] = 2 * DAY
    later = timed.reserve({"b": ONE}, "later", ttl=60)
    assert [timed.reservation(each.id).state for each in (running, waiting)] == ["committed", "cancelled"]
    clock[0] = -30 * DAY
    with pytest.raises(tl.Cancelled):
        waiting.claim()
    assert timed.reservation(later.id).state == "reserved"
    assert timed.reserve({"b": ONE}, "last", ttl=60).document["made"] >= later.document["made"]
    times = [line["at"] for line in timed.audit("b")]
    assert times == sorted(times)


def test_a_clock_that_is_set_back_makes_no_token_good_again(timed: Ledger, clock: list[int]) -> None:
    desk = timed._desk
    assert isinstance(desk, LocalService)
    secret = timed.token("eve", role="viewer", root="b", seconds=60)
    assert desk.token(secret).name == "eve"
    clock[0] = DAY
    with pytest.raises(tl.Denied):
        desk.token(secret)
    clock[0] = 0
    with pytest.raises(tl.Denied):
        desk.token(secret)


# Carried to another place, and to another version.


def test_no_root_is_left_behind_that_could_be_opened_in_both_places(ledger: Ledger, tmp_path: Path) -> None:
    ledger.create("c", epsilon=4.0, **TERMS)
    ledger.freeze("c", "a test")
    with pytest.raises(tl.Frozen):
        ledger.export(tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()
    assert ledger.status("b")["state"] == "open"
    ledger.recover("c", "a test")
    ledger.export(tmp_path / "out.jsonl")
    assert {each["state"] for each in ledger.budgets()} == {"exported"}
    with pytest.raises(FileExistsError):
        ledger.export(tmp_path / "out.jsonl")
    with tl.import_file(f"sqlite:///{tmp_path / 'there.db'}", tmp_path / "out.jsonl") as there:
        spend(there, "on")
        there.verify()


def test_an_export_that_was_edited_is_not_imported(ledger: Ledger, tmp_path: Path) -> None:
    spend(ledger, "one")
    ledger.export(tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text("utf-8").splitlines()

    def imported(changed: list[str]) -> None:
        (tmp_path / "changed.jsonl").write_text("\n".join(changed) + "\n", "utf-8")
        tl.import_file(f"sqlite:///{tmp_path / 'there.db'}", tmp_path / "changed.jsonl")

    for at in range(1, len(lines)):
        line = json.loads(lines[at])
        with pytest.raises(tl.VerificationFailed):
            imported([*lines[:at], json.dumps({**line, "at": line["at"] + 1}), *lines[at + 1 :]])
    middle = next(at for at, line in enumerate(lines) if '"root":"b","seq":2' in line)
    with pytest.raises(tl.VerificationFailed):
        imported([*lines[:middle], *lines[middle + 1 :]])
    for broken in ([], ["[]"], ['{"format":"other"}'], [lines[0], "{}"], [lines[0], "no"]):
        with pytest.raises(DataError):
            imported(broken)
    assert not (tmp_path / "there.db").exists()


def test_an_export_that_was_cut_is_not_imported(ledger: Ledger, tmp_path: Path) -> None:
    spend(ledger, "one")
    ledger.token("ann", role="viewer", root="b")
    ledger.export(tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text("utf-8").splitlines(keepends=True)
    for kept in range(1, len(lines)):
        (tmp_path / "cut.jsonl").write_text("".join(lines[:kept]), "utf-8")
        with pytest.raises(tl.VerificationFailed):
            tl.import_file(f"sqlite:///{tmp_path / 'there.db'}", tmp_path / "cut.jsonl")
    assert not (tmp_path / "there.db").exists()


def test_what_left_before_is_not_carried_again(ledger: Ledger, tmp_path: Path) -> None:
    """Else it would be open in two places."""
    ledger.export(tmp_path / "first.jsonl")
    ledger.create("new", epsilon=4.0, **TERMS)
    ledger.export(tmp_path / "second.jsonl")
    with tl.import_file(f"sqlite:///{tmp_path / 'there.db'}", tmp_path / "second.jsonl") as there:
        assert [each["name"] for each in there.budgets()] == ["new"]
        there.verify()
    ledger.export(tmp_path / "both.jsonl", again=True)
    with tl.import_file(f"sqlite:///{tmp_path / 'third.db'}", tmp_path / "both.jsonl") as there:
        assert [each["name"] for each in there.budgets()] == ["b", "new"]
        spend(there, "on")
        there.verify()


def test_a_beginning_that_was_interrupted_is_finished(ledger_url: str) -> None:
    database = Database(ledger_url)
    database.prepare()
    database.close()
    with pytest.raises(tl.NotFound, match="never finished"):
        tl.open(ledger_url)
    with tl.init(ledger_url) as ledger:
        ledger.create("b", epsilon=4.0, **TERMS)
        assert ledger.verify()["roots"] == 1


def test_two_restores_are_made_up_for_one_after_the_other(restored: Restored, tmp_path: Path) -> None:
    """The second goes back behind the first recovery: no number is given twice, nothing is vouched for by chance."""
    backup = restored.place.read_bytes()
    with pytest.raises(tl.WentBack):
        restored.open(anchor=restored.anchor)
    with restored.open() as after:
        after.recover("b", "first", anchor=restored.anchor, complete=True)
        spend(after, "later")
        second = after.anchor()
    for end in ("", "-wal", "-shm"):
        Path(f"{restored.place}{end}").unlink(missing_ok=True)
    restored.place.write_bytes(backup)
    with pytest.raises(tl.WentBack):
        restored.open(anchor=second)
    with restored.open() as after:
        after.recover("b", "second", anchor=second, complete=True)
        assert used(after) == 3.0
        after.recover("_ledger", "second")
        after.verify(second)
        lost = chain.receipt("b", 5, "0" * 64, None)  # of the first epoch, which the second recovery knows nothing of
        with pytest.raises(tl.WentBack):
            after.compare(receipts=[lost])


def test_orders_that_died_here_and_there_are_used_up(tmp_path: Path, key: Path) -> None:
    with tl.init(f"sqlite:///{tmp_path / 'x.db'}", key_file=key) as ledger:
        ledger.create("b", epsilon=20.0, delta=1e-6, relation="add_remove", unit="x", orders={"2": 0.5, "64": 0.5})
        ledger.reserve({"b": "Gaussian(sigma=1.0)"}, "kills 64")
        anchor = ledger.anchor()
        anchor["roots"]["b"]["dead"]["b"] = ["order 2"]
        ledger.freeze("b", "a test")
        ledger.recover("b", "a test", anchor=anchor, complete=True)
        assert ledger.quote("b", "Gaussian(sigma=100)").more == 0
        ledger.verify()


def test_a_line_that_ends_a_job_twice_is_found(ledger: Ledger) -> None:
    """By somebody who may write new lines, with all tables to match."""
    spend(ledger, "one")
    (job,) = ledger.reservations("b")

    def forged(connection: Connection) -> None:
        at = database_of(ledger).now(connection)
        chain.append(connection, "b", at, "eve", {"event": "cancel", "reservation": job["id"], "attest": "never read"})
        connection.exec_driver_sql("UPDATE axis SET held = held - 0, spent = 0 WHERE budget = 'b'")

    _execute(ledger, forged)
    with pytest.raises(tl.VerificationFailed, match="is committed, and is said to be cancelled then"):
        ledger.verify()


FORGED: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]] = {
    "a budget is made again": lambda made, job: made,
    "a job is made again": lambda made, job: {"event": "reserve", "reservation": {**job}, "charges": [], "kills": []},
    "a running job is given back": lambda made, job: {"event": "expire", "reservation": job["id"], "to": "cancelled"},
    "without a word": lambda made, job: {"event": "cancel", "reservation": job["id"], "attest": ""},
    "a running job is refused": lambda made, job: {"event": "expire", "reservation": job["id"], "to": "refused"},
    "another claims it": lambda made, job: {"event": "claim", "reservation": job["id"], "claimant": "x", "expires": 1},
    "it is open again": lambda made, job: {"event": "arrive", "settled": []},
    "nothing of it ran": lambda made, job: {
        "event": "commit",
        "reservation": job["id"],
        "part": {},
        "units": [[*each[:2], 0] for each in job["charges"]],
    },
    "less may be spent": lambda made, job: {"event": "renew", "totals": {"b": {"epsilon": 1}}},
    "a token comes back": lambda made, job: {"event": "token", "token": {"id": "eve", "sha256": "x"}},
}


@pytest.mark.parametrize("name", FORGED)
def test_a_line_that_no_ledger_writes_is_found(ledger: Ledger, name: str) -> None:
    job = ledger.reserve({"b": ONE}, "one", start=True).document
    lines = [(line["at"], json.loads(line["body"])) for line in ledger.audit("b")]
    made = {key: value for key, value in lines[0][1].items() if key in ("event", "budget", "axes")}
    row = lines[1][1]["reservation"]
    forged = FORGED[name](made, {**row, "charges": job["charges"]} if name != "a job is made again" else row)
    _execute(ledger, lambda connection: chain.append(connection, "b", 0, "eve", forged))
    with pytest.raises(tl.VerificationFailed) as failed:
        ledger.verify()
    assert any("b: " in each and "head" not in each for each in failed.value.findings)
    assert not all(each.startswith(("axis", "reservation", "charge", "head")) for each in failed.value.findings)


def test_a_job_of_a_root_that_left_before_counts_as_run(ledger: Ledger, tmp_path: Path) -> None:
    ledger.create("c", epsilon=4.0, **TERMS)
    both = ledger.reserve({"b": ONE, "c": ONE}, "both")
    ledger._ask("export", {"root": "b", "why": "a test"})
    ledger.export(tmp_path / "rest.jsonl")
    with tl.import_file(f"sqlite:///{tmp_path / 'there.db'}", tmp_path / "rest.jsonl") as there:
        assert there.reservation(both.id).state == "committed"
        assert used(there, "c") == 1.0
        spend(there, "on", budget="c")
        there.verify()


def test_an_export_of_nothing_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    ledger.export(tmp_path / "out.jsonl")
    with pytest.raises(tl.WrongState, match="again"):
        ledger.export(tmp_path / "more.jsonl")
    assert not (tmp_path / "more.jsonl").exists()


def test_roots_that_share_a_job_are_recovered_one_after_the_other(ledger: Ledger) -> None:
    ledger.create("c", epsilon=4.0, **TERMS)
    ledger.reserve({"b": ONE, "c": ONE}, "both")
    anchor = ledger.anchor()
    anchor["at"] += 1  # after all that was charged
    for root in ("b", "c"):
        ledger.freeze(root, "a test")
    for root in ("b", "c"):
        ledger.recover(root, "a test", anchor=anchor, complete=True)
        assert used(ledger, root) == 1.0
    ledger.verify()


def test_the_turn_is_a_file_of_its_own(tmp_path: Path) -> None:
    """Somebody who may write to the folder has made it a link to another's file."""
    secret = tmp_path / "secret"
    secret.write_text("mine")
    secret.chmod(0o600)
    with tl.init(f"sqlite:///{tmp_path / 'x.db'}") as ledger:
        (tmp_path / "x.db-turn").unlink()
        for link in (Path.symlink_to, Path.hardlink_to):
            link(tmp_path / "x.db-turn", secret)
            with pytest.raises(tl.Unavailable):
                ledger.create("b", epsilon=4.0, **TERMS)
            (tmp_path / "x.db-turn").unlink()
        ledger.create("b", epsilon=4.0, **TERMS)
    assert secret.stat().st_mode & 0o777 == 0o600


def test_frozen_jobs_keep_no_others_from_ending(
    timed: Ledger, clock: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tightrope.ledger.transactions.jobs.DUE_MAX", 2)
    timed.create("c", epsilon=4.0, **TERMS)
    for number in range(3):
        timed.reserve({"c": ONE}, f"c{number}", ttl=5)
    waiting = timed.reserve({"b": ONE}, "b", ttl=10)
    timed.freeze("c", "a test")
    clock[0] += DAY
    timed.reserve({"b": ONE}, "next").cancel()
    assert timed.reservation(waiting.id).state == "cancelled"


@pytest.mark.parametrize("principal", [1000, "", "a\x00", "a\nb", "x" * 201])
def test_a_principal_is_a_name(tmp_path: Path, principal: Any) -> None:
    with pytest.raises(InvalidParameter, match="principal"):
        tl.init(f"sqlite:///{tmp_path / 'x.db'}", principal=principal)


def test_steps_to_a_newer_version_are_taken_between_two_verifications(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: Path
) -> None:
    address = f"sqlite:///{tmp_path / 'x.db'}"
    with tl.init(address, key_file=key) as ledger:
        ledger.create("b", epsilon=4.0, **TERMS)
        spend(ledger, "one")
        assert ledger.migrate() == len(migrations.STEPS)
    further = {
        "sqlite": ("CREATE TABLE further (x INTEGER) STRICT",),
        "postgresql": ("CREATE TABLE further (x BIGINT)",),
    }
    for module in ("database", "maintenance"):
        monkeypatch.setattr(f"tightrope.ledger.{module}.STEPS", (*migrations.STEPS, further))
    with pytest.raises(tl.Conflict, match="migrate"):
        tl.open(address)
    database = Database(address)
    newer = len(migrations.STEPS) + 1
    assert maintenance.migrate(database, None) == newer
    assert (tmp_path / f"x.db.before-{newer}").exists()
    with tl.open(address, key_file=key) as ledger:
        assert used(ledger) == 1.0
    monkeypatch.undo()
    with pytest.raises(tl.Conflict, match="newer than this program"):
        tl.open(address)
    database.close()


def test_a_ledger_that_does_not_hold_together_is_not_migrated(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spend(ledger, "one")
    edited(ledger, "UPDATE axis SET spent = 0")
    further = {
        "sqlite": ("CREATE TABLE further (x INTEGER) STRICT",),
        "postgresql": ("CREATE TABLE further (x BIGINT)",),
    }
    for module in ("database", "maintenance"):
        monkeypatch.setattr(f"tightrope.ledger.{module}.STEPS", (*migrations.STEPS, further))
    with pytest.raises(tl.VerificationFailed):
        ledger.migrate(tmp_path / "before.db")
    assert database_of(ledger).version() == len(migrations.STEPS)


def test_a_file_that_cannot_be_written_to_is_said_so_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("tightrope.ledger.service.sleep", waited.append)
    with tl.init(f"sqlite:///{tmp_path / 'x.db'}") as ledger:
        ledger.create("b", epsilon=4.0, **TERMS)
        engine = database_of(ledger).engine
        event.listen(engine, "checkout", lambda connection, *_: connection.execute("PRAGMA query_only=ON"))
        with pytest.raises(tl.Unavailable, match="readonly"):
            spend(ledger, "one")
    assert waited == []


def test_refusals_are_counted(ledger: Ledger) -> None:
    ledger.create("b_", epsilon=1.0, **TERMS)
    with pytest.raises(tl.BudgetExhausted):
        spend(ledger, "large", "PureDP(epsilon=9.0)", "b_")
    assert ledger.status("b_")["jobs"] == {"refused": 1}
    assert ledger.status("b")["jobs"] == {}


def test_a_receipt_is_read_strictly(ledger: Ledger) -> None:
    for shown in (
        "",
        "b",
        "b:1",
        "b:1:xyz",
        f"b:-1:{'0' * 64}",
        f"b:{'9' * 30}:{'0' * 64}",
        f"b:1:{'0' * 64}:mac:more",
    ):
        with pytest.raises(DataError):
            ledger.compare(receipts=[shown])
    assert ledger.receipts
    for shown in ledger.receipts:
        assert chain.Receipt.of(shown, b"0123456789abcdef" * 2).authentic
