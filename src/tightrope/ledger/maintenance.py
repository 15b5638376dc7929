"""Keeping a ledger: beginning, verifying, backing up, carrying to another place, comparing with what was anchored.

`verify` reads every chain from its beginning and rebuilds every table from it; nothing else is trusted.
A backup is made by the database itself (VACUUM INTO, in one transaction): a copy of the file without its -wal file
would lack what was committed last. A ledger that comes back from a backup has forgotten charges: anchors and receipts
notice.
"""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, func, select

from .. import DataError, InvalidParameter
from . import chain, tables
from .chain import SYSTEM, AuditLine, canonical
from .database import Database
from .errors import Conflict, NotFound, VerificationFailed, WentBack
from .forking import GATE
from .migrations import STEPS
from .reading import read_lines
from .replay import HOLDING, KEYS, Replay, RowSums, broken, differences
from .service import LocalService
from .transactions import jobs
from .units import UNITS_MAX
from .values import moment

FORMAT = "tightrope-ledger"
DAMAGES_MAX = 20  # that are named
ROWS_AT_A_TIME = 5000  # rows that are written at a time


def begin(desk: LocalService) -> None:
    """Makes the tables and the first line of a new ledger; Conflict where there is one."""
    database = desk.database
    if database.exists and _begun(database):
        raise Conflict(f"there is a ledger at {database.shown} already")
    database.prepare()

    def work(connection: Connection) -> None:
        if connection.execute(select(tables.head.c.root).where(tables.head.c.root == SYSTEM)).scalar() is not None:
            return
        chain.begin(connection, SYSTEM)
        event = {"event": "begin", "version": len(STEPS), "ledger": os.urandom(16).hex()}
        chain.append(connection, SYSTEM, database.now(connection), desk.actor.name, event)

    database.write(work, [SYSTEM])


def _begun(database: Database) -> bool:
    """Whether the first line was written: whoever made the tables may have ended before that."""
    with database.read() as connection:
        return connection.execute(select(tables.head.c.root).where(tables.head.c.root == SYSTEM)).scalar() is not None


def current(database: Database) -> None:
    """NotFound without a ledger, Conflict where its tables are of another version than this program."""
    version = database.version()
    if version < len(STEPS):
        raise Conflict(f"the ledger is of version {version} and this program of {len(STEPS)}: tightrope ledger migrate")
    if version > len(STEPS):
        raise Conflict(f"the ledger is of version {version}, newer than this program ({len(STEPS)}): update Tightrope")
    if not _begun(database):
        raise NotFound(f"the ledger at {database.shown} was never finished: tightrope ledger init does that")


def verify(connection: Connection) -> dict[str, Any]:
    """Rebuilds everything from the chains and compares; VerificationFailed with what differs.

    The chains are read once, and no more is held than what lives: rows of jobs that are over are compared by sums of
    keyed hashes. Where these differ all is read again, and held, to name what does.
    """
    replay = Replay(keep=False)
    count = _replayed(connection, replay)
    findings = [*replay.findings, *_strays(connection)]
    for table in _standing(connection):
        if table not in tables.GROWING:
            findings += _different(connection, replay, table)
    findings += broken(replay.tables["axis"].values())
    replay.finish()
    if findings or not _same_rows(connection, replay):
        findings = _named(connection) or findings or ["a row of a job that is over is not the one that the chains give"]
    findings += damaged(connection)
    if findings:
        raise VerificationFailed(tuple(findings))
    roots = connection.execute(select(func.count()).select_from(tables.head)).scalar_one()
    reservations = connection.execute(select(func.count()).select_from(tables.reservation)).scalar_one()
    return {"lines": count, "roots": roots - 1, "reservations": reservations}


def _named(connection: Connection) -> list[str]:
    """All that differs, with every row held."""
    replay = Replay()
    _replayed(connection, replay)
    findings = [*replay.findings, *_strays(connection)]
    for table in _standing(connection):
        findings += _different(connection, replay, table)
    return findings + broken(replay.tables["axis"].values())


def _replayed(connection: Connection, replay: Replay) -> int:
    """All chains, line by line; how many lines."""
    count = 0
    for root in connection.execute(select(tables.head.c.root).order_by(tables.head.c.root)).scalars().all():
        replay.begin(root)
        for line in read_lines(connection, root):
            replay.line(line)
            count += 1
    return count


