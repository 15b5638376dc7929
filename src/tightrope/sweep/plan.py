"""A sweep as a value: what is made, for which configurations, and what is asked; checked before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from .. import InvalidParameter, TightropeError
from ..extend.expressions import has_unknown
from ..extend.questions import Question
from ..extend.wording import cut, nearest
from ..extend.work import share_of
from .executor import Executor
from .grid import SweepGrid, grid_of
from .job import Chunk, Job, Rows
from .order import shuffled
from .query import CALIBRATE, Query, query_of
from .recipe import Maker, Pattern, check_names
from .table import ANSWER_COLUMNS


@dataclass(frozen=True, slots=True)
class Plan:
    """The job that is the same everywhere, and the grid."""

    job: Job
    grid: SweepGrid
    calibrated: bool

    @staticmethod
    def of(make: object, grid: SweepGrid, ask: object, seconds: float, files: str | None = None) -> Plan:
        """Refuses what no configuration could answer: unknown names, unknown questions."""
        Question("epsilon", seconds=seconds)
        if isinstance(make, str):
            maker: Pattern | Maker = Pattern(make)
        elif callable(make):
            maker = Maker(make)
        else:
            raise InvalidParameter(f"make is an expression with {{names}} or a function of them, not {cut(make)}")
        if not isinstance(ask, str):
            raise InvalidParameter(f"ask is a text such as epsilon(delta=1e-6), not {cut(ask)}")
        pattern = Pattern(ask)
        check_names(pattern.names, grid.names, "ask")
        query = _readable(pattern, grid)
        _check_made(maker, grid, query)
        _check_used(maker, pattern, grid)
        return Plan(Job(maker, pattern, share_of(seconds, float(seconds)), files), grid, query.quantity == CALIBRATE)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the configurations."""
        return self.grid.names

    def chunks(self, size: int, done: Callable[[int], bool] = lambda _: False) -> Iterator[Chunk]:
        """The configurations that are not done, shuffled, so many at a time; each is made when it is asked for."""
        waiting = ((index, self.grid[index]) for index in shuffled(len(self.grid)) if not done(index))
        while chunk := tuple(islice(waiting, size)):
            yield chunk

    def run(self, executor: Executor, done: Callable[[int], bool] = lambda _: False) -> Generator[Rows, None, None]:
        """The rows of each configuration, as they come."""
        return executor.run(self.job, self.chunks(executor.rows_per_task(len(self.grid)), done))


def plan_of(make: object, grid: Any, ask: object, seconds: float, **drawn: Any) -> Plan:
    """The plan of a call."""
    return Plan.of(make, grid_of(grid, **drawn), ask, seconds)


def _readable(ask: Pattern, grid: SweepGrid) -> Query:
    """The question for some configuration: one that cannot be read for the first may be read for others."""
    refused: TightropeError | None = None
    for place in (0, len(grid) // 2, len(grid) - 1):
        try:
            return query_of(ask, grid[place])
        except TightropeError as error:
            refused = refused or error
    assert refused is not None
    raise refused


def _check_made(make: Pattern | Maker, grid: SweepGrid, query: Query) -> None:
    calibrated = query.quantity == CALIBRATE
    if isinstance(make, Pattern):
        check_names(make.names, grid.names, "make")
        if make.whole is None and has_unknown(make.text) != calibrated:
            raise InvalidParameter(
                "calibrate needs a ? in the expression, where the number is wanted"
                if calibrated
                else "a ? in the expression is for calibrate(...); give a number or a {name} there"
            )
        return
    missing = make.missing(grid.names)
    if calibrated and len(missing) != 1:
        raise InvalidParameter(
            f"calibrate needs one parameter of make that the grid does not have, not {', '.join(missing) or 'none'}"
        )
    if not calibrated:
        check_names(missing, grid.names, "make")


def _check_used(make: Pattern | Maker, ask: Pattern, grid: SweepGrid) -> None:
    """Names are not those of other columns; each axis is used, and each configuration of a list has what is used."""
    used = {*(make.names if isinstance(make, Pattern) else make.taken(grid.names)), *ask.names}
    for name in grid.names:
        if name in ANSWER_COLUMNS:
            raise InvalidParameter(f"{name} is a column of the answers: give this name of the grid another one")
        if grid.listed is None and name not in used:
            raise InvalidParameter(f"neither make nor ask uses {name}{nearest(name, used)}; take it out of the grid")
    for index, configuration in enumerate(grid.listed or ()):
        for name in used:
            if configuration.get(name) is None:
                raise InvalidParameter(f"configuration {index} of the list has no {name}")
