"""The addresses of a ledger, each of them one request to a desk.

GET   /v1/health                                 the version; needs no token
GET   /v1/budgets                                POST  /v1/budgets                             create
GET   /v1/budgets/NAME?job=&slack=               POST  /v1/budgets/NAME/renew
GET   /v1/budgets/NAME/history                   POST  /v1/quotes                              needs no key
GET   /v1/budgets/NAME/reservations              POST  /v1/reservations                        reserve
GET   /v1/reservations/ID                        POST  /v1/reservations/ID/claim|commit|cancel
GET   /v1/audit?root=&after=                     GET   /v1/anchor
A name with a slash is sent with %2F. Headers: Authorization: Bearer trl_..., Idempotency-Key for all that writes,
Ledger-Process (a random name of the process) for what begins a job, Ledger-At-Least for receipts from before. A key
that is no plain ASCII is sent as UTF-8'' and percent signs (RFC 8187).
Answers: 201 for what is new, 200 for what was answered before and for all that is read; Ledger-Receipt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ...documents import read_value
from ...errors import DataError, InvalidParameter, TightropeError
from ...version import __version__
from .. import keeping, orders
from ..book import jobs
from ..book.entry import Actor
from ..chain import Receipt
from ..database import Fault
from ..desk import LocalDesk, Reply
from ..errors import NotFound
from .guard import HEALTH, SECRET_STATE, LedgerGuard
from .problems import HttpProblem, told

THREADS = 16  # that work on the database at a time
KEY_MOST = 200  # letters
KEY_WRITTEN_MOST = 7 + 12 * KEY_MOST  # letters of its header: each at most four bytes in percent signs
RECEIPTS_MOST = 64
NESTED_MOST = 8
AFTER_MOST = 18  # digits
KEY = "idempotency-key"
PROCESS = "ledger-process"
AT_LEAST = "ledger-at-least"
RECEIPT = "ledger-receipt"
ENCODED = "UTF-8''"  # begins a key in percent signs
MOVES = ("claim", "commit", "cancel")
_PROCESS = re.compile(r"[A-Za-z0-9_-]{16,128}")

Endpoint = Callable[[Request], Awaitable[Response]]
Described = Callable[[Request], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class AskedOverHttp:
    """One request, read and not yet judged."""

    name: str
    body: Mapping[str, Any]
    secret: str
    key: str | None
    nonce: str
    receipts: tuple[str, ...]

    @property
    def writes(self) -> bool:
        """Whether it is written down."""
        return self.name in orders.WRITES

    def __repr__(self) -> str:
        return f"AskedOverHttp({self.name!r})"  # no secret in whatever prints it


def application(desk: LocalDesk, *, fault: Fault | None = None) -> ASGIApp:
    """All addresses, behind their guard. desk: asked in the name of whoever has the token; the caller closes it.

    fault is called with "before-reply" when an answer stands and was not sent: for tests that end the process there.
    """
    threads = CapacityLimiter(THREADS)

    async def answer(asked: AskedOverHttp) -> Response:
        return await run_sync(answered, desk, asked, fault, limiter=threads)

    def reading(name: str, described: Described) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            return await answer(read(request, name, described(request)))

        return endpoint

    def posting(name: str, place: str | None = None, parameter: str = "name") -> Endpoint:
        async def endpoint(request: Request) -> Response:
            body = await content(request)
            if place is not None:
                body = _placed(body, place, unquoted(request, parameter))
            return await answer(read(request, name, body))

        return endpoint

    async def health(_: Request) -> Response:
        return JSONResponse({"version": __version__})

    one = "/v1/budgets/{name}"
    routes = [
        Route(HEALTH, health, methods=["GET"]),
        Route("/v1/budgets", _by_method(GET=reading("budgets", _query()), POST=posting("create")), methods=BOTH),
        Route(one, reading("status", _status), methods=["GET"]),
        Route(f"{one}/history", reading("history", _budget), methods=["GET"]),
        Route(f"{one}/reservations", reading("reservations", _budget), methods=["GET"]),
        Route(f"{one}/renew", posting("renew", "name"), methods=["POST"]),
        Route("/v1/quotes", posting("quote"), methods=["POST"]),
        Route("/v1/reservations", posting("reserve"), methods=["POST"]),
        Route("/v1/reservations/{id}", reading("reservation", _reservation), methods=["GET"]),
        *(
            Route(f"/v1/reservations/{{id}}/{move}", posting(move, "reservation", "id"), methods=["POST"])
            for move in MOVES
        ),
        Route("/v1/audit", reading("audit", _audit), methods=["GET"]),
        Route("/v1/anchor", reading("anchor", _query()), methods=["GET"]),
    ]
    handlers = {HTTPException: _elsewhere, TightropeError: _refused, Exception: _refused}
    app = Starlette(routes=routes, exception_handlers=handlers)  # without them it would answer in words of its own
    app.router.redirect_slashes = False
    return LedgerGuard(app)


BOTH = ["GET", "POST"]


def _by_method(**endpoints: Endpoint) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return await endpoints["POST" if request.method == "POST" else "GET"](request)

    return endpoint


async def _elsewhere(_: Request, error: Exception) -> Response:
    """No such address, or not in this way."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        headers = dict(error.headers or {})
        return told(HttpProblem(405, "method-not-allowed", "this address is asked in another way", headers=headers))
    return told(NotFound("there is no such address: those of a ledger begin with /v1/"))


