"""What `tightrope train` says, as text: lines that fit the terminal."""

from __future__ import annotations

import re
from textwrap import wrap

import click

from .. import Relation, training
from ..extend.training import CAUTIONS, LOADERS
from ..extend.wording import shortened
from .output import page_width

COLUMNS_MAX = 100
STANDS_MAX = 160  # characters of an expression
INDENT = "  "
NEIGHBOUR_WORDS = {Relation.ADD_REMOVE: "added or removed", Relation.REPLACE: "replaced"}


def text_width() -> int:
    """Of the terminal, up to 100 columns; 100 where there is none."""
    return page_width(COLUMNS_MAX)


def fitted(text: str, depth: int = 1) -> list[str]:
    """One statement as indented lines."""
    first, others = depth * INDENT, (depth + 1) * INDENT
    return wrap(text, text_width(), initial_indent=first, subsequent_indent=others, break_on_hyphens=False)


def dimmed(text: str) -> str:
    return click.style(text, dim=True)


def assumed(run: training, alone: bool = True) -> list[str]:
    """What the number rests on: the loader, the neighbours, the clipping; and how to state another loader.

    alone: this run is all, and its steps are told too.
    """
    others = ", ".join(
        f"{text} (DataLoader(shuffle=True))" if text == "shuffled" else text for text in LOADERS if text != run.sampling
    )
    who = "a record is" if run.group_size == 1 else f"up to {run.group_size} records of one user are"
    moved = "" if run.relation is None else f"; neighbours: {who} {NEIGHBOUR_WORDS[run.relation]}"
    loader = LOADERS[run.sampling]
    stands = f"{run.total_steps:,} steps: {shortened(repr(run.expanded), STANDS_MAX)}"
    return [
        *(fitted(stands) if alone else []),
        *fitted(f"assumed: {loader.assumed} (--sampling {run.sampling}){moved}; gradients clipped to 1"),
        *(fitted(f"noise: {run.noise}; Z has deviation sigma, in units of the clipping norm") if run.noise else []),
        *(fitted(f"note: {CAUTIONS[run.sampling]}") if run.sampling in CAUTIONS else []),
        *fitted(f"such batches: {loader.met_in}; other loaders: --sampling {others}, or all for one row each"),
    ]


def as_options(message: str) -> str:
    """What a message writes as sampling='fixed', as --sampling fixed."""
    return re.sub(r"\b(sampling|matrix)='([\w:]+)'", r"--\1 \2", message)
