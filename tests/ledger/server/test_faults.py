"""The server is killed around commit and reply, and clients ask on: nothing is lost, and nothing is done twice."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

import tightrope.ledger as tl
from tests.ledger.full import amount
from tests.ledger.server.serving import JOB, Client
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.remote import RemoteService
from tightrope.listening import listening_at

POINTS = ("before-commit", "after-commit", "before-reply")
PATIENCE = 600.0
CLIENTS = 4


class Mortal:
    """A server that is told when to die, and started again."""

    def __init__(self, url: str) -> None:
        self._held = listening_at("127.0.0.1", 0)  # nobody else is given the port between two lives
        self.port = int(self._held.getsockname()[1])
        command = [sys.executable, "-m", "tests.ledger.server.dying", url, str(self.port)]
        root = Path(__file__).parents[3]
        self._process = subprocess.Popen(
            command,
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            start_new_session=True,
        )

    def begin(self, point: str, count: int) -> None:
        """Returns when it answers."""
        self._say(f"{point} {count}")
        self.expect("up")

    def expect(self, word: str) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == f"{word}\n"

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")

    def end(self) -> None:
        """Whoever lives on is killed."""
        self._say("stop")
        self.expect("down")

    def close(self) -> None:
        """All of it, also where a test ended early."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(PATIENCE)
        self._held.close()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()


@contextmanager
def mortal(url: str) -> Iterator[Mortal]:
    made = Mortal(url)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def holder(ledger_url: str) -> Iterator[Ledger]:
    with tl.init(ledger_url, principal="holder") as made:
        made.create("census", kind="zcdp", rho=1000.0, relation="add_remove", unit="one person")
        yield made


def spent(ledger: Ledger) -> tuple[int, int]:
    """Units held and spent."""
    [axis] = [each for each in ledger.status("census")["axes"] if each["name"] == "rho"]
    return axis["held"], axis["spent"]


MOVES: tuple[tuple[str, Mapping[str, Any], str, str], ...] = (  # and the states before and after it
    ("", {"jobs": {"census": JOB}}, "", "reserved"),
    ("", {"jobs": {"census": JOB}, "start": True}, "", "running"),
    ("", {"jobs": {"census": f"{JOB} * 300_000"}}, "", "refused"),
    ("/claim", {}, "reserved", "running"),
    ("/commit", {}, "running", "committed"),
    ("/commit", {"part": JOB}, "running", "committed"),
    ("/cancel", {}, "reserved", "cancelled"),
)


def test_a_server_that_dies_in_a_request_has_done_it_or_not(holder: Ledger, ledger_url: str) -> None:
    """Before the commit nothing is there; after it all is; and the same key finds it, once and for ever."""
    with mortal(ledger_url) as server:
        analyst = Client(server.port, holder.token("analyst", role="analyst", root="census"))
        numbers = range(0, len(MOVES) * len(POINTS), amount(2, 1, 1))  # by twos each move and each point is met, too
        for number in numbers:
            (move, body, before, after), point = MOVES[number % len(MOVES)], POINTS[number % len(POINTS)]
            key, path = f"key-{number}", "/v1/reservations"
            if before:
                server.begin("never", 0)
                made = analyst.reserve(f"{key}-made", job=f"{JOB} * 3", start=before == "running").document
                path += f"/{made['id']}{move}"
                server.end()
            was = spent(holder)
            server.begin(point, 1)
            with pytest.raises((HTTPException, OSError)):
                analyst.post(path, body, idempotency_key=key)
            server.expect("down")
            written = spent(holder)
            holder.verify()
            assert point != "before-commit" or written == was
            server.begin("never", 0)
            answers = [analyst.post(path, body, idempotency_key=key) for _ in range(3)]
            other = {"attest": "another body"} if move in ("/commit", "/cancel") else {"ttl": 7}
            changed = analyst.post(path, {**body, **other}, idempotency_key=key)
            server.end()
            now = spent(holder)
            assert point == "before-commit" or now == written
            if after == "refused":
                assert [each.status for each in answers] == [409] * 3
                found = holder.reservation(answers[0].document["reservation"]).document
                assert now == was
            else:
                assert [each.status for each in answers] == [201 if point == "before-commit" else 200, 200, 200]
                found = holder.reservation(answers[0].document["id"]).document
            assert found["state"] == after
            assert answers[0].document == answers[1].document == answers[2].document
            assert (changed.status, changed.urn) == (422, "key-reused")
        assert holder.verify()["reservations"] == len(numbers)


def test_clients_ask_on_while_the_server_is_killed(holder: Ledger, ledger_url: str) -> None:
    """Every job runs once and is charged once; what was acknowledged stands; the same keys have the same answers."""
    kills, ran, acknowledged = amount(4, 12, 60), [], []
    unit = holder.quote("census", JOB).units["rho"]
    assert unit is not None
    over = threading.Event()
    with mortal(ledger_url) as server:
        server.begin(POINTS[0], 2)
        tokens = [holder.token(f"analyst-{number}", role="analyst", root="census") for number in range(CLIENTS)]

        def work(number: int) -> int:
            desk = RemoteService(f"http://127.0.0.1:{server.port}", tokens[number], patience=PATIENCE)
            with Ledger(desk) as ledger:
                for at in itertools.count():
                    if over.is_set():
                        return at
                    with ledger.spend("census", JOB, key=f"{number}-{at}") as job:
                        ran.append(job.id)
                    acknowledged.append(job.id)
            raise AssertionError

        with ThreadPoolExecutor(CLIENTS) as pool:
            working = [pool.submit(work, number) for number in range(CLIENTS)]
            try:
                for life in range(1, kills):
                    server.expect("down")
                    server.begin(POINTS[life % len(POINTS)], 1 + life % 5)
                server.expect("down")
                server.begin("never", 0)
            finally:
                over.set()
            made = sum(each.result(PATIENCE) for each in working)
        assert len(ran) == len(set(ran)) == len(acknowledged) == made
        assert {each["state"] for each in holder.reservations("census")} == {"committed"}
        assert holder.status("census")["jobs"] == {"committed": made}
        assert spent(holder) == (0, made * unit)
        for number, token in enumerate(tokens):
            asked = Client(server.port, token).reserve(f"{number}-0", ttl=3600.0, start=True, slack=None, note="")
            assert (asked.status, asked.urn) == (409, "claimed")  # by a process that is not this one
        server.end()
    assert holder.verify()["reservations"] == made
