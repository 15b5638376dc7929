"""Refusals as HTTP says them: application/problem+json (RFC 9457), one line each; a client makes the same error of it.

{"type": "urn:tightrope:budget-exhausted", "title": .., "status": 409, "detail": .., "kind": "BudgetExhausted", ..}
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from typing import Any

from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.responses import Response

from ... import DataError, ExpressionError, InvalidParameter, TightropeError, UnsupportedMechanism
from ..errors import LedgerError, Unauthenticated, Unavailable, VerificationFailed
from ..wire import PROBLEM_TYPE

RETRY_SECONDS = 1
DETAIL_MAX = 2000  # letters
CHALLENGE = 'Bearer realm="tightrope ledger"'
FAULT_DETAIL = (
    "the ledger met a fault of its own, which its log tells: ask again with the same key, and nothing is done twice"
)
BUSY_DETAIL = "the ledger is busy: ask again in a moment, with the same key"

LOG = logging.getLogger("tightrope.ledger")


class HttpProblem(LedgerError):
    """What only HTTP can get wrong; with its own code and type, and what its answer's headers say."""

    def __init__(
        self, status: int, name: str, detail: str, kind: str = "LedgerError", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.name, self.kind = status, name, kind
        self.headers = dict(headers or {})


def told(error: Exception) -> Response:
    """The answer to a request that met this error; what nobody foresaw is logged, without any value."""
    if not isinstance(error, (TightropeError, PoolTimeout)):
        frames = "".join(traceback.format_tb(error.__traceback__))
        LOG.error("a request met %s\n%s", type(error).__name__, frames)
    status, document, headers = described(error)
    body = json.dumps(document, allow_nan=False).encode()
    return Response(body, status, headers, media_type=PROBLEM_TYPE)


def described(error: Exception) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Status, document and headers."""
    status, name, kind = _sorted(error)
    document: dict[str, Any] = {
        "type": f"urn:tightrope:{name}",
        "title": name.replace("-", " "),
        "status": status,
        "detail": _detail(error),
        "kind": kind,
    }
    if reservation := getattr(error, "reservation", ""):
        document["reservation"] = reservation
    if isinstance(error, ExpressionError):
        document["column"] = error.column
    if isinstance(error, VerificationFailed):
        document["findings"] = list(error.findings)
    headers: dict[str, str] = dict(getattr(error, "headers", {}))
    if status in (429, 503):
        headers.setdefault("retry-after", str(RETRY_SECONDS))
    if status == 401:
        headers.setdefault("www-authenticate", CHALLENGE)
    return status, document, headers


def _sorted(error: Exception) -> tuple[int, str, str]:
    """Status, the end of the problem's name, and the class that a client raises."""
    if isinstance(error, HttpProblem):
        return error.status, error.name, error.kind
    if isinstance(error, Unauthenticated):
        return error.code, error.urn, "Unauthenticated"
    if isinstance(error, LedgerError):
        return error.code, error.urn, type(error).__name__
    if isinstance(error, (InvalidParameter, ExpressionError, DataError)):
        return 400, LedgerError.urn, type(error).__name__
    if isinstance(error, TightropeError):
        return 422, "unsupported-mechanism", UnsupportedMechanism.__name__
    if isinstance(error, PoolTimeout):
        return 503, Unavailable.urn, Unavailable.__name__
    return 500, "fault", Unavailable.__name__


def _detail(error: Exception) -> str:
    if isinstance(error, PoolTimeout):
        return BUSY_DETAIL
    if not isinstance(error, TightropeError):
        return FAULT_DETAIL
    return " ".join(str(error).split())[:DETAIL_MAX]
