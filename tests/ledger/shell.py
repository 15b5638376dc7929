"""Command lines on a ledger of their own, in this process: what they print, and their exit codes."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tightrope.cli.app import run
from tightrope.ledger.database import Database

DAY = 86_400_000


class Told(NamedTuple):
    """What a command line gave back."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Of one object on one line."""
        (line,) = self.out.splitlines()
        return json.loads(line)


class LedgerShell:
    """`tightrope ledger` in a folder with a ledger in it."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self._capsys, self.folder = capsys, folder

    def __call__(self, *arguments: str) -> Told:
        code = run(["ledger", *arguments])
        return Told(code, *self._capsys.readouterr())

    def done(self, *arguments: str) -> Told:
        """The same, of what must succeed without a complaint."""
        found = self(*arguments)
        assert (found.code, found.err) == (0, ""), found
        return found

    def refused(self, code: int, *arguments: str) -> str:
        """The one line of what must not."""
        found = self(*arguments)
        assert (found.code, found.out, found.err.count("\n")) == (code, "", 1), found
        assert found.err.startswith("tightrope: ")
        return found.err.removeprefix("tightrope: ").rstrip("\n")

    def create(self, name: str = "census", **options: str) -> None:
        """A budget of (1, 1e-6), of the kind whose prices take no time."""
        given = {"epsilon": "1", "delta": "1e-6", "kind": "basic", "relation": "add_remove", "unit": "one person"}
        words = [word for key, value in {**given, **options}.items() for word in (f"--{key}", value)]
        self.done("create", name, *words)

    def reserve(self, key: str, *options: str, epsilon: float = 0.1, name: str = "census") -> str:
        """The id of a job of so much."""
        return self.done("reserve", name, f"PureDP(epsilon={epsilon})", "--key", key, *options).out.strip()

    def edit(self, statement: str) -> None:
        """Changes the database behind the ledger's back."""
        with (
            closing(Database(f"sqlite:///{self.folder / 'budget.db'}")) as database,
            database.engine.begin() as connection,
        ):
            triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            for name in connection.exec_driver_sql(triggers).scalars().all():
                connection.exec_driver_sql(f"DROP TRIGGER {name}")
            connection.exec_driver_sql(statement)
