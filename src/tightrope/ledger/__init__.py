"""A privacy budget that many people spend, over months, and nobody can overspend.

    ledger = tr.ledger.init("sqlite:///budget.db")
    ledger.create("census", epsilon=1.0, delta=1e-6, relation="add_remove", unit="one person")
    with ledger.spend("census", "Gaussian(sigma=10)", key="table-7"):
        ...
Proofs: docs/proofs/ledger.md. The database's libraries are in the extra `ledger`, and are loaded when one is opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import DataError, InvalidParameter
from ..extend.wording import install_command
from .errors import BudgetExhausted as BudgetExhausted
from .errors import Cancelled as Cancelled
from .errors import Claimed as Claimed
from .errors import Conflict as Conflict
from .errors import Denied as Denied
from .errors import Frozen as Frozen
from .errors import KeyReused as KeyReused
from .errors import LedgerError as LedgerError
from .errors import NotAdditive as NotAdditive
from .errors import NotFound as NotFound
from .errors import RelationMismatch as RelationMismatch
from .errors import Unavailable as Unavailable
from .errors import VerificationFailed as VerificationFailed
from .errors import WentBack as WentBack
from .errors import WrongState as WrongState

if TYPE_CHECKING:
    from .ledger import Ledger as Ledger
    from .service import LocalService
    from .values import Reservation as Reservation
    from .values import Status as Status

MISSING = f"a ledger needs SQLAlchemy (and psycopg for PostgreSQL): {install_command('ledger')}"
NOBODY = "_ledger"
SECRET_MIN = 16  # bytes


def open(
    url: str,
    *,
    token: str | None = None,
    principal: str | None = None,
    key_file: str | Path | None = None,
    anchor: str | Path | Mapping[str, Any] | None = None,
    receipts: Iterable[str] = (),
) -> Ledger:
    """The ledger at sqlite:///FILE, postgresql://... or https://... .

    token: for a server. principal: in whose name, for a database; the user of this process unless given. key_file: the
    ledger's key, which makes receipts and anchors authentic. anchor, receipts: from before: a ledger that lacks what
    they witness is not opened (WentBack).
    """
    if url.startswith(("http://", "https://")):
        with _extra():
            from .remote import open_remote
        return open_remote(url, token, receipts, anchor)
    desk = _desk(url, principal, key_file)
    from . import maintenance
    from .ledger import Ledger, read_anchor

    ledger = Ledger(desk)
    with _closed_on_error(desk):
        maintenance.current(desk.database)
        ledger.compare(read_anchor(anchor) if isinstance(anchor, (str, Path)) else anchor, receipts)
    return ledger


def init(url: str, *, principal: str | None = None, key_file: str | Path | None = None) -> Ledger:
    """A new ledger, opened; Conflict where there is one."""
    desk = _desk(url, principal, key_file)
    from . import maintenance
    from .ledger import Ledger

    with _closed_on_error(desk):
        maintenance.begin(desk)
    return Ledger(desk)


def import_file(
    url: str,
    path: str | Path,
    *,
    key_file: str | Path | None = None,
    anchor: str | Path | Mapping[str, Any] | None = None,
) -> Ledger:
    """A ledger rebuilt from what `Ledger.export` wrote, in an empty place; every line is verified.

    key_file: the key of the ledger that it left, which must have signed it. anchor: what it must still have.
    """
    desk = _desk(url, None, key_file)
    from . import maintenance
    from .ledger import Ledger, read_anchor

    witness = read_anchor(anchor) if isinstance(anchor, (str, Path)) else anchor

    with _closed_on_error(desk), Path(path).open(encoding="utf-8") as file:
        try:
            maintenance.imported(desk.database, iter(file), desk.secret, witness)
        except UnicodeDecodeError:
            raise DataError(f"{path!s:.200} is not text in UTF-8, as an export is") from None
    return Ledger(desk)


def migrate(url: str, *, backup: str | Path | None = None) -> int:
    """Takes the steps that a newer program brings, between two verifications, with a backup before.

    A ledger of an older version is not opened: this makes it one of this version, whose number is given.
    """
    desk = _desk(url, None, None)
    from . import maintenance

    with closing(desk):
        return maintenance.migrate(desk.database, backup)


def _desk(url: str, principal: str | None, key_file: str | Path | None) -> LocalService:
    with _extra():
        from .database import Database
        from .service import LocalService
        from .transactions.entry import Actor, text
    who = text(_user() if principal is None else principal, "principal (in whose name)", 200)
    if who == NOBODY:
        raise InvalidParameter(f"principal is not {NOBODY!r}: in that name the ledger itself acts")
    return LocalService(Database(url), Actor(who), secret=secret_of(key_file))


@contextmanager
def _closed_on_error(desk: LocalService) -> Iterator[None]:
    """What was opened for a ledger that nobody is given is closed."""
    try:
        yield
    except BaseException:
        desk.close()
        raise


@contextmanager
def _extra() -> Iterator[None]:
    """Imports of what the extra brings: without it, one line says so."""
    try:
        yield
    except ImportError as error:
        if error.name not in ("sqlalchemy", "psycopg"):
            raise
        raise InvalidParameter(MISSING) from None


def _user() -> str:
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"


def secret_of(path: str | Path | None) -> bytes | None:
    """The key in a file; None where none is given."""
    if path is None:
        return None
    try:
        found = Path(path).read_bytes().strip()
    except OSError as error:
        raise InvalidParameter(f"the key file {path} cannot be read: {error.strerror}") from None
    if len(found) < SECRET_MIN:
        raise InvalidParameter(f"the key in {path} has fewer than {SECRET_MIN} bytes: tightrope ledger init makes one")
    return found
