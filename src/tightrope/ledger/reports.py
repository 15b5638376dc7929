"""The document that is filed for a budget: all of it rebuilt from the lines of its chain, as of the last of them.

    gather(ledger, "census", {"author": "A. Ngo", "date": "2026-11-16"}).save("census.html")
Counters that stand in tables are not looked at: whether they are those that the lines give is what verifying says.
Guarantee: the same lines at the same date make the same document, byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..extend.filing import Filing
from .chain import AuditLine
from .errors import VerificationFailed
from .filters import kind_of
from .history import past
from .reading import no_odometer
from .replay import Replay
from .report import BudgetReport

if TYPE_CHECKING:
    from .ledger import Ledger

REPORT_TITLE = "Privacy budget report"
AXIS_FIELDS = ("name", "need", "unit", "total", "ceiling", "held", "spent", "dead")
ENDS = ("commit", "cancel", "expire")


def gather(ledger: Ledger, name: str, texts: Mapping[str, str | None]) -> BudgetReport:
    """The report of one budget and what is beneath it; texts: title, system, organisation, author and date."""
    filing = Filing.of({**texts, "title": texts.get("title") or REPORT_TITLE}, texts.get("date"))
    root = str(ledger.status(name)["root"])
    lines = [AuditLine(**each) for each in ledger.audit(root)]
    replay, moments = past(root, lines, name)
    verified, findings = _verified(ledger, replay)
    if (name,) not in replay.tables["budget"]:
        raise VerificationFailed((f"{root}: no line of the chain makes {name!r}", *findings))
    bodies = [(line.at, json.loads(line.body)) for line in lines if line.right]
    jobs, prices = charged(replay, bodies, name)
    status = standing(replay, name)
    return BudgetReport(
        filing=filing,
        status={**status, "jobs": _counted(jobs)},
        tree=tuple(_tree(replay, name)),
        jobs=tuple(jobs),
        prices=tuple(prices),
        refused=_refused(replay, name),
        renewed=tuple(at for at, body in bodies if name in body.get("totals", {})),
        moments=tuple(moments),
        chain={"root": root, "lines": len(lines), "seq": lines[-1].seq, "hash": lines[-1].hash, "at": lines[-1].at},
        verified=verified,
        findings=findings,
    )


def _verified(ledger: Ledger, replay: Replay) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """What verifying counted, and what it found; what this reading found is said too."""
    try:
        return dict(ledger.verify()), tuple(replay.findings)
    except VerificationFailed as failed:
        return {}, tuple(dict.fromkeys([*replay.findings, *failed.findings]))


def standing(replay: Replay, name: str) -> dict[str, Any]:
    """A budget as the lines leave it, as `Ledger.status` says it."""
    row = replay.tables["budget"][(name,)]
    shared, promise = json.loads(row["shared"]), json.loads(row["promise"])
    rows = sorted((each for each in replay.tables["axis"].values() if each["budget"] == name), key=_position)
    axes = [
        {field: each[field] for field in AXIS_FIELDS}
        | {"dead": bool(each["dead"]), "left": max(each["total"] - each["held"] - each["spent"], 0)}
        for each in rows
    ]
    used = {axis["name"]: axis["held"] + axis["spent"] for axis in axes}
    dead = frozenset(axis["name"] for axis in axes if axis["dead"])
    parallel = row["compose"] == "parallel"
    return {
        "name": name,
        "root": row["root"],
        "parent": row["parent"],
        "children": sorted(each["id"] for each in replay.tables["budget"].values() if each["parent"] == name),
        "kind": row["kind"],
        "relation": row["relation"],
        "unit": row["privacy_unit"],
        "parallel": parallel,
        "state": replay.tables["budget"][(row["root"],)]["state"],
        "made": row["made"],
        "shared": shared,
        "promise": {each: value for each, value in promise.items() if each != "wanted"},
        "axes": axes,
        "odometer": dict(
            no_odometer(parallel, replay.tables["head"][(row["root"],)]["seq"])
            or kind_of(row["kind"]).odometer(shared, promise, used, dead)
        ),
    }


def _position(axis: Mapping[str, Any]) -> int:
    return int(axis["position"])


def charged(
    replay: Replay, bodies: Sequence[tuple[int, Mapping[str, Any]]], name: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """All jobs that were charged to a budget, in their order, and their prices, each once."""
    units: dict[str, dict[str, int]] = {}
    for (identity, budget, axis), row in replay.tables["charge"].items():
        if budget == name:
            units.setdefault(identity, {})[axis] = row["units"]
    told = _told(bodies)
    jobs: list[dict[str, Any]] = []
    prices: dict[str, dict[str, Any]] = {}
    for (identity,), row in replay.tables["reservation"].items():
        if identity not in units:
            continue
        priced = f"{row['jobs']} {row['evidence']}"
        prices.setdefault(
            priced, {"price": len(prices) + 1, "jobs": json.loads(row["jobs"]), "evidence": json.loads(row["evidence"])}
        )
        jobs.append(
            {
                "id": identity,
                "jobs": json.loads(row["jobs"]),
                "state": row["state"],
                "principal": row["principal"],
                "made": row["made"],
                **told.get(identity, {}),
                "note": row["note"],
                "units": units[identity],
                "price": prices[priced]["price"],
            }
        )
    return jobs, list(prices.values())


def _told(bodies: Iterable[tuple[int, Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """When each job was claimed and ended, and what was said of that."""
    found: dict[str, dict[str, Any]] = {}
    for at, body in bodies:
        event, about = body["event"], body.get("reservation")
        for identity in body.get("settled", ()):  # a recovery spends all that is held
            found.setdefault(str(identity), {})["ended"] = at
        if isinstance(about, Mapping):
            at_once = {"running": {"claimed": at}, "committed": {"ended": at}}
            found[str(about["id"])] = at_once.get(about["state"], {})
        elif event == "claim":
            found.setdefault(str(about), {})["claimed"] = at
        elif event in ENDS:
            said = {each: body[each] for each in ("part", "attest") if body.get(each)}
            found.setdefault(str(about), {}).update(ended=at, by_expiry=event == "expire", **said)
    return found


def _counted(jobs: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for job in jobs:
        found[job["state"]] = found.get(job["state"], 0) + 1
    return found


def _refused(replay: Replay, name: str) -> int:
    """How many jobs for this budget, or for a part of it, did not fit somewhere."""
    beneath = {name, *(each["name"] for each in _tree(replay, name))}
    rows = (row for row in replay.tables["reservation"].values() if row["state"] == "refused")
    return sum(1 for row in rows if beneath & json.loads(row["jobs"]).keys())


def _tree(replay: Replay, name: str, depth: int = 1) -> Iterable[dict[str, Any]]:
    """All that is beneath a budget, each with how deep it lies."""
    for row in sorted(replay.tables["budget"].values(), key=lambda row: str(row["id"])):
        if row["parent"] == name:
            yield {**standing(replay, row["id"]), "depth": depth}
            yield from _tree(replay, row["id"], depth + 1)
