"""Leaving for another place: a root that was exported is frozen here for good, so that it is never spent twice."""

from __future__ import annotations

from sqlalchemy import update

from ... import InvalidParameter
from .. import tables
from .entry import LedgerRequest, Recorded
from .tree import moving, node


def leave(asking: LedgerRequest) -> Recorded:
    """The last line of a root here."""
    root = node(asking.connection, asking.body["root"])
    if root.id != root.root:
        raise InvalidParameter(f"a whole tree is exported: its root is {root.root!r}")
    moving(asking.connection, [root.id])
    asking.connection.execute(update(tables.budget).where(tables.budget.c.id == root.id).values(state="exported"))
    event = {"event": "export", "why": asking.body["why"]}
    return Recorded({"name": root.id, "state": "exported"}, {root.id: event})
