"""The command that opens the explorer."""

from __future__ import annotations

import threading
import webbrowser
from contextlib import closing, suppress
from typing import Any

import click

from .. import InvalidParameter, parse
from ..extend.expressions import has_unknown, parse_template
from ..extend.wording import install_command
from .ledger_options import TOKEN_VARIABLE, Access

MISSING = f"the explorer needs starlette and uvicorn: {install_command('explore')}"


@click.command("explore", short_help="A page on this machine, on which guarantees move while you drag.")
@click.argument("expressions", metavar="[EXPR ...]", nargs=-1)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of 127.0.0.1; default: any that is free.")
@click.option("--token", metavar="TEXT", help="That the address must have; default: a new one each time.")
@click.option("--files", metavar="FOLDER", help="Expressions may name files of this folder; default: none.")
@click.option(
    "--ledger", metavar="URL", help="Shows this ledger too: a file, sqlite:///FILE, postgresql://... or https://..."
)
@click.option(
    "--token-file", metavar="FILE", help=f"The token for the ledger's server; default: that in {TOKEN_VARIABLE}."
)
@click.option("--processes", type=click.IntRange(1, 64), help="That answer at a time; default: one per core.")
@click.option("--no-browser", is_flag=True, help="Print the address, and open nothing.")
def explore(
    expressions: tuple[str, ...],
    files: str | None,
    ledger: str | None,
    token_file: str | None,
    no_browser: bool,
    **settings: Any,
) -> int:
    """A page in the browser: drag a number and see epsilon, delta and what an attacker can do; both ends, always.

    Up to eight runs as expressions, or one link that somebody shared. The page is for this machine alone (127.0.0.1),
    and asks nothing of any other, unless --ledger names one whose ledger is to be shown; that is read, and never
    written to. Ctrl+C ends it.

    \b
    tightrope explore
    tightrope explore "Gaussian(sigma=1).poisson(rate=0.01) * 1000" "Laplace(scale=10) * 10"
    tightrope explore --port 8765 --token my-own-token --no-browser
    tightrope explore --ledger budget.db
    """
    try:
        from ..extend.explorer import RUNS_MAX, serve, shared_state
    except ImportError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise InvalidParameter(MISSING) from None

    if len(expressions) > RUNS_MAX:
        raise InvalidParameter(f"the page shows up to {RUNS_MAX} runs, not {len(expressions)}")
    if not (len(expressions) == 1 and shared_state(expressions[0]) is not None):
        for expression in expressions:
            (parse_template if has_unknown(expression) else parse)(expression, files)

    shown = _shown(ledger, token_file)

    def ready(address: str) -> None:
        with suppress(OSError):  # whoever closed the output still has the page
            click.echo(f"{address}\nThe explorer is open on this machine alone; Ctrl+C ends it.")
        if not no_browser:  # in a thread: some browsers only come back when they are closed
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    serve(expressions, files=files, ledger=shown, ready=ready, **settings)
    return 0


def _shown(ledger: str | None, token_file: str | None) -> tuple[str, str | None] | None:
    """The ledger to show: one that was never made is told now, for one that is away the page waits."""
    if ledger is None:
        if token_file is not None:
            raise InvalidParameter("--token-file is for the server of a ledger: give --ledger too, or --token")
        return None
    from ..extend.explorer import LedgerReader
    from ..ledger import Unavailable

    access = Access(ledger, None, token_file, False)
    reader = LedgerReader(access.url, access.token)
    with suppress(Unavailable), closing(reader):
        reader.find()
    return access.url, access.token
