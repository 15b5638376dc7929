"""What `tightrope train` finds, kept together until it is written: as text, as JSON, as CSV and as a picture."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import tightrope as tr

from .. import (
    AccuracyNotReached,
    Calibration,
    Comparison,
    Epochs,
    Frontier,
    InvalidParameter,
    Samplings,
    by_sampling,
    frontier,
    training,
)
from ..extend import work
from ..extend.result import Result
from ..extend.tables import Column, Table, samplings_text
from ..extend.training import UNKNOWNS_FOUND, solve
from ..extend.wording import short
from . import train_json
from .calibrate import as_text as calibrated
from .output import as_option, beneath, spinner, stated_result
from .train_order import ALL, TrainOrder
from .train_text import as_options, assumed, dimmed, fitted, text_width

ACCOUNTANTS = ("Opacus", "TF-Privacy", "Google")
RUN_SHARE, EPOCHS_SHARE = 0.5, 0.6  # of the time that is left, where more follows
WIDE_SAID = "some rows are wider than asked for"


@dataclass(slots=True)
class TrainAnswer:
    """One of result, calibration, frontier and loaders; and what was asked beside it."""

    order: TrainOrder
    run: training | None = None
    result: Result | None = None
    calibration: Calibration | None = None
    seconds: float = 0.0  # of the calibration
    table: Frontier | Samplings | None = None
    epochs: Epochs | None = None
    comparison: Comparison | None = None
    beside: str = ""  # what there is to compare with shared noise
    monte_carlo: Any = None  # of jax-privacy, where it is installed: interop.jax_privacy.MonteCarloEpsilon
    missed: str | None = None  # what was said of an accuracy that was not reached
    tabled: bool = False
    files: list[str] = field(default_factory=list)

    def document(self) -> str:
        """As JSON."""
        return train_json.document(self)

    def sheet(self) -> str:
        """As CSV."""
        shown = self.table or self.epochs
        return "" if shown is None else shown.to_csv().rstrip("\n")

    def write_files(self, sheet: str | None, picture: str | None) -> None:
        """The table and the picture, where they were asked for."""
        if sheet not in (None, "-"):
            with open(str(sheet), "w", encoding="utf-8") as file:
                file.write(self.sheet() + "\n")
            self.files.append(str(sheet))
        shown = self.table or self.epochs
        if picture is not None and shown is not None:
            try:
                shown.plot(picture)
                self.files.append(picture)
            except InvalidParameter as error:  # nothing to draw: the answer itself is still worth reading
                self.missed = self.missed or f"{picture}: {error}"

    def text(self) -> str:
        """The answer, what it assumes, and what was asked besides."""
        lines: list[str] = []
        if self.calibration is not None:
            lines.append(calibrated(self.calibration, self.seconds, beside=False))
        if self.result is not None:
            lines.append(stated_result(self.result))
        if self.run is not None:
            lines += assumed(self.run)
            lines += [] if self.calibration is None else fitted(f"of {self.run!r}")
        if self.result is not None:
            for line in beneath(self.result):
                lines += fitted(line.strip()) if len(line) > text_width() else [line]
        if isinstance(self.table, Frontier):
            lines += [str(self.table), "", *frontier_assumed(self.table)]
        if isinstance(self.table, Samplings):
            lines.append(as_options(samplings_text(self.table, dimmed, text_width(), as_option)))
        if self.tabled and self.epochs is not None:
            lines += ["", str(self.epochs)]
        if self.comparison is not None:
            lines += ["", *compared_text(self.comparison, self.run)]
        if self.beside:
            lines += ["", *fitted(self.beside, 0)]
        if self.files:
            lines += fitted(f"written: {', '.join(self.files)}")
        return "\n".join(lines)


def frontier_assumed(rows: Frontier) -> list[str]:
    """Of the first row that has a run: the loader is that of all."""
    runs = (row.found.mechanism for row in rows.rows if row.found is not None)
    first = next((run for run in runs if isinstance(run, training)), None)
    return [] if first is None else assumed(first, alone=False)


def compared_text(comparison: Comparison, run: training | None) -> list[str]:
    """What each library reports, how far off, and why; and what these libraries do not know."""
    from ..extend.comparing import comparison_lines

    rows = comparison_lines(comparison)[1:]
    columns = (
        Column("as reported", [name for name, *_ in rows]),
        Column(f"epsilon at delta {short(comparison.given)}", [value for _, value, *_ in rows]),
        Column("beside the truth", [distance for _, _, _, distance, *_ in rows]),
    )
    heading, *told = Table(columns).lines(indent="  ")
    lines = [heading]
    for line, (*_, why) in zip(told, rows, strict=True):
        lines += [line, *(dimmed(text) for text in fitted(why, 2))]
    if any(row.late for row in comparison.rows):
        lines += fitted("time ran out before every library's number was there: give more --seconds")
    if run is not None and (run.sampling != "poisson" or run.group_size != 1):
        lines += fitted(
            f"these libraries know Poisson batches and single records: the truth here is that of such a run, "
            f"{comparison.truth}, and none of these numbers holds for the run above"
        )
    return lines


def answered(order: TrainOrder, given: Mapping[str, Any]) -> TrainAnswer:
    """Everything that was asked, one after the other in the time of one call."""
    answer = TrainAnswer(order, tabled=given["tabled"])
    manner = {"proof": given["proof"], "seconds": given["seconds"]}
    more = given["tabled"] or given["compared"] or given["picture"] or given["sheet"]
    if order.plan.get("sampling") == ALL or order.lists:
        _ask(answer, order, given, manner)
        return answer
    with work.allowance(given["seconds"]):
        with work.part(RUN_SHARE if more else 1.0):
            _ask(answer, order, given, manner)
        if answer.run is not None and (given["tabled"] or given["picture"] or given["sheet"]):
            with spinner("epsilon by epoch"), work.part(EPOCHS_SHARE if given["compared"] else 1.0):
                answer.epochs = answer.run.by_epoch(order.delta, **manner)
        if answer.run is not None and given["compared"]:
            with spinner("what other libraries report"):
                _compare(answer, order.delta, given["seconds"])
    return answer


def _compare(answer: TrainAnswer, delta: float, seconds: float) -> None:
    """Of noise that each step has for itself what accountants report; of shared noise jax-privacy's Monte Carlo."""
    from ..extend.comparing import jax_privacy_monte_carlo

    run = answer.run
    assert run is not None
    if not run.noise:
        none: dict[str, Any] = dict.fromkeys(("cap", "bins", "separation"))
        known: dict[str, Any] = {**run.parameters, **none, "sampling": "poisson", "group": 1}
        answer.comparison = tr.compare(training(**known), delta=delta, methods=ACCOUNTANTS, seconds=seconds)
    elif not isinstance(run.expanded, tr.MatrixMechanism) or run.expanded.bins is None or run.expanded.toeplitz is None:
        answer.beside = (
            "no other library reports a number for this noise over such batches; jax-privacy's Monte Carlo has one for "
            "balls in bins, with a Toeplitz C"
        )
    else:
        try:
            answer.monte_carlo = jax_privacy_monte_carlo(run.expanded, delta)
        except ImportError as error:
            answer.beside = f"jax-privacy's Monte Carlo has a number for this run: {error}"
        else:
            answer.beside = answer.monte_carlo.said


