"""The application: the page and what it is made of, and one address for questions.

GET  /            the page
GET  /page/FILE   what it is made of: modules, styles
GET  /api/alive   whether the server is there, and which version
POST /api/ask     {"client": ID, "spot": NAME, "question": {...}}, answered by answers.py
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from .. import __version__
from .guard import TOO_LONG, Guard, TooLong
from .lanes import Busy, Lanes, Spot
from .process import CANCELLED

ID_MAX = 64  # characters of a client and of a spot
KINDS_OF_FILES: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    "": "text/plain; charset=utf-8",
}
BUSY = "too many questions at once; wait a moment"
NOT_A_QUESTION = 'a question is {"client": ..., "spot": ..., "question": {"kind": ...}}'


def application(lanes: Lanes, port: int, token: str) -> ASGIApp:
    """Everything that the server gives out, behind its guard."""
    parts = dict(_parts(files(__package__).joinpath("page")))

    async def page(_: Request) -> Response:
        return _file(parts, "index.html")

    async def part(request: Request) -> Response:
        return _file(parts, request.path_params["path"])

    async def alive(_: Request) -> Response:
        return JSONResponse({"version": __version__})

    async def ask(request: Request) -> Response:
        try:
            place, question = _read(await request.body())
        except TooLong:
            return PlainTextResponse(TOO_LONG + "\n", 413)
        except ClientDisconnect:
            return Response(status_code=499)
        except (ValueError, TypeError, KeyError, RecursionError):
            return PlainTextResponse(NOT_A_QUESTION + "\n", 400)
        try:
            return JSONResponse(await _unless_gone(request, lanes, place, question))
        except Busy:
            return JSONResponse({"error": BUSY, "column": None}, 503, {"retry-after": "1"})

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await lanes.open()
        yield
        await lanes.close()

    routes = [
        Route("/", page),
        Route("/page/{path:path}", part),
        Route("/api/alive", alive),
        Route("/api/ask", ask, methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), port, token)


async def _unless_gone(request: Request, lanes: Lanes, place: Spot, question: dict[str, Any]) -> dict[str, Any]:
    """The answer; where the page goes away meanwhile, its question is dropped."""
    asking = asyncio.ensure_future(lanes.ask(place, question))
    leaving = asyncio.ensure_future(request.receive())  # after the body, only the end of the connection comes
    try:
        await asyncio.wait({asking, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return asking.result() if asking.done() else CANCELLED
    finally:
        for task in (asking, leaving):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


def _read(body: bytes) -> tuple[Spot, dict[str, Any]]:
    """Who asks what; ValueError, TypeError or KeyError for anything else."""
    document = json.loads(body)
    client, spot, question = (document[name] for name in ("client", "spot", "question"))
    if not all(isinstance(text, str) and 0 < len(text) <= ID_MAX for text in (client, spot)):
        raise TypeError
    if not isinstance(question, dict):
        raise TypeError
    return Spot(client, spot), question


def _parts(folder: Traversable, above: str = "") -> Iterator[tuple[str, bytes]]:
    """The files of the page by their names, read once: what is not among them is not given out."""
    for path in folder.iterdir():
        if path.is_dir():
            yield from _parts(path, f"{above}{path.name}/")
        else:
            yield above + path.name, path.read_bytes()


def _file(parts: Mapping[str, bytes], name: str) -> Response:
    if name not in parts:
        return PlainTextResponse("there is no such file\n", 404)
    dot = name.rfind(".")
    kind = KINDS_OF_FILES.get(name[dot:] if dot >= 0 else "", "application/octet-stream")
    return Response(parts[name], media_type=kind)
