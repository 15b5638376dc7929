"""One storage for both databases: SQLite in one file, PostgreSQL for many machines.

SQLite: WAL, every commit on disk before it is answered (synchronous=FULL), writers one after the other in the order in
which they came (a lock beside the file, then BEGIN IMMEDIATE, which is what forbids overspending).
PostgreSQL: READ COMMITTED; a writer first locks the heads of all chains that it will write to, in order of their names,
and every write goes to a chain: so what it reads of these budgets stays true until it commits.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from io import FileIO
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from sqlalchemy import URL, Connection, Engine, bindparam, create_engine, event, make_url, select, text, update
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, IntegrityError, OperationalError, ProgrammingError
from sqlalchemy.pool import NullPool

from .. import DataError, InvalidParameter
from . import tables
from .errors import NotFound, Unavailable
from .forking import GATE
from .migrations import STEPS
from .sqlite_file import FileConnection, begun, prepared

NO_LEDGER = "a ledger is at sqlite:///FILE, postgresql://... or https://..."
BUSY_SECONDS = 20.0  # for which a lock is waited for that another process holds
AGAIN_SECONDS = 15.0  # for which a database that went away is asked again
REMOTE_FILES = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "lustre", "glusterfs", "fuse.sshfs", "ncpfs", "beegfs")
HELD = (
    "another process has held the lock {name} for {seconds:g} seconds, and nothing was written: find it (fuser -v "
    "{name}) and end it if it hangs"
)
HELD_ROWS = (
    f"another session has held the lock of these chains for {BUSY_SECONDS:g} seconds, and nothing was written: "
    "pg_stat_activity and pg_blocking_pids show it"
)
MAY_WRITE = " (chmod: whoever asks must be able to write to the ledger's file, -wal, -shm, -turn, and to the folder)"
COLLISIONS_MAX, DUPLICATE = 5, "23505"  # and PostgreSQL's word for it
PRIVILEGE = "42501"  # PostgreSQL: this role may not
ABSENT = ("42P01", "42703", "3F000")  # a table, a column, a schema is not there
LOCKED = "55P03"  # PostgreSQL: a lock was not given in time
CONFLICTS = ("40001", "40P01")  # PostgreSQL's serialisation failure and deadlock
_SEEN = "(SELECT max(at) FROM head), (SELECT max(repairs) FROM ledger_schema)"
NOW = {  # and the latest that was seen, and how often an administrator set that back
    "sqlite": f"SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), {_SEEN}",
    "postgresql": f"SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT), {_SEEN}",
}
LOCK = (
    select(tables.head.c.root)
    .where(tables.head.c.root.in_(bindparam("roots", expanding=True)))
    .order_by(tables.head.c.root)
    .with_for_update()
)
SECRETS = ("password", "sslpassword", "oauth_client_secret")  # of PostgreSQL's options
SAFE = ("fsync", "full_page_writes")  # of PostgreSQL: what was answered is lost without them

BESIDE = ("-wal", "-shm", "-turn")  # of a file of SQLite
TURN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)

Clock = Callable[[int], int]
Fault = Callable[[str], None]


class Database:
    """Where a ledger is kept. clock and fault are for tests: another time, and a place to be killed at."""

    def __init__(self, url: str, *, clock: Clock | None = None, fault: Fault | None = None) -> None:
        parsed = _address(url)
        kind = parsed.get_backend_name()
        if kind not in NOW:
            raise InvalidParameter(f"{NO_LEDGER}, not {kind:.20}://")
        self.dialect, self.shown = kind, shown_address(url)
        if kind == "sqlite":
            self.path = _file(parsed)
            parsed = parsed.set(database=str(self.path))  # also for a process that works in another folder
        self._parsed = parsed
        self.url = parsed.render_as_string(hide_password=False)
        self._clock, self._fault = clock, fault
        self._engine: Engine | None = None
        self._process = 0
        self._latest = self._repairs = 0
        self._making = threading.Lock()

    @property
    def exists(self) -> bool:
        """Whether there is anything to open."""
        if self.dialect == "sqlite" and not self.path.exists():
            return False
        with self._connected() as connection:
            return bool(connection.dialect.has_table(connection, tables.schema.name))

    @property
    def engine(self) -> Engine:
        """Connections of this process: none is shared with the one that it was forked from."""
        with self._making:
            if self._engine is None or self._process != os.getpid():
                self._engine, self._process = self._made(), os.getpid()
                GATE.watch(self._engine)
            return self._engine

    def close(self) -> None:
        """Gives all connections back."""
        if self._engine is not None and self._process == os.getpid():
            self._engine.dispose()

    def _made(self) -> Engine:
        if self.dialect == "sqlite" and self._only_read():
            place = f"{self.path.as_uri()}?{'mode=ro' if Path(f'{self.path}-wal').exists() else 'immutable=1'}"
            return create_engine(
                "sqlite+pysqlite://",
                creator=lambda: sqlite3.connect(place, uri=True, factory=FileConnection, isolation_level=None),
                poolclass=NullPool,
            )
        if self.dialect == "sqlite":
            engine = create_engine(
                self._parsed.set(drivername="sqlite+pysqlite"),
                connect_args={"timeout": BUSY_SECONDS, "factory": FileConnection},
            )
            event.listen(engine, "connect", prepared)
            return engine
        wanted = self._parsed.set(drivername="postgresql+psycopg")
        engine = create_engine(wanted, pool_pre_ping=True, pool_size=16, max_overflow=48, pool_use_lifo=True)
        event.listen(engine, "connect", _postgresql_connected)
        return engine

    def _only_read(self) -> bool:
        """Whether it is a copy on a disk, or with rights, that let nobody write: it is read as it lies there."""
        return self.path.exists() and not (os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK))

    @contextmanager
    def _connected(self, turn: Callable[[], AbstractContextManager[object]] = nullcontext) -> Iterator[Connection]:
        try:
            with GATE.using(), turn(), self.engine.connect() as connection:
                yield connection
        except OperationalError as error:
            raise _unavailable(error) from None
        except ProgrammingError as error:
            raise self._forbidden(error) from None
        except DatabaseError as error:
            if type(error) is not DatabaseError:  # its kinds have their own meaning
                raise
            raise DataError(f"{self.shown} cannot be read as a ledger: {_reason(error)}") from None

    def _forbidden(self, error: ProgrammingError) -> Exception:
        """In one line, where it is the role that may not, or where the tables are not there."""
        state = getattr(error.orig, "sqlstate", None)
        if state in ABSENT:
            return DataError(f"{self.shown} cannot be read as a ledger: {_reason(error)}: is its search_path right?")
        if state != PRIVILEGE:
            return error
        return InvalidParameter(
            f"{_reason(error)} (to this role of PostgreSQL's at {self.shown}): open it as the owner of the tables, or "
            "as a role that may become it, with ?options=-crole%3DOWNER"
        )

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A view of one moment, which writes nothing."""
        with self._connected() as connection:
            if self.dialect == "sqlite":
                with begun(connection, "DEFERRED") as raw:
                    yield connection
                    raw.rollback()
                return
            connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin() as transaction:
                yield connection
                transaction.rollback()

    def write(self, work: Callable[[Connection], Any], roots: Iterable[str]) -> Any:
        """What work gives, all of it kept or none, with the chains of these roots locked.

        work may be called again where the database gave way to another writer or went away: it must begin anew each
        time. Whether a commit whose answer was lost stands is found by its key.
        """
        until, collisions = monotonic() + AGAIN_SECONDS, 0
        wanted = sorted(set(roots))
        while True:
            try:
                with self._writing(wanted) as connection:
                    found = work(connection)
                self._at("after-commit")
                return found
            except IntegrityError as error:
                collisions += 1  # somebody else wrote the same key or name: this finds it when it is tried again
                if collisions > COLLISIONS_MAX or getattr(error.orig, "sqlstate", None) != DUPLICATE:
                    raise
            except OperationalError as error:
                gone = error.connection_invalidated or getattr(error.orig, "sqlstate", None) in CONFLICTS
                if monotonic() > until or not (gone or _is_closing(error)):
                    raise _unavailable(error) from None
            except ProgrammingError as error:
                raise self._forbidden(error) from None
            except DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) not in CONFLICTS or monotonic() > until:
                    raise
            sleep(0.05)

    @contextmanager
    def _writing(self, roots: list[str]) -> Iterator[Connection]:
        with GATE.using(), self._turn(), self.engine.connect() as connection:
            if self.dialect == "sqlite":
                with begun(connection, "IMMEDIATE"):
                    yield connection
                    self._at("before-commit")
                    connection.exec_driver_sql("COMMIT")
            else:
                with connection.begin():
                    connection.exec_driver_sql("SET LOCAL synchronous_commit = on")
                    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {round(1000 * BUSY_SECONDS)}")
                    connection.execute(LOCK, {"roots": roots}).all()
                    yield connection
                    self._at("before-commit")

    def _turn(self) -> AbstractContextManager[object]:
        """Writers of one file wait in a line of the kernel's, so that none is passed over for long.

        An open file: the interpreter closes it itself, whatever interrupt comes.
        """
        if self.dialect != "sqlite":
            return nullcontext()
        try:
            import fcntl
        except ImportError:  # elsewhere SQLite's own waiting serves, without a line
            return nullcontext()
        turn = self._turn_file()
        waiting = _Waiting(turn, lambda: fcntl.flock(turn, fcntl.LOCK_EX), lambda: fcntl.flock(turn, fcntl.LOCK_UN))
        if waiting.given(BUSY_SECONDS):
            return turn
        raise Unavailable(HELD.format(name=turn.name, seconds=BUSY_SECONDS))

    def _turn_file(self) -> FileIO:
        """The file beside the ledger's, with its rights and its group, whatever this process gives to new files.

        Others may write to the folder: it must be a file of its own, and no link to somebody's.
        """
        name = f"{self.path}-turn"
        try:
            turn = FileIO(name, "r+", opener=lambda file, flags: os.open(file, flags | TURN_FLAGS | os.O_CREAT, 0o600))
        except OSError as error:
            raise Unavailable(f"{name} cannot be written to: {error.strerror}{MAY_WRITE}", passing=False) from None
        mine = os.fstat(turn.fileno())
        if not stat.S_ISREG(mine.st_mode) or mine.st_nlink != 1 or mine.st_size:
            turn.close()
            raise Unavailable(f"{name} is no file of the ledger's: remove it, and look who made it", passing=False)
        with suppress(OSError):  # somebody else's file, or a group that this user is not in
            like = self.path.stat()
            if mine.st_mode != like.st_mode:
                os.fchmod(turn.fileno(), like.st_mode & 0o666)
            if mine.st_gid != like.st_gid:
                os.fchown(turn.fileno(), -1, like.st_gid)
        return turn

    def now(self, connection: Connection) -> int:
        """Milliseconds since 1970 by the database's clock, which never runs backwards.

        The latest that was written is in the chains, the latest that this process has seen is kept here: a clock that
        is set back makes no token good again, and nothing that was over. After one that ran ahead an administrator sets
        the latest back, on the record.
        """
        found, latest, repairs = self._looked(connection)
        with self._making:
            if repairs != self._repairs:
                self._latest, self._repairs = 0, repairs
            self._latest = max(found, latest, self._latest)
            return self._latest

    def clock(self, connection: Connection) -> int:
        """The database's clock as it is, whatever was seen before."""
        return self._looked(connection)[0]

    def _looked(self, connection: Connection) -> tuple[int, int, int]:
        found, latest, repairs = connection.exec_driver_sql(NOW[self.dialect]).one()
        return int(found if self._clock is None else self._clock(found)), latest or 0, repairs or 0

    def _at(self, point: str) -> None:
        if self._fault is not None:
            self._fault(point)

    def prepare(self, then: Callable[[Connection], object] = lambda connection: None) -> int:
        """Makes what is missing of the tables, and what is to be in them, or nothing of it; the version reached."""
        made = self.dialect == "sqlite" and self._file_made()
        try:
            with self._connected(self._turn) as connection:
                if self.dialect == "sqlite":
                    with begun(connection, "EXCLUSIVE"):
                        self._take_steps(connection)
                        then(connection)
                        connection.exec_driver_sql("COMMIT")
                else:
                    with connection.begin():
                        connection.execute(text("SELECT pg_advisory_xact_lock(7217841)"))
                        self._take_steps(connection)
                        then(connection)
        except BaseException:
            if made:
                self.close()
                for end in ("", *BESIDE):
                    with suppress(OSError):
                        os.unlink(f"{self.path}{end}")
            raise
        return len(STEPS)

    def _file_made(self) -> bool:
        """A new file, for its owner alone, or for the group of a folder that was made for one; False where it is."""
        try:
            like = self.path.parent.stat().st_mode
            shared = like & stat.S_ISGID and like & stat.S_IWGRP
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o660 if shared else 0o600))
        except OSError:  # it is there, or SQLite says why it cannot be
            return False
        return True

    def _take_steps(self, connection: Connection) -> None:
        version = _version(connection)
        for number, step in enumerate(STEPS[version:], version + 1):
            for statement in step[self.dialect]:
                connection.exec_driver_sql(statement)
            _set_version(connection, number)

    def version(self) -> int:
        """How many steps this database has had; NotFound where there is no ledger."""
        if not self.exists:
            raise NotFound(f"there is no ledger at {self.shown}: tightrope ledger init makes one")
        with self._connected() as connection:
            return _version(connection)


