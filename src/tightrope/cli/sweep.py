"""The command that asks one question of many configurations, and keeps what it knows whatever happens to it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import InvalidParameter, __version__
from ..extend.wording import check_folder
from .output import INTERRUPTED, complain, say
from .sweep_map import wanted_map

if TYPE_CHECKING:
    from ..extend.sweeping import Definition, Executor, Journal, Plan
    from .sweep_map import WantedMap

FORMATS = (".csv", ".jsonl", ".parquet")


@click.command("sweep")
@click.argument("definition", metavar="FILE")
@click.option("--out", required=True, metavar="FILE", help="Where the rows go: .csv, .jsonl or .parquet.")
@click.option("--workers", type=click.IntRange(1, 1024), help="How many processes; default: one per core.")
@click.option("--scheduler", metavar="ADDRESS", help="A Dask cluster that is there, such as tcp://10.0.0.1:8786.")
@click.option(
    "--plot",
    "picture",
    nargs=4,
    metavar="x=NAME y=NAME value=NAME FILE",
    help="Draw a map of a number over two names of the grid, as .png, .pdf or .svg.",
)
@click.option(
    "--resume", is_flag=True, help="Go on with a sweep that was interrupted; what is known is not asked again."
)
@click.option("--no-times", is_flag=True, help="Leave out the column with seconds: the same rows are the same bytes.")
def sweep(
    definition: str,
    out: str,
    workers: int | None,
    scheduler: str | None,
    picture: tuple[str, ...] | None,
    resume: bool,
    no_times: bool,
) -> int:
    """One question for many configurations: a grid in, a table out.

    \b
    FILE is TOML, and says what is made, of what, and what is asked:
      make = "Gaussian(sigma={sigma}).poisson(rate={rate}) * {count}"
      ask = "epsilon(delta={delta})"
      seconds = 10                # for each question; then the narrowest so far
      [grid]
      sigma = [0.5, 1, 2]         # all combinations
      rate = {from = 1e-4, to = 0.1, points = 4, log = true}
      count = 1000
      delta = 1e-6
    \b
    ask is any question: delta(epsilon=1), tpr(fpr={fpr}), risk(prior=0.1), renyi(order=8), ...;
    calibrate(epsilon=3, delta=1e-6) finds the ? in make.
    draws = 100 and seed = 1 draw what is written as sigma = {log_uniform = [0.5, 5]}
    or count = {log_uniform = [1, 1e5], whole = true}; grid = "table.csv" takes the rows of a file.
    \b
    A question that fails is a row with its message. What is known stands in a journal beside
    the output until all is: after an interrupt, a crash or kill -9, --resume goes on from there.
    \b
    tightrope sweep dpsgd.toml --out results.csv
    tightrope sweep dpsgd.toml --out results.parquet --workers 8 --resume
    tightrope sweep dpsgd.toml --out results.csv --scheduler tcp://10.0.0.1:8786
    tightrope sweep dpsgd.toml --out results.csv --plot x=sigma y=rate value=epsilon map.png
    """
    from ..extend.processes import cores
    from ..extend.sweeping import LocalProcesses, check_parquet, executor_of, read_definition

    target = Path(out)
    if target.suffix.lower() not in FORMATS:
        raise InvalidParameter(f"--out ends in {', '.join(FORMATS)}, which names the format, not {target.name!r:.60}")
    if target.suffix.lower() == ".parquet":
        check_parquet()
    check_folder(target)
    asked = read_definition(definition)
    wanted = wanted_map(picture, asked.plan)
    rows = len(asked.plan.grid)
    executor = (
        LocalProcesses(min(workers or cores(), rows)) if scheduler is None else executor_of(workers, rows, scheduler)
    )
    return keep(asked, executor, target, resume, not no_times, wanted)


def keep(
    asked: Definition, executor: Executor, target: Path, resume: bool, times: bool, wanted: WantedMap | None
) -> int:
    """Runs the sweep with a journal beside the output, which is written when all is known."""
    from ..extend.sweeping import Journal

    journal_path = target.with_name(target.name + ".journal")
    if resume and target.exists() and not journal_path.exists():
        raise InvalidParameter(f"{target} is whole: there is nothing to resume; without --resume the sweep runs again")
    rows = len(asked.plan.grid)
    with Journal(journal_path, asked.header(__version__), asked.plan.grid, resume) as journal:
        try:
            with (
                progress(rows, journal.count) as advance,
                closing(asked.plan.run(executor, journal.__contains__)) as rowses,
            ):
                for each in rowses:
                    journal.add(each)
                    advance(any(row.error is not None for row in each))
        except KeyboardInterrupt:
            complain(f"{journal.count:,} of {rows:,} configurations are kept; the same command with --resume goes on")
            return INTERRUPTED
        write(journal, asked.plan, target, times)
        if wanted is not None:
            wanted.draw(journal.rows(), asked.plan)
            say(f"drawn: {wanted.path}")
    journal_path.unlink()
    return 0


def write(journal: Journal, plan: Plan, target: Path, times: bool) -> None:
    """The output in the order of the grid, in place of another only when it is whole; says how it went."""
    from ..extend.sweeping import Tally, columns_of, kinds_of, write_csv, write_jsonl, write_parquet

    columns, tally = columns_of(plan.names, plan.calibrated, times), Tally()
    part = target.with_name(f"{target.name}.part")
    try:
        if target.suffix.lower() == ".parquet":
            write_parquet(tally.counted(journal.rows()), columns, part, kinds_of(columns, iter(plan.grid)))
        else:
            writer = write_csv if target.suffix.lower() == ".csv" else write_jsonl
            with part.open("w", encoding="utf-8", newline="") as file:
                writer(tally.counted(journal.rows()), columns, file)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
    say(f"{tally}: {target}")
    if tally.first_error is not None:
        row = tally.first_error
        complain(f"{tally.failed:,} failed, the first of them configuration {row.index}: {row.error}")


@contextmanager
def progress(rows: int, done: int) -> Iterator[Callable[[bool], None]]:
    """A bar with rate and time left on standard error, only if that is a terminal; called once per configuration."""
    if not sys.stderr.isatty():
        yield lambda failed: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failed]}"),
    )
    failures = 0
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=rows, completed=done, rate="", failed="")

        def advance(failed: bool) -> None:
            nonlocal failures
            failures += failed
            speed = shown.tasks[0].speed
            rate = f"{speed:.3g}/s" if speed else ""
            shown.update(task, advance=1, rate=rate, failed=f"{failures:,} failed" if failures else "")

        yield advance
