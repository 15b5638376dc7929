"""A server as it is run: what it refuses to serve, what ends with it, and what it ends by itself."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import tightrope.ledger as tl
from tests.ledger.server.serving import JOB, PATIENCE, Client
from tightrope.core.values.errors import InvalidParameter
from tightrope.ledger.database import Database
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.server.serve import checked_ledger, expire_due, expiring, opened
from tightrope.ledger.service import LocalService
from tightrope.ledger.transactions.entry import Actor
from tightrope.listening import listening_at

SCRIPT = """
import logging, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
from tightrope.ledger.server.serve import serve
serve(sys.argv[1], port=0, key_file=sys.argv[2], processes=1, ready=lambda address: print(address, flush=True))
"""


@pytest.fixture
def holder(sqlite_url: str) -> Iterator[Ledger]:
    with tl.init(sqlite_url, principal="holder") as made:
        made.create("census", kind="zcdp", rho=1.0, relation="add_remove", unit="one person")
        yield made


@contextmanager
def served(url: str, folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server in a process of its own, and its port."""
    (folder / "ledger.key").write_bytes(b"k" * 32)
    command = [sys.executable, "-c", SCRIPT, url, str(folder / "ledger.key")]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout is not None
    try:
        yield process, int(process.stdout.readline().rpartition(":")[2])
    finally:
        process.kill()
        process.wait(PATIENCE)
        process.stdout.close()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_server_from_its_beginning_to_its_end(holder: Ledger, sqlite_url: str, tmp_path: Path) -> None:
    """It says nothing of what it was asked, and takes its processes along, however it ends."""
    token = holder.token("analyst", role="analyst", root="census")
    with served(sqlite_url, tmp_path) as (process, port):
        client = Client(port, token)
        answer = client.reserve("a-key-of-mine")
        assert answer.status == 201
        assert len(answer.headers["ledger-receipt"].split(":")) == 4  # the ledger's key was there
        assert client.get("/v1/budgets/a-name-of-mine").status == 404
        with tl.open(f"http://127.0.0.1:{port}", token=token) as ledger:
            assert ledger.status("census")["jobs"] == {"reserved": 1}
        tasks = Path(f"/proc/{process.pid}/task").iterdir()
        children = [each for task in tasks for each in (task / "children").read_text().split()]
        assert len(children) == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        assert not Path(f"/proc/{children[0]}").exists()
    log = (tmp_path / "log").read_text()
    assert not [word for word in (token, "a-key-of-mine", "a-name-of-mine", "/v1/") if word in log]
    assert "Traceback" not in log


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_server_that_is_killed_leaves_no_process_behind(holder: Ledger, sqlite_url: str, tmp_path: Path) -> None:
    with served(sqlite_url, tmp_path) as (process, _):
        tasks = Path(f"/proc/{process.pid}/task").iterdir()
        [child] = [each for task in tasks for each in (task / "children").read_text().split()]
        watched = os.pidfd_open(int(child))
        process.kill()
        process.wait(PATIENCE)
    try:
        waiting = threading.Thread(target=lambda: _ended(watched), daemon=True)
        waiting.start()
        waiting.join(PATIENCE)
        assert not waiting.is_alive()
    finally:
        os.close(watched)


def _ended(watched: int) -> None:
    import select

    select.select([watched], [], [])  # readable when the process is gone


def test_what_does_not_hold_together_is_not_served(holder: Ledger, sqlite_url: str) -> None:
    holder.reserve({"census": JOB}, "k")
    anchor, desk = holder.anchor(), LocalService(Database(sqlite_url), Actor("server"))
    checked_ledger(desk, anchor=anchor)
    later = {**anchor, "roots": {"census": {**anchor["roots"]["census"], "seq": 99}}}
    with pytest.raises(tl.WentBack):
        checked_ledger(desk, anchor=later)
    with desk.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE axis SET held = held - 1 WHERE name = 'rho'")
    with pytest.raises(tl.VerificationFailed):
        checked_ledger(desk)
    checked_ledger(desk, verify=False)
    desk.close()


def test_what_cannot_be_served_is_said_in_one_line(sqlite_url: str, tmp_path: Path) -> None:
    with pytest.raises(tl.NotFound), opened(sqlite_url, None, 1):
        pass
    with pytest.raises(InvalidParameter, match="processes"), opened(sqlite_url, None, 0):
        pass
    with pytest.raises(InvalidParameter, match="key file"), opened(sqlite_url, tmp_path / "nothing", 1):
        pass
    for host, port in (("192.0.2.1", 0), ("no such host", 0), ("127.0.0.1", 70_000)):
        with pytest.raises(InvalidParameter):
            listening_at(host, port)
    with listening_at("127.0.0.1", 0) as sock:
        sock.listen()
        with pytest.raises(InvalidParameter, match="take another"):
            listening_at("127.0.0.1", sock.getsockname()[1])


def test_what_is_over_ends_where_nobody_asks(holder: Ledger, sqlite_url: str) -> None:
    made = [holder.reserve({"census": JOB}, f"k-{start}", ttl=6_000, start=start) for start in (False, True)]
    ahead = [0]
    desk = LocalService(Database(sqlite_url, clock=lambda now: now + ahead[0]), Actor("server"))
    expire_due(desk)
    assert [holder.reservation(each.id).state for each in made] == ["reserved", "running"]
    ahead[0] = 6_001_000
    with expiring(desk, every=0.01):
        while holder.status("census")["jobs"] != {"cancelled": 1, "committed": 1}:
            pass
    desk.close()
    holder.verify()


def test_looking_for_what_is_over_goes_on_after_any_fault(holder: Ledger, sqlite_url: str,
                                                          monkeypatch: pytest.MonkeyPatch,
                                                          caplog: pytest.LogCaptureFixture) -> None:  # fmt: skip
    caplog.set_level(logging.ERROR)
    desk = LocalService(Database(sqlite_url), Actor("server"))
    looked, faults = threading.Event(), iter((tl.Unavailable("away"), RuntimeError("no value of it")))

    def look(_: LocalService) -> None:
        error = next(faults, None)
        if error is None:
            looked.set()
            return
        raise error

    monkeypatch.setattr("tightrope.ledger.server.serve.expire_due", look)
    with expiring(desk, every=0.001):
        assert looked.wait(PATIENCE)
    assert "RuntimeError" in caplog.text
    assert "no value of it" not in caplog.text
    desk.close()
