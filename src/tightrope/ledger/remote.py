"""A ledger behind a server: the same requests by HTTP, and the same answers and errors.

    ledger = tr.ledger.open("https://ledger.example.org", token="trl_...")
Every write has a key, so that what got no answer is asked again with the same one and is done once. Each request shows
the last receipt of every root, so that a server which forgot something is noticed (WentBack).
The token goes to the address that was given and nowhere else: certificates are verified, no redirect is followed, and
without TLS it goes to this machine only. SSL_CERT_FILE names the certificates of an authority of one's own.
"""

from __future__ import annotations

import json
import os
import re
import ssl
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from ipaddress import ip_address
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

from .. import DataError, InvalidParameter
from . import operations, wire
from .chain import Receipt, hashed
from .errors import LedgerError, Unavailable
from .ledger import HOLDERS_ONLY, Ledger, read_anchor
from .service import REQUEST_BYTES, TOO_LARGE, LedgerService, Reply, again

CONNECT_SECONDS = 10.0
REMOTE_ANSWER_SECONDS = 120.0  # a server waits for its processes and its database, and then says so
REACH_SECONDS = 30.0  # for which a server that went away or is busy is asked again
READ_REACH_SECONDS = 8.0  # of one that went away, for what is only read: somebody waits to see it
PAUSE_FIRST, PAUSE_MAX = 0.05, 2.0  # seconds between two attempts
ANSWER_BYTES_MAX = 1 << 28
AWAY = frozenset((502, 504))  # a proxy that found no server says so
LATER = AWAY | {408, 429, 503}  # what is asked again
_TOKEN = re.compile(wire.SECRET_WORD)
_HOST = re.compile(r"[A-Za-z0-9._:-]+")


def open_remote(
    url: str, token: str | None, receipts: Iterable[str], anchor: str | Path | Mapping[str, Any] | None
) -> Ledger:
    """The ledger of a server; the token is tried at once. WentBack where it lacks what receipts and anchor witness."""
    ledger = Ledger(RemoteService(url, None if token is None else token.strip()))  # a file ends its line
    known = read_anchor(anchor) if isinstance(anchor, (str, Path)) else anchor
    try:
        ledger.compare(known, receipts)
    except BaseException:
        ledger.close()
        raise
    return ledger


