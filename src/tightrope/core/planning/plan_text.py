"""Loaders as text: one line each, with what it assumes and its theorem beneath."""

from __future__ import annotations

import re
from collections.abc import Callable
from textwrap import wrap

from ..mechanisms.training import LOADERS
from ..values.bound import why_wide
from .samplings import CAUTIONS, SamplingRow, Samplings

TEXT_WIDTH = 100
APART = (
    "Compare rows of the same neighbours only: to replace a record moves a sum of clipped gradients by up to 2, to "
    "add or remove one by up to 1, so that rows of both kinds do not rank the loaders."
)
LINK = re.compile(r"\[([^]]*)\]\(([^)]*)\)")


def samplings(
    found: Samplings,
    dimmed: Callable[[str], str] = str,
    width: int = TEXT_WIDTH,
    show: Callable[[str, object], str] = "{}={!r}".format,
) -> str:
    """The table, and what each row rests on; dimmed styles the lines beneath."""
    rows = found.rows
    heading, *lines = found.table.lines(indent="  ")
    shown = [heading]
    for row, line in zip(rows, lines, strict=True):
        shown.append(line)
        beneath = beneath_row(row, show)
        shown += [
            dimmed(part)
            for text in beneath
            for part in wrap(text, width, initial_indent="    ", subsequent_indent="      ")
        ]
    if len({row.relation for row in rows if row.run is not None}) > 1:
        shown += wrap(APART, width, initial_indent="  ", subsequent_indent="  ")
    return "\n".join(shown)


def beneath_row(row: SamplingRow, show: Callable[[str, object], str]) -> list[str]:
    """What is assumed; then why it is refused, or the theorem, what the lower end is and why it is wide."""
    met_in = f" ({LOADERS[row.sampling].met_in})" if row.sampling in LOADERS else ""
    told = [row.assumed + met_in, *([CAUTIONS[row.sampling]] if row.sampling in CAUTIONS else [])]
    if row.refused:
        return [*told, f"refused: {row.refused}"]
    told.append(f"theorem: {linked(row.theorem)}")
    certificate = None if row.bound is None else row.bound.certificate
    wide = None if row.bound is None else why_wide(row.bound, show)
    if certificate is not None and not certificate.tight and "real neighbours" not in (wide or ""):
        told.append(f"the lower end is {certificate.lower_end}")
    if wide is None:
        return told
    alone = f", asked alone: sampling={row.sampling!r}" if row.late else ""
    return [*told, f"wide: {wide}{alone}"]


def linked(text: str) -> str:
    """Links of a page as a terminal shows them, files from the root of the tree."""
    return LINK.sub(r"\1 (docs/\2)", text)
