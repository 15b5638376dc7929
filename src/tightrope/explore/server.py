"""Opens the explorer: one socket of this machine alone, a random port and a random token unless told otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from secrets import token_urlsafe
from urllib.parse import urlencode, urlsplit

import uvicorn

from .. import InvalidParameter
from ..extend.processes import cores
from ..extend.servers import TellingServer, listening_at
from .app import application
from .asked import TEXT_MAX
from .lanes import Lanes
from .process import Address

ADDRESS = "127.0.0.1"
CONNECTIONS_MAX = 1000
CLOSING_SECONDS = 3
TOKEN_BYTES = 18
TOKEN_MIN = 8  # characters


def serve(
    expressions: Sequence[str] = (),
    *,
    port: int = 0,
    token: str | None = None,
    files: str | None = None,
    ledger: Address | None = None,
    processes: int | None = None,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serves the page until it is interrupted; ready is told its address. ledger: what its last view shows."""
    secret = token_urlsafe(TOKEN_BYTES) if token is None else checked_token(token)
    with listening_at(ADDRESS, port) as sock:
        used: int = sock.getsockname()[1]
        address = f"http://{ADDRESS}:{used}/?{urlencode({'token': secret})}{state(expressions, ledger is not None)}"
        lanes = Lanes(processes or cores(), files, ledger)
        config = uvicorn.Config(
            application(lanes, used, secret),
            log_config=None,  # what goes wrong is told by those who ask; a closed terminal is no fault
            access_log=False,
            server_header=False,
            limit_concurrency=CONNECTIONS_MAX,
            timeout_graceful_shutdown=CLOSING_SECONDS,
            ws="none",
        )
        with suppress(KeyboardInterrupt):  # the way to end it
            asyncio.run(TellingServer(config, lambda: ready(address)).serve([sock]))


def checked_token(token: str) -> str:
    """A token of one's own: long enough not to be guessed, and the same in every address."""
    if len(token) < TOKEN_MIN or not all(text.isascii() and (text.isalnum() or text in "-_") for text in token):
        raise InvalidParameter(f"a token has at least {TOKEN_MIN} letters, digits, - or _")
    return token


def state(expressions: Sequence[str], of_ledger: bool = False) -> str:
    """What the page shows at first, as the end of its address: runs, all that a shared link says, or the ledger."""
    if not expressions:
        return "#view=ledger" if of_ledger else ""
    if len(expressions) == 1 and (shared := shared_state(expressions[0])) is not None:
        return f"#{shared}"
    for expression in expressions:
        if len(expression) > TEXT_MAX:
            raise InvalidParameter(
                f"an expression on the page has at most {TEXT_MAX:,} characters, not {len(expression):,}"
            )
    return f"#{urlencode([('run', text) for text in expressions])}"


def shared_state(text: str) -> str | None:
    """What a link from another explorer says: all behind its #; None where the text is no link."""
    if text.startswith("#"):
        return text[1:]
    return urlsplit(text).fragment if text.startswith(("http://127.0.0.1:", "http://localhost:")) else None