class ServerPlace(NamedTuple):
    """Where a server is."""

    secure: bool
    host: str
    port: int | None
    path: str

    @property
    def shown(self) -> str:
        """As an address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"{'https' if self.secure else 'http'}://{host}{port}{self.path}"


def place(url: str) -> ServerPlace:
    """The parts of an address; InvalidParameter where a token should not be sent there."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not _HOST.fullmatch(host):
        raise InvalidParameter("a server's address is https://HOST or https://HOST:PORT")
    if "@" in parts.netloc or "?" in url or "#" in url:
        raise InvalidParameter("a server's address holds no name, password, ? or #: a token is given by token=")
    secure = parts.scheme == "https"
    if not secure and not _is_here(host):
        raise InvalidParameter(f"http://{host:.100} would show the token to whoever listens on the way: use https://")
    return ServerPlace(secure, host, port, quote(parts.path.rstrip("/"), safe="/%"))


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class RemoteService(LedgerService):
    """Asks a server. Connections are kept between requests, none is used by two threads or shared with a fork."""

    def __init__(
        self, url: str, token: str | None, seen: Iterable[str] = (), *, patience: float = REACH_SECONDS
    ) -> None:
        if token is None:
            raise InvalidParameter("a server is asked with a token: open(url, token=...)")
        if not _TOKEN.fullmatch(token):
            raise InvalidParameter("a token is one word, as whoever runs the ledger gave it: without spaces in it")
        self._place, self._token, self._patience = place(url), token, patience
        self._seen: dict[str, tuple[int, str]] = {}  # the last receipt of each root, the latest ones last
        self._idle: deque[HTTPConnection] = deque()  # taken and put back without a lock, which a fork could leave held
        self._process = os.getpid()
        self._note(seen)

    def __reduce__(self) -> tuple[object, ...]:
        return _same, (self._place.shown, self._token, self._shown(), self._patience)

    def __repr__(self) -> str:
        return f"{self._place.shown!r}"

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def ask(self, name: str, body: Mapping[str, Any], key: str | None = None, nonce: str = "") -> Reply:
        if name not in wire.ADDRESSES:
            raise LedgerError(HOLDERS_ONLY)
        writes = name in operations.WRITES
        method, path, content = addressed(name, body)
        if len(path) + len(content or b"") > REQUEST_BYTES:
            raise LedgerError(TOO_LARGE)
        headers = self._bearing(self._shown())
        if content is not None:
            headers["Content-Type"] = wire.JSON_TYPE
        if writes:
            headers[wire.KEY] = wire.written_key(key or f"once-{uuid4().hex}")
            headers[wire.PROCESS] = hashed(nonce)
        found, new = self._answered(method, path, content, headers)
        receipts = tuple(map(str, found.pop("receipts", ()))) if writes else ()
        self._note(receipts)
        return Reply(found, receipts, writes and not new)

    def witness(self, receipts: Iterable[str], who: str = "a receipt") -> None:
        """WentBack where the server lacks a line that it once gave a receipt for; with none, the token is tried."""
        shown = list(receipts)
        for text in shown:
            if not wire.PLAIN.fullmatch(text) or "," in text:
                raise DataError("a receipt is root:number:hash, as the ledger gave it")
            Receipt.of(text, None)
        for start in range(0, max(len(shown), 1), wire.RECEIPTS_MAX):
            these = shown[start : start + wire.RECEIPTS_MAX]
            self._answered("GET", wire.ADDRESSES["budgets"][1], None, self._bearing(these))
        self._note(shown)

    def _bearing(self, receipts: Sequence[str]) -> dict[str, str]:
        """Who asks, and what was answered before."""
        shown = {wire.AT_LEAST: wire.written_receipts(receipts)} if receipts else {}
        return {"Authorization": f"Bearer {self._token}", **shown}

    def _note(self, receipts: Iterable[str]) -> None:
        """Answers come in any order, and a replay brings an old receipt again: the highest number is the last."""
        for receipt in receipts:
            try:
                known = Receipt.of(receipt, None)
            except DataError:  # what was done is done, whatever a server writes beside it
                continue
            if known.seq >= self._seen.get(known.root, (0, ""))[0]:
                self._seen.pop(known.root, None)
                self._seen[known.root] = (known.seq, receipt)

    def _shown(self) -> tuple[str, ...]:
        return tuple(text for _, text in list(self._seen.values())[-wire.RECEIPTS_MAX :])

    def _answered(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str]
    ) -> tuple[dict[str, Any], bool]:
        """The answer, and whether it is new. Asked until there is one: a write has its key, and a read does nothing."""
        began, pause = monotonic(), PAUSE_FIRST
        reach = self._patience if wire.KEY in headers else min(self._patience, READ_REACH_SECONDS)
        while True:
            kept, wait, patience = bool(self._idle), pause, reach
            try:
                status, response, data = self._exchanged(method, path, content, headers)
            except ssl.SSLCertVerificationError as error:
                raise LedgerError(f"{self._place.host} does not prove who it is: {error.verify_message}") from None
            except (OSError, HTTPException) as error:
                lost: Exception = Unavailable(f"{self._place.shown} does not answer: {_reason(error)}")
                if kept:  # its end was closed while it was not used
                    self.close()
                    wait = 0.0
            else:
                if status in (200, 201):
                    return self._document(data), status == 201
                lost = self._problem(status, response, data)
                if status not in LATER:
                    raise lost
                if status not in AWAY:  # it is there, and busy
                    patience = self._patience
                wait = max(pause, _seconds(response.getheader("Retry-After")))
            if monotonic() + wait > began + patience:
                raise lost
            sleep(wait)
            pause = min(2 * pause, PAUSE_MAX)

    def _exchanged(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, HTTPResponse, bytes]:
        """One attempt; a connection that had any trouble is not used again."""
        connection = self._connection()
        try:
            connection.request(method, self._place.path + path, content, {**headers})
            response = connection.getresponse()
            data = response.read(ANSWER_BYTES_MAX + 1)
            if len(data) > ANSWER_BYTES_MAX:
                raise LedgerError(f"{self._place.shown} answers with more than {ANSWER_BYTES_MAX:,} bytes")
            if response.length:  # it ended in the middle, which the library does not say
                raise IncompleteRead(data, response.length)
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._idle.append(connection)
        return response.status, response, data

    def _connection(self) -> HTTPConnection:
        """One that nobody uses; what a process had before it was forked belongs to the other one."""
        if self._process != os.getpid():
            self.close()
            self._process = os.getpid()
        try:
            return self._idle.pop()
        except IndexError:
            pass
        where, port = self._place.host, self._place.port
        made = (
            HTTPSConnection(where, port, timeout=CONNECT_SECONDS, context=ssl.create_default_context())
            if self._place.secure
            else HTTPConnection(where, port, timeout=CONNECT_SECONDS)
        )
        made.connect()
        made.sock.settimeout(REMOTE_ANSWER_SECONDS)
        return made

    def _document(self, data: bytes) -> dict[str, Any]:
        try:
            document = json.loads(data)
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise LedgerError(f"{self._place.shown} is no ledger: what it answers is no JSON object")
        return document

    def _problem(self, status: int, response: HTTPResponse, data: bytes) -> Exception:
        """What a refusal tells; who is no ledger tells nothing that is believed."""
        if 300 <= status < 400:
            return LedgerError(
                f"{self._place.shown} sends on to another address, to which the token does not follow: open that one"
            )
        if response.getheader("Content-Type", "").startswith(wire.PROBLEM_TYPE):
            found = self._document(data)
            if isinstance(found.get("kind"), str) and isinstance(found.get("detail"), str):
                return again({**found, "message": found["detail"]})
        return Unavailable(f"{self._place.shown} answers {status}, and not as a ledger does: what stands before it?")


def addressed(name: str, body: Mapping[str, Any]) -> tuple[str, str, bytes | None]:
    """Method, path and content of a request."""
    method, template = wire.ADDRESSES[name]
    rest = dict(body)
    try:
        path = wire.PLACE.sub(lambda match: quote(str(rest.pop(match[1], "")), safe=""), template)
        if method == "POST":
            return method, path, json.dumps(rest, allow_nan=False).encode()
        asked = {text: value for text, value in rest.items() if value is not None}
        return method, path + (f"?{urlencode(asked, quote_via=quote, safe='()=*,')}" if asked else ""), None
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParameter(f"this cannot be sent to a server: {error!s:.100}") from None


def _same(url: str, token: str, seen: tuple[str, ...], patience: float) -> RemoteService:
    """The same desk in another process."""
    return RemoteService(url, token, seen, patience=patience)


def _seconds(after: str | None) -> float:
    return float(after) if after is not None and after.isdecimal() and len(after) < 6 else 0.0


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error or type(error).__name__)[:200]
