"""The commands of a ledger, in the order in which they are met.

Nothing here loads a database's library: a command does, when it opens the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import click

from . import ledger_budgets as budgets
from . import ledger_jobs as jobs
from . import ledger_maintenance as keeping
from . import ledger_serving as serving
from .output import say

# What its help shows together.
PARTS: Mapping[str, tuple[click.Command, ...]] = MappingProxyType(
    {
        "Budgets": (
            *(budgets.begin, budgets.create, budgets.renew, budgets.quote),
            *(budgets.status, budgets.listing, budgets.report),
        ),
        "Jobs": (jobs.reserve, jobs.claim, jobs.commit, jobs.cancel, jobs.listing),
        "Keeping": (
            *(keeping.audit, keeping.verify, keeping.anchor, keeping.backup, keeping.export),
            *(keeping.bring, keeping.migrate, keeping.freeze, keeping.recover, keeping.clock),
        ),
        "Serving": (serving.token, serving.serve),
    }
)


class InParts(click.Group):
    """A group whose help lists its commands by what they are for."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(len(name) for name in self.commands)
        for title, commands in PARTS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(str(command.name).ljust(width), command.get_short_help_str(90)) for command in commands]
                )


@click.group("ledger", cls=InParts, invoke_without_command=True, short_help="A budget that many people spend, safely.")
@click.pass_context
def ledger(context: click.Context) -> None:
    """A privacy budget that many people spend, over months, and nobody can overspend.

    \b
    export TIGHTROPE_LEDGER=budget.db TIGHTROPE_LEDGER_KEY=budget.key
    tightrope ledger init
    tightrope ledger create census --epsilon 1 --delta 1e-6 --relation add_remove --unit "one person"
    tightrope ledger status census --job "Gaussian(sigma=10)"
    \b
    A job in a shell: held before it runs, and spent when it ran.
    id=$(tightrope ledger reserve census "Gaussian(sigma=10)" --key table-7 --start) || exit
    ./table-7 && tightrope ledger commit "$id"

    TIGHTROPE_LEDGER, TIGHTROPE_LEDGER_KEY (a file) and TIGHTROPE_LEDGER_TOKEN stand for --ledger, --key-file and the
    token. Exit codes: 0 done, 2 bad input, 4 exhausted, 5 conflict, 6 verification failed.
    """
    if context.invoked_subcommand is None:
        say(context.get_help())


for each in (command for commands in PARTS.values() for command in commands):
    ledger.add_command(each)
