"""The options that several commands take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from .. import Direction
from ..extend.documents import dated
from ..extend.questions import SECONDS
from ..extend.work import Rating
from .knobs import engine_options

Command = TypeVar("Command", bound=Callable[..., Any])

DATE = "tightrope.date"  # of the context


def _dated(context: click.Context, _: click.Parameter, value: str | None) -> None:
    """Checked before anything is computed, and kept for the document."""
    context.meta[DATE] = None if value is None else dated(value)


def json_options(told: str) -> Callable[[Command], Command]:
    """--json, with what it tells, and --date."""

    def decorate(command: Command) -> Command:
        date = click.option(
            "--date", expose_value=False, callback=_dated, metavar="ISO", help="Of the JSON document; default: now."
        )
        return click.option("--json", "as_document", is_flag=True, help=f"Answer as JSON{told}.")(date(command))

    return decorate


def given_date() -> str | None:
    """What --date said; None for now."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(DATE)


class Seconds(click.types.FloatParamType):
    """A number of seconds; the default stays a rating of work, which no clock ends."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if isinstance(value, Rating) else super().convert(value, param, ctx)


TIME = Seconds()
WITH_JSON = json_options(", with certificate and error budget")
DIRECTION = click.option(
    "--direction",
    type=click.Choice([direction.value for direction in Direction]),
    help="One direction only; default: the worse.",
)
PROOF = click.option("--proof", is_flag=True, help="Ball arithmetic only: every rounding enclosed.")
EXPRESSION = click.argument("expression", metavar="EXPR")


def question_options(command: Command) -> Command:
    """The options that every question shares."""
    accuracy = click.option("--accuracy", type=float, help="Width wanted, relative to the upper end; else exit code 3.")
    seconds = click.option(
        "--seconds", type=TIME, default=SECONDS, help="For all of it; then the narrowest so far. Default: 10."
    )
    # The last is shown first: what is needed, what is common, and the settings of one engine at the end.
    for decorate in (engine_options, WITH_JSON, DIRECTION, PROOF, accuracy, seconds):
        command = decorate(command)
    return command
