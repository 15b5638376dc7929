"""What the results say, as rows: by tool, by case, false claims, and where another tool does better than ours."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

from .case import RESULTS, Case, cases
from .tools.table import TOOLS
from .verdict import Truth, answered, misses, number, truths, value_of

OURS = "tightrope"


@dataclass(frozen=True)
class Row:
    """One tool on one case."""

    case: Case
    tool: str
    found: dict[str, Any]
    truth: Truth

    @property
    def covered(self) -> bool:
        return "not_covered" not in self.found

    @property
    def answers(self) -> bool:
        return answered(self.found)

    @property
    def missed(self) -> str:
        return misses(self.found, self.truth)

    @property
    def seconds(self) -> float:
        """Of the processor, to the first answer of a new process, with what it takes to start."""
        return float(self.found["seconds_first"]) + float(self.found["seconds_start"])

    @property
    def off(self) -> float:
        """The answer above the truth (below: negative), relative; what is known of the truth is not held against it."""
        value = value_of(self.found)
        assert value is not None
        if value < float(self.truth.lower_text):
            return (value - float(self.truth.lower_text)) / self.truth.middle
        return max(value - float(self.truth.upper_text), 0.0) / self.truth.middle

    @property
    def width(self) -> float:
        """Between both ends where both are claimed, else how far the answer is off; relative.

        Within what is known of the truth it is how far it may be off at most.
        """
        lower, upper, value = (*(number(self.found, key) for key in ("lower", "upper")), value_of(self.found))
        if lower is not None and upper is not None:
            return (upper - lower) / self.truth.middle
        assert value is not None
        return abs(self.off) or (value - float(self.truth.lower_text)) / self.truth.middle


@dataclass(frozen=True)
class Results:
    """A run."""

    about: dict[str, Any]
    rows: tuple[Row, ...]

    @cached_property
    def by_case(self) -> dict[str, dict[str, Row]]:
        """Rows by case and tool."""
        found: dict[str, dict[str, Row]] = {}
        for row in self.rows:
            found.setdefault(row.case.name, {})[row.tool] = row
        return found

    def false_claims(self) -> list[Row]:
        """Every end on the wrong side of the truth."""
        return [row for row in self.rows if row.missed]

    def better(self) -> Iterator[tuple[Row, str]]:
        """Peers whose sound answer came sooner than ours, or lies closer to the truth."""
        for row in self.rows:
            ours = self.by_case[row.case.name].get(OURS)
            if row.tool == OURS or ours is None or not row.answers or row.missed or "upper" not in row.found:
                continue
            faster = f"sooner, {row.seconds:.2f} s, ours {ours.seconds:.2f} s" if row.seconds < ours.seconds else ""
            closer = "closer" if row.off < ours.off else ""
            if faster or closer:
                distance = f"distance {row.off:.1e}, ours {ours.off:.1e}"
                yield row, "; ".join(part for part in (faster, closer, distance) if part)

    def by_tool(self) -> Iterator[tuple[str, list[Row]]]:
        """Rows of what each tool covers."""
        for tool in TOOLS:
            yield tool, [row for row in self.rows if row.tool == tool and row.covered]


def results() -> Results:
    """From the files."""
    document, known, truth = json.loads(RESULTS.read_text()), cases(), truths()
    rows = (
        Row(
            known[each["case"]],
            each["tool"],
            {key: each[key] for key in each if key not in ("case", "tool")},
            truth[each["case"]],
        )
        for each in document["results"]
        if each["case"] in known and each["case"] in truth and each["tool"] in TOOLS
    )
    return Results(document["about"], tuple(rows))


def middle(values: list[float], form: str) -> str:
    """The median, or a dash."""
    return format(median(values), form) if values else "-"


def summary(found: Results) -> list[str]:
    """A table: each tool over all cases."""
    lines = [
        "| tool | claims | answered | false claims | distance | seconds | MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for tool, rows in found.by_tool():
        done = [row for row in rows if row.answers]
        sound = [row for row in done if not row.missed]
        claims = sum(1 for row in rows if row.missed) if any("upper" in row.found for row in done) else "makes none"
        most = max((int(row.found["peak_megabytes"]) for row in done), default=0)
        lines.append(
            f"| {tool} | {TOOLS[tool].kind} | {len(done)} of {len(rows)} | {claims} "
            f"| {middle([row.width for row in sound], '.0e')} "
            f"| {middle([row.seconds for row in done], '.2g')} | {most} |"
        )
    return lines


def shown(value: float) -> str:
    """Thirteen digits, or infinity."""
    return f"{value:.13g}" if math.isfinite(value) else str(value)