def _strays(connection: Connection) -> list[str]:
    of = tables.audit.c
    heads = select(tables.head.c.root)
    strays = connection.execute(select(of.root).where(of.root.not_in(heads)).distinct())
    return [f"{root}: there are lines and no head" for root in strays.scalars()]


def _standing(connection: Connection) -> tuple[Table, ...]:
    """The tables that this version of the ledger has."""
    return tuple(table for table in tables.REBUILT if connection.dialect.has_table(connection, table.name))


def _different(connection: Connection, replay: Replay, table: Table) -> list[str]:
    rows = connection.execute(select(table)).mappings()
    stand = {tuple(row[name] for name in KEYS[table.name]): dict(row) for row in rows}
    return differences(replay.tables[table.name], stand, table.name)


def _same_rows(connection: Connection, replay: Replay) -> bool:
    """Whether the tables that grow with every job have the rows of the chains, and no others."""
    assert replay.sums is not None
    sums = RowSums(replay.sums.key)
    for table in _standing(connection):
        if table not in tables.GROWING:
            continue
        names = sorted(column.name for column in table.columns)
        for row in connection.execution_options(yield_per=ROWS_AT_A_TIME).execute(select(table)).mappings():
            if table is tables.answer:
                for root, seq in json.loads(row["events"]):
                    sums.add("answer", [row["principal"], row["key"], row["body_hash"], row["reply"], root, seq])
            elif table is tables.charge:
                sums.add("charge", [row["reservation"], row["budget"], row["name"], row["units"]])
            else:
                sums.add(table.name, [row[name] for name in names])
    here = {table.name for table in _standing(connection)}
    return sums.sums == {name: value for name, value in replay.sums.sums.items() if name in here}


def damaged(connection: Connection) -> list[str]:
    """What SQLite finds wrong in its file: a page or an index that no question above has met."""
    if connection.dialect.name != "sqlite":
        return []
    found = connection.exec_driver_sql(f"PRAGMA integrity_check({DAMAGES_MAX})").scalars().all()
    return [f"the file is damaged: {' '.join(each.split())}" for each in found if each != "ok"]


