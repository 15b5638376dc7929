"""What the processes that answer for a server share: how they are started, what they may use, and how they write.

A process is started by a command, not forked, with one thread of numpy and the paths of whoever starts it; its answers
are lines of JSON, and it ends when nobody reads them any more.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import BinaryIO

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ADDRESSES_MAX = 4 << 30  # bytes of addresses: what asks for more is refused


def cores() -> int:
    """How many processes this one may run at a time."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def command(module: str) -> list[str]:
    """What starts main() of a module of this package in a process of its own."""
    begin = f"import json, sys; sys.path[:] = json.loads(sys.argv.pop()); from {module} import main; main()"
    return [sys.executable, "-c", begin, json.dumps(sys.path)]


def environment() -> dict[str, str]:
    """That of this process, with one thread of numpy."""
    return {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}


def limited(nice: int) -> None:
    """Makes this process less urgent than others by so much, with no more memory than one answer may take."""
    try:
        import resource

        os.nice(nice)
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES_MAX, ADDRESSES_MAX))
    except (ImportError, OSError, ValueError):
        return


def held() -> int:
    """The most memory that this process has held so far; 0 where nobody knows."""
    # Not by getrusage on Linux: that counts what whoever started this process held when it did.
    with suppress(OSError), open("/proc/self/status", encoding="ascii", errors="replace") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def answers() -> BinaryIO:
    """Where answers go: the output of this process, which is its own from here on."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what is printed by accident is no answer
    return out


def write(out: BinaryIO, item: object) -> None:
    """One line; where nobody reads it, this process ends."""
    try:
        out.write(json.dumps(item, allow_nan=False).encode() + b"\n")
        out.flush()
    except OSError:
        os._exit(0)
