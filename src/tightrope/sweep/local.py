"""Processes of this machine, each with one thread of numpy, fed by a thread of its own.

A process is started by a command of its own, not forked: no lock of another thread is copied, a script needs no guard
for expressions, and the environment holds before numpy is loaded. It answers row by row, so that where it dies or does
not come to an end, exactly one configuration is lost, with a message; another process takes the rest of the chunk.
A process ends when its input does, so that none is left behind, whatever happens to this one.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import suppress
from queue import Empty, Queue
from signal import Signals
from time import monotonic
from typing import IO, Any

from .. import InvalidParameter
from ..extend import work
from .executor import Executor, lost
from .job import Chunk, Job, Rows
from .recipe import Maker

LOCAL_CHUNK_MAX, CHUNKS_PER_WORKER = 50, 16
KILLED_FACTOR, KILLED_SECONDS = 3.0, 30.0  # of its seconds, and so many more: then a process is ended
LOOKED_EVERY, ENDING_EVERY = 0.5, 0.01  # seconds
ROWS_WAITING = 1000  # that nobody has taken yet: then processes wait
ENDED_WITHIN = 5.0  # seconds, after which a process that was told to end is killed
INSIDE = "TIGHTROPE_SWEEP_WORKER"
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from tightrope.sweep.worker import serve; serve()"
NOT_FOUND = "no other process can find it: define it at the top level of a module, or use workers=1"


class LocalProcesses(Executor):
    """So many processes of this machine."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def rows_per_task(self, rows: int) -> int:
        return min(max(rows // (self.workers * CHUNKS_PER_WORKER), 1), LOCAL_CHUNK_MAX)

    def run(self, job: Job, chunks: Iterator[Chunk]) -> Generator[Rows, None, None]:
        feed = Feed(chunks)
        order = _order_of(job)
        hands = [Hand(order, job.seconds, feed) for _ in range(self.workers)]
        for hand in hands:
            hand.start()
        try:
            at_work, looked = len(hands), monotonic()
            while at_work:
                if monotonic() - looked > LOOKED_EVERY:
                    looked = monotonic()
                    for hand in hands:
                        hand.look()
                try:
                    found = feed.done.get(timeout=LOOKED_EVERY)
                except Empty:
                    continue
                if isinstance(found, BaseException):
                    raise found
                if found is None:
                    at_work -= 1
                else:
                    yield found
        finally:
            feed.close()
            for hand in hands:
                hand.stop()
            while any(each.is_alive() for each in hands):  # one may wait for room in the queue
                with suppress(Empty):
                    feed.done.get(timeout=ENDING_EVERY)


class Feed:
    """Chunks for many threads, each chunk once, and the queue of what they found: rows, an error, None at the end."""

    def __init__(self, chunks: Iterator[Chunk]) -> None:
        self._chunks = chunks
        self._lock = threading.Lock()
        self._closed = False
        self.done: Queue[Rows | BaseException | None] = Queue(ROWS_WAITING)

    def take(self) -> Chunk | None:
        """The next chunk; None at the end."""
        with self._lock:
            return None if self._closed else next(self._chunks, None)

    def close(self) -> None:
        """No more chunks."""
        self._closed = True


class Hand(threading.Thread):
    """One process at a time, and the thread that feeds it."""

    def __init__(self, order: bytes, seconds: float, feed: Feed) -> None:
        super().__init__(daemon=True)
        self._order, self._feed = order, feed
        self._patience = KILLED_FACTOR * seconds + KILLED_SECONDS
        self._process: subprocess.Popen[bytes] | None = None
        self._since = monotonic()
        self._busy = self._overdue = self._stopped = False

    def run(self) -> None:
        """Chunk by chunk; what goes wrong with the process itself is told to whoever waits."""
        try:
            while (chunk := self._feed.take()) is not None:
                self._answer(deque(chunk))
            self._feed.done.put(None)
        except BaseException as error:
            self._feed.done.put(None if self._stopped else error)
        finally:
            self._end()

    def look(self) -> None:
        """Ends a process that does not come to an end by itself."""
        if self._busy and monotonic() - self._since > work.patience(self._patience):
            self._overdue = True
            self._kill()

    def stop(self) -> None:
        """Ends the process, whatever it is doing."""
        self._stopped = True
        self._kill()

    def _answer(self, waiting: deque[tuple[int, Any]]) -> None:
        while waiting:
            process = self._ready()
            try:
                _send(process.stdin, tuple(waiting))
                while waiting:
                    self._since, self._busy = monotonic(), True
                    rows: Rows = _received(process.stdout)
                    self._busy = False
                    waiting.popleft()
                    self._feed.done.put(rows)
            except (EOFError, OSError, pickle.UnpicklingError):
                if self._stopped:
                    return
                self._busy = False
                index, configuration = waiting.popleft()
                self._feed.done.put(lost(index, configuration, self._why(process), monotonic() - self._since))
                self._end()

    def _ready(self) -> subprocess.Popen[bytes]:
        """The process, started where there is none."""
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()  # one that died between two chunks costs no row
        environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "1"), INSIDE: "1"}
        self._overdue = False
        self._process = process = subprocess.Popen(
            [sys.executable, "-c", START, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # an interrupt from the keyboard is for this process alone
        )
        if self._stopped:
            self._kill()
        try:
            _send(process.stdin, self._order)
            refused = _received(process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            raise OSError(f"a process of the sweep ended before it was ready ({_code(process.wait())})") from None
        if refused is not None:
            raise InvalidParameter(str(refused))
        return process

    def _why(self, process: subprocess.Popen[bytes]) -> str:
        if self._overdue:
            return f"did not come to an end by itself within {self._patience:.0f} s, and was killed"
        return f"its process died ({_code(process.wait())})"

    def _kill(self) -> None:
        process = self._process  # its thread may let go of it meanwhile
        if process is not None:
            process.kill()

    def _end(self) -> None:
        """Closes its input, upon which it ends, and waits until it is gone."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        try:
            process.wait(ENDED_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _order_of(job: Job) -> bytes:
    """The job as other processes read it, with the script that a function of it is in."""
    if os.environ.get(INSIDE):
        raise InvalidParameter("a sweep inside a process of a sweep: put the call beneath if __name__ == '__main__':")
    script = None
    if isinstance(job.make, Maker) and getattr(job.make.function, "__module__", None) == "__main__":
        script = getattr(sys.modules["__main__"], "__file__", None)
        if script is None or not os.path.isfile(script):
            raise InvalidParameter(f"make is a function that was typed in, and {NOT_FOUND}")
    try:
        return pickle.dumps((script, pickle.dumps(job)))
    except (pickle.PicklingError, AttributeError, TypeError):
        raise InvalidParameter(f"make is a lambda or a function inside another one, and {NOT_FOUND}") from None


def _send(pipe: IO[bytes] | None, item: object) -> None:
    assert pipe is not None
    pickle.dump(item, pipe)
    pipe.flush()


def _received(pipe: IO[bytes] | None) -> Any:
    assert pipe is not None
    return pickle.load(pipe)


def _code(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        name = Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"{name}, perhaps for lack of memory" if name == "SIGKILL" else name
