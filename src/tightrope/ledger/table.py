"""The state of a budget as people read it: the promise in a sentence, counters in a table, what is left of each.

Units are whole numbers, and are rounded as they are printed: what is left, and what there is in all, down; what is held
and spent, up. So no line says that there is more than there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from .. import Relation
from ..extend.mechanisms import neighbours
from ..extend.tables import aligned
from ..extend.wording import rounded, short
from .menu import axis_name
from .units import UNITS_DIGITS, amount
from .values import moment

PROMISE_LETTERS_MAX = 10  # of a number; a longer one is rounded up
ENDLESS = "odometer"  # the kind without totals
BRANCH = "  "  # of the tree, for each step down

AxisRow = Mapping[str, Any]


def percent(share: Fraction) -> str:
    """A share that was used, rounded up, as in 47.2 %."""
    tenths = -(-share.numerator * 1000 // share.denominator)
    return f"{tenths // 10}.{tenths % 10} %" if tenths % 10 else f"{tenths // 10} %"


def number(value: float) -> str:
    """A number of a promise: as it was given, or rounded up where it is long."""
    exact = short(value)
    return exact if len(exact) <= PROMISE_LETTERS_MAX else rounded(value, UNITS_DIGITS, up=True)


def promised(status: Mapping[str, Any]) -> str:
    """The promise in one sentence; the ceiling is what it speaks of."""
    promise = status["promise"]
    whom = f"for {status['unit']}, when {neighbours(Relation(status['relation']))}"
    if status["kind"] == ENDLESS:
        return f"no total: what was used is told at any time, at delta {number(promise['delta'])}, {whom}"
    if "rho" in promise:
        slack = f"{number(promise['slack'])}-approximate " if promise["slack"] else ""
        return f"{slack}{number(promise['rho'])}-zCDP {whom}"
    return f"({number(promise['ceiling'])}, {number(promise['delta'])})-DP {whom}"


def used_share(axis: AxisRow) -> Fraction:
    """What is held and spent, as a share of the total; 1 where there is no total."""
    return Fraction(axis["held"] + axis["spent"], axis["total"]) if axis["total"] else Fraction(1)


def roomiest(status: Mapping[str, Any]) -> AxisRow | None:
    """The living `any` axis of which the smallest share is used: further jobs can go by it. Of several the heaviest."""
    weights = {axis_name(float(order)): weight for order, weight in status["shared"].get("orders", {}).items()}
    living = [axis for axis in status["axes"] if axis["need"] == "any" and not axis["dead"]]
    return min(living, key=lambda axis: (used_share(axis), -weights.get(axis["name"], 0.0)), default=None)


def telling(status: Mapping[str, Any]) -> list[AxisRow]:
    """The axes that say how much of a budget is gone: the roomiest order, and all that every job must fit."""
    every = [axis for axis in status["axes"] if axis["need"] == "all" and axis["ceiling"]]
    best = None if status["kind"] == ENDLESS else roomiest(status)
    return every if best is None else [best, *every]


def used_words(status: Mapping[str, Any]) -> str:
    """How much of each is gone, held included."""
    return ", ".join(f"{percent(used_share(axis))} of {axis['name']}" for axis in telling(status)) or "nothing"


def odometer_words(status: Mapping[str, Any]) -> str:
    """What was used, at any stopping time; or why that is not known."""
    found = status["odometer"]
    if "reason" in found:
        return f"not known: {found['reason']}"
    return f"epsilon at most {number(found['epsilon'])} at delta {number(found['delta'])}, whenever one stops"


def columns(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Rows as lines: the first columns begin at the left, the others, numbers, end at the right."""
    return aligned(rows, right=range(left, len(rows[0])))


def axis_cells(axis: AxisRow, endless: bool = False) -> tuple[str, ...]:
    """need, total, held, spent, left and whether it is dead; each number rounded to the safe side."""
    unit, open_ended = axis["unit"], endless and axis["need"] == "any"
    return (
        axis["need"],
        "no end" if open_ended else amount(axis["total"], unit, up=False),
        amount(axis["held"], unit, up=True),
        amount(axis["spent"], unit, up=True),
        "no end" if open_ended else "0" if axis["dead"] else amount(axis["left"], unit, up=False),
        "dead" if axis["dead"] else "",
    )


AXIS_HEADINGS = ("need", "total", "held", "spent", "left", "")


