"""What the pages about mechanisms and transformations have in common: lines that fit, and the texts of one name."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from tightrope.cli.entries import Entry

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
COLUMNS = 119
BLOCK_COLUMNS = 100  # what a page of the site shows without breaking lines
GLUE = "\0"  # a space that stays


def opened(entry: Entry) -> Iterator[str]:
    """The heading, how it is written, and what it means."""
    yield f"## {entry.name}\n"
    yield fitted(f"`{entry.usage}`") + "\n"
    for paragraph in entry.meaning.split("\n\n"):
        yield fitted(" ".join(paragraph.split())) + "\n"


def told(entry: Entry) -> Iterator[str]:
    """The pair, and what is proven of it."""
    yield "Its pair, or its profile:\n"
    yield indented(fitted(entry.texts["pair"], width=BLOCK_COLUMNS)) + "\n"
    for title in ("theorem", "neighbours", "tightness"):
        yield fitted(f"- *{title}*: {entry.texts[title]}", "  ")


def indented(text: str) -> str:
    """As a block that is shown as it stands."""
    return textwrap.indent(text, "    ")


def fitted(line: str, indent: str = "", width: int = COLUMNS) -> str:
    """In lines that fit, none of which begins with a mark that Markdown reads."""
    glued = re.sub(r" (?=([-+*>#=]+|\d+[.)])( |$))", GLUE, line)
    filled = textwrap.fill(glued, width, break_long_words=False, break_on_hyphens=False, subsequent_indent=indent)
    return filled.replace(GLUE, " ")
