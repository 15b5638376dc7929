"""Who computes, and the settings of privacy buckets: options that go on as one keyword, `engine`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import click

from .. import Buckets, InvalidParameter
from ..extend.engines import AUTO, ENGINE_NAMES, EngineSettings

OPTIONS = (
    click.option("--engine", type=click.Choice(ENGINE_NAMES), default=AUTO, help="Who computes; default: auto."),
    click.option("--factor", type=float, help="Privacy buckets: the factor f of one use, above 1."),
    click.option("--buckets", type=int, help="Privacy buckets: n, even; the indices are -n ... n."),
    click.option("--free-infinity", type=float, help="Privacy buckets: no squaring while B(infinity) is below this."),
    click.option(
        "--no-error-correction",
        "error_correction",
        flag_value=False,
        default=True,
        help="Privacy buckets: upper bound without error correction (theorem 1).",
    ),
)

Command = TypeVar("Command", bound=Callable[..., Any])


def engine_options(command: Command) -> Command:
    """--engine and the settings that imply one; the command takes them as `engine`."""

    @wraps(command)
    def call(
        engine: str,
        factor: float | None,
        buckets: int | None,
        free_infinity: float | None,
        error_correction: bool,
        **settings: Any,
    ) -> Any:
        knobs = Buckets(factor, buckets, free_infinity, error_correction)
        return command(engine=_chosen(engine, knobs), **settings)

    decorated: Any = call
    for decorate in reversed(OPTIONS):  # the first is shown first
        decorated = decorate(decorated)
    return cast(Command, decorated)


def _chosen(engine: str, knobs: Buckets) -> str | EngineSettings:
    """The engine by its name where nothing is set."""
    if knobs == Buckets():
        return engine
    if engine not in (AUTO, knobs.name):
        raise InvalidParameter(
            "--factor, --buckets, --free-infinity and --no-error-correction are settings of privacy buckets: "
            f"leave out --engine {engine}"
        )
    return knobs
