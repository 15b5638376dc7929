"""What is read of a ledger, and for whose eyes: what is not visible is answered as if it were not there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, Row, select, tuple_

from .. import InvalidParameter
from . import tables
from .chain import EPOCH, SYSTEM, AuditLine
from .errors import Denied, NotFound
from .filters import kind_of
from .history import past
from .pricing import Pricer, read_job
from .transactions import jobs
from .transactions.entry import LedgerRequest
from .transactions.fit import fit, more, spread, unsettled
from .transactions.tree import BudgetNode, Counter, counters, node, path

AUDIT_LINES_MAX = 1000  # of the audit in one answer
LINES_HELD = 500  # of the audit, where all are read
RESERVATIONS_MAX = 1000  # reservations in one answer
IN_PARTITIONS = "each partition has its own: a block was charged to what stands above it when it was made"
RECOVERED = "the budget was recovered: what was used in the lines that were lost is not known"
Later = Callable[[], Mapping[str, Any]]
_NEXT = re.compile(r"([0-9]{1,18})\.([0-9a-f]{1,64})")


def visible(asking: LedgerRequest, name: str) -> BudgetNode:
    """The budget, if these eyes may see it."""
    budget_node = node(asking.connection, name)
    inside = asking.actor.root in (None, budget_node.root) and asking.actor.role != "job"
    if inside and asking.actor.part is not None:
        way = path(asking.connection, budget_node.id)
        inside = asking.actor.part in {each.id for each in (*way.charged, *way.beyond)}
    if not inside:
        raise NotFound(f"there is no budget {name!r:.120}")
    return budget_node


def administer(asking: LedgerRequest, root: str | None) -> None:
    """For whoever administers this root; None: everything."""
    if asking.actor.role != "admin" or asking.actor.root not in (None, root):
        raise Denied(f"{asking.actor.name!r} does not administer this: ask whoever does")


def audits(asking: LedgerRequest, root: str) -> None:
    """For auditors and administrators of this root."""
    if asking.actor.root not in (None, root):
        raise NotFound(f"there is no budget {root!r:.120}")
    if asking.actor.role not in ("auditor", "admin"):
        raise Denied(f"a token of the role {asking.actor.role} cannot read the audit: ask for one for an auditor")


def seen(asking: LedgerRequest, identity: object) -> Row[Any]:
    """A reservation, if these eyes may see it."""
    row = jobs.found_row(asking.connection, identity)
    actor = asking.actor
    inside = actor.root is None or actor.root in jobs.roots_of(row)
    whole = inside and actor.role in ("admin", "auditor")
    own = actor.role == "analyst" and inside and row.principal == actor.name
    if own and actor.part is not None:
        own = json.loads(row.jobs).keys() <= parts_of(asking.connection, node(asking.connection, actor.part))
    if not (whole or own or (actor.role == "job" and actor.reservation == row.id)):
        raise NotFound(f"there is no reservation {identity!r:.80}")
    return row


def owned(asking: LedgerRequest, identity: object) -> None:
    """For whoever reserved it, the job itself, and administrators of all its roots."""
    row = seen(asking, identity)
    if asking.actor.role == "auditor":
        raise Denied("a token for an auditor reads, and moves nothing")
    if asking.actor.role == "admin" and asking.actor.root is not None and jobs.roots_of(row) != [asking.actor.root]:
        raise Denied("the reservation is for other budgets too, which this token does not administer")


def jobs_of(asking: LedgerRequest, identity: object) -> dict[str, str]:
    """The jobs of a reservation, by budget."""
    return dict(json.loads(jobs.found_row(asking.connection, identity).jobs))


def expect_part(part: str, whole: str) -> None:
    """Steps of the job, no more of each than were reserved."""
    reserved = dict(read_job(whole).terms)
    for step, count in read_job(part).terms:
        if count > reserved.get(step, 0):
            raise InvalidParameter(
                f"a part runs steps of the job that was reserved, and no more of them: {reserved.get(step, 0)} of "
                f"{step!s:.100}, not {count}"
            )


def budgets(asking: LedgerRequest, pricer: Pricer) -> Later:
    """All budgets that these eyes may see, by name."""
    of = tables.budget.c
    top = tables.budget.alias()  # a part has the state of its root
    query = select(of.id, of.root, of.parent, of.kind, top.c.state).where(top.c.id == of.root).order_by(of.root, of.id)
    if asking.actor.root is not None:
        query = query.where(of.root == asking.actor.root)
    rows = [] if asking.actor.role == "job" else asking.connection.execute(query).all()
    if asking.actor.part is not None:
        mine = parts_of(asking.connection, node(asking.connection, asking.actor.part))
        rows = [row for row in rows if row.id in mine]
    found = [
        {"name": row.id, "root": row.root, "parent": row.parent, "kind": row.kind, "state": row.state} for row in rows
    ]
    return lambda: {"budgets": found}


def status(asking: LedgerRequest, pricer: Pricer) -> Later:
    """One budget: promise, counters, odometer, and how many more of a job fit."""
    budget_node = visible(asking, str(asking.body.get("name")))
    axes = counters(asking.connection, [budget_node.id])[budget_node.id]
    of = tables.budget.c
    state = asking.connection.execute(select(of.state).where(of.id == budget_node.root)).scalar_one()
    children = list(
        asking.connection.execute(select(of.id).where(of.parent == budget_node.id).order_by(of.id)).scalars()
    )
    counted = _states(asking.connection, budget_node)
    last = asking.connection.execute(
        select(tables.head.c.seq).where(tables.head.c.root == budget_node.root)
    ).scalar_one()
    job = asking.body.get("job")
    further = _further(asking, budget_node, pricer) if job is not None else None

    def later() -> dict[str, Any]:
        kind = kind_of(budget_node.kind)
        used = {axis.name: axis.used for axis in axes}
        dead = frozenset(axis.name for axis in axes if axis.dead)
        answer: dict[str, Any] = {
            "name": budget_node.id,
            "root": budget_node.root,
            "parent": budget_node.parent,
            "children": children,
            "kind": budget_node.kind,
            "relation": budget_node.relation,
            "unit": budget_node.privacy_unit,
            "parallel": budget_node.parallel,
            "state": state,
            "made": budget_node.made,
            "shared": dict(budget_node.shared),
            "promise": {name: value for name, value in budget_node.promise.items() if name != "wanted"},
            "axes": [_axis(axis) for axis in axes],
            "jobs": counted,
            "odometer": dict(
                no_odometer(budget_node.parallel, last)
                or kind.odometer(budget_node.shared, budget_node.promise, used, dead)
            ),
        }
        if further is not None:
            answer["more"] = further()
        return answer

    return later


def no_odometer(parallel: bool, last: int) -> dict[str, Any] | None:
    """Why nothing can be said of what was used; last is the number of the chain's last line."""
    if parallel:
        return {"reason": IN_PARTITIONS}
    return {"reason": RECOVERED} if last >= EPOCH else None


