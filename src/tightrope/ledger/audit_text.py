"""Lines of an audit as people read them: number, time, who, what happened, and to what."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from .values import moment

WHAT_MAX = 200  # letters of what a line is about; JSON has all
ACTOR_WIDTH, EVENT_WIDTH, NUMBER_WIDTH = 12, 7, 5

Body = Mapping[str, Any]


def audit_line(line: Mapping[str, Any]) -> str:
    """One line of a chain, whatever it holds, on one line."""
    body = json.loads(line["body"])
    event = str(body["event"])
    what = WHAT[event](body) if event in WHAT else ""
    shown = what if len(what) <= WHAT_MAX else f"{what[:WHAT_MAX]} ..."
    cells = (
        f"{line['seq']:>{NUMBER_WIDTH}}",
        moment(line["at"]),
        f"{event:<{EVENT_WIDTH}}",
        f"{line['actor']:<{ACTOR_WIDTH}}",
        shown,
    )
    return one_line_text("  ".join(cells).rstrip())


def one_line_text(text: str) -> str:
    """The same with what is not printable written as escapes: nothing hides or moves what stands beside it."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _jobs(body: Body) -> str:
    row = body["reservation"]
    paid = ", ".join(f"{job} on {name}" for name, job in json.loads(row["jobs"]).items())
    note = f" ({row['note']})" if row["note"] else ""
    return f"{row['id']} {row['state']}: {paid}{note}"


def _made(body: Body) -> str:
    budget = body["budget"]
    part = f", a part of {budget['parent']}" if budget["parent"] is not None else ""
    return f"{budget['id']}: kind {budget['kind']}, for {budget['privacy_unit']}, {budget['relation']}{part}"


def _token(body: Body) -> str:
    row = body["token"]
    where = row["root"] or row["reservation"] or "everything"
    return f"{row['id']}: {row['role']} of {where}, until {moment(row['expires'])}"


def _with(name: str, *others: str) -> Callable[[Body], str]:
    """What the line is about, and what else it says of it."""

    def words(body: Body) -> str:
        more = "; ".join(f"{other}: {_plain(body[other])}" for other in others if body.get(other))
        return f"{body[name]}{f' {more}' if more else ''}"

    return words


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


WHAT: Mapping[str, Callable[[Body], str]] = MappingProxyType(
    {
        "begin": _with("ledger"),
        "create": _made,
        "reserve": _jobs,
        "refuse": _jobs,
        "claim": _with("reservation"),
        "commit": _with("reservation", "part"),
        "cancel": _with("reservation", "attest"),
        "expire": _with("reservation", "to"),
        "renew": lambda body: ", ".join(body["totals"]),
        "settle": lambda body: ", ".join(body["settled"]),
        "freeze": _with("why"),
        "recover": lambda body: f"{body['why']}; {'what was left is burnt' if body['burn'] else 'nothing is burnt'}",
        "export": _with("why"),
        "clock": lambda body: f"{body['why']}; from {moment(body['from'])} to {moment(body['to'])}",
        "token": _token,
        "revoke": _with("token"),
        "rotate": lambda body: f"{body['token']}: a new secret, until {moment(body['expires'])}",
    }
)
