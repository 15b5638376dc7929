"""What a release may cost a person, as a value: one number and one sentence in plain words for each question.

Made by readings/risk.py; docs/risk.md derives every sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import TYPE_CHECKING

from .bound import Bound, FrozenMapping
from .relation import Direction

if TYPE_CHECKING:
    from .mechanisms.base import Mechanism

PAGE_WIDTH = 110


@dataclass(frozen=True, slots=True)
class RiskRow:
    """One number: quantity is the method of a mechanism that bounds it at these arguments, sentence what it means.

    direction is the one that was asked, None for the worse of both and for a replaced record; number is what the
    sentence says at most, rounded up, such as 27.4 of 1,000.
    """

    quantity: str
    arguments: Mapping[str, float]
    direction: Direction | None
    bound: Bound
    number: str
    sentence: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", FrozenMapping(self.arguments))


@dataclass(frozen=True, slots=True, repr=False)
class Risk:
    """The rows, and under which conditions they hold; it prints as a page."""

    mechanism: Mechanism
    rows: tuple[RiskRow, ...]
    meant: tuple[str, ...]
    assumed: tuple[str, ...]
    not_covered: tuple[str, ...]

    @property
    def title(self) -> str:
        """What the page is about."""
        return f"The risk of one person, from {self.mechanism.label}"

    def __str__(self) -> str:
        wide = max(len(row.number) for row in self.rows) + 4
        lines = [self.title, ""]
        for row in self.rows:
            head = f"  {row.number}".ljust(wide)
            lines.append(fill(row.sentence, PAGE_WIDTH, initial_indent=head, subsequent_indent=" " * wide))
        for name, notes in self._notes():
            lines += [
                "",
                name,
                *(fill(note, PAGE_WIDTH, initial_indent="  - ", subsequent_indent="    ") for note in notes),
            ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Risk: {', '.join(f'{row.quantity} {row.number}' for row in self.rows)}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td><b>{escape(row.number)}</b></td><td style='text-align:left'>{escape(row.sentence)}</td></tr>"
            for row in self.rows
        )
        notes = "".join(
            f"<p>{name}</p><ul>{''.join(f'<li>{escape(note)}</li>' for note in found)}</ul>"
            for name, found in self._notes()
        )
        return f"<table><caption>{escape(self.title)}</caption>{rows}</table>{notes}"

    def _notes(self) -> list[tuple[str, tuple[str, ...]]]:
        return [
            ("How to read it", self.meant),
            ("What is assumed", self.assumed),
            ("What is not covered", self.not_covered),
        ]