def _ask(answer: TrainAnswer, order: TrainOrder, given: Mapping[str, Any], manner: dict[str, Any]) -> None:
    """The question itself."""
    plan = dict(order.plan)
    if plan.get("sampling") == ALL:
        del plan["sampling"]
        with spinner("every loader in turn") as told:
            loaders = answer.table = by_sampling(order.delta, accuracy=given["accuracy"], told=told, **manner, **plan)
        answer.missed = WIDE_SAID if any(row.missed for row in loaders.rows) else None
    elif order.unknown is None:
        answer.run = training(**plan)
        _epsilon(answer, order.delta, {**manner, "accuracy": given["accuracy"]})
    elif order.lists:
        assert order.epsilon is not None
        with spinner(f"{UNKNOWNS_FOUND[order.unknown]} for each") as told:
            answer.table = frontier(order.epsilon, order.delta, told=told, **manner, **plan)
    else:
        assert order.epsilon is not None
        began = time.perf_counter()
        with spinner(UNKNOWNS_FOUND[order.unknown]):
            answer.calibration = solve(plan, order.unknown, order.epsilon, order.delta, **manner)
        answer.seconds = time.perf_counter() - began
        assert isinstance(answer.calibration.mechanism, training)
        answer.run = answer.calibration.mechanism


def _epsilon(answer: TrainAnswer, delta: float, manner: dict[str, Any]) -> None:
    assert answer.run is not None
    began = time.perf_counter()
    with spinner(f"epsilon at delta {delta!r}"):
        try:
            bound = answer.run.epsilon(delta, **manner)
        except AccuracyNotReached as error:
            bound, answer.missed = error.bound, str(error)
    seconds = time.perf_counter() - began
    answer.result = Result(repr(answer.run), "epsilon", {"delta": delta}, bound, seconds)