def _axis(counter: Counter) -> dict[str, Any]:
    names = ("name", "need", "unit", "total", "ceiling", "held", "spent", "dead")
    return {name: getattr(counter, name) for name in names} | {"left": max(counter.total - counter.used, 0)}


def _states(connection: Connection, budget: BudgetNode) -> dict[str, int]:
    """How many reservations of each state were charged to a budget, and how many for it or a part were refused."""
    of = tables.tally.c
    rows = connection.execute(select(of.state, of.number).where(of.budget == budget.id, of.number > 0))
    return {row.state: row.number for row in rows}


def parts_of(connection: Connection, budget: BudgetNode) -> set[str]:
    """A budget and all beneath it."""
    of = tables.budget.c
    rows = connection.execute(select(of.id, of.parent).where(of.root == budget.root)).all()
    texts, more = {budget.id}, {budget.id}
    while more:
        more = {row.id for row in rows if row.parent in more} - texts
        texts |= more
    return texts


def _further(asking: LedgerRequest, budget_node: BudgetNode, pricer: Pricer) -> Later:
    """What one job costs, whether it fits, and how many fit one after the other."""
    job, slack = asking.body.get("job"), asking.body.get("slack")
    if slack is not None and (isinstance(slack, bool) or not isinstance(slack, (int, float)) or not 0 <= slack <= 1):
        raise InvalidParameter(f"slack is a number from 0 to 1, not {slack!r:.40}")
    if not isinstance(job, str):
        raise InvalidParameter(f"a job is an expression, as in 'Gaussian(sigma=2) * 10', not {job!r:.60}")
    if budget_node.parallel:
        raise InvalidParameter(f"{budget_node.id!r} is a parallel block: jobs are for its partitions")
    way = path(asking.connection, budget_node.id)
    axes = counters(asking.connection, [each.id for each in (*way.charged, *way.beyond)])

    def later() -> dict[str, Any]:
        expression = repr(read_job(job))
        price = pricer.price(budget_node.kind, budget_node.shared, expression, slack)
        verdict = fit([way], axes, spread([way], {budget_node.id: price.units}))
        return {
            "job": expression,
            "fits": not verdict.why,
            "why": verdict.why,
            "more": 0 if verdict.why else more(way, axes, price.units),
            "units": dict(price.units),
            "additive": price.additive,
            "evidence": dict(price.evidence),
            "unsettled": unsettled([way], axes, {budget_node.id: price}),
        }

    return later


