"""A question as it comes from the page: an object of JSON, each part of which is checked where it is used.

Numbers come as they were typed, as texts or as numbers of JSON, and mean the double nearest to them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import InvalidParameter, Mechanism, parse
from ..extend.expressions import Template, has_unknown, parse_template
from ..extend.parameters import WHOLE_MAX
from ..extend.questions import SECONDS
from ..extend.reports import REPORT_SECONDS
from ..extend.wording import cut
from .ledger import LedgerReader

RUNS_MAX = 8  # of the page
TEXT_MAX = 10_000  # characters of an expression on the page
FIRST_SECONDS = 0.4  # of a first picture, which another one follows
SEARCH_FIRST = 1.5  # seconds of a search while its target is dragged
NUMBER_MAX = 60  # characters of a number
FIRST = "first"


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """What is asked for; files: the folder that texts may name files of, ledger: the one of the page; None for none."""

    given: Mapping[str, Any]
    files: str | None = None
    ledger: LedgerReader | None = None

    @property
    def kind(self) -> str:
        """What is asked for, by its name in the table of answers."""
        return self.word("kind")

    @property
    def text(self) -> str:
        """The expression, as it was typed."""
        text = self.given.get("text")
        if not isinstance(text, str):
            raise InvalidParameter("text must be an expression, such as Gaussian(sigma=2) * 10")
        if len(text) > TEXT_MAX:
            raise InvalidParameter(
                f"an expression on this page has at most {TEXT_MAX:,} characters, not {len(text):,}: use counts "
                "(* 1000), or the command line"
            )
        return text

    @property
    def rough(self) -> bool:
        """Whether it is a first picture, which another one follows."""
        return self.given.get("stage") == FIRST

    @property
    def seconds(self) -> float:
        """What it may take: as long as a command has, so that it says the same; of anything that is no question too."""
        kind = self.given.get("kind")
        if kind == "report":
            return REPORT_SECONDS
        if self.rough:
            return SEARCH_FIRST if kind == "calibrate" else FIRST_SECONDS
        return SECONDS * max(len(self.parts), 1)

    @property
    def parts(self) -> list[PageQuestion]:
        """The questions of a document; none of any other."""
        given = self.given.get("questions") if self.given.get("kind") == "document" else None
        if not isinstance(given, list):
            return []
        return [PageQuestion(each, self.files) for each in given[: RUNS_MAX + 1] if isinstance(each, dict)]

    def run(self) -> Mechanism:
        """The mechanism that the text describes."""
        if has_unknown(self.text):
            raise InvalidParameter("? is a number to be found: give the run a target, or put a number in its place")
        return parse(self.text, self.files)

    def template(self) -> Template:
        """The text with its unknown."""
        return parse_template(self.text, self.files)

    def word(self, name: str) -> str:
        """A short text."""
        value = self.given.get(name, "")
        if not isinstance(value, str) or len(value) > NUMBER_MAX:
            raise InvalidParameter(f"{name} must be a word, not {cut(value)}")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """A number, as it was typed or as JSON has it."""
        value = self.given.get(name, default)
        number = math.nan
        if isinstance(value, float) or (type(value) is int and abs(value) <= WHOLE_MAX):
            number = float(value)
        elif isinstance(value, str) and len(value) <= NUMBER_MAX and value.isascii() and "_" not in value:
            try:
                number = float(value)
            except ValueError:
                number = math.nan
        if math.isnan(number):
            raise InvalidParameter(f"{name} must be a number such as 0.5 or 1e-6, not {cut(value)}")
        return number

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        """A whole number between these."""
        number = self.number(name, default)
        if not least <= number <= most or number != math.floor(number):
            raise InvalidParameter(f"{name} must be a whole number from {least} to {most}, not {number:g}")
        return int(number)

    def numbers(self, name: str, most: int) -> list[float]:
        """A list of numbers; empty where there is none."""
        values = self.given.get(name, [])
        if not isinstance(values, list) or len(values) > most:
            raise InvalidParameter(f"{name} must be a list of at most {most} numbers")
        return [PageQuestion({name: value}).number(name) for value in values]
