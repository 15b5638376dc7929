"""The jobs of the chains priced again: was any of them charged less than it costs?

A price is a matter of work units alone, so it is the same here as where it was charged; a newer program may know a
smaller one, which is counted and no fault.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .. import TightropeError
from .chain import AuditLine
from .errors import VerificationFailed
from .filters.base import SUM, Price
from .pricing import Pricer

SAME_BITS = 20  # to which two prices are one: of older lines the last digits are those of a library's constants
Lines = Callable[[], Iterable[AuditLine]]
Units = dict[tuple[str, str], int | None]  # by budget and axis; None: no finite cost


def repriced(lines: Lines, pricer: Pricer) -> dict[str, int]:
    """How many jobs were priced, cost less now, and have no slack on record; VerificationFailed names the others."""
    budgets: dict[str, Mapping[str, Any]] = {}
    for line in lines():
        if line.body.startswith('{"axes":'):  # canonical JSON: the first name of a creation
            row = json.loads(line.body)["budget"]
            budgets[row["id"]] = {**row, "shared": json.loads(row["shared"])}
    check = _PriceCheck(budgets, pricer)
    for line in lines():
        check.line(line)
    if check.findings:
        raise VerificationFailed(tuple(check.findings))
    return {"priced": check.priced, "cheaper": check.cheaper, "unknown": check.unknown}


class _PriceCheck:
    """One line after the other; what is held is remembered until it ends."""

    def __init__(self, budgets: Mapping[str, Mapping[str, Any]], pricer: Pricer) -> None:
        self._budgets, self._pricer = budgets, pricer
        self._held: dict[str, dict[str, str]] = {}  # jobs of reservations, by budget
        self.findings: list[str] = []
        self.priced = self.cheaper = self.unknown = 0

    def line(self, line: AuditLine) -> None:
        """Judges what the line charges."""
        body = json.loads(line.body)
        where = f"{line.root}: line {line.seq}"
        if body["event"] == "reserve":
            row = body["reservation"]
            jobs = json.loads(row["jobs"])
            if row["additive"]:
                self._held[row["id"]] = jobs
            self._judged(where, jobs, body["charges"], body.get("slack"), "slack" in body)
        elif body["event"] == "commit" and body.get("units"):
            part = body["part"]
            whole = self._held.get(body["reservation"], {})
            jobs = dict(part) if isinstance(part, Mapping) else dict.fromkeys(whole, part)
            parts = [charge for charge in body["units"] if charge[1] != SUM]  # which is charged for the whole
            self._judged(where, jobs, parts, None, True)
        if body["event"] in ("commit", "cancel", "expire"):
            self._held.pop(body["reservation"], None)

    def _judged(
        self, where: str, jobs: Mapping[str, str], charges: Iterable[Iterable[Any]], slack: float | None, known: bool
    ) -> None:
        try:
            expected = self._costs(jobs, slack)
        except TightropeError as error:
            self.findings.append(f"{where} has no price now: {error!s:.200}")
            return
        self.priced += 1
        less, more = False, ""
        for budget, axis, units in charges:
            cost = expected.get((budget, axis), 0)
            if cost is None or cost > units + (units >> SAME_BITS):
                more = more or f"{where} charged {units} units of {axis} of {budget}, and the job costs {cost}"
            less = less or (cost is not None and cost < units)
        if more and not known:  # written before lines said with what slack they were priced
            self.unknown += 1
        elif more:
            self.findings.append(more)
        elif less:
            self.cheaper += 1

    def _costs(self, jobs: Mapping[str, str], slack: float | None) -> Units:
        found: Units = {}
        for name, job in jobs.items():
            terms = self._budgets[name]
            price: Price = self._pricer.price(terms["kind"], terms["shared"], job, slack)
            above: str | None = name
            while above is not None and self._budgets[above]["compose"] != "parallel":
                for axis, units in price.units.items():
                    before = found.get((above, axis), 0)
                    found[above, axis] = None if units is None or before is None else before + units
                above = self._budgets[above]["parent"]
        return found