def quote(asking: LedgerRequest, pricer: Pricer) -> Later:
    """What a job would cost now; nothing is held."""
    return _further(asking, visible(asking, str(asking.body.get("budget"))), pricer)


def metrics(asking: LedgerRequest, pricer: Pricer) -> Later:
    """How much of each budget is gone, as a share from 0 to 1 of each axis that every job must fit, and of the roomiest
    of those of which one must have room ("any"); and how many jobs it has of each state."""
    names = [each["name"] for each in budgets(asking, pricer)()["budgets"]]
    axes = counters(asking.connection, names)
    of = tables.tally.c
    query = select(of.budget, of.state, of.number).where(of.budget.in_(names)).order_by(of.budget, of.state)
    tallies = [(row.budget, row.state, row.number) for row in asking.connection.execute(query)]
    used: list[tuple[str, str, float]] = []
    for name in names:
        used += [(name, axis.name, _share(axis)) for axis in axes[name] if axis.need == "all" and axis.ceiling]
        living = [_share(axis) for axis in axes[name] if axis.need == "any" and not axis.dead]
        if living:
            used.append((name, "any", min(living)))
    return lambda: {"used": used, "jobs": tallies}


def _share(counter: Counter) -> float:
    return min(counter.used / counter.total, 1.0) if counter.total else 1.0


def tokens(asking: LedgerRequest, pricer: Pricer) -> Later:
    """All tokens of what somebody administers, without their secrets."""
    administer(asking, asking.actor.root)
    of = tables.token.c
    query = select(of.id, of.role, of.root, of.reservation, of.expires, of.revoked).order_by(of.id)
    if asking.actor.root is not None:
        query = query.where(of.root == asking.actor.root)
    rows = asking.connection.execute(query).all()
    found = [
        {
            "name": row.id,
            "role": row.role,
            "root": row.root,
            "reservation": row.reservation,
            "expires": row.expires,
            "state": "revoked" if row.revoked else "over" if row.expires <= asking.now else "good",
        }
        for row in rows
    ]
    return lambda: {"tokens": found}


def history(asking: LedgerRequest, pricer: Pricer) -> Later:
    """What was held and spent of a budget after each line of its chain that moved it."""
    budget_node = visible(asking, str(asking.body.get("name")))
    moments = past(budget_node.root, read_lines(asking.connection, budget_node.root), budget_node.id, keep=False)[1]
    return lambda: {"name": budget_node.id, "moments": moments}


def read_lines(connection: Connection, root: str, after: int = 0, most: int | None = None) -> Iterator[AuditLine]:
    """Lines of a chain, in order, as they are asked for: no more of them are held than some."""
    of = tables.audit.c
    query = select(tables.audit).where(of.root == root, of.seq > after).order_by(of.seq)
    rows = connection.execution_options(yield_per=LINES_HELD).execute(query if most is None else query.limit(most))
    for row in rows:
        yield AuditLine(row.root, row.seq, row.at, row.actor, row.body, row.prev, row.hash)


