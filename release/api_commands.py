"""The command line of the public surface: commands, arguments, options and exit codes, asked of click."""

from __future__ import annotations

from collections.abc import Iterator

import click

from tightrope.cli import ledger_options
from tightrope.cli.app import BAD_INPUT, NOT_REACHED, app
from tightrope.cli.output import INTERRUPTED
from tightrope.cli.selftest import FAILED
from tightrope.cli.verify import FALSE, OPEN
from tightrope.ledger import errors

EVERYWHERE = ("--help", "-h")
# Of which command, the code, and what it says; handbook/reference shows the same.
EXITS: tuple[tuple[str, int, str], ...] = (
    ("", 0, "answered, done, proved"),
    ("", BAD_INPUT, "bad input; of a ledger also not found, or not allowed"),
    ("", NOT_REACHED, "accuracy not reached, the bound is printed"),
    ("", INTERRUPTED, "interrupted"),
    ("tightrope verify", FALSE, "an end is refuted, or the digest does not agree"),
    ("tightrope verify", OPEN, "an end is not checkable"),
    ("tightrope selftest", FAILED, "a judge differs"),
    ("tightrope ledger", errors.BudgetExhausted.exit, "the budget is exhausted"),
    ("tightrope ledger", errors.Conflict.exit, "a conflict, or the database is away"),
    ("tightrope ledger", errors.VerificationFailed.exit, "verification failed"),
)


def told() -> Iterator[str]:
    """A paragraph for each command, then the exit codes and what is taken from the environment."""
    yield "\n[command line]"
    yield from _command(app, "tightrope")
    yield "\n[exit codes]"
    yield from (f"{command}, {code}: {says}" if command else f"{code}: {says}" for command, code, says in EXITS)
    yield "\n[environment variables]"
    yield from (ledger_options.URL_VARIABLE, ledger_options.KEY_VARIABLE, ledger_options.TOKEN_VARIABLE, "NO_COLOR")


def _command(command: click.Command, path: str) -> Iterator[str]:
    yield path
    for parameter in command.params:
        if not set(parameter.opts) & set(EVERYWHERE):
            yield f"    {_parameter(parameter)}"
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            yield from _command(command.commands[name], f"{path} {name}")


def _parameter(given: click.Parameter) -> str:
    """Its names, what it takes, and whether it must be there or may be repeated."""
    kind = given.type
    if isinstance(given, click.Option) and given.is_flag:
        takes = ""
    elif isinstance(kind, click.Choice):
        takes = "|".join(map(str, kind.choices))
    elif isinstance(kind, click.Tuple):
        takes = " ".join(each.name for each in kind.types)
    else:
        takes = kind.name
    if isinstance(given, click.Argument):
        names, takes = given.metavar or str(given.name).upper(), ""
    else:
        names = "/".join([*given.opts, *given.secondary_opts])
    more = ["needed"] if given.required else []
    more += ["may be repeated"] if getattr(given, "multiple", False) or given.nargs == -1 else []
    more += [f"else ${given.envvar}"] if given.envvar else []
    plain = type(given.default) in (str, int, float) and takes  # others stand for nothing, or are told by the help
    more += [f"else {given.default}"] if plain else []
    return " ".join(word for word in (names, takes, f"({', '.join(more)})" if more else "") if word)
