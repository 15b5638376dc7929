"""A process of a sweep: reads chunks of configurations from its input, and writes the rows of each one as it has them.

What a function of the user prints goes to standard error, so that the output holds rows alone. When the input ends,
whoever asked is gone, and so is this process, whatever it is doing.
"""

from __future__ import annotations

import os
import pickle
import runpy
import sys
import threading
from queue import SimpleQueue
from typing import BinaryIO

from .job import Chunk, Job, warm


def serve() -> None:
    """Until the input ends."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    orders = sys.stdin.buffer
    job = _job_of(pickle.load(orders), out)
    waiting: SimpleQueue[Chunk] = SimpleQueue()
    threading.Thread(target=_listen, args=(orders, waiting), daemon=True).start()
    while True:
        for index, configuration in waiting.get():
            _write(out, job.answer(index, configuration))


def _job_of(order: bytes, out: BinaryIO) -> Job:
    """The job, with everything loaded that it needs; why not, where it cannot be read, and the end."""
    try:
        script, told = pickle.loads(order)
        if script is not None:
            made = runpy.run_path(script, run_name="__tightrope_worker__")
            vars(sys.modules["__main__"]).update(
                {name: each for name, each in made.items() if not name.startswith("__")}
            )
        job: Job = pickle.loads(told)
        warm()
    except Exception as error:
        _write(out, f"a process of the sweep cannot read make: {type(error).__name__}: {error}")
        os._exit(1)
    _write(out, None)
    return job


def _listen(orders: BinaryIO, waiting: SimpleQueue[Chunk]) -> None:
    try:
        while True:
            waiting.put(pickle.load(orders))
    except (EOFError, OSError, pickle.UnpicklingError):
        os._exit(0)


def _write(out: BinaryIO, item: object) -> None:
    try:
        pickle.dump(item, out)
        out.flush()
    except OSError:
        os._exit(0)
