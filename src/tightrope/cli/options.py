"""The options that several commands take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..question import SECONDS
from ..relation import Direction
from .knobs import engine_options

WITH_JSON = click.option(
    "--json", "as_document", is_flag=True, help="Answer as JSON, with certificate and error budget."
)
DIRECTION = click.option(
    "--direction", type=click.Choice([each.value for each in Direction]), help="One direction only; default: the worse."
)
PROOF = click.option("--proof", is_flag=True, help="Ball arithmetic only: every rounding enclosed.")
EXPRESSION = click.argument("expression", metavar="EXPR")

Command = TypeVar("Command", bound=Callable[..., Any])


def question_options(command: Command) -> Command:
    """The options that every question shares."""
    accuracy = click.option("--accuracy", type=float, help="Width wanted, relative to the upper end; else exit code 3.")
    seconds = click.option(
        "--seconds", type=float, default=SECONDS, help="For all of it; then the narrowest so far. Default: 10."
    )
    # The last is shown first: what is needed, what is common, and the settings of one engine at the end.
    for decorate in (engine_options, WITH_JSON, DIRECTION, PROOF, accuracy, seconds):
        command = decorate(command)
    return command
