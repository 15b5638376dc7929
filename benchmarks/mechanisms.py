"""docs/mechanisms.md and its figures, from the catalogue; tests/mechanisms/test_page.py tells an old page.

Usage: python -m benchmarks.mechanisms [NAME...], for all figures or for those of some mechanisms.
Examples are asked here, so that the page shows what a user reads.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any

import tightrope as tr
from benchmarks.pages import FIGURES, ROOT, indented, opened, told
from tightrope.cli.entries import MECHANISMS_PAGE, Entry, mechanisms
from tightrope.cli.mechanisms import asked, command
from tightrope.cli.output import as_text
from tightrope.cli.portrait import draw, lines
from tightrope.core.mechanisms.base import Mechanism
from tightrope.plotting.style import verbatim

PAGE = ROOT / MECHANISMS_PAGE
PALETTE = 48  # colours of a figure: lines, and their edges
SECONDS_DRAWN = 120.0  # for each curve

OPENING = """# The mechanisms

Made by `make mechanisms` from the catalogue; `tightrope mechanisms NAME` shows the same, and `--plot` the figure.
Each adds, multiplies and answers like any other, and is sampled, shuffled, grouped and run in parallel:
[what makes a mechanism of mechanisms](transformations.md). What is not here comes by its densities, its profile, its
trade-off, its Renyi divergences or its moments: [bring your own](own.md).

P is the law of the output with the record, Q that without it; H(a) = sup over events A of P(A) - a Q(A), and delta at
epsilon is H(e^epsilon). Phi is the normal distribution function, (x)_+ is x where it is above 0, else 0.
Upper ends hold for every data and every attacker. Lower ends speak of what is said under tightness; the certificate of
an answer repeats it.

A figure shows delta over epsilon at the left. At the right is what the best attacker misses at each rate of false
accusations; the dotted line is an attacker who guesses. A band lies between both ends; where none is seen, they differ
by less than the line is wide.
"""


def text() -> str:
    """The page, without drawing anything."""
    return "\n".join([OPENING, *_index(), *(line for entry in mechanisms().values() for line in _section(entry))])


def _index() -> Iterator[str]:
    for title, rows in groupby(mechanisms().values(), key=lambda entry: entry.section):
        yield f"| {title} | |"
        yield "|---|---|"
        yield from (f"| [{entry.name}](#{entry.name.lower()}) | {entry.summary} |" for entry in rows)
        yield ""


def _section(entry: Entry) -> Iterator[str]:
    yield from opened(entry)
    if entry.make.example:
        answer = asked(tr.parse(entry.make.example))
        yield indented(f"$ {command(entry, answer)}\n{as_text(answer).splitlines()[0]}") + "\n"
    if entry.make.example and entry.snippet:
        yield "Or in Python:\n"
    if entry.snippet:
        bound = own(entry).epsilon(delta=1e-6)
        yield indented(f"{entry.snippet}\nown.epsilon(delta=1e-6)  # {bound}") + "\n"
    yield from told(entry)
    yield f"\n![{entry.name}: profile and trade-off](figures/{figure(entry.name).name})\n"


@cache
def own(entry: Entry) -> Mechanism:
    """What the snippet makes."""
    names: dict[str, Any] = {}
    exec(entry.snippet, names)
    made: Mechanism = names["own"]
    return made


def figure(name: str) -> Path:
    """Where the picture of a mechanism is."""
    return FIGURES / f"mechanism-{name.lower()}.png"


def shown(entry: Entry) -> list[Mechanism]:
    """What is drawn: the example, or what the snippet makes."""
    return lines(tr.parse(entry.make.example) if entry.make.example else own(entry))


def caption(entry: Entry) -> str:
    """What a figure says it shows, within its file: an old one is known by it."""
    return "; ".join([entry.usage, *map(str, shown(entry))])


def paint(entry: Entry) -> None:
    """Writes one figure, as `--plot` draws it, in few colours."""
    from PIL import Image, PngImagePlugin

    file, said = BytesIO(), PngImagePlugin.PngInfo()
    said.add_text("Title", caption(entry))
    draw(shown(entry), title=verbatim(entry.usage), seconds=SECONDS_DRAWN).savefig(file, format="png")
    image = Image.open(file).convert("RGB").convert("P", palette=Image.Palette.ADAPTIVE, colors=PALETTE)
    image.save(figure(entry.name), optimize=True, pnginfo=said)


def main(names: Sequence[str]) -> None:
    """Writes the page, and draws the figures that are named, or all."""
    for name in names or mechanisms():
        paint(mechanisms()[name])
        print(f"drawn: {name}", flush=True)
    PAGE.write_text(text(), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
