"""Jobs: reserved, claimed, committed, given back.

    reserved --claim--> running --commit--> committed
    reserved --cancel or expire--> cancelled          nobody has read the data: a later claim fails
    running  --expire--> committed                    somebody may have
    running  --cancel--> cancelled                    only with a statement that the data were never read
    running  --commit(part)--> committed              only where costs add up step by step
    refused                                           final: the key always answers the same
What is reserved or running counts as spent. A job runs once: claims carry the nonce of a process, and another process
with the same key is told that it is claimed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Row, bindparam, select, text, update

from ... import InvalidParameter, UnsupportedMechanism
from .. import tables
from ..chain import canonical, hashed
from ..errors import BudgetExhausted, Cancelled, Claimed, NotAdditive, NotFound, WrongState
from ..filters.base import SUM, Price
from .entry import LedgerRequest, Recorded
from .fit import Fit, fit, spread, unsettled
from .tree import Counter, Path, counters, moving, path

BRIEF_LETTERS = 160  # of a job that was refused
TTL_MAX = 366 * 86_400  # seconds
WORSE = (
    "the work of one price ended before its cost was known well: {}. Take fewer or simpler steps at a time, or consent "
    "to the upper end with worse=True (--worse)"
)
DUE_MAX = 200  # that one transaction looks after
_LIVING = (
    "FROM charge AS c WHERE c.reservation = :id AND c.budget = axis.budget AND c.name = axis.name AND axis.dead = 0"
)
HOLD = text(f"UPDATE axis SET held = held + c.units {_LIVING}")
RELEASE = text(f"UPDATE axis SET held = held - c.units {_LIVING}")
SPEND = text(f"UPDATE axis SET spent = spent + c.units {_LIVING}")
SETTLE = text(f"UPDATE axis SET held = held - c.units, spent = spent + c.units {_LIVING}")
_RESERVATION, _CHARGE = tables.reservation.c, tables.charge.c
_ONE = select(tables.reservation).where(_RESERVATION.id == bindparam("id"))
_CHARGES = (
    select(_CHARGE.budget, _CHARGE.name, _CHARGE.units)
    .where(_CHARGE.reservation == bindparam("id"))
    .order_by(_CHARGE.budget, _CHARGE.name)
)
_HOLDING = text("reservation.state IN ('reserved', 'running')")  # literal, as a partial index is found by nothing else
_DUE = (
    select(tables.reservation).where(_HOLDING, _RESERVATION.expires < bindparam("now")).order_by(_RESERVATION.expires)
)
_COUNT = text("UPDATE tally SET number = number + 1 WHERE state = :state AND budget IN :budgets").bindparams(
    bindparam("budgets", expanding=True)
)
_RECOUNT = text(
    "UPDATE tally SET number = number + CASE WHEN state = :after THEN 1 ELSE -1 END WHERE state IN (:before, :after) "
    "AND budget IN (SELECT budget FROM place WHERE reservation = :id AND made = :made AND budget = tally.budget)"
)
STATES = ("reserved", "running", "committed", "cancelled", "refused")
_STILL = select(tables.budget.c.id).where(tables.budget.c.parent.is_(None), tables.budget.c.state != "open")


def reserve(asking: LedgerRequest) -> Recorded:
    """Holds what the jobs cost, on all budgets that they meet, or nothing; prepared: the price of each job."""
    connection, body = asking.connection, asking.body
    prices: Mapping[str, Price] = asking.prepared
    paths = [path(connection, name) for name in body["jobs"]]
    roots = sorted({way.charged[0].root for way in paths})
    moving(connection, roots)
    costs = {name: price.units for name, price in prices.items()}
    axes = met_counters(connection, paths)
    if not body.get("worse") and (gap := unsettled(paths, axes, prices)):
        raise UnsupportedMechanism(WORSE.format(gap), mechanism=f"{', '.join(body['jobs'].values()):.200}")
    found = fit(paths, axes, spread(paths, costs))
    start, refused = bool(body["start"]), bool(found.why)
    identity = uuid4().hex
    row = {
        "id": identity,
        "principal": asking.actor.name,
        "state": "refused" if refused else "running" if start else "reserved",
        "claimant": hashed(asking.nonce) if start and not refused else None,
        "made": asking.now,
        "expires": asking.now + round(1000 * body["ttl"]),
        "jobs": canonical({name: briefly(job) for name, job in body["jobs"].items()} if refused else body["jobs"]),
        "roots": canonical(roots),
        "additive": int(all(price.additive for price in prices.values())),
        "evidence": "{}" if refused else canonical({name: price.evidence for name, price in prices.items()}),
        "note": body["note"],
    }
    connection.execute(tables.reservation.insert(), row)
    charge(connection, row, found)
    if refused:
        connection.execute(_COUNT, {"state": "refused", "budgets": sorted(met(paths))})
    events = {
        root: {
            "event": "refuse" if refused else "reserve",
            "reservation": row,
            "slack": body["slack"],
            **_share(
                found, {node.id for way in paths if way.charged[0].root == root for node in (*way.charged, *way.beyond)}
            ),
        }
        for root in roots
    }
    reply = shown(row, found.charges)
    if not refused:
        return Recorded(reply, events)
    why = f"{found.why}; the refusal is recorded as {identity}"
    return Recorded(reply, events, BudgetExhausted(why, identity))


def met_counters(connection: Connection, paths: Sequence[Path]) -> dict[str, list[Counter]]:
    """The axes of all budgets that these paths meet."""
    return counters(connection, met(paths))


def met(paths: Iterable[Path]) -> set[str]:
    """All budgets on these paths."""
    return {node.id for way in paths for node in (*way.charged, *way.beyond)}


def briefly(job: str) -> str:
    """What is kept of a job that was refused: all of a short one, else how it begins, and its digest."""
    return job if len(job) <= BRIEF_LETTERS else f"{job[:BRIEF_LETTERS]}... sha256 {hashed(job)}"


def charge(connection: Connection, row: Mapping[str, Any], found: Fit) -> None:
    """Writes the charges, ends the axes that they end, and moves the counters of the living."""
    kill(connection, found.kills)
    identity = row["id"]
    budgets = sorted({budget for budget, _, _ in found.charges})
    if budgets:
        connection.execute(
            tables.place.insert(),
            [
                {"budget": name, "made": row["made"], "reservation": identity, "principal": row["principal"]}
                for name in budgets
            ],
        )
        connection.execute(_COUNT, {"state": row["state"], "budgets": budgets})
        connection.execute(
            tables.charge.insert(),
            [
                {"reservation": identity, "budget": budget, "name": name, "units": units}
                for budget, name, units in found.charges
            ],
        )
        connection.execute(HOLD, {"id": identity})


def kill(connection: Connection, places: Iterable[tuple[str, str]]) -> None:
    """These axes count no more, for ever."""
    axis = tables.axis.c
    statement = update(tables.axis).where(axis.budget == bindparam("b"), axis.name == bindparam("n")).values(dead=1)
    listed = [{"b": budget, "n": name} for budget, name in places]
    if listed:
        connection.execute(statement, listed)


def _share(found: Fit, budgets: set[str]) -> dict[str, Any]:
    """What a charge does to the budgets of one root."""
    return {
        "charges": [list(each) for each in found.charges if each[0] in budgets],
        "kills": [list(each) for each in found.kills if each[0] in budgets],
    }


def shown(row: Mapping[str, Any], charges: Iterable[tuple[str, str, int]]) -> dict[str, Any]:
    """A reservation as people and programs see it."""
    by_budget: dict[str, dict[str, int]] = {}
    for budget, name, units in charges:
        by_budget.setdefault(budget, {})[name] = units
    return {
        "id": row["id"],
        "state": row["state"],
        "principal": row["principal"],
        "jobs": json.loads(row["jobs"]),
        "charges": by_budget,
        "additive": bool(row["additive"]),
        "made": row["made"],
        "expires": row["expires"],
        "note": row["note"],
    }


def found_row(connection: Connection, identity: object) -> Row[Any]:
    """The reservation; NotFound."""
    row = None
    if isinstance(identity, str) and identity.isalnum() and identity.isascii():
        row = connection.execute(_ONE, {"id": identity}).one_or_none()
    if row is None:
        raise NotFound(f"there is no reservation {identity!r:.80}")
    return row


def charges_of(connection: Connection, identity: str) -> list[tuple[str, str, int]]:
    """What it was charged, as it stands."""
    return [(row.budget, row.name, row.units) for row in connection.execute(_CHARGES, {"id": identity})]


def charges_of_all(connection: Connection, identities: Sequence[str]) -> dict[str, list[tuple[str, str, int]]]:
    """The same of several."""
    of = tables.charge.c
    found: dict[str, list[tuple[str, str, int]]] = {identity: [] for identity in identities}
    query = select(of.reservation, of.budget, of.name, of.units).where(of.reservation.in_(identities))
    for row in connection.execute(query.order_by(of.reservation, of.budget, of.name)):
        found[row.reservation].append((row.budget, row.name, row.units))
    return found


def document(connection: Connection, identity: object) -> dict[str, Any]:
    """A reservation as it stands."""
    row = found_row(connection, identity)
    return shown(row._asdict(), charges_of(connection, row.id))


def roots_of(row: Row[Any]) -> list[str]:
    """The chains that know of a reservation."""
    return list(json.loads(row.roots))


def claim(asking: LedgerRequest) -> Recorded:
    """reserved to running, for one process alone."""
    row = found_row(asking.connection, asking.body["reservation"])
    moving(asking.connection, roots_of(row))
    mine = hashed(asking.nonce)
    if row.state == "cancelled":
        raise Cancelled("the reservation was cancelled, or expired before it was claimed: reserve anew")
    if row.state in ("running", "committed"):
        raise Claimed("this job was claimed before, and runs once: reserve anew for another run")
    _expect(row, "reserved")
    ttl = asking.body.get("ttl")
    expires = row.expires if ttl is None else asking.now + round(1000 * ttl)
    _set(asking.connection, row, "running", claimant=mine, expires=expires)
    event = {"event": "claim", "reservation": row.id, "claimant": mine, "expires": expires}
    return _settled(asking, row, event)


def commit(asking: LedgerRequest) -> Recorded:
    """What was held is spent: all of it, or the part that ran; prepared: the prices of the parts."""
    row = found_row(asking.connection, asking.body["reservation"])
    moving(asking.connection, roots_of(row))
    if row.state == "cancelled":
        raise Cancelled("the reservation was cancelled, or expired before it was claimed: nothing of it may have run")
    _expect(row, "running")
    event: dict[str, Any] = {"event": "commit", "reservation": row.id}
    if asking.prepared is None:
        asking.connection.execute(SETTLE, {"id": row.id})
    else:
        if not row.additive:
            raise NotAdditive("the charge is for the whole job: what an early stop leaves cannot be given back")
        _own(asking, row)
        units = _part_units(asking.connection, row, asking.prepared)
        _recharge(asking.connection, row.id, units)
        event |= {"part": asking.body["part"], "units": units}
    _set(asking.connection, row, "committed")
    return _settled(asking, row, event)


def _part_units(connection: Connection, row: Row[Any], prices: Mapping[str, Price]) -> list[list[Any]]:
    """What a part costs on each axis that was charged: its own vector, or that of the whole where it is no smaller.

    Each vector bounds the part; a mixture of both, axis by axis, would bound nothing (docs/proofs/ledger.md). The axis
    of sums is one of several that each bound it alone, and is charged for the whole.
    """
    if not all(price.additive for price in prices.values()):
        raise NotAdditive("the cost of this part does not add up step by step: commit the whole")
    whole = json.loads(row.jobs)
    prices_of_all: dict[str, Mapping[str, int | None]] = {name: prices[name].units for name in whole}
    costs = spread([path(connection, name) for name in whole], prices_of_all)
    charged = charges_of(connection, row.id)
    parts = [units if name == SUM else costs.get(budget, {}).get(name, 0) for budget, name, units in charged]
    smaller = all(part is not None and part <= held[2] for part, held in zip(parts, charged, strict=True))
    return [
        [budget, name, part if smaller else units] for (budget, name, units), part in zip(charged, parts, strict=True)
    ]


def _recharge(connection: Connection, identity: str, units: Iterable[Sequence[Any]]) -> None:
    of = tables.charge.c
    connection.execute(RELEASE, {"id": identity})
    statement = (
        update(tables.charge)
        .where(of.reservation == identity, of.budget == bindparam("b"), of.name == bindparam("n"))
        .values(units=bindparam("u"))
    )
    connection.execute(statement, [{"b": budget, "n": name, "u": each} for budget, name, each in units])
    connection.execute(SPEND, {"id": identity})


def cancel(asking: LedgerRequest) -> Recorded:
    """What was held is free again: before a claim, or with the statement that no data were read."""
    row = found_row(asking.connection, asking.body["reservation"])
    moving(asking.connection, roots_of(row))
    attest = asking.body.get("attest")
    if row.state == "running":
        if not attest:
            raise WrongState(
                "the job is running, and a crash that depends on data is an answer: commit it, or cancel with attest= "
                "a statement that the data were never read"
            )
        _own(asking, row)
    else:
        _expect(row, "reserved")
    asking.connection.execute(RELEASE, {"id": row.id})
    _set(asking.connection, row, "cancelled")
    return _settled(asking, row, {"event": "cancel", "reservation": row.id, "attest": attest or ""})


def expired(connection: Connection, row: Row[Any]) -> dict[str, Any]:
    """What becomes of a reservation whose time is over, as the event that says so."""
    to = "committed" if row.state == "running" else "cancelled"
    connection.execute(SETTLE if to == "committed" else RELEASE, {"id": row.id})
    _set(connection, row, to)
    return {"event": "expire", "reservation": row.id, "to": to}


def settle(connection: Connection, row: Row[Any]) -> None:
    """What was held is spent, whoever holds it."""
    connection.execute(SETTLE, {"id": row.id})
    _set(connection, row, "committed")


def holding(connection: Connection, root: str) -> list[Row[Any]]:
    """Reservations of a root that hold something."""
    rows = connection.execute(select(tables.reservation).where(_HOLDING).order_by(_RESERVATION.id))
    return [row for row in rows if root in roots_of(row)]


def due(connection: Connection, now: int) -> list[Row[Any]]:
    """Reservations whose time is over, the oldest first; those of a root that is frozen wait for its recovery."""
    rows = connection.execute(_DUE, {"now": now}).all()
    still = set(connection.execute(_STILL).scalars()) if rows else set()
    return [row for row in rows if still.isdisjoint(roots_of(row))][:DUE_MAX]


def _settled(asking: LedgerRequest, row: Row[Any], event: Mapping[str, Any]) -> Recorded:
    return Recorded(document(asking.connection, row.id), dict.fromkeys(roots_of(row), event))


def _set(connection: Connection, row: Row[Any], state: str, **values: Any) -> None:
    """Its state, and how many have which."""
    connection.execute(_RECOUNT, {"id": row.id, "made": row.made, "before": row.state, "after": state})
    connection.execute(update(tables.reservation).where(_RESERVATION.id == row.id).values(state=state, **values))


def _expect(row: Row[Any], state: str) -> None:
    if row.state != state:
        raise WrongState(f"the reservation is {row.state}, and this is for one that is {state}")


def _own(asking: LedgerRequest, row: Row[Any]) -> None:
    """Only the process that runs a job knows how much of it ran."""
    if asking.actor.role != "admin" and row.claimant != hashed(asking.nonce):
        raise Claimed("another process has claimed this job, and only that one knows how much of it ran")
    if asking.actor.role == "admin" and row.claimant != hashed(asking.nonce) and not asking.body.get("attest"):
        raise Claimed("another process has claimed this job: say with attest= what is known of it")


def checked_ttl(value: object) -> float:
    """Seconds until a reservation ends by itself."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= TTL_MAX:
        raise InvalidParameter(f"ttl is a number of seconds above 0, at most {TTL_MAX:,}, not {value!r:.40}")
    return float(value)
