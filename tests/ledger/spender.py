"""A process that spends as a team's jobs do, and writes down what it did: to be killed at any moment, and begun again.

Its journal is a file of its own, of which every line is on disk before the next thing is done. In its next life it asks
once more, with the same keys, for what had no end in the one before.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import tightrope.ledger as tl
from tightrope.ledger.ledger import Ledger

TOP = "all"  # above all budgets: it has room for everything
TERMS: dict[str, Any] = {"relation": "add_remove", "unit": "one person", "delta": 1e-6}
EPSILON, EPSILON_OF_ALL = 3.0, 1000.0
JOBS = ("Gaussian(sigma=15.0)", "Gaussian(sigma=40.0)", "Laplace(scale=20.0)", "PureDP(epsilon=0.05)")
WAYS = ("spend", "spend", "claim", "claim", "cancel")
SECONDS = (1.5, 3600.0, 3600.0, 3600.0)  # after which a reservation ends by itself
ENDS = ("committed", "late", "refused", "lost", "cancelled")  # of a key
Entry = Mapping[str, Any]


class Journal:
    """Lines of one spender, over all its lives; a line that a kill cut short is none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries: list[Entry] = []
        if path.exists():
            self.entries = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1] if line.endswith(b"}")]

    @contextmanager
    def writing(self) -> Iterator[Journal]:
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(self._file, b"\n")  # after what may be half a line
        try:
            yield self
        finally:
            os.close(self._file)

    def write(self, event: str, key: str, **more: object) -> None:
        entry = {"event": event, "key": key, **more}
        os.write(self._file, json.dumps(entry).encode() + b"\n")
        os.fsync(self._file)
        self.entries.append(entry)

    def of(self, *events: str) -> list[Entry]:
        return [each for each in self.entries if each["event"] in events]

    def unfinished(self) -> list[Entry]:
        ended = {each["key"] for each in self.of(*ENDS)}
        return [each for each in self.of("asked") if each["key"] not in ended]


def spends(url: str, path: Path, stop: Path) -> None:
    """One life: first what the last one left, then new jobs until the file `stop` is there."""
    with Journal(path).writing() as journal, opened(url) as ledger:
        for asked in journal.unfinished():
            insisting(ledger, journal, asked)
        random, number = Random(os.urandom(8)), len(journal.of("asked"))
        while not stop.exists():
            asked = {
                "budget": f"b{len(journal.of('refused'))}",  # one after the other is used up
                "job": random.choice(JOBS),
                "way": random.choice(WAYS),
                "ttl": random.choice(SECONDS),
            }
            key, number = f"{path.stem}-{number}", number + 1
            journal.write("asked", key, **asked)
            insisting(ledger, journal, journal.entries[-1])


@contextmanager
def opened(url: str) -> Iterator[Ledger]:
    """The ledger, as soon as its database answers."""
    while True:
        try:
            ledger = tl.open(url)
        except tl.Unavailable:
            continue
        with ledger:
            yield ledger
        return


def insisting(ledger: Ledger, journal: Journal, asked: Entry) -> None:
    """Asks until there is an answer, and writes down which."""
    while True:
        try:
            attempted(ledger, journal, asked)
        except tl.Unavailable:
            continue
        except tl.NotFound:
            with suppress(tl.Unavailable):
                made = asked["budget"]
                ledger.create(made, parent=TOP, epsilon=EPSILON, key=f"create-{made}", **TERMS)
            continue
        except tl.BudgetExhausted as refused:
            journal.write("refused", asked["key"], id=refused.reservation)
        except tl.Claimed:  # by a life before this, which may have run it
            journal.write("lost", asked["key"])
        except tl.Cancelled:
            journal.write("cancelled", asked["key"])
        except tl.WrongState:  # its time was over before this could say so
            journal.write("late", asked["key"])
        return


def attempted(ledger: Ledger, journal: Journal, asked: Entry) -> None:
    """The job, in its way; what it does with data is a line of the journal."""
    budget, key = asked["budget"], asked["key"]
    if asked["way"] == "spend":
        with ledger.spend(budget, asked["job"], key, ttl=asked["ttl"]) as found:
            journal.write("ran", key, id=found.id)
    else:
        found = ledger.reserve({budget: asked["job"]}, key, ttl=asked["ttl"])
        if asked["way"] == "cancel":
            found.cancel()
            journal.write("cancelled", key, id=found.id)
            return
        if not any(each["key"] == key for each in journal.of("ran")):  # in this life or before it
            found.claim()
            journal.write("ran", key, id=found.id)
        found.commit()
    journal.write("committed", key, id=found.id, document=dict(found.document), receipts=list(ledger.receipts))


def begun(url: str) -> None:
    """A ledger for spenders."""
    with tl.init(url) as ledger:
        ledger.create(TOP, epsilon=EPSILON_OF_ALL, **TERMS)
