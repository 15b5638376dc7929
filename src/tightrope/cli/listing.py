"""What an expression may name, as a table."""

from __future__ import annotations

from ..registry import MECHANISMS, TRANSFORMS, usage


def listing() -> str:
    """Every mechanism and transformation: how it is written, what it is, an example."""
    from io import StringIO

    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for column in ("written as", "what it is", "example"):
        table.add_column(column, overflow="fold")
    for prefix, entries in (("", MECHANISMS), (".", TRANSFORMS)):
        for name, make in entries.items():
            claim = (make.__doc__ or "").strip().splitlines()[0]
            table.add_row(usage(prefix + name, make), claim, make.example)
    console = Console(file=StringIO(), width=140, highlight=False, markup=False)
    with console.capture() as capture:
        console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())
