"""A page as PDF, by Typst: an extra, which is one wheel with its fonts and needs nothing of the system.

Guarantee: every text is data for the one template, page.typ, and is never read as markup; nothing is fetched; the same
page is the same file. The file is PDF/A-3a (fonts embedded, for archives) and PDF/UA-1 (tagged, for all readers), and
has the document attached.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from .. import InvalidParameter, __version__
from ..extend.wording import install_command
from .markup import Content, Markup, element
from .page import Page

MISSING = f"PDF needs typst: {install_command('pdf')}, or write --html and print it"
ATTACHED = "result.json"
STANDARDS = ("a-3a", "ua-1")
LIST_LEVELS_MAX = 6  # that lie within one another: Typst has an end of nesting, and paper one of width


def check_pdf() -> None:
    """Says what is missing before the work is done."""
    _library()


def pdf(page: Page, paper: str) -> bytes:
    """The pages, with headings as bookmarks."""
    library, filing = _library(), page.filing
    day = datetime.fromisoformat(filing.date).replace(tzinfo=UTC)
    inputs = {
        "title": page.title,
        "author": filing.author or filing.organisation,
        "date": {part: getattr(day, part) for part in ("year", "month", "day", "hour", "minute", "second")},
        "made": f"Tightrope {__version__}",
        "paper": paper,
        "attached": ATTACHED,
        "document": page.document,
        "content": [_data(markup) for markup in (page.header, *page.sections)],
    }
    template = files(__package__).joinpath("page.typ").read_bytes()
    for more in (False, True):  # the fonts of the system are asked where its own do not do, as they differ by machine
        try:
            made: bytes = library.Compiler(
                template, ignore_system_fonts=not more, sys_inputs={"page": json.dumps(inputs)}
            ).compile(format="pdf", pdf_standards=list(STANDARDS), timestamp=day)
        except library.TypstError as error:
            missing = error
        else:
            return made
    raise InvalidParameter(
        f"this report cannot be written as PDF ({missing.message}): install a font that has its letters, or write "
        "--html and print it"
    ) from None


def _data(content: Content, lists: int = 0) -> Any:
    """As what JSON holds: a text is itself, an element has its name, its attributes, and what is inside."""
    if isinstance(content, str):
        return content
    inside = content.inside
    if content.name == "ul":
        lists += 1
        if lists >= LIST_LEVELS_MAX:
            inside = tuple(_level(inside))
    return {"name": content.name, **dict(content.attributes), "inside": [_data(each, lists) for each in inside]}


def _level(items: tuple[Content, ...]) -> list[Content]:
    """The items of a list, with those of all lists within it behind the one that they lie in."""
    found: list[Content] = []
    for item in items:
        assert isinstance(item, Markup)
        inner = [each for each in item.inside if isinstance(each, Markup) and each.name == "ul"]
        nested = [markup for markup in inner if ("class", "parts") in markup.attributes]
        found.append(element(item.name, *(each for each in item.inside if each not in nested)))
        for each in nested:
            found += _level(each.inside)
    return found


def _library() -> Any:
    try:
        import typst
    except ImportError:
        raise InvalidParameter(MISSING) from None
    return typst
