"""Tokens: who may ask a server what. A token is shown once; the ledger keeps its hash.

viewer    budgets of a root        auditor   and its audit, anchors and reservations
analyst   and jobs of one's own    job       one reservation, and nothing else
admin     everything, of one root or of all
Viewers and analysts may have a part of a root, with all beneath it, in place of the whole.
"""

from __future__ import annotations

from secrets import token_urlsafe

from sqlalchemy import Connection, select, update

from ... import InvalidParameter
from .. import tables
from ..chain import SYSTEM, hashed
from ..errors import Conflict, NotFound, Unauthenticated
from .entry import Actor, LedgerRequest, Recorded
from .jobs import found_row, roots_of
from .tree import node

PREFIX = "trl_"
SECRET_BYTES = 32
IN_PARTS = ("viewer", "analyst")
ROLES = ("viewer", "analyst", "job", "auditor", "admin")


def new_secret() -> str:
    """A token that nobody guesses."""
    return PREFIX + token_urlsafe(SECRET_BYTES)


def grant(asking: LedgerRequest) -> Recorded:
    """A token for somebody: the ledger is told the hash of its secret, and never the secret."""
    body, connection = asking.body, asking.connection
    if body["role"] not in ROLES:
        raise InvalidParameter(f"role is one of {', '.join(ROLES)}, not {body['role']!r:.40}")
    if body["role"] not in ("admin", "job") and body["root"] is None:
        raise InvalidParameter(f"a token of the role {body['role']} is for one root: say which")
    if body["role"] not in IN_PARTS and body["root"] is not None and node(connection, body["root"]).parent is not None:
        raise InvalidParameter(f"{body['root']!r} is a part: a token of the role {body['role']} is for a whole root")
    if body["root"] is not None:
        node(connection, body["root"])
    if (body["role"] == "job") != (body["reservation"] is not None):
        raise InvalidParameter("a token for a job, and no other, names its reservation")
    if body["reservation"] is not None:
        bound = body["root"] is not None or asking.actor.root is not None
        if bound and roots_of(found_row(connection, body["reservation"])) != [body["root"]]:
            raise InvalidParameter("a token for a job names the root of its reservation, or none")
    if connection.execute(select(tables.token.c.id).where(tables.token.c.id == body["name"])).scalar() is not None:
        raise Conflict(f"there is a token for {body['name']!r} already, perhaps revoked: take another name")
    of = tables.answer.c
    if connection.execute(select(of.key).where(of.principal == body["name"]).limit(1)).scalar() is not None:
        raise Conflict(f"{body['name']!r} has asked here without a token: take another name for this one")
    row = {
        "id": body["name"],
        "sha256": body["sha256"],
        "role": body["role"],
        "root": body["root"],
        "reservation": body["reservation"],
        "expires": asking.now + round(1000 * body["seconds"]),
        "revoked": 0,
    }
    connection.execute(tables.token.insert().values(**row))
    reply = {name: row[name] for name in ("role", "root", "reservation", "expires")} | {"name": row["id"]}
    return Recorded(reply, {SYSTEM: {"event": "token", "token": row}})


def revoke(asking: LedgerRequest) -> Recorded:
    """The token is worth nothing from now on."""
    name = asking.body["name"]
    of = tables.token
    if asking.connection.execute(update(of).where(of.c.id == name).values(revoked=1)).rowcount == 0:
        raise NotFound(f"there is no token for {name!r:.120}")
    return Recorded({"name": name, "revoked": True}, {SYSTEM: {"event": "revoke", "token": name}})


def rotate(asking: LedgerRequest) -> Recorded:
    """A new secret for the same name and role: the old one is worth nothing from now on."""
    body, of = asking.body, tables.token
    row = asking.connection.execute(select(of).where(of.c.id == body["name"])).one_or_none()
    if row is None:
        raise NotFound(f"there is no token for {body['name']!r:.120}")
    if row.revoked:
        raise Conflict(f"the token of {body['name']!r} is revoked, and stays so: make one by another name")
    values = {"sha256": body["sha256"], "expires": asking.now + round(1000 * body["seconds"])}
    asking.connection.execute(update(of).where(of.c.id == row.id).values(**values))
    reply = {"name": row.id, "role": row.role, "root": row.root, "expires": values["expires"]}
    return Recorded(reply, {SYSTEM: {"event": "rotate", "token": row.id, **values}})


def recover(asking: LedgerRequest) -> Recorded:
    """After a restore nobody knows which tokens were revoked since: all are, and the chain begins a new epoch."""
    last = asking.connection.execute(select(tables.head.c.seq).where(tables.head.c.root == SYSTEM)).scalar_one()
    asking.connection.execute(update(tables.token).values(revoked=1))
    event = {
        "event": "recover",
        "why": asking.body["why"],
        "from": last,
        "witnessed": asking.body["witnessed"],
        "burn": True,
    }
    return Recorded({"name": SYSTEM, "state": "open", "burnt": True}, {SYSTEM: event})


def known(connection: Connection, now: int, secret: str) -> Actor:
    """Whose token this is; Unauthenticated where it is nobody's, over or revoked, without saying which."""
    row = connection.execute(select(tables.token).where(tables.token.c.sha256 == hashed(secret))).one_or_none()
    if row is None or row.revoked or row.expires <= now:
        raise Unauthenticated("this token is not known, or its time is over: ask whoever runs the ledger for one")
    if row.root is None:
        return Actor(row.id, row.role, None, row.reservation)
    where = node(connection, row.root)
    return Actor(row.id, row.role, where.root, row.reservation, None if where.parent is None else where.id)
