"""The workers of a Dask cluster that is already there, at the address of its scheduler.

Chunks of CLUSTER_CHUNK configurations or more, so that no sweep has more than TASKS_MAX tasks, a few per worker at a
time. A chunk whose worker dies is given to another one by the scheduler; where workers die of it again and again, its
configurations are asked at the end, one at a time with nothing else that could be the cause, and the one that kills its
worker then is a row with a message.
Guarantee: rows are those of this machine, to the last bit, since a worker with other versions of packages is refused.
Reference: Rocklin 2015, Dask: parallel computation with blocked algorithms and task scheduling.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from sys import version_info
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import InvalidParameter, __version__
from ..extend import work
from ..extend.wording import cut, install_command
from .executor import Executor, lost
from .job import Chunk, Job, Rows, warm

if TYPE_CHECKING:
    from distributed import Client, Future

CLUSTER_CHUNK, TASKS_MAX = 50, 900_000
TASKS_PER_WORKER = 2  # at a time: one that runs, and one that waits for it
WORKERS_COUNTED_EVERY = 5.0  # seconds
CONNECTED_WITHIN, FOUND_WITHIN = 10, 60  # seconds: until a scheduler answers, and until a worker does
PACKAGES = ("numpy", "scipy", "python-flint", "distributed")  # rows are the same where these are

Stamp = tuple[tuple[str, str], ...]


class Answered(NamedTuple):
    """The rows of a chunk, and what the worker that found them runs."""

    rows: tuple[Rows, ...]
    stamp: Stamp


class Cluster(Executor):
    """The cluster of a scheduler, by its address or by a client of one's own, which stays open."""

    def __init__(self, scheduler: object) -> None:
        self._scheduler = scheduler
        _distributed()

    def rows_per_task(self, rows: int) -> int:
        return max(CLUSTER_CHUNK, -(-rows // TASKS_MAX))

    def run(self, job: Job, chunks: Iterator[Chunk]) -> Generator[Rows, None, None]:
        client, own = _connected(self._scheduler)
        try:
            _check_first(client)
            yield from _Window(client, job, chunks).rows()
        finally:
            if own:
                with suppress(Exception):
                    client.close()


class _Window:
    """The chunks that are with the cluster at the moment."""

    def __init__(self, client: Client, job: Job, chunks: Iterator[Chunk]) -> None:
        self._client, self._job, self._chunks = client, job, chunks
        self._chunk_of: dict[Future, Chunk] = {}
        self._suspects: deque[Chunk] = deque()
        self._alone = False  # whether only suspects are left, which are asked one at a time
        self._room, self._counted = TASKS_PER_WORKER, 0.0

    def rows(self) -> Iterator[Rows]:
        """The rows of all chunks, as they come."""
        done = _distributed().as_completed([], loop=self._client.loop, raise_errors=False)
        try:
            self._fill(done)
            while self._chunk_of:
                future = next(done)
                chunk = self._chunk_of.pop(future)
                yield from self._taken(future, chunk)
                self._fill(done)
        finally:
            with suppress(Exception):
                self._client.cancel(list(self._chunk_of), force=True)

    def _fill(self, done: Any) -> None:
        now = time.monotonic()
        if now - self._counted > WORKERS_COUNTED_EVERY:
            with suppress(OSError):
                self._room = TASKS_PER_WORKER * max(len(self._client.nthreads()), 1)
            self._counted = now
        chunks = list(islice(self._chunks, max(self._room - len(self._chunk_of), 0)))
        if not chunks and not self._chunk_of and self._suspects:
            self._alone, chunks = True, [self._suspects.popleft()]
        for chunk in chunks:
            future = self._client.submit(answered, self._job, chunk, pure=False)
            self._chunk_of[future] = chunk
            done.add(future)

    def _taken(self, future: Future, chunk: Chunk) -> Iterator[Rows]:
        """The rows of a future; where workers died of it, what is known of one that was asked alone."""
        if future.status == "finished":
            found: Answered = future.result()
            check_stamp(found.stamp)
            yield from found.rows
            return
        error = future.exception() if future.status == "error" else None
        if not isinstance(error, _distributed().KilledWorker):
            raise _gone(self._client, error)
        if not self._alone:
            self._suspects.extend((each,) for each in chunk)
            return
        ((index, configuration),) = chunk
        yield lost(index, configuration, "every worker that was given it died, perhaps for lack of memory")


def answered(job: Job, chunk: Chunk) -> Answered:
    """What a worker does; one chunk at a time in a process, however many threads it has."""
    with _turn():
        return Answered(job.answers(chunk), stamp())


@cache
def _turn() -> threading.Lock:
    """The lock of this process, whose first use loads what most questions need."""
    warm()
    return threading.Lock()


@cache
def stamp() -> Stamp:
    """The versions that decide whether rows are the same."""
    found = [("python", f"{version_info.major}.{version_info.minor}"), ("tightrope", __version__)]
    for name in PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            found.append((name, "none"))
    return tuple(found)


def check_stamp(theirs: Stamp) -> None:
    """Refuses a worker with other versions."""
    for (name, here), (_, there) in zip(stamp(), theirs, strict=True):
        if here != there:
            raise InvalidParameter(
                f"a worker has {name} {there}, and this process {here}: install the same version on both"
            )


def _check_first(client: Client) -> None:
    """Waits until a worker says which versions it has."""
    future = client.submit(stamp, pure=False)
    try:
        check_stamp(future.result(timeout=work.patience(FOUND_WITHIN)))
    except TimeoutError:
        address = client.scheduler.address
        raise ConnectionError(
            f"no worker answered within {FOUND_WITHIN} s: start one with dask worker {address} --nthreads 1"
        ) from None
    except InvalidParameter:
        raise
    except Exception as error:
        raise _gone(client, error) from None


def _gone(client: Client, error: BaseException | None) -> ConnectionError:
    """Why nothing more comes from a cluster."""
    if error is None:
        return ConnectionError(f"the scheduler at {client.scheduler.address} is gone; what was answered is kept")
    told = " ".join(str(error).split())
    if isinstance(error, ImportError) or "deserializ" in told:
        return ConnectionError(f"scheduler and workers need what this process has, with the same versions: {told:.200}")
    return ConnectionError(f"the cluster failed: {type(error).__name__}: {told:.200}")


def _connected(scheduler: object) -> tuple[Client, bool]:
    """A client, and whether it was made here."""
    distributed = _distributed()
    if isinstance(scheduler, distributed.Client):
        return scheduler, False
    if not isinstance(scheduler, str) or "://" not in scheduler:
        raise InvalidParameter(f"scheduler is an address such as tcp://10.0.0.1:8786, not {cut(scheduler)}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions: told in one line when a worker answers
            return distributed.Client(scheduler, timeout=CONNECTED_WITHIN, set_as_default=False), True
    except (OSError, TimeoutError, ValueError) as error:
        told = " ".join(str(error).split())
        raise ConnectionError(f"no scheduler answers at {scheduler}: {told:.120}") from None


def _distributed() -> Any:
    """The module, or what to install."""
    try:
        import distributed
    except ImportError:
        raise InvalidParameter(f"a cluster needs Dask: {install_command('sweep')}") from None
    return distributed
