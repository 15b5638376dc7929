"""Budgets: made, renewed up to their ceiling, frozen, recovered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Row, bindparam, or_, select, update

from ... import InvalidParameter
from .. import chain, tables
from ..chain import canonical
from ..errors import BudgetExhausted, Conflict, WrongState
from ..filters.base import BudgetAxis, Design
from ..units import amount
from .entry import LedgerRequest, Recorded
from .fit import Fit, Place, fit, left
from .jobs import SETTLE, STATES, charge, holding, kill, roots_of, settle
from .tree import BudgetNode, Counter, Path, counters, moving, node, path

WANTED = ("epsilon", "delta", "ceiling", "slack", "floor", "rho", "plan", "orders")  # kept as it was said, for renewals
NEVER = 1 << 60  # milliseconds: a charge that no time ends


def create(asking: LedgerRequest) -> Recorded:
    """A root, or a part of another budget; prepared: its design."""
    connection, body = asking.connection, asking.body
    design: Design = asking.prepared
    name, above = body["name"], body["parent"]
    if connection.execute(select(tables.budget.c.id).where(tables.budget.c.id == name)).scalar() is not None:
        raise Conflict(f"there is a budget {name!r} already: a promise is made once")
    parent = None if above is None else node(connection, above)
    root = name if parent is None else parent.root
    _expect_own_names(connection, name, root)
    if parent is None:
        chain.begin(connection, root)
    else:
        moving(connection, [root])
        _expect_same(parent, design, body)
        if parent.parallel and body["parallel"]:
            raise InvalidParameter(
                f"{above!r} is a block, and its parts are partitions: make one, and the block {name!r} a part of that"
            )
    row = {
        "id": name,
        "root": root,
        "parent": above,
        "kind": design.kind,
        "relation": body["relation"],
        "privacy_unit": body["unit"],
        "shared": canonical(design.shared),
        "promise": canonical({**design.promise, "wanted": {text: body[text] for text in WANTED}}),
        "state": "open",
        "compose": "parallel" if body["parallel"] else "sum",
        "made": asking.now,
    }
    axes = [_axis_row(name, position, axis) for position, axis in enumerate(design.axes)]
    event: dict[str, Any] = {"event": "create", "budget": row, "axes": axes}
    connection.execute(tables.budget.insert().values(**row))
    connection.execute(tables.axis.insert().values(axes))
    connection.execute(tables.tally.insert(), [{"budget": name, "state": state, "number": 0} for state in STATES])
    if parent is not None and parent.parallel:
        event["kills"] = _partition(connection, name, parent, design)
    if body["parallel"]:
        event |= _block(asking, row, design)
    return Recorded({"name": name, "root": root}, {root: event})


def _expect_own_names(connection: Connection, name: str, root: str) -> None:
    """Names below a budget's, as in census/ana, are for its tree: no other root has what reads like a part of it."""
    of = tables.budget.c
    words = name.split("/")
    above = ["/".join(words[:count]) for count in range(1, len(words))]
    beneath = of.id.startswith(f"{name}/", autoescape=True)
    found = select(of.id).where(or_(of.id.in_(above), beneath), of.root != root).order_by(of.id).limit(1)
    other = connection.execute(found).scalar()
    if other is not None:
        raise InvalidParameter(
            f"{name!r} would stand among the names of {other!r}, which is of another root: take another name, or make "
            "it a part there"
        )


def _axis_row(budget: str, position: int, axis: BudgetAxis) -> dict[str, Any]:
    return {
        "budget": budget,
        "name": axis.name,
        "position": position,
        "need": axis.need,
        "unit": axis.unit,
        "total": axis.total,
        "ceiling": axis.ceiling,
        "held": 0,
        "spent": 0,
        "dead": int(axis.dead),
    }


def _expect_same(parent: BudgetNode, design: Design, body: Mapping[str, Any]) -> None:
    """One price serves the whole tree, so what it depends on is the same everywhere in it."""
    mine = (design.kind, body["relation"], body["unit"], canonical(design.shared))
    its = (parent.kind, parent.relation, parent.privacy_unit, canonical(parent.shared))
    for what, one, other in zip(("kind", "relation", "unit", "terms"), mine, its, strict=True):
        if one != other:
            raise InvalidParameter(f"a part of {parent.id!r} has the same {what}: {other:.200}, not {one:.200}")


def _partition(connection: Connection, name: str, block: BudgetNode, design: Design) -> list[list[str]]:
    """A partition promises no more than its block was charged for; orders that it lacks end above it."""
    of_block = {counter.name: counter for counter in counters(connection, [block.id])[block.id]}
    for axis in design.axes:
        if axis.ceiling > of_block[axis.name].ceiling and not axis.dead:
            most = amount(of_block[axis.name].ceiling, axis.unit, up=False)
            raise InvalidParameter(
                f"a partition of {block.id!r} promises at most what the block does: {axis.name} up to {most}, not "
                f"{amount(axis.ceiling, axis.unit, up=True)}"
            )
    ended = {(name, budget_axis.name) for budget_axis in design.axes if budget_axis.dead}
    return _end_above(connection, path(connection, name), ended)


