"""The addresses of a ledger, each of them one request to a desk.

GET   /v1/health                                 the version; 503 where the database is away; needs no token
GET   /v1/metrics                                for Prometheus, of what the token may see
GET   /v1/live                                   the version, whatever the database does; needs no token
GET   /v1/budgets                                POST  /v1/budgets                             create
GET   /v1/budgets/NAME?job=&slack=               POST  /v1/budgets/NAME/renew
GET   /v1/budgets/NAME/history                   POST  /v1/quotes                              needs no key
GET   /v1/budgets/NAME/reservations?state=&after=
                                                 POST  /v1/reservations                        reserve
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
from time import monotonic
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

from ... import DataError, InvalidParameter, TightropeError, __version__
from ...extend.documents import read_value
from .. import maintenance, operations, wire
from ..chain import Receipt, hashed
from ..database import Fault
from ..errors import BudgetExhausted, NotFound, Unavailable
from ..pricing import price_seconds
from ..service import LocalService, Reply
from ..transactions import jobs
from ..transactions.entry import Actor
from .guard import SECRET_STATE, LedgerGuard
from .metrics import TEXT_TYPE, ServerCounts
from .problems import HttpProblem, told
from .quotas import PRICING, READING, WRITING, Quotas, TokenShares, Usage

QUOTAS = Quotas()
NESTED_MAX = 8
AFTER_MAX = 18  # digits
BEHIND: Mapping[str, tuple[str, ...]] = {
    "status": ("job", "slack"),
    "audit": ("root", "after"),
    "reservations": ("state", "after"),
}  # the ?
_PROCESS = re.compile(r"[A-Za-z0-9_-]{16,128}")

Endpoint = Callable[[Request], Awaitable[Response]]


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
        return self.name in operations.WRITES

    @property
    def kind(self) -> str:
        """Whose threads it needs: what may need a price waits for no others, and nothing else for it."""
        if self.name in ("reserve", "quote", "create", "renew") or self.body.get("job") or self.body.get("part"):
            return PRICING
        return WRITING if self.writes else READING

    def __repr__(self) -> str:
        return f"AskedOverHttp({self.name!r})"  # no secret in whatever prints it


def application(desk: LocalService, *, fault: Fault | None = None, quotas: Quotas = QUOTAS) -> ASGIApp:
    """All addresses, behind their guard. desk: asked in the name of whoever has the token; the caller closes it.

    quotas: what one token may have in a minute. fault is called with "before-reply" when an answer stands and was not
    sent: for tests that end the process there.
    """
    counts = ServerCounts()
    shares, looking, usage = TokenShares(), CapacityLimiter(1), Usage(quotas)

    async def answer(asked: AskedOverHttp) -> Response:
        kind, whose = asked.kind, hashed(asked.secret)
        usage.check(whose, "requests")
        usage.take(whose, "requests", 1.0)
        if kind == PRICING:
            usage.check(whose, "price_seconds")
        if asked.name == "reserve":
            usage.check(whose, "refusals")
        began = monotonic()
        async with shares.thread(kind, whose) as threads:
            response, took = await run_sync(timed, desk, asked, fault, limiter=threads)
        counts.add(asked.name, response.status_code, monotonic() - began)
        if asked.name == "metrics" and response.status_code == 200:
            return Response(counts.text(json.loads(bytes(response.body))), media_type=TEXT_TYPE)
        usage.take(whose, "price_seconds", took)
        if asked.name == "reserve" and response.status_code == BudgetExhausted.code:
            usage.take(whose, "refusals", 1.0)
        return response

    def reading(name: str, place: str | None) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            return await answer(read(request, name, described(request, name, place)))

        return endpoint

    def posting(name: str, place: str | None) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            body = await content(request)
            if place is not None:
                body = _placed(body, place, unquoted(request, place))
            return await answer(read(request, name, body))

        return endpoint

    async def live(_: Request) -> Response:
        return JSONResponse({"version": __version__})

    async def health(_: Request) -> Response:
        return await run_sync(healthy, desk, limiter=looking)

    endpoints: dict[str, dict[str, Endpoint]] = {wire.HEALTH: {"GET": health}, wire.LIVE: {"GET": live}}
    for name, (method, path) in wire.ADDRESSES.items():
        match = wire.PLACE.search(path)
        made = (posting if method == "POST" else reading)(name, None if match is None else match[1])
        endpoints.setdefault(path, {})[method] = made
    routes = [Route(path, _by_method(methods), methods=list(methods)) for path, methods in endpoints.items()]
    handlers = {HTTPException: _elsewhere, TightropeError: _refused, Exception: _refused}
    app = Starlette(routes=routes, exception_handlers=handlers)  # without them it would answer in words of its own
    app.router.redirect_slashes = False
    return LedgerGuard(app)


def healthy(desk: LocalService) -> Response:
    """Whether the database answers; 503 where it does not."""
    try:
        with desk.database.read() as connection:
            desk.database.now(connection)
    except Exception as error:
        return told(
            error if isinstance(error, TightropeError) else Unavailable("the ledger's database does not answer")
        )
    return JSONResponse({"version": __version__})


def _by_method(endpoints: Mapping[str, Endpoint]) -> Endpoint:
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


def timed(desk: LocalService, asked: AskedOverHttp, fault: Fault | None) -> tuple[Response, float]:
    """The answer, and the seconds that prices took for it."""
    with price_seconds() as took:
        response = answered(desk, asked, fault)
    return response, took.seconds


def answered(desk: LocalService, asked: AskedOverHttp, fault: Fault | None) -> Response:
    """In a thread: who asks, what that token has seen before, and the answer; every error is one too."""
    try:
        actor = desk.token(asked.secret)
        mine = desk.as_actor(actor)
        mine.witness(visible_receipts(desk, actor, asked.receipts))
        reply = mine.ask(asked.name, asked.body, asked.key, asked.nonce)
        if asked.name == "anchor":
            reply = reply._replace(content=maintenance.signed(reply.content, desk.secret))
        found = sent(reply, asked.writes)
    except Exception as error:
        found = told(error)
    if fault is not None:
        fault("before-reply")
    return found


def sent(reply: Reply, writes: bool) -> Response:
    """A reply as HTTP says it."""
    document = {**reply.content, "receipts": list(reply.receipts)} if writes else reply.content
    headers = {wire.RECEIPT: wire.written_receipts(reply.receipts)} if reply.receipts else {}
    body = json.dumps(document, allow_nan=False, separators=(",", ":")).encode()
    return Response(body, 201 if writes and not reply.replayed else 200, headers, media_type=wire.JSON_TYPE)


def visible_receipts(desk: LocalService, actor: Actor, receipts: tuple[str, ...]) -> list[str]:
    """Those for roots that this token may see: of others nothing is told, and none is frozen by it."""
    named = [(Receipt.of(receipt, None).root, receipt) for receipt in receipts]
    if not named or (actor.root is None and actor.role != "job"):
        return [text for _, text in named]
    roots = {actor.root}
    if actor.role == "job":
        with desk.database.read() as connection:
            roots = set(jobs.roots_of(jobs.found_row(connection, actor.reservation)))
    return [text for root, text in named if root in roots]


def read(request: Request, name: str, body: Mapping[str, Any]) -> AskedOverHttp:
    """The request with what its headers say; InvalidParameter where one is missing or wrong."""
    writes = name in operations.WRITES
    key = _key(request) if writes else None
    nonce = _header(request, wire.PROCESS) or ""
    if nonce and not _PROCESS.fullmatch(nonce):
        raise InvalidParameter(f"{wire.PROCESS} has 16 to 128 letters, digits, - or _, drawn anew by each process")
    if not nonce and (name == "claim" or (name == "reserve" and body.get("start"))):
        raise InvalidParameter(
            f"what begins a job needs a header {wire.PROCESS}, a random text of the process that runs it"
        )
    shown = [receipt for line in request.headers.getlist(wire.AT_LEAST) for receipt in wire.read_receipts(line)]
    if len(shown) > wire.RECEIPTS_MAX:
        raise InvalidParameter(
            f"{wire.AT_LEAST} has at most {wire.RECEIPTS_MAX} receipts: the last of each root will do"
        )
    return AskedOverHttp(name, body, request.scope[SECRET_STATE], key, nonce, tuple(text for text in shown if text))


def _key(request: Request) -> str:
    """What names the request, as its sender wrote it."""
    given = _header(request, wire.KEY)
    if given is None:
        raise InvalidParameter(
            f"what writes needs a header {wire.KEY}, a text of your own: with the same one it is done once"
        )
    text = wire.read_key(given)
    if text is None:
        raise InvalidParameter(
            f"{wire.KEY} has 1 to {wire.KEY_MAX} printable letters, in ASCII or after {wire.ENCODED}"
        )
    return text


def _header(request: Request, name: str) -> str | None:
    """Its value; None where it is missing."""
    given = request.headers.getlist(name)
    if len(given) > 1:
        raise InvalidParameter(f"the header {name} is there {len(given)} times: send one")
    return given[0] if given else None


async def content(request: Request) -> dict[str, Any]:
    """The JSON object of a body, strictly."""
    kinds = request.headers.getlist("content-type")
    if [kind.split(";")[0].strip().lower() for kind in kinds] != [wire.JSON_TYPE]:
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
    if not _shallow(found, NESTED_MAX):
        raise DataError(f"nested more than {NESTED_MAX} deep")
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


def described(request: Request, name: str, place: str | None) -> dict[str, Any]:
    """What an address asks for: behind its ? each name once, and nothing that is not known."""
    known = BEHIND.get(name, ())
    found = request.query_params.multi_items()
    for text, _ in found:
        if text not in known:
            raise InvalidParameter(f"{text!r:.60} is not known behind the ?: {', '.join(known) or 'nothing is'}")
    asked = dict(found)
    if len(asked) != len(found):
        raise InvalidParameter("each name stands once behind the ?")
    if place is not None:
        asked[place] = unquoted(request, place)
    return {"status": _status, "audit": _audit}.get(name, dict[str, Any])(asked)


def _status(asked: Mapping[str, str]) -> dict[str, Any]:
    if "slack" not in asked:
        return {**asked}
    try:
        return {**asked, "slack": float(asked["slack"])}
    except ValueError:
        raise InvalidParameter(f"slack is a number, not {asked['slack']!r:.40}") from None


def _audit(asked: Mapping[str, str]) -> dict[str, Any]:
    after = asked.get("after", "0")
    if not (after.isascii() and after.isdecimal() and len(after) <= AFTER_MAX):
        raise InvalidParameter(f"after is the number of a line, not {after!r:.40}")
    if "root" not in asked:
        raise InvalidParameter("root says which chain: ?root=NAME")
    return {"root": asked["root"], "after": int(after)}
