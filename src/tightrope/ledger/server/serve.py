"""Runs a server until it is interrupted.

For tests that end a server at the worst moment, a script starts one with a hook:
    def fault(point):                       # before-commit, after-commit, before-reply
        if point == "after-commit" and os.path.exists("now"):
            os.kill(os.getpid(), signal.SIGKILL)
    serve("sqlite:///x.db", port=0, key_file="x.key", fault=fault, ready=print)
or mounts `application(desk, fault=fault)` on a server of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, TypedDict, Unpack

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from ... import InvalidParameter
from ...extend.processes import cores
from ...extend.servers import TellingServer, listening_at
from .. import maintenance, secret_of
from ..database import Database, Fault
from ..errors import LedgerError
from ..ledger import Ledger, read_anchor
from ..process_pricing import ProcessPricer
from ..service import LocalService
from ..transactions import jobs
from ..transactions.entry import Actor
from .app import QUOTAS, application
from .problems import LOG
from .quotas import Quotas

LEDGER_PORT = 8765
LEDGER_HOST = "127.0.0.1"
CONNECTIONS = 1000
ADDRESS_CONNECTIONS = 400  # of one address, which may be that of a proxy
HEAD_SECONDS = 10.0  # for the head of a request, from the beginning of its connection or its first byte
SHUTDOWN_SECONDS = 10
LINE_BYTES = 1 << 16  # of an address with its headers
DUE_SECONDS = 10.0  # between two looks for reservations whose time is over
SERVER = Actor("server")  # in whose name they end


class Checks(TypedDict, total=False):
    """verify: reads the whole audit before the first answer (unless False). anchor: what the ledger must still have."""

    verify: bool
    anchor: str | Path | Mapping[str, Any] | None


def serve(
    url: str,
    *,
    port: int = LEDGER_PORT,
    host: str = LEDGER_HOST,
    key_file: str | Path | None = None,
    processes: int | None = None,
    ready: Callable[[str], None] = lambda address: None,
    fault: Fault | None = None,
    quotas: Quotas = QUOTAS,
    **checks: Unpack[Checks],
) -> None:
    """Answers for the ledger at url until it is interrupted; ready is told the address.

    host: this machine alone, unless given; TLS is for a proxy in front. processes: that work out prices. quotas: what
    one token may have in a minute. A ledger that
    cannot be verified, or lacks what its anchor names, is not served: VerificationFailed, WentBack.
    """
    with listening_at(host, port) as sock, opened(url, key_file, processes, fault) as desk:
        checked_ledger(desk, **checks)
        used: int = sock.getsockname()[1]
        with suppress(KeyboardInterrupt), expiring(desk):  # an interrupt is the way to end it
            shown = f"[{host}]" if ":" in host else host
            app = application(desk, fault=fault, quotas=quotas)
            asyncio.run(LedgerServer(app, lambda: ready(f"http://{shown}:{used}")).serve([sock]))


@contextmanager
def opened(
    url: str, key_file: str | Path | None, processes: int | None, fault: Fault | None = None
) -> Iterator[LocalService]:
    """The desk of a server: prices in processes of their own."""
    if processes is not None and processes < 1:
        raise InvalidParameter(f"processes is a number above 0, not {processes}")
    secret = secret_of(key_file)
    pricer = ProcessPricer(processes or cores())
    desk = LocalService(Database(url, fault=fault), SERVER, secret=secret, pricer=pricer)
    try:
        maintenance.current(desk.database)
        pricer.start()
        yield desk
    finally:
        desk.close()


def checked_ledger(desk: LocalService, **checks: Unpack[Checks]) -> None:
    """Nothing is answered from a ledger that does not hold together, or that has forgotten something."""
    anchor = checks.get("anchor")
    ledger = Ledger(desk)
    ledger.compare(read_anchor(anchor) if isinstance(anchor, (str, Path)) else anchor)
    if checks.get("verify", True):
        ledger.verify()


@contextmanager
def expiring(desk: LocalService, every: float = DUE_SECONDS) -> Iterator[None]:
    """Reservations whose time is over end soon, also where nobody writes."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(every):
            try:
                expire_due(desk)
            except LedgerError:  # busy, or the database is away: next time
                continue
            except Exception as error:
                LOG.error("reservations could not be expired: %s", type(error).__name__)

    thread = threading.Thread(target=look, name="expiring", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(SHUTDOWN_SECONDS)


def expire_due(desk: LocalService) -> None:
    """Ends what is over."""
    with desk.database.read() as connection:
        due = jobs.due(connection, desk.database.now(connection))
    if due:
        desk.ask("expire", {})


class QuietProtocol(H11Protocol):
    """HTTP without a log of what is asked, whatever loggers there are; who says nothing does not keep a place.

    The head of a request has its seconds, and one address so many connections.
    """

    _open: ClassVar[Counter[str]] = Counter()  # connections, by address; in the loop's thread alone

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.access_log = False
        self._head: asyncio.TimerHandle | None = None
        self._address = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        self._open[self._address] += 1
        if self._open[self._address] > ADDRESS_CONNECTIONS:
            transport.abort()
            return
        self._waits()

    def connection_lost(self, exc: Exception | None) -> None:
        self._heard()
        self._open[self._address] -= 1
        if not self._open[self._address]:
            del self._open[self._address]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._heard()
        elif self._head is None:  # a head that has begun: uvicorn waits for the rest of it for ever
            self._waits()

    def _waits(self) -> None:
        self._head = self.loop.call_later(HEAD_SECONDS, self._late)

    def _heard(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _late(self) -> None:
        self._head = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


class LedgerServer(TellingServer):
    """Tells when it can be asked, and nothing of what it is asked: addresses and headers are nobody's business."""

    def __init__(self, app: ASGIApp, ready: Callable[[], None]) -> None:
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            http=QuietProtocol,
            ws="none",
            lifespan="off",
            limit_concurrency=CONNECTIONS,
            h11_max_incomplete_event_size=LINE_BYTES,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        super().__init__(config, ready)
