"""A ledger on the page: all budgets, one of them closely, what was used of it over time, how many more jobs fit.

Numbers are rounded to the safe side by `tightrope.ledger.table`, as everywhere: what is left down, what was used up.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from .. import InvalidParameter
from ..extend import documents
from ..extend.budgets import (
    ENDLESS,
    about_words,
    axes_notes,
    axes_rows,
    budget_tree,
    cost_rows,
    moment,
    more_words,
    number,
    odometer_words,
    odometers,
    percent,
    promised,
    state_words,
    telling,
    used_share,
    used_words,
)
from ..ledger import NotFound
from .asked import PageQuestion
from .ledger import LedgerReader, shown_by

LEDGER_NAME_MAX = 200  # characters
USED_MAX = 100  # budgets of which the tree says how much is gone
JOBS_MAX = 20
PAST_MOMENTS_MAX = 400  # of a chart
PROMISE_LINES_MAX = 6

Told = Mapping[str, Any]


def overview(asked: PageQuestion) -> dict[str, Any]:
    """The tree, and the budget that is asked for, or the first; which is asked for again every few seconds."""
    reader, budgets = shown_by(asked.ledger), shown_by(asked.ledger).budgets()
    rows = list(budget_tree(budgets))
    statuses = {each["name"]: reader.status(each["name"]) for each, _ in rows[:USED_MAX]}
    name = _name(asked) or (rows[0][0]["name"] if rows else "")
    return {
        "at": moment(time.time_ns() // 1_000_000),
        "tree": [_row(each, depth, statuses.get(each["name"])) for each, depth in rows],
        "budget": _budget(reader, name, statuses.get(name)) if name else None,
    }


def past(asked: PageQuestion) -> dict[str, Any]:
    """What was spent and held over time, and the newest jobs; asked for again when something moved."""
    reader, name = shown_by(asked.ledger), _name(asked)
    from ..extend.ledgers import thinned

    status, moments = reader.status(name), thinned(reader.history(name)["moments"], PAST_MOMENTS_MAX)
    until = max([time.time_ns() // 1_000_000, *(each["at"] for each in moments[-1:])])
    drawn = _epsilons(status, moments) if status["kind"] == ENDLESS else _shares(status, moments)
    return {
        "name": name,
        **drawn,
        "times": [{"x": at, "xText": moment(at)} for at in (*(each["at"] for each in moments), until)],
        "jobs": [_job(reservation, name) for reservation in reader.reservations(name)[:JOBS_MAX]],
        "json": documents.write(documents.plain(status)),
        "command": f"tightrope ledger status {name} --ledger {shlex.quote(reader.shown)}",
        "python": f"import tightrope as tr\n\nwith tr.ledger.open({_address(reader)!r}) as ledger:\n"
        f"    print(ledger.status({name!r}).json())",
    }


def further(asked: PageQuestion) -> dict[str, Any]:
    """How many more jobs like this one fit, and what one takes; nothing is held."""
    status = shown_by(asked.ledger).status(_name(asked), asked.text)
    heading, *cost = cost_rows(status, status["more"]["units"])
    return {"words": more_words(status["more"]), "headings": heading, "cost": cost}


def _name(asked: PageQuestion) -> str:
    name = asked.given.get("budget", "")
    if not isinstance(name, str) or len(name) > LEDGER_NAME_MAX:
        raise InvalidParameter(f"budget must be the name of one, not {name!r:.60}")
    return name


def _row(each: Told, depth: int, status: Told | None) -> dict[str, Any]:
    if status is None:
        return {"name": each["name"], "depth": depth, "state": each["state"], "words": "", "share": None}
    endless, axes = status["kind"] == ENDLESS, telling(status)
    return {
        "name": each["name"],
        "depth": depth,
        "state": status["state"],  # of its root, which its own row does not say
        "words": odometer_words(status) if endless else used_words(status),
        "share": None if endless or not axes else min(float(used_share(axes[0])), 1.0),
    }


def _budget(reader: LedgerReader, name: str, status: Told | None) -> dict[str, Any]:
    """One budget in words and cells; where there is none, why."""
    try:
        found = reader.status(name) if status is None else status
    except NotFound as error:
        return {"name": name, "error": str(error)}
    heading, *axes = axes_rows(found)
    moved = json.dumps(documents.plain([found["axes"], found["jobs"], found["state"]]), sort_keys=True)
    return {
        "name": name,
        "state": found["state"],
        "promise": promised(found),
        "about": ", ".join(about_words(found)),
        "used": "" if found["kind"] == ENDLESS else f"{used_words(found)}; what is held counts",
        "odometer": odometer_words(found),
        "jobs": state_words(found["jobs"]),
        "headings": [*heading[:-1], "note"],
        "axes": axes,
        "notes": axes_notes(found),
        "block": bool(found["parallel"]),
        "version": hashlib.sha256(moved.encode()).hexdigest()[:16],
    }


def _shares(status: Told, moments: Sequence[Told]) -> dict[str, Any]:
    """What was spent, and what was held above it, as shares of what is promised; texts are rounded up."""
    axes = [axis for axis in telling(status) if axis["ceiling"]][:PROMISE_LINES_MAX]
    series = []
    for axis in axes:
        name, ceiling = axis["name"], axis["ceiling"]
        units = [each["axes"][name] for each in moments]
        pairs = [(Fraction(spent, ceiling), Fraction(held + spent, ceiling)) for held, spent, *_ in units]
        series.append({"label": name, "points": [_point(*pair) for pair in [*pairs, *pairs[-1:]]]})
    raised = [(axis["name"], axis["total"] / axis["ceiling"]) for axis in axes[:1] if axis["total"] < axis["ceiling"]]
    return {
        "title": "Share of the promise that is spent, and held above it",
        "unit": "share of the promise, %",
        "series": series,
        "guides": [{"label": f"total of {name} so far", "y": 100.0 * share} for name, share in raised],
        "most": 100.0,
    }


def _point(spent: Fraction, used: Fraction) -> dict[str, Any]:
    low, high = (100.0 * float(fraction) for fraction in (spent, used))
    return {"low": low, "high": high, "lowText": percent(spent), "highText": percent(used)}


def _epsilons(status: Told, moments: Sequence[Told]) -> dict[str, Any]:
    """What the odometer said, held included; upper ends. Where it is not known, nothing is drawn."""
    told = [] if "reason" in status["odometer"] else odometers(status, moments)
    points = [{"low": value, "high": value, "lowText": number(value), "highText": number(value)} for value in told]
    delta = number(status["promise"]["delta"])
    return {
        "title": f"Epsilon used, at most, at delta {delta}",
        "unit": f"epsilon used, at most, at delta {delta}",
        "series": [{"label": "odometer", "points": [*points, *points[-1:]]}],
        "guides": [],
        "most": None,
    }


def _job(reservation: Told, budget: str) -> dict[str, str]:
    """A job in words; on: the budgets below that it was asked of. A note that says the same says nothing."""
    jobs = reservation["jobs"]
    job = "; ".join(dict.fromkeys(jobs.values()))
    return {
        "job": job,
        "on": ", ".join(name for name in jobs if name != budget),
        "who": reservation["principal"],
        "state": reservation["state"],
        "made": moment(reservation["made"]),
        "note": "" if reservation["note"] == job else reservation["note"] or "",
    }


def _address(reader: LedgerReader) -> str:
    """As Python takes it, without any password."""
    return reader.shown if "://" in reader.shown else f"sqlite:///{reader.shown}"
