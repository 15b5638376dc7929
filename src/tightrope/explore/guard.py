"""Who may ask: pages that this server gave out, opened on this machine, by whoever has the token.

The name that the browser used must be this machine's own (so that no other name leads here: DNS rebinding), a page of
another origin is refused whatever it sends, and every question carries the token in a header, which no form and no link
can set. What is sent has a limit; what is answered says that nothing else may be loaded or run.
"""

from __future__ import annotations

from collections.abc import Mapping
from hmac import compare_digest
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

QUESTION_BYTES = 1 << 22  # bytes: the scores of an attack are part of a question
TOKEN_HEADER = "x-tightrope-token"
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
SENT_ALONG: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
WRONG_NAME = "this address is for 127.0.0.1 alone"
WRONG_ORIGIN = "a page from elsewhere asked this; the explorer answers its own page alone"
NO_TOKEN = "the token is missing or another one: open the address that tightrope explore printed"
TOO_LONG = f"a question has at most {QUESTION_BYTES:,} bytes"


class Guard:
    """Stands before the application; refuses in one line."""

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SENT_ALONG)
            await send(message)

        refused = self._refused(scope)
        if refused is not None:
            code, why = refused
            await PlainTextResponse(why + "\n", code)(scope, receive, sending)
            return
        await self._app(scope, _Limited(receive), sending)

    def _refused(self, scope: Scope) -> tuple[int, str] | None:
        """The status and the reason; None for those who may ask."""
        headers = Headers(scope=scope)
        if headers.getlist("host") != [headers.get("host")] or headers.get("host") not in self._hosts:
            return 421, WRONG_NAME
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        if origin is not None and origin not in {f"http://{host}" for host in self._hosts}:
            return 403, WRONG_ORIGIN
        if site not in ("none", "same-origin") and not (site == "same-site" and scope["path"] == "/"):
            return 403, WRONG_ORIGIN
        if not self._known(scope, headers):
            return 403, NO_TOKEN
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > QUESTION_BYTES:
            return 413, TOO_LONG
        return None

    def _known(self, scope: Scope, headers: Headers) -> bool:
        """Questions bring the token in a header, the page in its address; what the page is made of is no secret."""
        path: str = scope["path"]
        if path.startswith("/page/"):
            return True
        given = headers.get(TOKEN_HEADER, "")
        if path == "/" and not given:
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return compare_digest(given.encode("utf-8", "surrogateescape"), self._token)


class TooLong(Exception):
    """More was sent than a question may have."""


class _Limited:
    """What comes in, up to the limit, whatever its header said."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._left = QUESTION_BYTES

    async def __call__(self) -> Any:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise TooLong
        return message
