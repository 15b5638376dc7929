"""One chain of lines per root budget: what happened, each line holding the hash of the one before.

    hash = sha256(canonical JSON of [root, seq, at, actor, body, prev])
A receipt names a line, root:seq:hash, and who knows the ledger's key can tell that the ledger gave it (its last part).
Guarantee: a line that was changed, cut out of the middle or moved is noticed by whoever reads the chain; lines cut
off its end are noticed by whoever has a receipt or an anchor from after them.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from .. import DataError
from . import tables

SYSTEM = "_ledger"  # the chain of what concerns all roots: tokens, the beginning; and who acts where nobody does
GENESIS = "0" * 64
MAC_LENGTH = 32
_HEAD = select(tables.head).where(tables.head.c.root == bindparam("of"))
_MOVE = update(tables.head).where(tables.head.c.root == bindparam("of"))
EPOCH = 10**12  # a recovery begins a new one: no line after it has a number that a lost line had


def canonical(value: object) -> str:
    """The one text of a JSON value: keys in order, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def hashed(text: str) -> str:
    """SHA-256 of a text, in hexadecimal digits."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One line of a chain; body is canonical JSON."""

    root: str
    seq: int
    at: int
    actor: str
    body: str
    prev: str
    hash: str

    @property
    def right(self) -> bool:
        """Whether its hash is that of what it says."""
        return self.hash == line_hash(self.root, self.seq, self.at, self.actor, self.body, self.prev)

    def document(self) -> dict[str, Any]:
        """As an export or an answer holds it."""
        return {name: getattr(self, name) for name in ("root", "seq", "at", "actor", "body", "prev", "hash")}


def line_hash(*parts: object) -> str:
    """Of root, seq, at, actor, body and prev."""
    return hashed(canonical(list(parts)))


def begin(connection: Connection, root: str) -> None:
    """A chain without lines."""
    connection.execute(tables.head.insert().values(root=root, seq=0, hash=GENESIS, at=0))


def follows(seq: int, body: Mapping[str, Any]) -> int:
    """The number of the line after this one: after a recovery beyond all that was lost, as far as that is known."""
    if body["event"] != "recover":
        return seq + 1
    return (max(seq, int(body["witnessed"])) // EPOCH + 1) * EPOCH + 1


def append(connection: Connection, root: str, at: int, actor: str, body: Mapping[str, Any]) -> AuditLine:
    """Writes one more line; whoever calls this holds the lock of the chain."""
    head = connection.execute(_HEAD, {"of": root}).one()
    written = canonical(body)
    seq, moment = follows(head.seq, body), int(body["to"]) if body["event"] == "clock" else max(at, head.at)
    line = AuditLine(
        root, seq, moment, actor, written, head.hash, line_hash(root, seq, moment, actor, written, head.hash)
    )
    connection.execute(tables.audit.insert(), line.document())
    connection.execute(_MOVE, {"of": root, "seq": seq, "hash": line.hash, "at": moment})
    return line


def receipt(root: str, seq: int, digest: str, secret: bytes | None) -> str:
    """What proves that the ledger once had this line; without a secret, to nobody but who trusts the bearer."""
    named = f"{root}:{seq}:{digest}"
    return named if secret is None else f"{named}:{mac(secret, named)}"


def mac(secret: bytes, text: str) -> str:
    """That the ledger's key was there when the text was written."""
    return hmac.new(secret, text.encode(), sha256).hexdigest()[:MAC_LENGTH]


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt that somebody shows; authentic where its fourth part is the ledger's own."""

    root: str
    seq: int
    hash: str
    authentic: bool

    @staticmethod
    def of(text: str, secret: bytes | None) -> Receipt:
        """DataError where the text is none."""
        parts = text.split(":")
        if len(parts) not in (3, 4) or not parts[1].isdecimal() or len(parts[1]) > 18 or len(parts[2]) != 64:
            raise DataError("a receipt is root:number:hash, as the ledger gave it")
        named = ":".join(parts[:3])
        proven = (
            secret is not None
            and len(parts) == 4
            and hmac.compare_digest(mac(secret, named).encode(), parts[3].encode("utf-8", "surrogatepass"))
        )
        return Receipt(parts[0], int(parts[1]), parts[2], proven)

    def stands(self, connection: Connection) -> bool:
        """Whether the ledger still has the line, or a recovery has made up for its loss.

        The recovery that ended its epoch has made up for every line of it if it burnt all that was left, else for those
        up to the last that its anchor knew, if that is of the same epoch. Which of them were lost cannot be told by
        numbers: lines that were written after a restore have those of the lost ones.
        """
        of = tables.audit.c
        query = select(of.hash).where(of.root == self.root, of.seq == self.seq)
        if connection.execute(query).scalar() == self.hash:
            return True
        epoch = self.seq // EPOCH
        later = select(of.body).where(of.root == self.root, of.seq > (epoch + 1) * EPOCH).order_by(of.seq).limit(1)
        body = connection.execute(later).scalar()  # the first line of an epoch is its recovery
        if body is None:
            return False
        made_up = json.loads(body)
        return bool(made_up["burn"] or self.seq <= made_up["witnessed"] < (epoch + 1) * EPOCH)
