"""A report as a value: the answers that it holds, and the files that are made of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from os import PathLike, fspath
from os.path import splitext
from types import MappingProxyType
from typing import TYPE_CHECKING

from .. import InvalidParameter, Mechanism
from ..extend import result
from ..extend.result import Result
from ..extend.wording import FrozenMapping, check_folder, checked
from .filing import Filing

if TYPE_CHECKING:
    from .. import Curve, Epochs, Risk, Tradeoffs
    from .page import Page

PAPERS = MappingProxyType({"a4": "a4", "letter": "us-letter"})  # as Typst calls them
SUFFIXES = (".html", ".pdf", ".json")


class Filed(ABC):
    """What is filed: a page, the document that it holds as data, and the files that are made of them."""

    __slots__ = ()
    filing: Filing

    @abstractmethod
    def document(self) -> str:
        """All of it as JSON, with a date and a digest."""

    @abstractmethod
    def _page(self) -> Page:
        """What its files show."""

    def html(self) -> str:
        """One file that needs no other: no script runs in it, and nothing is fetched. Without matplotlib it says that
        it has no pictures; its tables hold the numbers in any case."""
        from .html import html

        return html(self._page())

    @property
    def drawn(self) -> bool:
        """Whether there are pictures: they need matplotlib."""
        return find_spec("matplotlib") is not None

    @checked
    def pdf(self, paper: str = "a4") -> bytes:
        """The same on paper, a4 or letter, with the document attached; needs typst."""
        from .pdf import pdf

        if paper not in PAPERS:
            raise InvalidParameter(f"paper must be {' or '.join(PAPERS)}, not {paper!r:.40}")
        return pdf(self._page(), PAPERS[paper])

    def text(self, kind: str) -> str:
        """As html, or as json: the document alone."""
        return self.html() if kind == "html" else self.document() + "\n"

    @checked
    def save(self, path: str | PathLike[str]) -> None:
        """Writes the file whose format its name ends with: .html, .pdf or .json (the document alone)."""
        suffix = check_report_path(path)
        content = self.pdf() if suffix == ".pdf" else self.text(suffix[1:]).encode("utf-8")
        with open(path, "wb") as file:
            file.write(content)


def check_report_path(path: str | PathLike[str]) -> str:
    """The suffix of a file that a report can be written to; InvalidParameter for another, or without its folder."""
    suffix = splitext(fspath(path))[1].lower()
    if suffix not in SUFFIXES:
        raise InvalidParameter(
            f"a report is written as {', '.join(SUFFIXES)}; the name must end so, not as {fspath(path)!r:.60}"
        )
    check_folder(path)
    return suffix


@dataclass(frozen=True, slots=True, repr=False)
class Report(Filed):
    """A run with its epsilons, what they mean, and all that was asked for pictures and tables.

    left_out says why a part is None that could not be answered. `save` writes it; the certificate is `document`.
    """

    mechanism: Mechanism
    filing: Filing
    results: tuple[Result, ...]
    risk: Risk | None
    curve: Curve | None
    tradeoffs: Tradeoffs | None
    epochs: Epochs | None
    assumed: tuple[str, ...]
    not_covered: tuple[str, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "left_out", FrozenMapping(self.left_out))

    def __str__(self) -> str:
        from .words import promise

        return "\n".join([self.filing.title, *(promise(each, self.mechanism) for each in self.results)])

    def __repr__(self) -> str:
        return f"<Report: {', '.join(f'epsilon in {each.bound}' for each in self.results)}>"

    def document(self) -> str:
        """The results as JSON with their certificates, as every command writes them; the page has it inside."""
        return result.write(self.results, len(self.results) > 1, self.filing.date)

    def _page(self) -> Page:
        """What its files show."""
        from .page import page

        return page(self)
