"""What an operation is given and gives: one transaction's view, and what it wants written down."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from ... import InvalidParameter
from ..errors import LedgerError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/@-]{0,99}")


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks: a name, what that name may do, and where; None is everywhere. part: no more of the root than this."""

    name: str
    role: str = "admin"
    root: str | None = None
    reservation: str | None = None
    part: str | None = None


@dataclass(frozen=True, slots=True)
class LedgerRequest:
    """One request inside its transaction."""

    connection: Connection
    now: int
    actor: Actor
    body: Mapping[str, Any]
    prepared: Any = None  # what was worked out before the transaction began
    nonce: str = ""  # of the process that asks
    clock: int = 0  # as the database's is, where time stands ahead of it


@dataclass(frozen=True, slots=True)
class Recorded:
    """What an operation did: the reply, one line for each chain, and the refusal where there is one."""

    reply: Mapping[str, Any]
    events: Mapping[str, Mapping[str, Any]]
    refused: LedgerError | None = field(default=None)


def named(value: object, what: str) -> str:
    """A name that can stand in an address and in a receipt."""
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise InvalidParameter(
            f"{what} has 1 to 100 letters, digits and . _ / @ -, beginning with a letter or digit, not {value!r:.120}"
        )
    return value


def text(value: object, what: str, most: int = 1000) -> str:
    """A text of one line."""
    if not isinstance(value, str) or not value.strip() or len(value) > most or not value.isprintable():
        raise InvalidParameter(f"{what} is a text of one line, at most {most} letters, not {value!r:.120}")
    return value
