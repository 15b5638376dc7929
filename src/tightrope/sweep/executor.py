"""Who asks: an executor takes the job and its chunks, and gives the rows of each configuration, in any order.

`run` draws chunks from the iterator as it has room for them, so that neither the grid nor the answers are ever in
memory as a whole; it is a generator whose end, also an early one, leaves nothing running. A configuration whose process
dies gives a row that says so (`lost`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator

from .grid import Configuration
from .job import Chunk, Job, Rows
from .table import SweepRow


class Executor(ABC):
    """Runs a job on chunks of configurations."""

    @abstractmethod
    def rows_per_task(self, rows: int) -> int:
        """How many configurations a chunk has, of so many."""

    @abstractmethod
    def run(self, job: Job, chunks: Iterator[Chunk]) -> Generator[Rows, None, None]:
        """The rows of each configuration as they come; each once."""


class Here(Executor):
    """One configuration after the other in this process."""

    def rows_per_task(self, rows: int) -> int:
        return 1

    def run(self, job: Job, chunks: Iterator[Chunk]) -> Generator[Rows, None, None]:
        for chunk in chunks:
            for index, configuration in chunk:
                yield job.answer(index, configuration)


def lost(index: int, configuration: Configuration, why: str, seconds: float = 0.0) -> Rows:
    """The row of a configuration whose process is gone."""
    return (SweepRow(index, configuration, "", ended="killed", error=why, seconds=seconds),)
