"""How a ledger holds under load: clients that spend from one budget at once, as fast as they can.

Usage: python -m benchmarks.ledger_load [--database sqlite|postgresql|http] [--clients 8] [--seconds 20] [--kind rdp]
                                        [--folder DIR]
Every client is a process of its own, which reserves a job, claimed at once, and commits it: two write transactions.
http is a server over SQLite. Printed as JSON: transactions a second, seconds that one took (median, p99, longest), what
the slowest client had of the mean, and the load of the machine when it began. Exit code 1 where that is less than
promised.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from typing import Any

import tightrope.ledger as tl
from tests.ledger.cluster import Cluster

BUDGETS: dict[str, dict[str, Any]] = {  # so large that no run ends them
    "rdp": {"epsilon": 1000.0, "delta": 1e-6},
    "zcdp": {"rho": 1000.0},
    "basic": {"epsilon": 1000.0, "delta": 1e-6},
}
JOBS = {"rdp": "Gaussian(sigma=200)", "zcdp": "Gaussian(sigma=200)", "basic": "PureDP(epsilon=0.001)"}
SERVER = """
import sys
from tightrope.ledger.server.serve import serve
serve(sys.argv[1], port=0, ready=lambda address: print(address, flush=True))
"""
SECONDS_P99, SHARE_MIN = 0.3, 0.5  # promised


@dataclass(frozen=True)
class Promise:
    """Write transactions a second with 8 clients on two cores; whether p99 and shares are promised too."""

    rate: float
    whole: bool = False


PROMISED = {"sqlite": Promise(100.0, True), "postgresql": Promise(50.0), "http": Promise(60.0)}


def client(pipe: Connection, url: str, token: str | None, name: str, job: str) -> None:
    """Spends from when it is told to until then; sends how long each transaction took."""
    with tl.open(url, token=token) as ledger, ledger.spend("load", job, f"{name}-first"):
        pass
    with tl.open(url, token=token) as ledger:
        pipe.send("ready")
        until = monotonic() + pipe.recv()
        taken: list[float] = []
        while (began := monotonic()) < until:
            reservation = ledger.reserve({"load": job}, f"{name}-{len(taken)}", start=True)
            between = monotonic()
            reservation.commit()
            taken += [between - began, monotonic() - between]
    pipe.send(taken)


@contextmanager
def address(database: str, kind: str, folder: Path) -> Iterator[tuple[str, str | None]]:
    """Of a new ledger with one budget, and a token where one is needed."""
    with ExitStack() as stack:
        if database == "postgresql":
            url = stack.enter_context(Cluster()).fresh()
        else:
            url = f"sqlite:///{folder / 'load.db'}"
        with tl.init(url) as ledger:
            ledger.create("load", kind=kind, relation="add_remove", unit="one person", **BUDGETS[kind])
            token = ledger.token("load", role="analyst", root="load") if database == "http" else None
        if database != "http":
            yield url, None
            return
        server = stack.enter_context(
            subprocess.Popen([sys.executable, "-c", SERVER, url], stdout=subprocess.PIPE, text=True)
        )
        stack.callback(server.terminate)
        assert server.stdout is not None
        yield server.stdout.readline().strip(), token


def measured(url: str, token: str | None, kind: str, clients: int, seconds: float) -> list[list[float]]:
    """The seconds of each transaction, client by client; all begin when the last is ready."""
    spawn = multiprocessing.get_context("spawn")
    pipes = []
    for number in range(clients):
        ours, theirs = spawn.Pipe()
        spawn.Process(target=client, args=(theirs, url, token, f"client-{number}", JOBS[kind])).start()
        theirs.close()
        pipes.append(ours)
    for pipe in pipes:
        assert pipe.recv() == "ready"
    for pipe in pipes:
        pipe.send(seconds)
    return [pipe.recv() for pipe in pipes]


def summary(taken: list[list[float]], seconds: float) -> dict[str, float]:
    """What is printed."""
    every = sorted(each for mine in taken for each in mine)
    mean = len(every) / len(taken)
    return {
        "transactions": len(every),
        "per_second": round(len(every) / seconds, 1),
        "median": round(every[len(every) // 2], 4),
        "p99": round(every[int(0.99 * len(every))], 4),
        "longest": round(every[-1], 4),
        "least_share": round(min(map(len, taken)) / mean, 3),
    }


def short(found: dict[str, float], promise: Promise) -> list[str]:
    """What is less than promised."""
    missed = [] if found["per_second"] >= promise.rate else [f"{promise.rate:g} transactions a second"]
    if promise.whole and found["p99"] > SECONDS_P99:
        missed.append(f"p99 below {SECONDS_P99:g} s")
    if promise.whole and found["least_share"] < SHARE_MIN:
        missed.append(f"every client at least {SHARE_MIN:g} of the mean")
    return missed


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--database", choices=list(PROMISED), default="sqlite")
    reader.add_argument("--clients", type=int, default=8)
    reader.add_argument("--seconds", type=float, default=20.0)
    reader.add_argument("--kind", choices=list(BUDGETS), default="rdp")
    reader.add_argument("--folder", help="where the file is, for another disk")
    given = reader.parse_args()
    load = os.getloadavg()[0]
    with (
        tempfile.TemporaryDirectory(dir=given.folder) as folder,
        address(given.database, given.kind, Path(folder)) as (url, token),
    ):
        found = summary(measured(url, token, given.kind, given.clients, given.seconds), given.seconds)
        if given.database != "http":
            with tl.open(url) as ledger:
                ledger.verify()
    missed = short(found, PROMISED[given.database])
    options = {name: getattr(given, name) for name in ("database", "kind", "clients", "seconds")}
    print(json.dumps({**options, "cores": os.cpu_count(), "load_before": load, **found, "short_of": missed}, indent=2))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
