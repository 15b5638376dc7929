"""A PostgreSQL cluster in a temporary folder: started, killed, started again, thrown away.

    python -m tests.ledger.cluster COMMAND...    runs the command with its address in TIGHTROPE_POSTGRESQL
It listens on a socket in that folder, which only its owner can enter; every commit is on disk before it is answered.
PostgreSQL refuses to run as root: then it runs as the user of Debian's package.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any
from uuid import uuid4

import psycopg
from psycopg.sql import SQL, Identifier

ADDRESS = "TIGHTROPE_POSTGRESQL"
MISSING = "PostgreSQL is not installed: apt-get install postgresql"
PLACES = "/usr/lib/postgresql/*/bin/postgres"
START_SECONDS = 600.0


def programs() -> Path | None:
    """The folder of PostgreSQL's programs; None where it is not installed."""
    found = sorted(Path("/").glob(PLACES.lstrip("/")), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    named = shutil.which("postgres")
    return Path(named).resolve().parent if named else None


class Cluster:
    """One cluster, running while the `with` lasts."""

    def __init__(self) -> None:
        found = programs()
        if found is None:
            raise SystemExit(MISSING)
        self._programs = found
        self._user: dict[str, Any] = {"user": "postgres", "group": "postgres"} if os.getuid() == 0 else {}
        self.folder = Path(tempfile.mkdtemp(prefix="tr-pg-", dir="/tmp"))  # the path of a socket is short
        if self._user:
            shutil.chown(self.folder, **self._user)
        self._running: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Cluster:
        options = ["--pgdata", str(self.data), "--username=ledger", "--auth=trust", "--encoding=UTF8", "--no-locale"]
        subprocess.run(
            [self._programs / "initdb", *options, "--no-sync"],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.folder,
            **self._user,
        )
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def url(self, database: str = "postgres") -> str:
        """The address of one of its databases."""
        return f"postgresql://ledger@/{database}?host={self.folder}"

    def start(self) -> None:
        """Begins, and waits until it answers: what a killed one left behind may still be ending."""
        until = time.monotonic() + START_SECONDS
        while True:
            self._launch()
            if self._answers(until):
                return
            if time.monotonic() > until:
                log = (self.folder / "log").read_text("utf-8", "replace")
                raise RuntimeError(f"PostgreSQL does not start: {log[-500:]}")
            time.sleep(0.1)

    def _launch(self) -> None:
        options = ["-D", str(self.data), "-k", str(self.folder), "-c", "listen_addresses=", "-c", "fsync=on"]
        with (self.folder / "log").open("ab") as log:
            self._running = subprocess.Popen(
                [self._programs / "postgres", *options, "-c", "max_connections=100", "-c", "shared_buffers=64MB"],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                **self._user,
            )

    def _answers(self, until: float) -> bool:
        """Whether it does, sooner or later; False where the process ended."""
        assert self._running is not None
        while self._running.poll() is None and time.monotonic() < until:
            try:
                psycopg.connect(self.url(), connect_timeout=5).close()
            except psycopg.OperationalError:
                time.sleep(0.02)
            else:
                return True
        return False

    def kill(self) -> None:
        """The postmaster ends as if the machine had: no process of it says goodbye."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ends at once, by the book."""
        self._end(signal.SIGINT)

    def _end(self, how: signal.Signals) -> None:
        if self._running is not None:
            self._running.send_signal(how)
            self._running.wait()
            self._running = None

    def fresh(self) -> str:
        """The address of a new, empty database."""
        return fresh(self.url())


def fresh(url: str) -> str:
    """The address of a new, empty database beside this one."""
    name = f"t{uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
    return url.replace("/postgres?", f"/{name}?")


def drop(url: str, database: str) -> None:
    """The database is gone, whoever has it open."""
    name = database.partition("@/")[2].partition("?")[0]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(name)))


def main() -> int:
    """Runs a command beside a cluster."""
    with Cluster() as cluster:
        return subprocess.run(sys.argv[1:], env={**os.environ, ADDRESS: cluster.url()}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
