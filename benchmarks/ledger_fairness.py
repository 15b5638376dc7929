"""What a colleague waits while an analyst sends as much as a token may: a status, and a job whose price is known.

Usage: python -m benchmarks.ledger_fairness [--seconds 20] [--rate 50]
A server over SQLite in a process of its own; the analyst reserves another job each time, so that each needs a price. By
the clock, so that only a comparison with the colleague alone, in the same run, says something on a busy machine.
Printed as JSON: seconds (median, p99, longest), alone and beside the analyst, and what the analyst was answered.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from time import monotonic, sleep

import tightrope.ledger as tl
from benchmarks.ledger_load import BUDGETS, SERVER

EVERY = 0.1  # seconds between two questions of the colleague
KNOWN = "Gaussian(sigma=200)"


def colleague(url: str, token: str, seconds: float, name: str) -> dict[str, dict[str, float]]:
    """How long each kind of question took."""
    taken: dict[str, list[float]] = {"status": [], "reserve": []}
    with tl.open(url, token=token) as ledger:
        ledger.reserve({"load": KNOWN}, f"{name}-first").cancel()
        until, count = monotonic() + seconds, 0
        while monotonic() < until:
            began = monotonic()
            ledger.status("load")
            between = monotonic()
            ledger.reserve({"load": KNOWN}, f"{name}-{count}")
            taken["status"].append(between - began)
            taken["reserve"].append(monotonic() - between)
            count += 1
            sleep(EVERY)
    return {kind: summary(values) for kind, values in taken.items()}


def summary(values: list[float]) -> dict[str, float]:
    """Median, p99 and the longest."""
    ranked = sorted(values)
    return {
        "median": round(ranked[len(ranked) // 2], 3),
        "p99": round(ranked[int(0.99 * len(ranked))], 3),
        "longest": round(ranked[-1], 3),
    }


class Analyst:
    """Sends jobs that were never priced, so many a second, whatever becomes of them."""

    def __init__(self, url: str, token: str, rate: float) -> None:
        self._url, self._token, self._rate = url, token, rate
        self._over = threading.Event()
        self._guard = threading.Lock()
        self._number = 0
        self.answers: Counter[str] = Counter()
        self._threads = [threading.Thread(target=self._send) for _ in range(32)]

    def __enter__(self) -> Analyst:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _send(self) -> None:
        from http.client import HTTPConnection
        from urllib.parse import urlsplit

        place = urlsplit(self._url)
        while not self._over.wait(len(self._threads) / self._rate):
            with self._guard:
                self._number += 1
                number = self._number
            body = json.dumps({"jobs": {"load": f"Laplace(scale={1000 + number}).poisson(rate=0.01) * 10"}})
            headers = {
                "authorization": f"Bearer {self._token}",
                "content-type": "application/json",
                "idempotency-key": f"hard-{number}",
            }
            connection = HTTPConnection(place.hostname or "", place.port, timeout=120)
            try:
                connection.request("POST", "/v1/reservations", body, headers)
                status = str(connection.getresponse().status)
            except OSError as error:
                status = type(error).__name__
            finally:
                connection.close()
            with self._guard:
                self.answers[status] += 1


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--seconds", type=float, default=20.0)
    reader.add_argument("--rate", type=float, default=50.0)
    given = reader.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'load.db'}"
        with tl.init(url) as ledger:
            ledger.create("load", kind="rdp", relation="add_remove", unit="one person", **BUDGETS["rdp"])
            tokens = [ledger.token(name, role="analyst", root="load") for name in ("ana", "bo")]
        with subprocess.Popen([sys.executable, "-c", SERVER, url], stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            alone = colleague(address, tokens[1], given.seconds, "alone")
            with Analyst(address, tokens[0], given.rate) as analyst:
                beside = colleague(address, tokens[1], given.seconds, "beside")
            server.terminate()
    print(json.dumps({"alone": alone, "beside": beside, "analyst": dict(analyst.answers)}, indent=1))


if __name__ == "__main__":
    main()
