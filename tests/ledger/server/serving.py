"""A server in a thread of the tests, and a client that sends whatever it is told to."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from typing import Any, NamedTuple
from uuid import uuid4

import tightrope.ledger as tl
from tightrope.ledger.database import Database, Fault
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.pricing import Pricer
from tightrope.ledger.server.app import application
from tightrope.ledger.server.serve import LedgerServer
from tightrope.ledger.service import LocalService
from tightrope.ledger.transactions.entry import Actor
from tightrope.listening import listening_at

SECRET = b"the key of this ledger, in a test"
NONCE = "a-process-of-the-tests"
JOB = "Gaussian(sigma=10.0)"
PATIENCE = 600.0  # seconds, to end what hangs: nothing is said about how long it takes


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    document: Any
    text: str

    @property
    def urn(self) -> str:
        return str(self.document["type"]).removeprefix("urn:tightrope:")


class Client:
    """Asks with one token."""

    def __init__(self, port: int, token: str | None) -> None:
        self.port, self.token = port, token

    def ask(self, method: str, path: str, body: object = None, **headers: str | None) -> Answer:
        """One request on a connection of its own. body: JSON, or bytes as they are. A header of None is left out."""
        sent: dict[str, str | None] = {"authorization": None if self.token is None else f"Bearer {self.token}"}
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if method == "POST":
            sent |= {"content-type": "application/json", "idempotency-key": uuid4().hex, "ledger-process": NONCE}
        sent |= {name.replace("_", "-").lower(): value for name, value in headers.items()}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, content, {k: v for k, v in sent.items() if v is not None})
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, found, json.loads(text) if text else None, text)

    def get(self, path: str, **headers: str | None) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: object, **headers: str | None) -> Answer:
        return self.ask("POST", path, body, **headers)

    def reserve(self, key: str, budget: str = "census", job: str = JOB, **more: Any) -> Answer:
        return self.post("/v1/reservations", {"jobs": {budget: job}, **more}, idempotency_key=key)


def raw(port: int, data: bytes) -> bytes:
    """What a server says to these bytes, until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as sock:
        with suppress(ConnectionResetError, BrokenPipeError):  # it may have answered before it has all
            sock.sendall(data)
        return all_of(sock)


def all_of(sock: socket.socket) -> bytes:
    """What comes until the end, which is a reset where a server leaves bytes unread."""
    found = b""
    with suppress(ConnectionResetError):
        while more := sock.recv(65536):
            found += more
    return found


@contextmanager
def serving(desk: LocalService, *, fault: Fault | None = None, port: int = 0) -> Iterator[int]:
    """The port at which the desk is asked."""
    ready, sock = threading.Event(), listening_at("127.0.0.1", port)
    server = LedgerServer(application(desk, fault=fault), ready.set)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([sock])))
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield int(sock.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()
        sock.close()


class House:
    """A ledger with a budget, its server, and tokens."""

    def __init__(self, ledger: Ledger, desk: LocalService, port: int) -> None:
        self.ledger, self.desk, self.port = ledger, desk, port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def token(self, role: str, root: str | None = "census", **more: Any) -> str:
        return self.ledger.token(f"{role}-{uuid4().hex[:8]}", role=role, root=root, **more)

    def client(self, role: str, root: str | None = "census", **more: Any) -> Client:
        return Client(self.port, self.token(role, root, **more))


@contextmanager
def housed(url: str, *, pricer: Pricer | None = None, fault: Fault | None = None) -> Iterator[House]:
    """A new ledger with the budgets census and poll, in which one job of `JOB` is 1/200 of rho, and its server."""
    with tl.init(url, principal="holder") as ledger:
        for name in ("census", "poll"):
            ledger.create(name, kind="zcdp", rho=10.5 / 200, relation="add_remove", unit="one person")
        desk = LocalService(Database(url, fault=fault), Actor("server"), secret=SECRET, pricer=pricer)
        try:
            with serving(desk, fault=fault) as port:
                yield House(ledger, desk, port)
        finally:
            desk.close()