class _Waiting:
    """A thread that waits in the kernel's line for a file's lock; where it is given up, it lets go of what it gets."""

    def __init__(self, turn: FileIO, lock: Callable[[], None], unlock: Callable[[], None]) -> None:
        self._turn, self._lock, self._unlock = turn, lock, unlock
        self._over, self._deciding = threading.Event(), threading.Lock()
        self._error: OSError | None = None
        self._left = False
        threading.Thread(target=self._wait, name="turn", daemon=True).start()

    def _wait(self) -> None:
        try:
            self._lock()
        except OSError as error:
            self._error = error
        with self._deciding:
            self._over.set()
            if self._left:
                self._close()

    def given(self, seconds: float) -> bool:
        """Whether it has the lock; an interrupt gives it up too."""
        try:
            if self._over.wait(seconds) and self._error is None:
                return True
        except BaseException:
            self._leave()
            raise
        self._leave()
        if self._error is not None:
            raise Unavailable(f"{self._turn.name!s} cannot be locked: {self._error.strerror}", passing=False)
        return False

    def _leave(self) -> None:
        with self._deciding:
            self._left = True
            if self._over.is_set():
                self._close()

    def _close(self) -> None:
        with suppress(OSError):
            self._unlock()  # also for a process that was forked with the file open
        self._turn.close()