async def _refused(_: Request, error: Exception) -> Response:
    return told(error)


def answered(desk: LocalDesk, asked: AskedOverHttp, fault: Fault | None) -> Response:
    """In a thread: who asks, what that token has seen before, and the answer; every error is one too."""
    try:
        actor = desk.token(asked.secret)
        mine = desk.as_actor(actor)
        mine.witness(visible_receipts(desk, actor, asked.receipts))
        reply = mine.ask(asked.name, asked.body, asked.key, asked.nonce)
        if asked.name == "anchor":
            reply = reply._replace(content=keeping.signed(reply.content, desk.secret))
        found = sent(reply, asked.writes)
    except Exception as error:
        found = told(error)
    if fault is not None:
        fault("before-reply")
    return found


def sent(reply: Reply, writes: bool) -> Response:
    """A reply as HTTP says it."""
    document = {**reply.content, "receipts": list(reply.receipts)} if writes else reply.content
    headers = {RECEIPT: ", ".join(reply.receipts)} if reply.receipts else {}
    body = json.dumps(document, allow_nan=False, separators=(",", ":")).encode()
    return Response(body, 201 if writes and not reply.replayed else 200, headers, media_type="application/json")


def visible_receipts(desk: LocalDesk, actor: Actor, receipts: tuple[str, ...]) -> list[str]:
    """Those for roots that this token may see: of others nothing is told, and none is frozen by it."""
    named = [(Receipt.of(each, None).root, each) for each in receipts]
    if not named or (actor.root is None and actor.role != "job"):
        return [each for _, each in named]
    roots = {actor.root}
    if actor.role == "job":
        with desk.database.read() as connection:
            roots = set(jobs.roots_of(jobs.found_row(connection, actor.reservation)))
    return [each for root, each in named if root in roots]


def read(request: Request, name: str, body: Mapping[str, Any]) -> AskedOverHttp:
    """The request with what its headers say; InvalidParameter where one is missing or wrong."""
    writes = name in orders.WRITES
    key = _key(request) if writes else None
    nonce = _header(request, PROCESS) or ""
    if nonce and not _PROCESS.fullmatch(nonce):
        raise InvalidParameter("Ledger-Process has 16 to 128 letters, digits, - or _, drawn anew by each process")
    if not nonce and (name == "claim" or (name == "reserve" and body.get("start"))):
        raise InvalidParameter(
            "what begins a job needs a header Ledger-Process, a random text of the process that runs it"
        )
    shown = [each.strip() for line in request.headers.getlist(AT_LEAST) for each in line.split(",")]
    if len(shown) > RECEIPTS_MOST:
        raise InvalidParameter(f"Ledger-At-Least has at most {RECEIPTS_MOST} receipts: the last of each root will do")
    return AskedOverHttp(name, body, request.scope[SECRET_STATE], key, nonce, tuple(each for each in shown if each))


