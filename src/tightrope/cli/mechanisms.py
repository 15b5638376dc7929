"""The command that lists every mechanism and transformation, or shows one of them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby

import click

from .. import InvalidParameter, Mechanism, parse
from ..extend import documents
from ..extend.plots import check_path, verbatim
from ..extend.result import Result
from ..extend.wording import short
from .entries import ASKED_DELTA, ASKED_EPSILON, Entry, find, linked, mechanisms, transformations
from .output import as_text, say, spinner

USAGE_COLUMNS, SUMMARY_COLUMNS, TEXT_COLUMNS = 46, 70, 100
TITLE_COLUMNS = 12
SYMBOLS = "P with the record, Q without; H(a) the largest P(A) - a Q(A); delta is H(e^epsilon)"
LAST_LINES = (
    "tightrope mechanisms NAME shows one: its pair, theorem, neighbours, tightness and an example; --plot draws it.",
    'Each takes name="GM1" as well, all together .named("run"): answers show names, and are the same.',
)


@click.command("mechanisms", short_help="What an expression may name, or all that is known of one.")
@click.argument("name", required=False)
@click.option("--plot", "picture", metavar="FILE", help="Draw profile and trade-off of NAME as .png, .pdf or .svg.")
@click.option("--json", "as_document", is_flag=True, help="Answer as JSON.")
def listing(name: str | None, picture: str | None, as_document: bool) -> None:
    """The mechanisms and transformations that an expression may name, or all that is known of one.

    \b
    tightrope mechanisms
    tightrope mechanisms Laplace
    tightrope mechanisms .poisson --plot poisson.png
    """
    if picture is not None:
        check_path(picture)
        if name is None:
            raise InvalidParameter("--plot draws one mechanism: tightrope mechanisms NAME --plot FILE")
    entries = [*mechanisms().values(), *transformations().values()] if name is None else [find(name)]
    if name is None:
        say(documents.write({"entries": [each.document() for each in entries]}) if as_document else table(entries))
        return
    entry = entries[0]
    example = parse(entry.make.example) if entry.make.example else None
    if picture is not None and example is None:
        raise InvalidParameter(f"{entry.name} is given by functions, which no text can hold: {entry.page} shows one")
    answer = None if example is None else asked(example)
    if picture is not None and example is not None:
        from .portrait import draw, lines

        with spinner(f"a picture of {entry.name}"):
            draw(lines(example), picture, title=verbatim(entry.usage))
    if as_document:
        said = {} if answer is None else {"example": entry.make.example, "answer": answer.document()}
        say(documents.write({**entry.document(), **({"snippet": entry.snippet} if entry.snippet else {}), **said}))
    else:
        say("\n".join([*text(entry, answer), *([] if picture is None else [_row("plot", picture)])]))


def table(entries: Iterable[Entry]) -> str:
    """How each is written and what it is, section by section; what no text can hold as Python has it."""
    texts = [""]
    for title, rows in groupby(entries, key=lambda entry: entry.section):
        texts += [click.style(title, bold=True), *(line for entry in rows for line in _listed(entry)), ""]
    return "\n".join([*texts, *LAST_LINES])


def _listed(entry: Entry) -> Iterator[str]:
    called = entry.usage if entry.make.example else f"tr.{entry.usage}"
    left = textwrap.wrap(called, USAGE_COLUMNS, subsequent_indent="  ", break_long_words=False)
    right = textwrap.wrap(entry.summary, SUMMARY_COLUMNS)
    for index in range(max(len(left), len(right))):
        one, two = (part[index] if index < len(part) else "" for part in (left, right))
        yield f"  {one:<{USAGE_COLUMNS}}  {two}".rstrip()


def text(entry: Entry, answer: Result | None) -> Iterator[str]:
    """All of one entry."""
    yield click.style(entry.usage, bold=True)
    for paragraph in entry.meaning.split("\n\n"):
        yield ""
        yield from textwrap.wrap(" ".join(paragraph.split()), TEXT_COLUMNS)
    yield ""
    for title, said in entry.texts.items():
        yield _row(title, linked(said))
        if title == "pair":
            yield click.style(_row("", SYMBOLS), dim=True)
    if answer is not None:
        yield _row("example", f"$ {command(entry, answer)}", wrap=False)
        yield from (f"{'':{TITLE_COLUMNS}}{line}" for line in as_text(answer).splitlines())
    if entry.snippet:
        yield _row("in Python", entry.snippet.splitlines()[0], wrap=False)
        yield from (f"{'':{TITLE_COLUMNS}}{line}".rstrip() for line in entry.snippet.splitlines()[1:])
    yield _row("more", f"{entry.page}#{entry.name.lower()}")


def _row(title: str, said: str, wrap: bool = True) -> str:
    room = TEXT_COLUMNS - TITLE_COLUMNS
    words = textwrap.wrap(said, room, break_long_words=False, break_on_hyphens=False) if wrap else [said]
    return textwrap.indent("\n".join(words), " " * TITLE_COLUMNS).replace(" " * len(title), title, 1)


def asked(example: Mechanism) -> Result:
    """Epsilon at a usual delta; where that is infinite, delta at a usual epsilon."""
    from .app import ask_all

    for quantity, arguments in ("epsilon", {"delta": ASKED_DELTA}), ("delta", {"epsilon": ASKED_EPSILON}):
        answer = ask_all(example, [(quantity, arguments)], {"direction": None})[0][0]
        if answer.bound.upper < math.inf:
            break
    return answer


def command(entry: Entry, answer: Result) -> str:
    """The command that asks the example."""
    ((name, value),) = answer.arguments.items()
    return f'tightrope {answer.quantity} "{entry.make.example}" --{name} {short(value).replace("e-0", "e-")}'