def _address(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError):  # neither says more than the address itself, which may hold a password
        raise InvalidParameter(f"{NO_LEDGER}, and this cannot be read as one of them") from None


def shown_address(url: str) -> str:
    """The address of a ledger's database as it may be shown: without a password, wherever it stands in it."""
    parsed = _address(url)
    hidden = parsed.update_query_dict({name: "***" for name in parsed.query if name.lower() in SECRETS})
    return hidden.render_as_string(hide_password=True).replace("%2A%2A%2A", "***")


def _file(parsed: URL) -> Path:
    """The file of an address, wherever this process works later."""
    name = parsed.database or ""
    if name in ("", ":memory:"):
        raise InvalidParameter("a ledger in memory would be lost: give a file, as in sqlite:///budget.db")
    if parsed.query or name.startswith("file:"):
        raise InvalidParameter("a ledger in SQLite is one file, without options: as in sqlite:///budget.db")
    path = Path(name).absolute()
    _refuse_remote(path)
    return path


def _version(connection: Connection) -> int:
    if not connection.dialect.has_table(connection, tables.schema.name):
        return 0
    return int(connection.execute(select(tables.schema.c.version)).scalar() or 0)


def _set_version(connection: Connection, number: int) -> None:
    if connection.execute(update(tables.schema).values(version=number)).rowcount == 0:
        connection.execute(tables.schema.insert().values(version=number))