def verify_chains(
    chains: Mapping[str, Iterable[Mapping[str, Any]]], anchor: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The same as far as the lines alone tell; heads of an anchor must be among them."""
    replay, count = Replay(), 0
    known = {} if anchor is None else dict(anchored(anchor)["roots"])
    for root, lines in chains.items():
        replay.begin(root)
        wanted = known.get(root, {"seq": 0})
        for each in lines:
            line = AuditLine(**each)
            replay.line(line)
            count += 1
            if line.seq == wanted["seq"] and line.hash != wanted["hash"]:
                replay.findings.append(f"{root}: line {line.seq} is not the one that the anchor names")
        if replay.tables["head"][(root,)]["seq"] < wanted["seq"]:
            raise WentBack(f"the anchor names line {wanted['seq']} of {root!r}, which the ledger does not have")
    findings = [*replay.findings, *broken(replay.tables["axis"].values())]
    if findings:
        raise VerificationFailed(tuple(findings))
    return {"lines": count, "roots": len(chains), "reservations": len(replay.tables["reservation"])}


def compare(connection: Connection, anchor: Mapping[str, Any]) -> None:
    """WentBack where the ledger lacks lines that the anchor names, unless a recovery has made up for them."""
    known = anchored(anchor)["roots"]
    heads = [chain.Receipt(root, each["seq"], each["hash"], True) for root, each in known.items() if each["seq"]]
    missing = [head for head in heads if not head.stands(connection)]
    if missing:
        raise WentBack.of([(receipt.root, receipt.seq) for receipt in missing], f"the anchor of {moment(anchor['at'])}")


def anchored(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """An anchor that was read from somewhere; DataError where it is none."""
    match document:
        case {"roots": dict(roots), "at": at} if _whole_number(at) and all(map(_is_anchored, roots.values())):
            return document
    raise DataError("this is not an anchor, as tightrope ledger anchor writes it")


def _whole_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= UNITS_MAX


def _is_anchored(known: object) -> bool:
    """What an anchor has of one root."""
    match known:
        case {"seq": seq, "hash": str(), "used": dict(used), "dead": dict(dead)}:
            counted = all(isinstance(each, dict) and all(map(_whole_number, each.values())) for each in used.values())
            ended = all(isinstance(each, list) and all(isinstance(a, str) for a in each) for each in dead.values())
            return _whole_number(seq) and counted and ended
    return False


def signed(anchor: Mapping[str, Any], secret: bytes | None) -> dict[str, Any]:
    """The anchor with proof that the ledger's key was there."""
    found = {name: value for name, value in anchor.items() if name != "mac"}
    return found if secret is None else {**found, "mac": chain.mac(secret, canonical(found))}


def authentic(anchor: Mapping[str, Any], secret: bytes | None) -> bool:
    """Whether this ledger's key made the anchor."""
    given = anchor.get("mac")
    if secret is None or not isinstance(given, str):
        return False
    return hmac.compare_digest(str(signed(anchor, secret)["mac"]).encode(), given.encode("utf-8", "surrogatepass"))


def backup(database: Database, target: str | Path) -> None:
    """A copy of one moment, whole; for SQLite. PostgreSQL has pg_dump and pg_basebackup."""
    place = Path(target)
    if database.dialect != "sqlite":
        raise InvalidParameter("a PostgreSQL ledger is backed up by pg_basebackup or pg_dump --serializable-deferrable")
    if place.exists():
        raise InvalidParameter(f"{place} exists: a backup is a new file")
    os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with GATE.using(), database.engine.connect() as connection:
            connection.exec_driver_sql("VACUUM INTO ?", (str(place),))
    except BaseException:
        with suppress(OSError):
            place.unlink()
        raise
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def migrate(database: Database, target: str | Path | None) -> int:
    """Verifies, makes a backup, takes the steps that are missing, and verifies again; the version reached."""
    version = database.version()
    if version > len(STEPS):
        raise Conflict(f"the ledger is of version {version}, newer than this program ({len(STEPS)}): update Tightrope")
    with database.read() as connection:
        verify(connection)
    if version == len(STEPS):
        return version
    if database.dialect == "sqlite":
        backup(database, target or f"{database.path}.before-{len(STEPS)}")
    database.prepare()
    with database.read() as connection:
        verify(connection)
    return len(STEPS)


def exported(connection: Connection, leaving: Iterable[str], secret: bytes | None = None) -> Iterator[str] | None:
    """The chains of these roots and that of the ledger as lines of JSON, the first of which says how they end.

    None while another root is spent here: an export leaves nothing behind that could be forgotten.
    """
    of = tables.budget.c
    if connection.execute(select(of.id).where(of.parent.is_(None), of.state != "exported").limit(1)).scalar():
        return None
    wanted = tables.head.c.root.in_([SYSTEM, *leaving])
    heads = connection.execute(select(tables.head).where(wanted).order_by(tables.head.c.root)).all()
    return _lines(connection, {row.root: [row.seq, row.hash] for row in heads}, secret)


def _lines(connection: Connection, heads: Mapping[str, list[Any]], secret: bytes | None) -> Iterator[str]:
    """The first line names the last of every chain, so that one proof of the key is for all of them."""
    yield canonical(signed({"format": FORMAT, "version": len(STEPS), "heads": heads}, secret))
    for root in heads:
        for line in read_lines(connection, root):
            yield canonical(line.document())


def imported(
    database: Database, lines: Iterator[str], secret: bytes | None = None, anchor: Mapping[str, Any] | None = None
) -> int:
    """Rebuilds a ledger from its chains, in an empty place; what was exported for good is open here again.

    secret: the key of the ledger that it comes from, which must have signed it; anchor: what it must still have.
    """
    first = _document(next(lines, ""))
    version = first.get("version")
    if first.get("format") != FORMAT or isinstance(version, bool) or version not in range(1, len(STEPS) + 1):
        raise DataError(f"this is not an export of a ledger of version 1 to {len(STEPS)}")
    heads = first.get("heads")
    if not isinstance(heads, dict) or not all(_is_head(each) for each in heads.values()):
        raise DataError("the first line of an export names the last line of each chain")
    if secret is not None and not authentic(first, secret) and ("mac" in first or anchor is None):
        how = "with another key, or changed since" if "mac" in first else "without a key, so that nobody answers for it"
        raise DataError(
            f"this export was made {how}: import it with the key of the ledger that it left, or, with an anchor of "
            "that ledger, without a key"
        )
    replay, read = Replay(), []
    for root in heads:
        replay.begin(str(root))
    for text in lines:
        found = _document(text)
        try:
            line = AuditLine(**found)
            if not isinstance(line.root, str) or not isinstance(line.body, str) or not _is_head([line.seq, line.hash]):
                raise TypeError
            replay.line(line)
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
            raise DataError("a line of the export is no line of an audit") from None
        read.append(line)
    findings = [*replay.findings, *broken(replay.tables["axis"].values()), *_cut(replay, heads)]
    if findings:
        raise VerificationFailed(tuple(findings))
    if anchor is not None:
        _expect_anchored(read, anchor)
    if database.exists:
        raise Conflict(f"there is a ledger at {database.shown} already: an import is for an empty place")
    database.prepare(lambda connection: _written(connection, replay, read))
    return len(read)


def _is_head(value: object) -> bool:
    """Whether it is the number of a line and its hash."""
    match value:
        case [int(seq), str()]:
            return not isinstance(seq, bool) and seq >= 0
    return False


def _expect_anchored(lines: Iterable[AuditLine], anchor: Mapping[str, Any]) -> None:
    """WentBack where the lines lack one that the anchor names."""
    known = {(line.root, line.seq): line.hash for line in lines}
    heads = {root: each for root, each in anchored(anchor)["roots"].items() if each["seq"]}
    missing = [
        (root, int(each["seq"])) for root, each in heads.items() if known.get((root, each["seq"])) != each["hash"]
    ]
    if missing:
        raise WentBack.of(missing, f"the anchor of {moment(anchor['at'])}")


def _cut(replay: Replay, heads: Mapping[str, Any]) -> list[str]:
    """Chains that do not end as the file says, or not with their leaving."""
    texts = [
        f"{root}: the chain does not end with its last line"
        for root, head in heads.items()
        if [replay.tables["head"][(root,)][name] for name in ("seq", "hash")] != head
    ]
    tops = [row for row in replay.tables["budget"].values() if row["parent"] is None]
    texts += [f"{row['id']}: the chain does not end with its export" for row in tops if row["state"] != "exported"]
    if {row["id"] for row in tops} != set(heads) - {SYSTEM} or SYSTEM not in heads:
        texts.append("the chains are not those of the budgets that they make")
    return texts


def _document(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise DataError("an export holds one JSON object on each line")
    return document


def _written(connection: Connection, replay: Replay, lines: list[AuditLine]) -> None:
    """All tables; a root whose last line here is its export goes on at this place, as the chain says next."""
    if connection.execute(select(func.count()).select_from(tables.head)).scalar_one():
        raise Conflict("somebody began a ledger here at the same time")
    order = [*tables.REBUILT]
    parents = {row["id"]: row["parent"] for row in replay.tables["budget"].values()}

    def depth(name: str) -> int:
        above = parents[name]
        return 0 if above is None else 1 + depth(above)

    for table in order:
        found = list(replay.tables[table.name].values())
        if table.name == "budget":
            found.sort(key=lambda row: depth(row["id"]))
        for start in range(0, len(found), ROWS_AT_A_TIME):
            connection.execute(table.insert(), found[start : start + ROWS_AT_A_TIME])
    for start in range(0, len(lines), ROWS_AT_A_TIME):
        connection.execute(tables.audit.insert(), [line.document() for line in lines[start : start + ROWS_AT_A_TIME]])
    here = {row["id"] for row in replay.tables["budget"].values() if row["parent"] is None}
    apart = [row for row in map(dict, replay.tables["reservation"].values()) if not _whole(row, here)]
    for row in apart:  # a job of a root that is elsewhere can end in no chain here: it counts as run
        jobs.settle(connection, jobs.found_row(connection, row["id"]))
    for root in sorted(here):
        connection.execute(tables.budget.update().where(tables.budget.c.id == root).values(state="open"))
        settled = [row["id"] for row in apart if root in json.loads(row["roots"])]
        chain.append(connection, root, 0, "import", {"event": "arrive", "settled": settled})


def _whole(row: Mapping[str, Any], here: set[str]) -> bool:
    return row["state"] not in HOLDING or set(json.loads(row["roots"])) <= here
