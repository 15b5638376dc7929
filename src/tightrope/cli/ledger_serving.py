"""Commands for a ledger that others reach: tokens, and the server itself."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click

from .. import InvalidParameter
from ..extend.wording import install_command
from .ledger_options import Access, ledger_options
from .output import complain

ROLES_SAID = ("viewer", "analyst", "job", "auditor", "admin")
MINUTELY = click.FloatRange(min=1)
ALONE = ("127.0.0.1", "::1", "localhost")  # this machine
DAY_SECONDS = 86_400.0
SERVER_MISSING = f"the server needs starlette and uvicorn: {install_command('ledger')}"


@click.group("token", invoke_without_command=True, short_help="Tokens for people and jobs that ask a server.")
@click.pass_context
def token(context: click.Context) -> None:
    """Tokens for people and jobs that ask a server: create, list, rotate, revoke."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@token.command("create", short_help="A new token, shown once.")
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES_SAID), required=True, help="What it may do.")
@click.option("--root", metavar="NAME", help="The root budget that it is for; without, an admin's is for all.")
@click.option("--reservation", metavar="ID", help="For a job: the one that it may claim, commit and cancel.")
@click.option("--days", type=click.FloatRange(min=0, min_open=True), default=90.0, help="How long; default: 90.")
@ledger_options
def create(access: Access, name: str, role: str, root: str | None, reservation: str | None, days: float) -> int:
    """A new token. Standard output has it, once and alone; the ledger keeps its hash. Never put it on a command line.

    \b
    tightrope ledger token create root --role admin > admin.token
    tightrope ledger token create ana --role analyst --root census --days 30 > ana.token
    tightrope ledger token create nightly-7 --role job --reservation "$id" > job.token
    """
    with access.opened() as ledger:
        secret = ledger.token(name, role=role, root=root, reservation=reservation, seconds=DAY_SECONDS * days)
    access.tell({"name": name, "role": role, "root": root, "reservation": reservation, "token": secret}, secret)
    complain(f"the token of {name} is shown once: keep it in a file that only its user reads")
    return 0


@token.command("list", short_help="All tokens: whose, for what, until when; no secret is known.")
@ledger_options
def listing(access: Access) -> int:
    """All tokens, whether they are good or not.

    \b
    tightrope ledger token list
    """
    from ..extend.budgets import moment
    from ..extend.tables import aligned

    with access.opened() as ledger:
        found = ledger.tokens()
    rows = [("name", "role", "for", "until", "state")]
    for each in found:
        where = each["root"] or each["reservation"] or "everything"
        rows.append((each["name"], each["role"], where, moment(each["expires"]), each["state"]))
    access.tell({"tokens": list(found)}, "\n".join(aligned(rows) if found else ["none"]))
    return 0


@token.command("rotate", short_help="A new secret for a token, shown once; the old one ends.")
@click.argument("name")
@click.option("--days", type=click.FloatRange(min=0, min_open=True), default=90.0, help="How long; default: 90.")
@ledger_options
def rotate(access: Access, name: str, days: float) -> int:
    """A new secret for the same name and role. Standard output has it, once and alone; the old one ends at once.

    \b
    tightrope ledger token rotate ana --days 30 > ana.token
    """
    with access.opened() as ledger:
        secret = ledger.rotate(name, seconds=DAY_SECONDS * days)
    access.tell({"name": name, "token": secret}, secret)
    complain(f"the token of {name} is shown once: keep it in a file that only its user reads")
    return 0


@token.command("revoke", short_help="A token is worth nothing from now on.")
@click.argument("name")
@ledger_options
def revoke(access: Access, name: str) -> int:
    """The token of this name is worth nothing from now on.

    \b
    tightrope ledger token revoke ana
    """
    with access.opened() as ledger:
        ledger.revoke(name)
    access.tell({"name": name, "revoked": True}, f"revoked {name}")
    return 0


@click.command("serve", short_help="Answer for a ledger over HTTP, for people with tokens.")
@click.option("--host", help="Where to listen; default: 127.0.0.1, this machine alone.")
@click.option("--port", type=click.IntRange(0, 65535), help="0: any that is free; default: 8765.")
@click.option("--processes", type=click.IntRange(1, 64), help="That work out prices; default: one per core.")
@click.option("--requests", type=MINUTELY, default=6000.0, help="Of one token in a minute; default: 6000.")
@click.option("--price-seconds", type=MINUTELY, default=120.0, help="Of one token in a minute; default: 120.")
@click.option("--refusals", type=MINUTELY, default=120.0, help="Of one token in a minute; default: 120.")
@click.option("--anchor", "anchored", metavar="FILE", help="What the ledger must still have.")
@click.option("--no-verify", is_flag=True, help="Answer before the whole audit was read again.")
@ledger_options
def serve(access: Access, anchored: str | None, no_verify: bool, **settings: Any) -> int:
    """Answers for a ledger over HTTP (/v1) until it is interrupted; encryption is for a proxy in front.

    A ledger that cannot be verified (exit code 6), or lacks what its anchor names (5), is not served.

    \b
    tightrope ledger serve --ledger budget.db --key-file budget.key --anchor last.anchor
    tightrope ledger serve --host 0.0.0.0 --port 8443 --processes 2
    """
    try:
        from ..extend.ledger_server import Quotas
        from ..extend.ledger_server import serve as answer
    except ImportError as error:
        if error.name not in ("sqlalchemy", "psycopg", "starlette", "uvicorn"):
            raise
        raise InvalidParameter(SERVER_MISSING) from None

    def ready(address: str) -> None:
        if settings["host"] not in (None, *ALONE):
            complain(
                f"it listens on {settings['host']} without encryption: without a proxy before it, tokens can be read"
            )
        with suppress(OSError):  # whoever closed the output is served all the same
            access.tell({"address": address}, f"{address}\nAnswers until it is interrupted; Ctrl+C ends it.")

    quotas = Quotas(*(settings.pop(name) for name in ("requests", "price_seconds", "refusals")))
    given = {name: value for name, value in settings.items() if value is not None} | {"quotas": quotas}
    answer(access.local, key_file=access.key_file, ready=ready, anchor=anchored, verify=not no_verify, **given)
    return 0