def _postgresql_connected(connection: Any, _: object) -> None:
    with connection.cursor() as cursor:
        for name in SAFE:
            if cursor.execute(f"SHOW {name}").fetchone()[0] != "on":
                raise InvalidParameter(f"PostgreSQL runs with {name} = off, which loses what was answered: turn it on")
    connection.commit()


def _refuse_remote(path: Path) -> None:
    """Locks of a network's file system are not what SQLite needs."""
    try:
        mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text("utf-8").splitlines()]
    except OSError:
        return
    place = str(path.parent.resolve())
    holding = [(where, kind) for where, kind in mounts if place == where or place.startswith(where.rstrip("/") + "/")]
    if holding and (kind := max(holding, key=lambda each: len(each[0]))[1]).startswith(REMOTE_FILES):
        raise InvalidParameter(f"{path} is on a network's file system ({kind}): use a local disk, or PostgreSQL")


def _is_closing(error: OperationalError) -> bool:
    """Whether the server is starting, stopping or gone: it may be back in a moment. A file is there or is not."""
    state = getattr(error.orig, "sqlstate", None)
    return not isinstance(error.orig, sqlite3.Error) and (state is None or str(state).startswith(("57P", "08")))


def _unavailable(error: OperationalError) -> Unavailable:
    """A file that cannot be written to will not be in a moment; one that somebody holds may."""
    if getattr(error.orig, "sqlstate", None) == LOCKED:
        return Unavailable(HELD_ROWS)
    lasting = isinstance(error.orig, sqlite3.Error) and "locked" not in str(error.orig)
    remedy = MAY_WRITE if lasting and "readonly" in str(error.orig) else ""
    return Unavailable(f"the ledger's database does not answer: {_reason(error)}{remedy}", passing=not lasting)


def _reason(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0][:200] if str(error.orig).strip() else type(error.orig).__name__
