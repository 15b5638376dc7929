"""What a worker does with one configuration: makes the mechanism, asks, and tells in rows how it went.

Guarantee: it never raises but for an interrupt. What goes wrong is the row's message; a row whose `ended` is neither
"clock" nor "killed" is the same in every process, since work is counted in units and not by the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import tightrope as tr

from .. import (
    AccuracyNotReached,
    Bound,
    Calibration,
    InvalidParameter,
    Mechanism,
    Risk,
    Target,
    TightropeError,
    WorkExhausted,
    parse,
)
from ..extend import work
from ..extend.expressions import parse_template
from ..extend.questions import Limits
from .grid import Configuration
from .query import CALIBRATE, RISK, Query, query_of
from .recipe import Maker, Pattern
from .table import SweepRow

MESSAGE_MAX = 400  # characters of a message

Chunk = tuple[tuple[int, Configuration], ...]
Rows = tuple[SweepRow, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """What is the same for all configurations; files: the folder whose files an expression may name."""

    make: Pattern | Maker
    ask: Pattern
    seconds: float
    files: str | None = None

    def answers(self, chunk: Chunk) -> tuple[Rows, ...]:
        """The rows of several configurations."""
        return tuple(self.answer(index, configuration) for index, configuration in chunk)

    def answer(self, index: int, configuration: Configuration) -> Rows:
        """The rows of one configuration: one, or as many as a risk has."""
        began, quantity = time.perf_counter(), ""
        with work.allowance(self.seconds) as meter:
            try:
                query = query_of(self.ask, configuration)
                quantity = query.quantity
                rows = self._asked(query, index, configuration)
            except Exception as error:
                rows = (_failed(SweepRow(index, configuration, quantity), error),)
        late = meter.late or (meter.grace is not None and meter.grace.late)
        seconds = time.perf_counter() - began
        return tuple(replace(row, ended="clock" if late else row.ended, seconds=seconds) for row in rows)

    def _asked(self, query: Query, index: int, configuration: Configuration) -> Rows:
        row = SweepRow(index, configuration, query.quantity)
        if query.quantity == CALIBRATE:
            calibration = self._calibrated(query.arguments, configuration)
            row = replace(row, quantity=calibration.target.quantity, value=calibration.value)
            ended = next((each for each in ("time", "memory") if f"{each} ran out" in (calibration.ended or "")), None)
            return (replace(_bounded(row, calibration.bound), ended=ended),)
        mechanism = self._mechanism(configuration)
        if query.quantity == RISK:
            risk: Risk = mechanism.risk(**query.arguments, seconds=self.seconds)
            return tuple(_bounded(replace(row, quantity=risk_row.quantity), risk_row.bound) for risk_row in risk.rows)
        method: Callable[..., Bound] = getattr(mechanism, query.quantity)
        try:
            return (_bounded(row, method(**query.arguments, seconds=self.seconds)),)
        except AccuracyNotReached as missed:
            return (replace(_bounded(row, missed.bound), error=_message(missed)),)

    def _mechanism(self, configuration: Configuration) -> Mechanism:
        if isinstance(self.make, Pattern):
            return parse(self.make.filled(configuration), self.files)
        made = self.make(configuration)
        if not isinstance(made, Mechanism):
            raise InvalidParameter(f"make gives {type(made).__name__}, and a mechanism is needed")
        return made

    def _calibrated(self, arguments: Mapping[str, Any], configuration: Configuration) -> Calibration:
        limits: Any = {name: value for name, value in arguments.items() if name in Limits.__annotations__}
        options: Any = {name: value for name, value in arguments.items() if name not in limits}
        target = Target(**limits)
        if isinstance(self.make, Pattern):
            template = parse_template(self.make.filled(configuration), self.files)
            options["integer"] = options.get("integer", False) or template.integer
            return tr.calibrate(template, target=target, parameter=template.parameter, seconds=self.seconds, **options)
        (unknown,) = self.make.missing(configuration)
        make = partial(_with_unknown, self.make, configuration, unknown)
        return tr.calibrate(make, target=target, parameter=unknown, seconds=self.seconds, **options)


def warm() -> None:
    """Loads what most questions need, so that the first one's time is its own."""
    parse("Gaussian(sigma=1).poisson(rate=0.01) * 100").epsilon(1e-6)


def _with_unknown(make: Maker, configuration: Configuration, unknown: str, value: float) -> Mechanism:
    return make(configuration, **{unknown: value})


def _bounded(row: SweepRow, bound: Bound) -> SweepRow:
    """The row with an interval, and what its certificate says."""
    about = bound.certificate
    row = replace(row, lower=bound.lower, upper=bound.upper)
    if about is None:
        return row
    return replace(
        row,
        relation=None if about.relation is None else about.relation.value,
        attained=about.attained,
        confidence=about.confidence,
        engine=about.engine,
        ended=about.exhausted,
    )


def _failed(row: SweepRow, error: Exception) -> SweepRow:
    ended = error.resource if isinstance(error, WorkExhausted) else None
    return replace(row, error=_message(error), ended=ended)


def _message(error: Exception) -> str:
    """One line; what nobody raised on purpose is named by its kind."""
    said = str(error) if isinstance(error, TightropeError) else f"{type(error).__name__}: {error}"
    line = " ".join(said.split())
    return line if len(line) <= MESSAGE_MAX else line[:MESSAGE_MAX] + " ..."
