"""The page: what each source claims as a table, its sections, and its figures with their captions."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context

from studies.claim import Claim, Finding
from tightrope import Bound

COLUMNS = 119

OPENING = """# The papers' figures and claims, from certified bounds

Everything on this page is made by `make reproduce`; `python -m studies.reproduce --only NAME` makes a part anew.
Thick lines are intervals that contain the true value, rounding included; how far their ends are apart stands beneath
each figure. Thin lines with marks are upper bounds of other theories. Parameters that a source does not print are
called ours. Which definition or lemma is where in the code: [from the paper to the code](from_paper_to_code.md).

A claim holds if it follows from the ends of the certified intervals; one number alone is an upper bound, rounded up.
Where a source names no epsilon, delta or count, the one in brackets is ours.
"""


@dataclass(frozen=True, slots=True)
class Source:
    """What was published in one place, and what the page says of it.

    figures: modules with a function `figure`; sections: Markdown that starts with its heading;
    records: what the sections read, made anew by a full run.
    """

    title: str
    opening: str
    claims: Sequence[Claim]
    figures: Sequence[str]
    sections: Sequence[Callable[[], str]] = ()
    records: Mapping[str, Callable[[], None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drawn:
    """What the page needs of a figure that was drawn."""

    name: str
    title: str
    caption: str


def page(sources: Sequence[Source], drawn: Mapping[str, Drawn], findings: Mapping[str, Finding]) -> str:
    """The whole page; figures by module, findings by the key of their claim."""
    whole = "\n".join((OPENING, *(part for source in sources for part in _parts(source, drawn, findings))))
    return "\n".join(line if line.startswith("|") else fitted(line) for line in whole.split("\n"))


def _parts(source: Source, drawn: Mapping[str, Drawn], findings: Mapping[str, Finding]) -> list[str]:
    return [
        f"## {source.title}\n\n{source.opening}",
        f"### Claims\n\n{table(source.claims, findings)}",
        *(section() for section in source.sections),
        "### Figures\n",
        *(_figure(drawn[module]) for module in source.figures),
    ]


def fitted(text: str) -> str:
    """Prose in lines that fit; a line that does stays as it is, and what follows a bullet is indented."""
    if len(text) <= COLUMNS:
        return text
    indent = "  " if text.startswith("- ") else ""
    return textwrap.fill(text, COLUMNS, break_long_words=False, break_on_hyphens=False, subsequent_indent=indent)


def table(claims: Sequence[Claim], findings: Mapping[str, Finding]) -> str:
    """The claims, one row each."""
    head = "| section | claim | certified | holds | why |\n|---|---|---|---|---|\n"
    return head + "".join(_row(claim, findings[claim.key]) for claim in claims)


def _row(claim: Claim, finding: Finding) -> str:
    told = "; ".join(f"{name}: {said(bound, claim.digits)}" for name, bound in finding.numbers.items())
    numbers = told.replace("|", "\\|")  # no end of a cell
    return f"| {claim.where} | {claim.says} | {numbers} | {'yes' if finding.holds else '**no**'} | {claim.why} |\n"


def said(bound: Bound, digits: int = 4) -> str:
    """An interval, rounded outward; or an upper bound alone, rounded up."""
    return at_most(bound.upper, digits) if bound.lower == bound.upper else str(bound)


def at_most(value: float, digits: int = 4) -> str:
    """So many digits (17 at most, which tell doubles apart), rounded up."""
    rounded = Context(prec=digits, rounding=ROUND_CEILING).create_decimal_from_float(value)
    return f"{float(rounded):.{max(digits, 6)}g}"


def _figure(drawn: Drawn) -> str:
    return (
        f"#### {_heading(drawn.name)}: {drawn.title}\n\n![{drawn.title}](figures/{drawn.name}.png)\n\n{drawn.caption}\n"
    )


def _heading(name: str) -> str:
    kind, number = name.rsplit("-", 1)
    return f"{kind.replace('-', ' ').capitalize()} {int(number)}"


SHOWN = re.compile(
    r"^#### [^\n]*\n\n!\[([^\n]*)\]\(figures/([\w-]+)\.png\)\n\n(.*?)(?=\n\n#|\n*\Z)", re.DOTALL | re.MULTILINE
)


def shown(text: str) -> dict[str, Drawn]:
    """The figures that a page shows, by name: what a run that makes a part of it leaves as it is."""
    return {name: Drawn(name, title, " ".join(caption.split())) for title, name, caption in SHOWN.findall(text)}
