"""Every command and what its --help says, asked of click."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from release.api_commands import EXITS
from tightrope.cli.app import app

from .words import shown

WIDTH = 92
KEPT = re.compile(r"^ *\x08$", re.MULTILINE)  # before lines that click does not fill: an empty one in a terminal


def page() -> str:
    lines = [
        "# The command line",
        "",
        "What `--help` says of each command. EXPR is an expression such as",
        "`Gaussian(sigma=1).poisson(rate=0.01) * 1000`: [how they are written](../values.md#expressions). Exit codes:",
        "",
        "| command | code | meaning |",
        "|---|---|---|",
        *(f"| {f'`{command}`' if command else 'all'} | {code} | {says} |" for command, code, says in EXITS),
        "",
    ]
    return "\n".join(lines) + "\n" + "\n".join(sections(app, "tightrope", None))


def sections(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH)
    path = context.command_path
    yield f"{'##' if path.count(' ') < 2 else '###'} {path}\n"
    yield shown(KEPT.sub("", command.get_help(context)), "text")
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            assert found is not None
            yield from sections(found, each, context)