def _end_above(connection: Connection, way: Path, ended: set[Place]) -> list[list[str]]:
    places = {(above.id, axis) for above in way.beyond for _, axis in ended}
    axes = counters(connection, [above.id for above in way.beyond])
    for above in way.beyond:
        if not left(axes[above.id], {}, places):
            raise BudgetExhausted(f"the orders that this lacks are all that {above.id!r} has left: promise more here")
    living = [place for place in sorted(places) if not _dead(axes[place[0]], place[1])]
    kill(connection, living)
    return [list(each) for each in living]


def _dead(axes: list[Counter], name: str) -> bool:
    return next(axis.dead for axis in axes if axis.name == name)


def _block(asking: LedgerRequest, row: Mapping[str, Any], design: Design) -> dict[str, Any]:
    """A parallel block charges its ceiling to what stands above, once: other partitions lose nothing on a record."""
    if row["relation"] == "replace":
        raise InvalidParameter(
            "partitions need relation add_remove: a record that is replaced may move between them, and lose in both"
        )
    if row["parent"] is None:
        return {}
    way = path(asking.connection, row["parent"])
    cost: dict[str, int | None] = {axis.name: None if axis.dead else axis.ceiling for axis in design.axes}
    axes = counters(asking.connection, [budget_node.id for budget_node in (*way.charged, *way.beyond)])
    found: Fit = fit([way], axes, {budget_node.id: cost for budget_node in way.charged})
    if found.why:
        raise BudgetExhausted(f"the block does not fit: {found.why}")
    return write_off(asking, found, {row["id"]: f"parallel block {row['id']}"}, [row["root"]], "block")


def write_off(
    asking: LedgerRequest, found: Fit, jobs: Mapping[str, str], roots: list[str], note: str
) -> dict[str, Any]:
    """A charge that is spent at once, with a reservation of its own; as an event says it."""
    identity = uuid4().hex
    row = {
        "id": identity,
        "principal": asking.actor.name,
        "state": "committed",
        "claimant": None,
        "made": asking.now,
        "expires": NEVER,
        "jobs": canonical(jobs),
        "roots": canonical(roots),
        "additive": 0,
        "evidence": "{}",
        "note": note,
    }
    asking.connection.execute(tables.reservation.insert().values(**row))
    charge(asking.connection, row, found)
    asking.connection.execute(SETTLE, {"id": identity})
    return {
        "reservation": row,
        "charges": [list(each) for each in found.charges],
        "kills": [list(each) for each in found.kills],
    }


def renew(asking: LedgerRequest) -> Recorded:
    """Raises what may be spent, up to the ceiling, which is the promise; prepared: the totals by axis."""
    connection = asking.connection
    budget_node = node(connection, asking.body["name"])
    moving(connection, [budget_node.root])
    totals: Mapping[str, int] = asking.prepared
    changes: dict[str, int] = {}
    for counter in counters(connection, [budget_node.id])[budget_node.id]:
        wanted = totals[counter.name]
        if wanted > counter.ceiling:
            most = amount(counter.ceiling, counter.unit, up=False)
            raise InvalidParameter(
                f"the promise of {budget_node.id!r} ends at its ceiling: {counter.name} up to {most}, not "
                f"{amount(wanted, counter.unit, up=True)}; a new budget promises anew"
            )
        if wanted < counter.total:
            raise InvalidParameter(
                f"a renewal raises totals: {counter.name} has {amount(counter.total, counter.unit, up=False)}"
            )
        changes[counter.name] = wanted
    _set_totals(connection, budget_node.id, changes)
    event = {"event": "renew", "totals": {budget_node.id: changes}}
    return Recorded({"name": budget_node.id, "root": budget_node.root}, {budget_node.root: event})


def _set_totals(connection: Connection, name: str, totals: Mapping[str, int]) -> None:
    axis = tables.axis.c
    of_axis = axis.budget == name, axis.name == bindparam("n")
    statement = update(tables.axis).where(*of_axis).values(total=bindparam("t"))
    connection.execute(statement, [{"n": text, "t": total} for text, total in totals.items()])


def freeze(asking: LedgerRequest) -> Recorded:
    """Nothing more is answered for this root until it is recovered."""
    root = node(asking.connection, asking.body["root"])
    if root.id != root.root:
        raise InvalidParameter(f"a whole tree is frozen: its root is {root.root!r}")
    if root.state != "open":  # what went on elsewhere never opens here again
        return Recorded({"name": root.id, "state": root.state}, {})
    _state(asking.connection, root.id, "frozen")
    return Recorded({"name": root.id, "state": "frozen"}, {root.id: {"event": "freeze", "why": asking.body["why"]}})


