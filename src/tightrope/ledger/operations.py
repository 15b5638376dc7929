"""What can be asked of a ledger, by name: how a request is checked, who may make it, what is prepared, what it does."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .. import InvalidParameter, Relation
from . import reading
from .chain import SYSTEM
from .errors import Denied
from .filters import kind_of
from .filters.base import Design, Price, Wanted
from .pricing import Pricer, read_job
from .transactions import budgets, exchange, jobs, tokens
from .transactions.entry import LedgerRequest, Recorded, named, text
from .transactions.tree import node

Later = Callable[[], Any]  # what is worked out when no connection is held
Body = Mapping[str, Any]
JOBS_MAX = 20  # budgets of one reservation
NUMBERS = ("epsilon", "delta", "ceiling", "slack", "floor", "rho")
TOKEN_SECONDS_MAX = 10 * 366 * 86_400


def _nothing(asking: LedgerRequest, pricer: Pricer) -> Later:
    return lambda: None


@dataclass(frozen=True, slots=True)
class Write:
    """A request that is written down."""

    checked: Callable[[Body], dict[str, Any]]
    allow: Callable[[LedgerRequest], None]
    roots: Callable[[LedgerRequest], Iterable[str]]
    act: Callable[[LedgerRequest], Recorded]
    prepare: Callable[[LedgerRequest, Pricer], Later] = _nothing
    claims: Callable[[Body], bool] = lambda body: False  # whether a process begins its job with this


@dataclass(frozen=True, slots=True)
class Read:
    """A request that changes nothing; what takes long is done after the connection is given back."""

    act: Callable[[LedgerRequest, Pricer], Later]


def _known(body: Body, names: Iterable[str]) -> None:
    for name in body:
        if name not in names:
            raise InvalidParameter(f"{name!r:.60} is not known here: {', '.join(names)}")


def _number(body: Body, name: str) -> float | None:
    value = body.get(name)
    if value is None:
        return None
    try:
        found = math.nan if isinstance(value, bool) or not isinstance(value, (int, float)) else float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise InvalidParameter(f"{name} is a finite number, not {value!r:.60}")
    return found


def _flag(body: Body, name: str, default: bool = False) -> bool:
    value = body.get(name, default)
    if not isinstance(value, bool):
        raise InvalidParameter(f"{name} is true or false, not {value!r:.60}")
    return value


def _create_checked(body: Body) -> dict[str, Any]:
    """A budget as it is wanted, with all that was left out as None."""
    _known(body, ("name", "kind", "relation", "unit", "parent", "parallel", "plan", "orders", *NUMBERS))
    try:
        relation = Relation(body.get("relation")).value
    except ValueError:
        raise InvalidParameter(
            f"relation is add_remove or replace, and must be said: which neighbours is the promise about? "
            f"not {body.get('relation')!r:.40}"
        ) from None
    plan, orders = body.get("plan"), body.get("orders")
    if plan is not None and not (isinstance(plan, Mapping) and plan and all(_count(each) for each in plan.values())):
        raise InvalidParameter('plan holds jobs and how many of each, as in {"Gaussian(sigma=2)": 10}')
    if orders is not None and not (isinstance(orders, Mapping) and orders):
        raise InvalidParameter('orders holds Renyi orders and their weights, as in {"8": 0.5, "16": 0.5}')
    return {
        "name": named(body.get("name"), "the name of a budget"),
        "kind": kind_of(body.get("kind", "rdp")).name,
        "relation": relation,
        "unit": text(body.get("unit"), "unit (whose privacy it is, as in 'one person')", 200),
        "parent": None if body.get("parent") is None else named(body["parent"], "the name of a budget"),
        "parallel": _flag(body, "parallel"),
        "plan": None if plan is None else _planned(plan),
        "orders": None if orders is None else {str(order): _number(orders, order) for order in orders},
        **{number: _number(body, number) for number in NUMBERS},
    }


def _planned(plan: Body) -> dict[str, int]:
    """By canonical expressions; equal jobs are counted together."""
    found: dict[str, int] = {}
    for each, count in plan.items():
        job = written(str(each))
        found[job] = found.get(job, 0) + count
    return found


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 10**9


def _create_allow(asking: LedgerRequest) -> None:
    above = asking.body["parent"]
    reading.administer(asking, None if above is None else reading.visible(asking, above).root)


def _create_prepare(asking: LedgerRequest, pricer: Pricer) -> Later:
    above = asking.body["parent"]
    if above is None:
        return lambda: designed(asking.body, None, pricer)
    parent = node(asking.connection, above)
    if parent.kind != asking.body["kind"]:
        raise InvalidParameter(f"a part of {parent.id!r} has the same kind: {parent.kind}, not {asking.body['kind']}")
    return lambda: designed(asking.body, parent.shared, pricer)


def designed(body: Body, inherited: Mapping[str, Any] | None, pricer: Pricer) -> Design:
    """The budget that a request describes."""
    given = {name: body[name] for name in (*NUMBERS, "plan", "orders")}
    return pricer.design(body["kind"], Wanted(Relation(body["relation"]), **given), inherited)


def _create_roots(asking: LedgerRequest) -> Iterable[str]:
    above = asking.body["parent"]
    return () if above is None else (node(asking.connection, above).root,)


def _renew_prepare(asking: LedgerRequest, pricer: Pricer) -> Later:
    """The totals at the new epsilon, by the terms that the budget has."""
    budget_node = node(asking.connection, asking.body["name"])
    wanted = {**dict.fromkeys((*NUMBERS, "plan", "orders")), **budget_node.promise["wanted"]}
    wanted |= {"kind": budget_node.kind, "relation": budget_node.relation}
    ceiling = wanted["ceiling"] if wanted["ceiling"] is not None else wanted["epsilon"]
    wanted |= {"epsilon": asking.body["epsilon"], "ceiling": ceiling}
    if ceiling is None:
        raise InvalidParameter(
            f"{budget_node.id!r} was made without an epsilon, and is not renewed: a new budget promises anew"
        )
    if asking.body["epsilon"] > ceiling:
        raise InvalidParameter(
            f"the promise of {budget_node.id!r} ends at epsilon {ceiling}: a new budget promises anew"
        )
    return lambda: {axis.name: axis.total for axis in designed(wanted, budget_node.shared, pricer).axes}


def _renew_checked(body: Body) -> dict[str, Any]:
    _known(body, ("name", "epsilon"))
    epsilon = _number(body, "epsilon")
    if epsilon is None:
        raise InvalidParameter("epsilon says up to where the total is raised")
    return {"name": named(body.get("name"), "the name of a budget"), "epsilon": epsilon}


def _reserve_checked(body: Body) -> dict[str, Any]:
    _known(body, ("jobs", "ttl", "start", "slack", "note", "worse"))
    given = body.get("jobs")
    if not isinstance(given, Mapping) or not 1 <= len(given) <= JOBS_MAX:
        raise InvalidParameter(f"jobs holds 1 to {JOBS_MAX} budgets, each with the job that it pays for")
    note = body.get("note") or ""
    return {
        "jobs": {named(name, "the name of a budget"): written(job) for name, job in given.items()},
        "ttl": jobs.checked_ttl(body.get("ttl", 3600)),
        "start": _flag(body, "start"),
        "slack": _number(body, "slack"),
        "note": note and text(note, "note"),
        **(
            {"worse": True} if _flag(body, "worse") else {}
        ),  # so that what was asked before this was known has its hash
    }


def written(job: object) -> str:
    """A job as its canonical expression."""
    if not isinstance(job, str):
        raise InvalidParameter(f"a job is an expression, as in 'Gaussian(sigma=2) * 10', not {job!r:.60}")
    return repr(read_job(job))


def _reserve_allow(asking: LedgerRequest) -> None:
    for name in asking.body["jobs"]:
        reading.visible(asking, name)
    if asking.actor.role not in ("analyst", "admin"):
        raise Denied(f"a token of the role {asking.actor.role} cannot reserve: ask for one for an analyst")


def _reserve_prepare(asking: LedgerRequest, pricer: Pricer) -> Later:
    return _prices(asking, asking.body["jobs"], asking.body["slack"], pricer)


def _prices(asking: LedgerRequest, wanted: Mapping[str, str], slack: float | None, pricer: Pricer) -> Later:
    found = {name: node(asking.connection, name) for name in wanted}
    for budget_node in found.values():
        if budget_node.parallel:
            raise InvalidParameter(f"{budget_node.id!r} is a parallel block: jobs are for its partitions")

    def later() -> dict[str, Price]:
        return {name: pricer.price(found[name].kind, found[name].shared, job, slack) for name, job in wanted.items()}

    return later


def _reserve_roots(asking: LedgerRequest) -> Iterable[str]:
    return {node(asking.connection, name).root for name in asking.body["jobs"]}


def _one_checked(*optional: str) -> Callable[[Body], dict[str, Any]]:
    """A request about one reservation."""

    def checked(body: Body) -> dict[str, Any]:
        _known(body, ("reservation", *optional))
        found: dict[str, Any] = {"reservation": text(body.get("reservation"), "the id of a reservation", 80)}
        if body.get("ttl") is not None:
            found["ttl"] = jobs.checked_ttl(body["ttl"])
        if body.get("attest") is not None:
            found["attest"] = text(body["attest"], "attest")
        if body.get("part") is not None:
            part = body["part"]
            found["part"] = (
                {name: written(job) for name, job in part.items()} if isinstance(part, Mapping) else written(part)
            )
        return found

    return checked


def _one_allow(asking: LedgerRequest) -> None:
    reading.owned(asking, asking.body["reservation"])


def _one_roots(asking: LedgerRequest) -> Iterable[str]:
    return jobs.roots_of(jobs.found_row(asking.connection, asking.body["reservation"]))


def _commit_prepare(asking: LedgerRequest, pricer: Pricer) -> Later:
    """The prices of the parts that ran, each a part of the job that was reserved."""
    part = asking.body.get("part")
    if part is None:
        return lambda: None
    whole = reading.jobs_of(asking, asking.body["reservation"])
    wanted = dict(part) if isinstance(part, Mapping) else dict.fromkeys(whole, part)
    if set(wanted) != set(whole):
        raise InvalidParameter(f"part names the budgets of the reservation: {', '.join(whole)}")
    for name in whole:
        reading.expect_part(wanted[name], whole[name])
    return _prices(asking, wanted, None, pricer)


def _token_checked(body: Body) -> dict[str, Any]:
    _known(body, ("name", "role", "root", "reservation", "seconds", "sha256"))
    return {
        "name": named(body.get("name"), "the name of a token"),
        "role": body.get("role"),
        "root": body.get("root"),
        "reservation": body.get("reservation"),
        "seconds": _seconds(body),
        "sha256": text(body.get("sha256"), "sha256", 64),
    }


def _seconds(body: Body) -> float:
    seconds = _number(body, "seconds")
    if seconds is None or not 0 < seconds <= TOKEN_SECONDS_MAX:
        raise InvalidParameter(f"seconds says how long the token is good, at most {TOKEN_SECONDS_MAX:,}")
    return seconds


def _rotate_checked(body: Body) -> dict[str, Any]:
    _known(body, ("name", "seconds", "sha256"))
    name, digest = named(body.get("name"), "the name of a token"), text(body.get("sha256"), "sha256", 64)
    return {"name": name, "seconds": _seconds(body), "sha256": digest}


def _admin_of(name: str) -> Callable[[LedgerRequest], None]:
    """For who administers the root that the request names, or everything."""

    def allow(asking: LedgerRequest) -> None:
        found = asking.body.get(name)
        reading.administer(asking, None if found is None else reading.visible(asking, str(found)).root)

    return allow


def _root_of(name: str) -> Callable[[LedgerRequest], Iterable[str]]:
    return lambda asking: (node(asking.connection, asking.body[name]).root,)


def _freeze_checked(body: Body) -> dict[str, Any]:
    _known(body, ("root", "why"))
    return {"root": named(body.get("root"), "the name of a root"), "why": text(body.get("why"), "why")}


def _recover_checked(body: Body) -> dict[str, Any]:
    _known(body, ("root", "why", "spent", "dead", "witnessed", "at", "burn"))
    witnessed, spent, dead = body.get("witnessed", 0), body.get("spent") or {}, body.get("dead") or {}
    try:
        counted = {str(name): {str(axis): int(units) for axis, units in axes.items()} for name, axes in spent.items()}
        ended = {str(name): sorted(map(str, axes)) for name, axes in dead.items()}
        number, at = int(witnessed), int(body.get("at", 0))
    except (AttributeError, TypeError, ValueError):
        raise InvalidParameter("spent holds units by budget and axis, dead the names of axes by budget") from None
    return {
        "root": SYSTEM if body.get("root") == SYSTEM else named(body.get("root"), "the name of a root"),
        "why": text(body.get("why"), "why"),
        "spent": counted,
        "dead": ended,
        "witnessed": number,
        "at": at,
        "burn": _flag(body, "burn", True),
    }


def _recover_allow(asking: LedgerRequest) -> None:
    root = asking.body["root"]
    reading.administer(asking, None if root == SYSTEM else reading.visible(asking, root).root)


def _recover_roots(asking: LedgerRequest) -> Iterable[str]:
    """The root, and those of the jobs that it shares with others."""
    root = asking.body["root"]
    if root == SYSTEM:
        return (SYSTEM,)
    held = jobs.holding(asking.connection, node(asking.connection, root).root)
    return {node(asking.connection, root).root, *(each for row in held for each in jobs.roots_of(row))}


def _recover_prepare(asking: LedgerRequest, pricer: Pricer) -> Later:
    locked = tuple(_recover_roots(asking))
    return lambda: locked


def _recover(asking: LedgerRequest) -> Recorded:
    return tokens.recover(asking) if asking.body["root"] == SYSTEM else budgets.recover(asking)


def _clock_prepare(asking: LedgerRequest, pricer: Pricer) -> Later:
    locked = exchange.all_chains(asking.connection)
    return lambda: locked


WRITES: Mapping[str, Write] = {
    "create": Write(_create_checked, _create_allow, _create_roots, budgets.create, _create_prepare),
    "renew": Write(_renew_checked, _admin_of("name"), _root_of("name"), budgets.renew, _renew_prepare),
    "reserve": Write(
        _reserve_checked,
        _reserve_allow,
        _reserve_roots,
        jobs.reserve,
        _reserve_prepare,
        lambda body: bool(body["start"]),
    ),
    "claim": Write(_one_checked("ttl"), _one_allow, _one_roots, jobs.claim, claims=lambda body: True),
    "commit": Write(_one_checked("part", "attest"), _one_allow, _one_roots, jobs.commit, _commit_prepare),
    "cancel": Write(_one_checked("attest"), _one_allow, _one_roots, jobs.cancel),
    "freeze": Write(_freeze_checked, _admin_of("root"), _root_of("root"), budgets.freeze),
    "recover": Write(_recover_checked, _recover_allow, _recover_roots, _recover, _recover_prepare),
    "export": Write(_freeze_checked, _admin_of("root"), _root_of("root"), exchange.leave),
    "token": Write(_token_checked, _admin_of("root"), lambda asking: (SYSTEM,), tokens.grant),
    "revoke": Write(
        lambda body: {"name": named(body.get("name"), "the name of a token")},
        lambda asking: reading.administer(asking, None),
        lambda asking: (SYSTEM,),
        tokens.revoke,
    ),
    "rotate": Write(
        _rotate_checked,
        lambda asking: reading.administer(asking, None),
        lambda asking: (SYSTEM,),
        tokens.rotate,
    ),
    "clock": Write(
        lambda body: {"why": text(body.get("why"), "why")},
        lambda asking: reading.administer(asking, None),
        lambda asking: exchange.all_chains(asking.connection),
        exchange.set_clock,
        _clock_prepare,
    ),
    "expire": Write(  # what is due ends before any request is answered: this asks for nothing more
        lambda body: {},
        lambda asking: reading.administer(asking, None),
        lambda asking: (),
        lambda asking: Recorded({}, {}),
    ),
}

READS: Mapping[str, Read] = {
    "budgets": Read(reading.budgets),
    "status": Read(reading.status),
    "quote": Read(reading.quote),
    "history": Read(reading.history),
    "metrics": Read(reading.metrics),
    "tokens": Read(reading.tokens),
    "reservation": Read(reading.reservation),
    "reservations": Read(reading.reservations),
    "audit": Read(reading.audit),
    "anchor": Read(reading.anchor),
}