def axes_rows(status: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Headings, and all counters that ever counted; those that are dead last, and the one to go by marked."""
    best, endless = roomiest(status), status["kind"] == ENDLESS
    axes = sorted((each for each in status["axes"] if not _never_lived(each)), key=lambda axis: bool(axis["dead"]))
    rows: list[tuple[str, ...]] = [("axis", *AXIS_HEADINGS)]
    for axis in axes:
        *cells, dead = axis_cells(axis, endless)
        mark = "least used" if best is not None and not endless and axis["name"] == best["name"] else dead
        rows.append((axis["name"], *cells, mark))
    return rows


def axes_notes(status: Mapping[str, Any]) -> list[str]:
    """What the words of the table mean, as far as it has them."""
    axes, notes = status["axes"], []
    if any(axis["need"] == "any" for axis in axes):
        notes.append("any: one order that was never exceeded must have room. all: every job must fit.")
    if any(axis["dead"] and axis["ceiling"] for axis in axes):
        notes.append("dead: a job went beyond it, it counts no more, and its counters stand where they were.")
    if any(axis["total"] < axis["ceiling"] for axis in axes):
        notes.append("The promise allows more than these totals: tightrope ledger renew raises them.")
    if unlived := [axis["name"].removeprefix("order ") for axis in axes if _never_lived(axis)]:
        notes.append(f"Orders at which this promise allows nothing, not even at first: {', '.join(unlived)}.")
    notes += [f"{axis['name']}: {job}" for axis in axes if (job := slot_job(status, axis["name"]))]
    return notes


def _never_lived(axis: AxisRow) -> bool:
    return bool(axis["dead"]) and not axis["ceiling"]


def slot_job(status: Mapping[str, Any], name: str) -> str:
    """The job that a slot of a plan is for; nothing for another axis."""
    slots = status["shared"].get("slots", ())
    return next((str(job) for at, job in enumerate(slots, 1) if name == f"slot {at}"), "")


def state_words(jobs: Mapping[str, int]) -> str:
    """Reservations by state."""
    order = ("reserved", "running", "committed", "cancelled", "refused")
    return ", ".join(f"{jobs[state]:,} {state}" for state in order if jobs.get(state)) or "none"


def more_words(more: Mapping[str, Any]) -> list[str]:
    """How many more of a job fit, and why none does."""
    if not more["fits"]:
        return [f"how many more like this: 0 ({more['job']})", f"  {more['why']}"]
    count = "without end" if more["more"] is None else f"{more['more']:,}"
    lines = [f"how many more like this: {count} ({more['job']})"]
    if more.get("unsettled"):
        lines.append(f"  work ended the price, and reserving asks for consent (--worse): {more['unsettled']}")
    return lines


def about_words(status: Mapping[str, Any]) -> list[str]:
    """What a budget is, the kind first; its state aside."""
    about = [f"kind {status['kind']}", f"made {moment(status['made'])}"]
    if status["parent"] is not None:
        about.append(f"a part of {status['parent']}")
    if status["parallel"]:
        about.append("a block of partitions")
    return about


def status_text(status: Mapping[str, Any]) -> str:
    """A budget, for people."""
    kind, *about = about_words(status)
    lines = [f"{status['name']}: {promised(status)}", f"  {', '.join([kind, status['state'], *about])}", ""]
    lines += [f"  {line}" for line in columns(axes_rows(status), left=2)]
    lines += [f"  {note}" for note in axes_notes(status)]
    lines += [
        "",
        f"  used      {used_words(status)}; what is held counts",
        f"  odometer  {odometer_words(status)}",
        f"  jobs      {state_words(status['jobs'])}",
    ]
    if status["children"]:
        lines.append(f"  parts     {', '.join(status['children'])}")
    if "more" in status:
        lines += ["", *(f"  {line}" for line in more_words(status["more"]))]
    return "\n".join(lines)


def budget_tree(budgets: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Each budget with its depth, children after their parents; one whose parent is not seen is a root."""
    names = {budget["name"] for budget in budgets}
    children: dict[str | None, list[Mapping[str, Any]]] = {}
    for each in budgets:
        children.setdefault(each["parent"] if each["parent"] in names else None, []).append(each)
    waiting = [(each, 0) for each in reversed(children.get(None, []))]
    while waiting:
        each, depth = waiting.pop()
        yield each, depth
        waiting += [(child, depth + 1) for child in reversed(children.get(each["name"], []))]


def budgets_text(budgets: Sequence[Mapping[str, Any]], used: Mapping[str, str]) -> str:
    """All budgets as a tree, with how much of each is gone."""
    if not budgets:
        return "there are no budgets yet: tightrope ledger create makes one"
    rows = [("budget", "kind", "state", "used")]
    for each, depth in budget_tree(budgets):
        name = each["name"]
        rows.append((BRANCH * depth + name, each["kind"], each["state"], used.get(name, "")))
    return "\n".join(columns(rows, left=4))


def cost_rows(status: Mapping[str, Any], units: Mapping[str, int | None]) -> list[tuple[str, ...]]:
    """Headings; what a job takes of the axes that say how much is gone, rounded up, beside what is left of each."""
    rows: list[tuple[str, ...]] = [("axis", "needs", "left")]
    for axis in telling(status) or status["axes"]:
        needs = units.get(axis["name"], 0)
        left = axis_cells(axis, status["kind"] == ENDLESS)[AXIS_HEADINGS.index("left")]
        rows.append((axis["name"], "no finite amount" if needs is None else amount(needs, axis["unit"], up=True), left))
    return rows


def cost_lines(status: Mapping[str, Any], units: Mapping[str, int | None]) -> list[str]:
    """`cost_rows` as lines."""
    return columns(cost_rows(status, units))