def _key(request: Request) -> str:
    """What names the request, as its sender wrote it."""
    given = _header(request, KEY)
    if given is None:
        raise InvalidParameter(
            "what writes needs a header Idempotency-Key, a text of your own: with the same one it is done once"
        )
    found = given
    if given.startswith(ENCODED) and len(given) <= KEY_WRITTEN_MOST:
        try:
            found = unquote(given.removeprefix(ENCODED), errors="strict")
        except UnicodeDecodeError:
            found = ""
    if not (0 < len(found) <= KEY_MOST and given.isascii() and found.isprintable()):
        raise InvalidParameter(f"Idempotency-Key has 1 to {KEY_MOST} printable letters, in ASCII or after {ENCODED}")
    return found


def _header(request: Request, name: str) -> str | None:
    """Its value; None where it is missing."""
    given = request.headers.getlist(name)
    if len(given) > 1:
        raise InvalidParameter(f"the header {name} is there {len(given)} times: send one")
    return given[0] if given else None


async def content(request: Request) -> dict[str, Any]:
    """The JSON object of a body, strictly."""
    kinds = request.headers.getlist("content-type")
    if [each.split(";")[0].strip().lower() for each in kinds] != ["application/json"]:
        raise HttpProblem(415, "not-json", "what is sent is JSON: Content-Type: application/json")
    if "content-encoding" in request.headers:
        raise HttpProblem(415, "not-json", "what is sent is JSON as it is, without a Content-Encoding")
    try:
        text = (await request.body()).decode("utf-8")
    except UnicodeDecodeError:
        raise DataError("not JSON: a text in UTF-8 is needed") from None
    except ClientDisconnect:
        raise HttpProblem(400, "invalid", "the request ended before it was whole") from None
    found = read_value(text)
    if not isinstance(found, dict):
        raise DataError("a request is a JSON object, as in {}")
    if not _shallow(found, NESTED_MOST):
        raise DataError(f"nested more than {NESTED_MOST} deep")
    return found


def _shallow(value: object, left: int) -> bool:
    if not isinstance(value, (dict, list)):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return left > 0 and all(_shallow(each, left - 1) for each in inside)


def _placed(body: Mapping[str, Any], place: str, value: str) -> dict[str, Any]:
    """The body with what the address says."""
    if place in body:
        raise InvalidParameter(f"{place} stands in the address: leave it out of the body")
    return {**body, place: value}


def unquoted(request: Request, parameter: str) -> str:
    """A part of the address as it was meant."""
    try:
        return unquote(request.path_params[parameter], errors="strict")
    except UnicodeDecodeError:
        raise NotFound("there is no such address") from None


def _query(*names: str) -> Described:
    """What stands behind the ?, each once, and nothing that is not known."""

    def described(request: Request) -> dict[str, Any]:
        found = request.query_params.multi_items()
        for name, _ in found:
            if name not in names:
                raise InvalidParameter(f"{name!r:.60} is not known behind the ?: {', '.join(names) or 'nothing is'}")
        if len(dict(found)) != len(found):
            raise InvalidParameter("each name stands once behind the ?")
        return dict(found)

    return described


def _budget(request: Request) -> dict[str, Any]:
    _query()(request)
    return {"name": unquoted(request, "name")}


def _reservation(request: Request) -> dict[str, Any]:
    _query()(request)
    return {"reservation": unquoted(request, "id")}


def _status(request: Request) -> dict[str, Any]:
    found = {**_query("job", "slack")(request), "name": unquoted(request, "name")}
    if "slack" in found:
        try:
            found["slack"] = float(found["slack"])
        except ValueError:
            raise InvalidParameter(f"slack is a number, not {found['slack']!r:.40}") from None
    return found


def _audit(request: Request) -> dict[str, Any]:
    found = _query("root", "after")(request)
    after = found.get("after", "0")
    if not (after.isascii() and after.isdecimal() and len(after) <= AFTER_MOST):
        raise InvalidParameter(f"after is the number of a line, not {after!r:.40}")
    if "root" not in found:
        raise InvalidParameter("root says which chain: ?root=NAME")
    return {"root": found["root"], "after": int(after)}
