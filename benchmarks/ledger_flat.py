"""What a ledger costs as it grows: a job, a status, a page of jobs, the past, a full verification, and its memory.

Usage: python -m benchmarks.ledger_flat [--jobs 1000 10000 100000] [--kind rdp]
For each number of jobs a file of SQLite is filled (without waiting for the disk), and then asked as it is: seconds of a
processor and, of a verification in a process of its own, the largest memory that it held.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

from sqlalchemy import event

import tightrope.ledger as tl
from benchmarks.ledger_load import BUDGETS, JOBS
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.service import LocalService

REPEATED = 20
VERIFY = """
import json, resource, sys
from time import process_time
import tightrope.ledger as tl
with tl.open(sys.argv[1]) as ledger:
    began = process_time()
    found = ledger.verify()
    took = process_time() - began
print(json.dumps([took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, found["lines"]]))
"""


def seconds(work: Callable[[], object]) -> float:
    """Of a processor, once."""
    began = process_time()
    work()
    return process_time() - began


def filled(ledger: Ledger, kind: str, start: int, stop: int) -> None:
    """Jobs that are over, but for every hundredth."""
    for number in range(start, stop):
        reservation = ledger.reserve({"load": JOBS[kind]}, f"key-{number}", start=True, ttl=3e7)
        if number % 100:
            reservation.commit()


def measured(ledger: Ledger, url: str, kind: str, jobs: int) -> dict[str, float]:
    """The row of one size."""

    def milliseconds(work: Callable[[], object]) -> float:
        return round(1000 * median(seconds(work) for _ in range(REPEATED)), 2)

    keys = iter(range(10**9))
    row: dict[str, float] = {
        "jobs": jobs,
        "reserve_ms": milliseconds(lambda: ledger.reserve({"load": JOBS[kind]}, f"{jobs}-{next(keys)}")),
        "status_ms": milliseconds(lambda: ledger.status("load")),
        "page_ms": milliseconds(lambda: ledger.reservations("load", most=1000)),
        "history_s": round(seconds(lambda: ledger.history("load")), 2),
    }
    done = subprocess.run([sys.executable, "-c", VERIFY, url], stdout=subprocess.PIPE, check=True)
    took, held, lines = json.loads(done.stdout)
    return {**row, "verify_s": round(took, 2), "verify_mb": round(held), "lines": lines}


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--jobs", type=int, nargs="+", default=[1000, 10_000, 100_000])
    reader.add_argument("--kind", choices=list(BUDGETS), default="rdp")
    given = reader.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'load.db'}"
        with tl.init(url) as ledger:
            desk = ledger._desk
            assert isinstance(desk, LocalService)
            event.listen(desk.database.engine, "checkout", lambda raw, *_: raw.execute("PRAGMA synchronous=OFF"))
            ledger.create("load", kind=given.kind, relation="add_remove", unit="one person", **BUDGETS[given.kind])
            count = 0
            for jobs in sorted(given.jobs):
                filled(ledger, given.kind, count, jobs)
                count = jobs
                print(json.dumps(measured(ledger, url, given.kind, jobs)), flush=True)
    print(json.dumps({"held_mb_here": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)}))


if __name__ == "__main__":
    main()
