"""What concerns a ledger as a whole: leaving for another place, and a clock that ran ahead.

A root that was exported is frozen here for good, so that it is never spent twice.
"""

from __future__ import annotations

from sqlalchemy import Connection, select, update

from ... import InvalidParameter
from .. import tables
from ..errors import WrongState
from ..values import moment
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


AHEAD_MIN = 1000  # milliseconds


def all_chains(connection: Connection) -> tuple[str, ...]:
    """Their names."""
    return tuple(connection.execute(select(tables.head.c.root).order_by(tables.head.c.root)).scalars())


def set_clock(asking: LedgerRequest) -> Recorded:
    """Time goes on from the clock's: what a clock that ran ahead wrote stays, and later lines are earlier than it.

    Tokens whose time was over by that clock alone are good again; reservations that it ended stay ended.
    prepared: the chains that are locked.
    """
    connection, chains = asking.connection, all_chains(asking.connection)
    if set(chains) != set(asking.prepared):
        raise WrongState("a budget was made in this moment: ask again")
    if asking.now <= asking.clock + AHEAD_MIN:
        raise WrongState(f"the ledger's time is that of its clock, {moment(asking.clock)}: there is nothing to repair")
    connection.execute(update(tables.schema).values(repairs=tables.schema.c.repairs + 1))
    event = {"event": "clock", "why": asking.body["why"], "from": asking.now, "to": asking.clock}
    return Recorded({"from": asking.now, "to": asking.clock}, dict.fromkeys(chains, event))
