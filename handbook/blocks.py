"""What a page asks to be run, and what it says will come out; the tests and the site read pages by this alone.

A block is fenced by three backticks at the left margin, and its first word is its language:

    python                  run; a line `print(...)  # text` prints this text, and nothing else is printed
    python needs A B        run where A and B are installed, by make test-interop; what goes on from it needs them too
    console                 each line `$ tightrope ...` is a command, the lines that follow are how its output begins

Blocks of a page run in its order, in one namespace and in one folder that is empty at first. Every other block is shown
as it is: one that is headed by a file (`python src/...`) is tried by tests/test_contributing.py. Code in any other form
would be run by nobody, so `unread` tells it, and neither the tests nor the site take such a page.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

FENCE = re.compile(r"^```(?!`)(\w*)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ANY_FENCE = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?:```|~~~)", re.MULTILINE)
PRINTED = re.compile(r"^(print\(.*\))  # (.*)$", re.MULTILINE)
SHOWN = ("diff", "sh", "text", "json", "csv", "toml", "sql", "html")  # languages that are never run
A_FILE = re.compile(r"[\w/]+\.py")


class PageFault(ValueError):
    """Why there is no site, in words for whoever writes pages or docstrings: a line for each place."""


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: where it begins and ends in the text of the page, its language, what follows it, its body."""

    start: int
    end: int
    language: str
    heading: str
    body: str

    @property
    def needs(self) -> tuple[str, ...]:
        """The libraries beside the package's own."""
        word, *names = self.heading.split() or [""]
        return tuple(names) if word == "needs" else ()

    @property
    def directs(self) -> bool:
        """Whether it is a word to Sphinx, such as a list of pages."""
        return self.heading.startswith("{")

    @property
    def runs(self) -> bool:
        """Whether somebody runs it: make test and the site, or make test-interop if it needs other libraries."""
        return self.language in ("python", "console") and (not self.heading or bool(self.needs))

    @property
    def unread(self) -> str:
        """Why nobody would run it, though it looks as if; nothing where all is well."""
        if self.directs:
            return "" if self.heading == "{toctree}" else f"{self.heading} is not for pages"
        if re.search(r"^```", self.body, re.MULTILINE):
            return "another block begins before this one ends"
        if self.language == "console" and not self.body.startswith("$ "):
            return "a console begins with a command: $ tightrope ..."
        if self.language == "console" and re.search(r"^\$ export .*\n(?!\$ ).", self.body, re.MULTILINE):
            return "export prints nothing"
        if self.runs or self.language in SHOWN:
            return ""
        if self.language == "python" and A_FILE.fullmatch(self.heading):
            return ""
        return f"{f'{self.language} {self.heading}'.strip() or 'a fence without a language'} is run by nobody"

    @property
    def shown(self) -> str:
        """The code without what it says will be printed."""
        return PRINTED.sub(r"\1", self.body)

    @property
    def printed(self) -> list[str]:
        """What the code says that it prints, line by line."""
        return [text for _, text in PRINTED.findall(self.body)]


@dataclass(frozen=True, slots=True)
class Command:
    """A line of a console, and the first lines of its output."""

    line: str
    begins: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        return shlex.split(self.line)

    @property
    def settings(self) -> dict[str, str] | None:
        """What `export NAME=VALUE ...` sets; None for a program."""
        word, *rest = self.words
        return {name: value for name, _, value in (each.partition("=") for each in rest)} if word == "export" else None


def blocks(text: str) -> Iterator[Block]:
    """All fenced blocks of a page."""
    for found in FENCE.finditer(text):
        language, heading, body = found.groups()
        yield Block(found.start(), found.end(), language, heading.strip(), body)


def unread(text: str) -> Iterator[tuple[int, str]]:
    """Fences that look like code and are run by nobody: the line of each, and why."""
    last = 0
    for block in [*blocks(text), Block(len(text), len(text), "text", "", "")]:
        for found in ANY_FENCE.finditer(text, last, block.start):
            yield line_of(text, found.start()), "a block stands between two fences of ``` at the left margin"
        if block.unread:
            yield line_of(text, block.start), block.unread
        last = block.end


def line_of(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def commands(body: str) -> Iterator[Command]:
    """Of a console block, in order."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        line, *begins = part.splitlines()
        yield Command(line, tuple(begins))