def recover(asking: LedgerRequest) -> Recorded:
    """Opens a frozen root: counters are raised to what witnesses say, and what is left is burnt unless all is known.

    body: root; spent: units used, by budget and axis; dead: axes, by budget; witnessed: the number of the last line
    that these speak of, and at: their time; burn: whether all that is left goes, since nobody knows what later lines
    had spent. Without burning, nothing may have been written since that time but that it was frozen: what was spent
    before the loss and after it would have to be added up.
    All that is held is spent: what the backup has as reserved may have run since, and nobody may run it again.
    prepared: the chains that are locked.
    """
    body, connection = asking.body, asking.connection
    root = node(connection, body["root"])
    if root.id != root.root or root.state != "frozen":
        raise WrongState(
            f"{root.id!r} is {root.state}, and what is recovered is a frozen root: freeze it first if it lost something"
        )
    held = holding(connection, root.id)
    if not {text for row in held for text in roots_of(row)} <= set(asking.prepared):
        raise WrongState(f"jobs of {root.id!r} moved in this moment: ask again")
    last = connection.execute(select(tables.head.c.seq).where(tables.head.c.root == root.id)).scalar_one()
    _state(connection, root.id, "open")
    of = tables.budget.c
    names = [row.id for row in connection.execute(select(of.id).where(of.root == root.id))]
    unknown = sorted(set(body["spent"]) - set(names))
    if unknown and not body["burn"]:
        raise InvalidParameter(
            f"the witnesses know of {unknown[0]!r:.120}, which is not here, and what it spent would be forgotten: burn"
        )
    if not body["burn"]:
        _expect_still(connection, root.id, body["at"])
    for row in held:
        settle(connection, row)
    found, totals = _raised(counters(connection, names), body)
    event: dict[str, Any] = {"event": "recover", "why": body["why"], "from": last, "totals": totals}
    event["settled"] = [row.id for row in held]
    for name, raised in totals.items():
        _set_totals(connection, name, raised)
    event |= {name: body[name] for name in ("witnessed", "burn")}
    event |= write_off(asking, found, {root.id: "recovery"}, [root.id], "recovery")
    return Recorded(
        {"name": root.id, "state": "open", "burnt": body["burn"]}, {**_elsewhere(root.id, held), root.id: event}
    )


def _expect_still(connection: Connection, root: str, at: int) -> None:
    of = tables.audit.c
    since = connection.execute(select(of.seq, of.body).where(of.root == root, of.at >= at).order_by(of.seq))
    for row in since:
        if json.loads(row.body)["event"] not in ("freeze", "settle"):  # neither spends anything
            raise WrongState(
                f"{root!r} went on after the witnesses' last word (line {row.seq}), so that these do not know all that "
                "was spent: burn what is left"
            )


def _elsewhere(root: str, held: Iterable[Row[Any]]) -> dict[str, dict[str, Any]]:
    """What other chains are told of jobs that were theirs too."""
    found: dict[str, dict[str, Any]] = {}
    for row in held:
        for other in roots_of(row):
            if other != root:
                found.setdefault(other, {"event": "settle", "settled": []})["settled"].append(row.id)
    return found


def _raised(axes: Mapping[str, list[Counter]], body: Mapping[str, Any]) -> tuple[Fit, dict[str, dict[str, int]]]:
    """What is missing up to what was witnessed, or up to the ceiling; and totals, since a renewal may be lost too."""
    charges: list[tuple[str, str, int]] = []
    kills: list[Place] = []
    totals: dict[str, dict[str, int]] = {}
    for name, counted in axes.items():
        for counter in counted:
            seen = body["spent"].get(name, {}).get(counter.name, 0)
            wanted = counter.ceiling if body["burn"] else min(seen, counter.ceiling)
            if counter.dead:
                continue
            if counter.need == "any" and (counter.name in body["dead"].get(name, ()) or seen > counter.ceiling):
                kills.append((name, counter.name))
                continue
            if wanted > counter.total:
                totals.setdefault(name, {})[counter.name] = wanted
            if wanted > counter.used:
                charges.append((name, counter.name, wanted - counter.used))
        ended = {place for place in kills if place[0] == name}
        if not left(counted, {}, ended):  # all orders died, some here and some there: used up, which is as good
            kills = [place for place in kills if place not in ended]
            for counter in counted:
                if (name, counter.name) in ended:
                    totals.setdefault(name, {})[counter.name] = counter.ceiling
                    charges.append((name, counter.name, counter.ceiling - counter.used))
    return Fit(tuple(charges), tuple(kills)), totals


def _state(connection: Connection, root: str, state: str) -> None:
    connection.execute(update(tables.budget).where(tables.budget.c.id == root).values(state=state))
