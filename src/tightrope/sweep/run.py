"""tr.sweep: one question for many configurations, as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from .. import InvalidParameter, Mechanism
from ..extend.questions import SECONDS
from ..extend.wording import checked, cut
from .table import Sweep

if TYPE_CHECKING:
    from .executor import Executor

TABLE_ROWS_MAX = 10**6  # rows of a table in memory
PROCESSES_MAX = 1024

GridLike = Mapping[str, Any] | Iterable[Mapping[str, Any]] | str | PathLike[str]


class Drawn(TypedDict, total=False):
    """The keywords of a grid that is drawn."""

    draws: int | None
    seed: int | None


@checked
def sweep(
    make: str | Callable[..., Mechanism],
    grid: GridLike,
    ask: str,
    *,
    workers: int | None = None,
    scheduler: object = None,
    seconds: float = SECONDS,
    **drawn: Unpack[Drawn],
) -> Sweep:
    """Asks one question of many configurations, and gives a table with a row for each.

    make: an expression with {names}, such as "Gaussian(sigma={sigma}) * {count}", or a function of these names at the
    top level of a module. grid: {"sigma": [1, 2], "count": {"from": 1, "to": 1000, "points": 4, "log": True}} for all
    combinations, a list of configurations {"sigma": 1, "count": 10}, or the path of a CSV file; with draws, how many,
    and seed also {"sigma": {"log_uniform": [0.5, 5]}}, and whole numbers with "whole": True. ask: "epsilon(delta=1e-6)"
    or another question, such as "tpr(fpr={fpr})", "risk(prior=0.1)", or "calibrate(epsilon=3, delta=1e-6)" with a ? in
    make. workers: how many processes; 1 for this one, None for one per core. scheduler: instead of those, the address
    of a Dask cluster that is there, such as "tcp://10.0.0.1:8786", or a client of it. seconds: for each question. What
    fails is a row with its message.
    """
    from .plan import plan_of

    plan = plan_of(make, grid, ask, seconds, **drawn)
    if len(plan.grid) > TABLE_ROWS_MAX:
        raise InvalidParameter(
            f"a table holds {TABLE_ROWS_MAX:,} configurations at most, not {len(plan.grid):,}: "
            "tightrope sweep writes larger ones to a file"
        )
    found = sorted(plan.run(executor_of(workers, len(plan.grid), scheduler)), key=lambda rows: rows[0].index)
    return Sweep(plan.job.make.text, ask, plan.names, tuple(row for rows in found for row in rows))


def executor_of(workers: int | None, rows: int, scheduler: object = None) -> Executor:
    """A cluster, or this process for 1, else so many, and no more than there are rows."""
    from ..extend.processes import cores
    from .executor import Here
    from .local import LocalProcesses

    if scheduler is not None and workers is not None:
        raise InvalidParameter(
            "workers are processes of this machine, and a scheduler has its own: give one of the two"
        )
    if scheduler is not None:
        from .cluster import Cluster

        return Cluster(scheduler)
    if workers is None:
        workers = cores()
    if isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= PROCESSES_MAX:
        raise InvalidParameter(f"workers must be a whole number from 1 to {PROCESSES_MAX}, not {cut(workers)}")
    return Here() if workers == 1 else LocalProcesses(min(workers, rows))
