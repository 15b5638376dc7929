"""A report of results that were written before: their questions are asked again, and the answers must meet.

Guarantee: what is reported is what was found now; a file that nothing true can have said is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .. import DataError, Direction
from ..extend import result
from ..extend.result import Result
from ..extend.wording import short

# How a page holds its document: whoever wants it needs no more than this.
RESULT_ID = "tightrope-result"
_EMBEDDED = re.compile(rf'<script type="application/json" id="{RESULT_ID}">(.*?)</script>', re.DOTALL)


def embedded(document: str) -> str:
    """The document as the text of an element that no browser runs; nothing in it can end that, as < is escaped."""
    return document.replace("<", "\\u003c")


def document_of(text: str) -> str:
    """The document of a page that `embedded` put it into; any other text is taken for a document itself."""
    match = _EMBEDDED.search(text)
    return text if match is None else match[1]


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """Epsilons of one run in one direction, or the worse of both."""

    results: tuple[Result, ...]

    @property
    def expression(self) -> str:
        return self.results[0].expression

    @property
    def direction(self) -> Direction | None:
        return self.results[0].direction

    @property
    def deltas(self) -> list[float]:
        return [each.arguments["delta"] for each in self.results]

    def check(self, results: Sequence[Result]) -> None:
        """DataError where an interval of the file and the one that was found have no number in common."""
        for before, now in zip(self.results, results, strict=True):
            if before.bound.upper < now.bound.lower or now.bound.upper < before.bound.lower:
                raise DataError(
                    f"the file says that epsilon at delta {short(before.arguments['delta'])} lies in {before.bound}, "
                    f"and asked again it lies in {now.bound}: the file is not to be believed"
                )


def questions_of(text: str) -> AskedBefore:
    """The questions of a document or page; DataError where it holds no epsilon, or those of several runs."""
    found = [each for each in result.read(document_of(text)) if each.quantity == "epsilon"]
    if not found:
        raise DataError("a report is made of epsilons, and this file has none: tightrope epsilon EXPR --delta D --json")
    if len({(each.expression, each.direction) for each in found}) > 1:
        raise DataError("a report is of one run in one direction, and this file has several: report on each of them")
    return AskedBefore(tuple(found))