def reservation(asking: LedgerRequest, pricer: Pricer) -> Later:
    """One reservation as it stands."""
    row = seen(asking, asking.body.get("reservation"))
    found = jobs.shown(row._asdict(), jobs.charges_of(asking.connection, row.id))
    return lambda: found


def reservations(asking: LedgerRequest, pricer: Pricer) -> Later:
    """Reservations of a budget, the newest first, as far as these eyes may see them: a page, and where the next begins.

    state: only these. after: what the page before gave as next.
    """
    budget_node = visible(asking, str(asking.body.get("name")))
    state, after = asking.body.get("state"), asking.body.get("after")
    if state is not None and state not in jobs.STATES:
        raise InvalidParameter(f"state is one of {', '.join(jobs.STATES)}, not {state!r:.40}")
    place, of = tables.place.c, tables.reservation.c
    query = select(tables.reservation).join_from(tables.place, tables.reservation, of.id == place.reservation)
    query = query.where(place.budget == budget_node.id).order_by(place.made.desc(), place.reservation.desc())
    if asking.actor.role not in ("admin", "auditor"):
        query = query.where(place.principal == asking.actor.name)
    if state is not None:
        query = query.where(of.state == state)
    if after is not None:
        made, identity = _page(after)
        query = query.where(tuple_(place.made, place.reservation) < tuple_(made, identity))
    rows = asking.connection.execute(query.limit(RESERVATIONS_MAX)).all()
    charges = jobs.charges_of_all(asking.connection, [row.id for row in rows])
    listed = [jobs.shown(row._asdict(), charges[row.id]) for row in rows]
    following = f"{rows[-1].made}.{rows[-1].id}" if len(rows) == RESERVATIONS_MAX else None
    return lambda: {"reservations": listed, "next": following}


def _page(after: object) -> tuple[int, str]:
    """Where a page begins."""
    match = _NEXT.fullmatch(str(after))
    if match is None:
        raise InvalidParameter(f"after is what the page before gave as next, not {after!r:.80}")
    return int(match[1]), match[2]


def audit(asking: LedgerRequest, pricer: Pricer) -> Later:
    """Lines of a chain after one of them."""
    root, after = str(asking.body.get("root")), asking.body.get("after", 0)
    if isinstance(after, bool) or not isinstance(after, int) or not 0 <= after < 1 << 62:
        raise InvalidParameter(f"after is the number of a line, not {after!r:.40}")
    audits(asking, root)
    if root != SYSTEM and node(asking.connection, root).root != root:
        raise InvalidParameter(f"a chain is that of a root, not of {root!r:.120}")
    if root == SYSTEM:
        administer(asking, None)
    lines = [line.document() for line in read_lines(asking.connection, root, after, AUDIT_LINES_MAX)]
    return lambda: {"root": root, "lines": lines, "more": len(lines) == AUDIT_LINES_MAX}


def anchor(asking: LedgerRequest, pricer: Pricer) -> Later:
    """The heads of all chains that these eyes may see, with what was used: to be kept elsewhere."""
    if asking.actor.role not in ("auditor", "admin"):
        raise Denied(f"a token of the role {asking.actor.role} cannot make anchors: ask for one for an auditor")
    heads = asking.connection.execute(select(tables.head).order_by(tables.head.c.root)).all()
    of = tables.budget.c
    roots = {}
    for row in heads:
        if asking.actor.root not in (None, row.root):
            continue
        names = list(asking.connection.execute(select(of.id).where(of.root == row.root)).scalars())
        counted = counters(asking.connection, names)
        roots[row.root] = {
            "seq": row.seq,
            "hash": row.hash,
            "used": {name: {axis.name: axis.used for axis in axes} for name, axes in counted.items()},
            "dead": {name: [axis.name for axis in axes if axis.dead] for name, axes in counted.items()},
        }
    return lambda: {"at": asking.now, "roots": roots}
