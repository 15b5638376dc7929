"""What a page asks to be run, and what it says will come out; the tests and the site read pages by this alone.

A block is fenced by three backticks at the left margin, and its first word is its language:

    python                  run; a line `print(...)  # text` prints this text, and nothing else is printed
    python needs A B        run where the libraries A and B are installed
    console                 each line `$ tightrope ...` is a command, the lines that follow are how its output begins

Blocks of a page run in its order, in one namespace and in one folder that is empty at first. Every other block is shown
as it is: one that is headed by a file (`python src/...`) is tried by tests/test_contributing.py.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PRINTED = re.compile(r"^(print\(.*\))  # (.*)$", re.MULTILINE)


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
        return self.language in ("python", "console") and (not self.heading or bool(self.needs))

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


def commands(body: str) -> Iterator[Command]:
    """Of a console block, in order."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        line, *begins = part.splitlines()
        yield Command(line, tuple(begins))
