"""Commands about budgets: made, renewed, looked at, reported."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import click

from .. import InvalidParameter, Relation
from ..extend.wording import check_folder
from ..ledger import BudgetExhausted, VerificationFailed
from .ledger_options import FILE_ADDRESS, SLACK_OPTION, Access, ledger_options, receipt_lines, with_receipts
from .output import say, spinner

KEY_BYTES = 32
LISTED_USED_MAX = 100  # budgets of which a list says how much is gone


@click.command("init", short_help="A new ledger, and the key that makes its receipts authentic.")
@ledger_options
def begin(access: Access) -> int:
    """Makes a new, empty ledger; and the key, where --key-file names a file that does not exist.

    Keep the key away from the database: whoever has both can forge receipts.

    \b
    tightrope ledger init --ledger budget.db --key-file budget.key
    TIGHTROPE_LEDGER=postgresql://ledger@db/budgets tightrope ledger init
    """
    from .. import ledger

    place = access.local
    if place.startswith(FILE_ADDRESS):
        check_folder(place.removeprefix(FILE_ADDRESS))
    made = _key_made(access.key_file)
    try:
        with ledger.init(place, key_file=access.key_file) as found:
            shown = repr(found).removeprefix("Ledger(").removesuffix(")").strip("'")
    except BaseException:
        if made is not None:
            with suppress(OSError):
                os.unlink(made)
        raise
    lines = [f"made {shown}"] + ([] if made is None else [f"made the key {made}: keep it, and away from the database"])
    access.tell({"ledger": shown, "key_file": access.key_file, "key_made": made is not None}, "\n".join(lines))
    return 0


def _key_made(path: str | None) -> str | None:
    """A new key in a file that only its owner reads; None where there is one."""
    if path is None or Path(path).exists():
        return None
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token_hex(KEY_BYTES) + "\n")
        file.flush()
        os.fsync(file.fileno())
    return path


def _create_options(command: Any) -> Any:
    relations = [relation.value for relation in Relation]
    for decorate in reversed(
        (
            click.option("--epsilon", type=float, help="Of the promise, or of what may be spent of it at first."),
            click.option("--delta", type=float, help="Of the promise."),
            click.option("--relation", type=click.Choice(relations), help="Which data sets are neighbours."),
            click.option("--unit", metavar="TEXT", help="Whose privacy it is, such as 'one person'."),
            click.option("--kind", help="rdp (default), plan, gdp, zcdp, basic or odometer."),
            click.option("--parent", metavar="NAME", help="The budget that it is a part of."),
            click.option("--parallel", is_flag=True, help="A block of partitions, which are its parts."),
            click.option("--ceiling", type=float, help="Epsilon of the promise, up to which renewals may go."),
            click.option("--slack", type=float, help="The part of delta that jobs may use up."),
            click.option("--floor", type=float, help="mu^2 that gdp promises from the start."),
            click.option("--rho", type=float, help="For zcdp, instead of epsilon and delta."),
            click.option("--plan", type=(str, int), multiple=True, metavar="EXPR N", help="N such jobs; repeated."),
            click.option(
                "--order",
                "orders",
                type=(float, float),
                multiple=True,
                metavar="A W",
                help="Renyi order and its weight; repeated.",
            ),
            click.option("--key", metavar="TEXT", help="Of this request: asked again, it is answered the same."),
        )
    ):
        command = decorate(command)
    return command


@click.command("create", short_help="A budget, with what it promises to whom.")
@click.argument("name")
@_create_options
@ledger_options
def create(access: Access, name: str, **settings: Any) -> int:
    """A budget: what it promises, to whom, and about which neighbours. A promise is made once, and stays.

    A part (--parent) has the kind, relation and unit of its parent.

    \b
    tightrope ledger create census --epsilon 1 --delta 1e-6 --relation add_remove --unit "one person"
    tightrope ledger create census/ana --parent census --epsilon 0.5 --delta 1e-6
    tightrope ledger create sgd --kind plan --plan "Gaussian(sigma=1).poisson(rate=0.01) * 1000" 3 \\
      --delta 1e-6 --relation add_remove --unit "one person"
    """
    from ..extend.budgets import status_text

    with access.opened() as ledger:
        found = ledger.create(name, **_wanted(settings))
        text = "\n".join([status_text(found), *receipt_lines(ledger)])
        access.tell(with_receipts(ledger, found), text)
    return 0


def _wanted(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What was said; of a part the rest is its parent's."""
    wanted = {name: value for name, value in settings.items() if value not in (None, (), False)}
    for name in ("plan", "orders"):
        if name in wanted:
            given = wanted[name]
            wanted[name] = dict(given)
            if len(wanted[name]) < len(given):
                raise InvalidParameter(f"--{name.removesuffix('s')} names the same twice: say it once, with the sum")
    for name, example in (("relation", "add_remove"), ("unit", "'one person'")):
        if name not in wanted and "parent" not in wanted:
            raise InvalidParameter(f"a promise says who is protected: give --{name}, as in --{name} {example}")
    return wanted


