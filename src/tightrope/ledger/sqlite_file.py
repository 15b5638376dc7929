"""Connections to one file of SQLite's, and their transactions, which an interrupt ends as any other error does."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import ref

from sqlalchemy import Connection


class FileConnection(sqlite3.Connection):
    """Ends when it is closed: SQLite keeps one, and what it has locked, while somebody has a cursor of it.

    After an interrupt that may be for as long as a traceback is kept.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._cursors: list[ref[sqlite3.Cursor]] = []

    def cursor(self, *arguments: Any, **options: Any) -> Any:
        found = super().cursor(*arguments, **options)
        self._cursors = [*(cursor for cursor in self._cursors if cursor() is not None), ref(found)]
        return found

    def close(self) -> None:
        for each in self._cursors:
            if (cursor := each()) is not None:
                with suppress(sqlite3.Error):
                    cursor.close()
        with suppress(sqlite3.Error):  # closed before
            self.rollback()
        super().close()


@contextmanager
def begun(connection: Connection, how: str) -> Iterator[FileConnection]:
    """A transaction of SQLite's, which whoever began it ends; it is undone by whatever comes out of it.

    The connection itself is asked to: to an interrupted one SQLAlchemy gives no access.
    """
    raw: Any = connection.connection.driver_connection
    try:
        connection.exec_driver_sql(f"BEGIN {how}")
        yield raw
    except BaseException as error:
        try:
            raw.rollback()
        except sqlite3.Error:
            raw.close()
        if not isinstance(error, Exception):
            raw.close()
            connection.invalidate()
        raise


def prepared(connection: Any, _: object) -> None:
    """A new connection as the ledger needs it: every commit is on disk before it is answered."""
    connection.isolation_level = None  # transactions are begun here, by name
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "recursive_triggers=ON",
        "trusted_schema=OFF",
    ):
        connection.execute(f"PRAGMA {pragma}")
