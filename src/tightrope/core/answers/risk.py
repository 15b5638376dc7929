"""What a release may cost a person, as a value: one number and one sentence in plain words for each question.

Made by metrics/read_risk.py; docs/risk.md derives every sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from os import PathLike
from textwrap import fill
from typing import TYPE_CHECKING

from ..values.bound import Bound, FrozenMapping
from ..values.calls import checked
from ..values.question import Direction

if TYPE_CHECKING:
    from ...plotting.style import Axes, Figure
    from ..mechanisms.base import Mechanism


PAGE_WIDTH = 110
MEMBER_AXES = ("wrongly accused, of all who are not in the data", "correctly accused, of all who are")
REPLACED_AXES = ("A said wrongly, of all whose record is B", "A said correctly, of all whose record is A")


@dataclass(frozen=True, slots=True)
class RiskRow:
    """One number: quantity is the method of a mechanism that bounds it at these arguments, sentence what it means.

    direction is the one that was asked, None for the worse of both and for a replaced record or value; number is what
    the sentence says at most, rounded up, such as 27.4 of 1,000.
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
    """The rows, and under which conditions they hold; prints as a page, plots as attacker against guessing."""

    mechanism: Mechanism
    rows: tuple[RiskRow, ...]
    meant: tuple[str, ...]
    assumed: tuple[str, ...]
    not_covered: tuple[str, ...]
    axis_names: tuple[str, str]

    @property
    def title(self) -> str:
        """What the page is about."""
        return f"The risk of one person, from {self.mechanism.label}"

    def __str__(self) -> str:
        return self.page()

    def page(self, width: int = PAGE_WIDTH) -> str:
        """The numbers with their sentences, then the notes, in lines of at most this width."""
        wide = max(len(row.number) for row in self.rows) + 4
        lines = [self.title, ""]
        for row in self.rows:
            head = f"  {row.number}".ljust(wide)
            lines.append(fill(row.sentence, width, initial_indent=head, subsequent_indent=" " * wide))
        for name, notes in self._notes():
            lines += [
                "",
                name,
                *(fill(note, width, initial_indent="  - ", subsequent_indent="    ") for note in notes),
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
            f"<p>{name}</p><ul>{''.join(f'<li>{escape(note)}</li>' for note in texts)}</ul>"
            for name, texts in self._notes()
        )
        return f"<table><caption>{escape(self.title)}</caption>{rows}</table>{notes}"

    @checked
    def plot(self, path: str | PathLike[str] | None = None, *, ax: Axes | None = None) -> Figure:
        """Attackers against guessing: correct accusations at every rate of wrong ones, and logarithmic at small rates.

        The rate of the first row is marked with its number. The suffix of path names the format; ax: axes to draw on,
        on which the small rates are.
        """
        from ...plotting.risk import MarkedRate, draw, rates

        row = self.rows[0]
        rate = row.arguments["fpr"]
        curve = self.mechanism.tradeoff_curve(fprs=rates(rate), direction=row.direction)
        mark = MarkedRate(rate, row.bound.upper, f"at most {row.number}")
        return draw(curve._series(""), mark, self.axis_names, self.title, path, ax)

    def _repr_png_(self) -> bytes | None:
        from ...plotting.style import png

        return png(self.plot)

    def _notes(self) -> list[tuple[str, tuple[str, ...]]]:
        return [
            ("How to read it", self.meant),
            ("What is assumed", self.assumed),
            ("What is not covered", self.not_covered),
        ]
