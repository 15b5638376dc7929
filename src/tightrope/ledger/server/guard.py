"""What stands before the application: limits that hold whoever asks, and nothing that a browser could be fooled with.

Addresses are matched as they were sent, so that a name with a slash (%2F) is one part of them. Who asks is looked up
behind this; here a token is only a text, of which so many requests may be under way at a time.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import Unauthenticated
from ..service import REQUEST_BYTES, TOO_LARGE
from ..wire import HEALTH, LIVE, SECRET_WORD
from .problems import HttpProblem, told

BODY_SECONDS = 20.0  # for which a body is waited for
AT_A_TIME = 32  # requests of one token
AT_A_TIME_ALL = 256
SECRET_STATE = "tightrope.secret"  # where the application finds the token
ALWAYS: Mapping[str, str] = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
}
TWO_LENGTHS = "Content-Length and Transfer-Encoding say two things of one body: send one of them"
NO_BEARER = "a token is needed, in one header: Authorization: Bearer trl_..."
TOO_MANY = f"{AT_A_TIME} requests of this token are under way: ask again when one is answered"
ALL_BUSY = "the ledger has too many requests under way: ask again in a moment, with the same key"
_BEARER = re.compile(rf"[Bb]earer +({SECRET_WORD})")


class LedgerGuard:
    """Refuses in one line of JSON."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                MutableHeaders(scope=message).update(ALWAYS)
            await send(message)

        try:
            await self._passed(scope, _LimitedBody(receive), sending)
        except Exception as error:
            if not begun:
                await told(error)(scope, receive, sending)

    async def _passed(self, scope: Scope, receive: Receive, send: Send) -> None:
        """On to the application, if nothing stands against it."""
        scope = {**scope, "path": scope["raw_path"].decode("ascii", "replace"), "root_path": ""}
        if scope["path"] in (HEALTH, LIVE):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        secret = bearer(headers)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 10 or int(length) > REQUEST_BYTES:
            raise HttpProblem(413, "too-large", TOO_LARGE, headers={"connection": "close"})
        if "content-length" in headers and "transfer-encoding" in headers:  # a proxy before this may read another end
            raise HttpProblem(400, "invalid", TWO_LENGTHS, headers={"connection": "close"})
        whose = sha256(secret.encode()).hexdigest()
        if self._under_way[whose] >= AT_A_TIME:
            raise HttpProblem(429, "too-many-requests", TOO_MANY, "Unavailable")
        if self._under_way.total() >= AT_A_TIME_ALL:
            raise HttpProblem(503, "unavailable", ALL_BUSY, "Unavailable")
        self._under_way[whose] += 1
        try:
            await self._app({**scope, SECRET_STATE: secret}, receive, send)
        finally:
            self._under_way[whose] -= 1
            if not self._under_way[whose]:
                del self._under_way[whose]


def bearer(headers: Headers) -> str:
    """The token; Unauthenticated without one, or with several."""
    given = headers.getlist("authorization")
    match = _BEARER.fullmatch(given[0]) if len(given) == 1 else None
    if match is None:
        raise Unauthenticated(NO_BEARER)
    return match[1]


class _LimitedBody:
    """What comes in, up to the limit, whatever its header said, and not for ever."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._left = REQUEST_BYTES
        self._whole = False

    async def __call__(self) -> Any:
        if self._whole:  # only the end of the connection can come, and that may take any time
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), BODY_SECONDS)
        except TimeoutError:
            raise HttpProblem(
                408, "too-slow", "the request did not arrive in time", "Unavailable", {"connection": "close"}
            ) from None
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._left < 0:
                raise HttpProblem(413, "too-large", TOO_LARGE, headers={"connection": "close"})
        return message