@click.command("renew", short_help="Raise what may be spent, up to the ceiling.")
@click.argument("name")
@click.option("--epsilon", type=float, required=True, help="Up to this, at most the ceiling.")
@ledger_options
def renew(access: Access, name: str, epsilon: float) -> int:
    """Raises what may be spent of a promise that was made, up to its ceiling.

    \b
    tightrope ledger renew census --epsilon 2
    """
    from ..extend.budgets import status_text

    with access.opened() as ledger:
        found = ledger.renew(name, epsilon=epsilon)
        access.tell(with_receipts(ledger, found), "\n".join([status_text(found), *receipt_lines(ledger)]))
    return 0


@click.command("quote", short_help="What a job would cost, whether it fits, and how many like it.")
@click.argument("name")
@click.argument("expression", metavar="EXPR")
@SLACK_OPTION
@ledger_options
def quote(access: Access, name: str, expression: str, slack: float | None) -> int:
    """What a job would cost now; nothing is held. Exit code 4 where it does not fit.

    \b
    tightrope ledger quote census "Gaussian(sigma=10)"
    tightrope ledger quote census "Gaussian(sigma=1).poisson(rate=0.01) * 1000" --json
    """
    from ..extend.budgets import cost_lines, more_words

    with access.opened() as ledger, spinner("what it costs"):
        status = ledger.status(name, expression, slack=slack)
    more = status["more"]
    lines = [*more_words(more), *(f"  {line}" for line in cost_lines(status, more["units"]))]
    access.tell({"budget": name, **more}, "\n".join(lines))
    return 0 if more["fits"] else BudgetExhausted.exit


@click.command("status", short_help="A budget: promise, counters, odometer, jobs.")
@click.argument("name")
@click.option("--job", "expression", metavar="EXPR", help="Say how many more like this fit.")
@SLACK_OPTION
@click.option("--plot", "picture", metavar="FILE", help="Draw it over time as .png, .pdf or .svg.")
@ledger_options
def status(access: Access, name: str, expression: str | None, slack: float | None, picture: str | None) -> int:
    """A budget as it stands. What is left is rounded down, what is held and spent up.

    \b
    tightrope ledger status census
    tightrope ledger status census --job "Gaussian(sigma=10)"
    tightrope ledger status census --plot census.png
    """
    from ..extend.budgets import status_text
    from ..extend.plots import check_path

    if picture is not None:
        check_path(picture)
    with access.opened() as ledger:
        found = ledger.status(name, expression, slack=slack)
        history = None if picture is None else ledger.history(name)
    if history is not None:
        from ..extend.budgets import draw_history

        with spinner("drawing"):
            draw_history(found, history, picture)
    drawn = [] if picture is None else [f"  drawn     {picture}"]
    access.tell(found, "\n".join([status_text(found), *drawn]))
    return 0


@click.command("list", short_help="All budgets, as a tree.")
@ledger_options
def listing(access: Access) -> int:
    """All budgets that may be seen, and how much of each is gone; what is held counts.

    \b
    tightrope ledger list
    """
    from ..extend.budgets import budgets_text, used_words

    with access.opened() as ledger:
        found = ledger.budgets()
        looked = found[:LISTED_USED_MAX] if not access.as_document else ()
        used = {each["name"]: used_words(ledger.status(each["name"])) for each in looked}
    access.tell({"budgets": list(found)}, budgets_text(found, used))
    return 0


@click.command("report", short_help="The document that is filed for a budget, as HTML, PDF or JSON.")
@click.argument("name")
@click.option("-o", "--output", metavar="FILE", help="Ends as .html, .pdf or .json; default: NAME.html.")
@click.option("--title", metavar="TEXT", help="Default: Privacy budget report.")
@click.option("--system", metavar="TEXT", help="What the budget belongs to.")
@click.option("--organisation", metavar="TEXT", help="Whose report it is.")
@click.option("--author", metavar="TEXT", help="Who prepared it.")
@click.option("--date", metavar="ISO", help="A day or a time; default: now.")
@ledger_options
def report(access: Access, name: str, output: str | None, **texts: str | None) -> int:
    """The document that a privacy officer files: the promise, all jobs that were charged, and the head of the chain.

    Every line of the chain is read again, and all counters are rebuilt from it; exit code 6 where they do not agree,
    which the document says too. With --json it is written to standard output.

    \b
    tightrope ledger report census -o census.html
    tightrope ledger report census -o census.pdf --organisation "Statistics Office" --author "A. Ngo"
    """
    from ..extend.filing import check_pdf
    from ..extend.reports import check_report_path

    place = output or f"{name.replace('/', '-')}.html"
    if check_report_path(place) == ".pdf":
        check_pdf()
    with access.opened() as ledger, spinner("reading the chain"):
        from ..extend.ledgers import budget_report

        found = budget_report(ledger, name, texts)
    if output is not None or not access.as_document:
        with spinner("writing the report"):
            found.save(place)
    if access.as_document:
        say(found.document())
    else:
        say("\n".join([*found.summary(), f"written: {place}"]))
    return VerificationFailed.exit if found.findings else 0
