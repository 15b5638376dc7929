"""The map of both sources, run: docs/from_paper_to_code.md has a command for every item of theirs.

A command is a Python expression, with the names of the page's first block, or a call of `tightrope`. This fills in
what each gives: make sources
"""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from pathlib import Path
from typing import Any

import click

from studies import claim
from studies.reproduce import CLAIMS, FIGURES, compute, drawn_name
from tightrope import Bound, Mechanism, TightropeError, compare
from tightrope.cli.app import run

PAGE = Path(__file__).resolve().parent.parent / "docs" / "from_paper_to_code.md"
DIGITS = 6  # of the ends of an interval
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"`([^`]+)`")
INTERVAL = re.compile(r"\[(\S+), (\S+)\]")
HEADER = ("item", "what it says", "command", "gives")


@dataclass(frozen=True, slots=True)
class Row:
    """An item of a source: what it says, the command that shows it, and what that gives; no command where none can."""

    item: str
    says: str
    command: str
    gives: str

    def __str__(self) -> str:
        return f"| {self.item} | {self.says} | `{self.command}` | {self.gives} |"


def rows(text: str) -> Iterator[tuple[str, Row | None]]:
    """Every line of the page, with its row where it is one that has a command."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split(" | ")]
        found = COMMAND.fullmatch(cells[2]) if line.startswith("| ") and len(cells) == len(HEADER) else None
        yield line, None if found is None else Row(cells[0], cells[1], found[1], cells[3])


def names(text: str) -> dict[str, Any]:
    """What the page's own code defines."""
    found: dict[str, Any] = {}
    for block in BLOCK.findall(text):
        exec(compile(block, PAGE.name, "exec"), found)
    return found


def answer(row: Row, known: Mapping[str, Any]) -> Any:
    """The value of an expression, or what a command prints first, however wide its columns are."""
    if not row.command.startswith("tightrope "):
        return eval(row.command, dict(known))
    printed = io.StringIO()
    with redirect_stdout(printed):
        code = run(shlex.split(row.command)[1:])
    if code:
        raise AssertionError(f"{row.command}: exit code {code}")
    return next(" ".join(line.split()) for line in printed.getvalue().splitlines() if line.strip())


def shown(value: object) -> str:
    """A value as the page shows it: the ends of an interval rounded outward."""
    if not isinstance(value, Bound):
        return f"{value:.{DIGITS}g}" if isinstance(value, (float, complex)) else str(value)
    if value.lower == value.upper:
        return f"{value.lower:.17g}"
    return f"[{_rounded(value.lower, ROUND_FLOOR)}, {_rounded(value.upper, ROUND_CEILING)}]"


def same(value: object, gives: str) -> bool:
    """Whether a value is what the page shows; an interval lies inside the one shown, but for its own width."""
    found = INTERVAL.search(gives)
    if found is None:
        return shown(value) == gives
    low, high = map(float, found.groups())
    if isinstance(value, str):
        printed = INTERVAL.search(value)
        if printed is None or INTERVAL.sub("", value) != INTERVAL.sub("", gives):
            return False
        value = Bound(float(printed[1]), float(printed[2]))
    if not isinstance(value, Bound):
        return shown(value) == gives
    inside = low - value.width <= value.lower and value.upper <= high + value.width
    return inside and value.width <= 2.0 * (high - low)


def figure(name: str) -> str:
    """Computes a figure of docs/figures by its name, and says what is on it; make reproduce draws them."""
    module = next(each for each in FIGURES if drawn_name(each) == name)
    found = compute(module)
    return f"{found.title}: panels {', '.join(panel.title for panel in found.panels)}"


def claims(*keys: str) -> str:
    """Whether each claim holds, decided again."""
    known = {each.key: each for each in CLAIMS}
    return ", ".join("holds" if claim.decide(known[key]).holds else "does not hold" for key in keys)


def method(run: Mechanism, name: str, delta: float = 1e-6) -> float:
    """What a classic bound says of epsilon."""
    return float(compare(run, delta=delta, methods=[name]).rows[-1].value)


def refused(ask: Callable[[], object]) -> str:
    """Why a call is refused."""
    try:
        ask()
    except TightropeError as refusal:
        return str(refusal)
    raise AssertionError("it was not refused")


def _rounded(value: float, rounding: str) -> str:
    return str(Context(prec=DIGITS, rounding=rounding).create_decimal(Decimal(value)).normalize())


@click.command()
def main() -> None:
    """Runs every command of the page and fills in what it gives."""
    text = PAGE.read_text("utf-8")
    known, lines = names(text), []
    for line, row in rows(text):
        lines.append(line if row is None else str(Row(row.item, row.says, row.command, shown(answer(row, known)))))
    PAGE.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
