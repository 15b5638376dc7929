"""Spenders as processes that are killed and begun again."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import wait
from pathlib import Path
from random import Random
from time import monotonic

from tests.ledger import spender

SPENDERS = 8
PATIENCE = 600.0  # seconds, for a process that is not stuck
_CONTEXT = multiprocessing.get_context("forkserver")  # what they import is loaded once: a new life begins at once


class Team:
    """Eight spenders on one ledger."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url, self._folder, self._stop = url, folder, folder / "stop"
        self._processes = [self._started(number) for number in range(SPENDERS)]
        self.kills = 0

    def _path(self, number: int) -> Path:
        return self._folder / f"spender{number}"

    def _started(self, number: int) -> multiprocessing.process.BaseProcess:
        process = _CONTEXT.Process(target=spender.spends, args=(self._url, self._path(number), self._stop), daemon=True)
        process.start()
        return process

    @property
    def journals(self) -> list[spender.Journal]:
        """What each has written, over all its lives."""
        return [spender.Journal(self._path(number)) for number in range(SPENDERS)]

    def done(self, event: str) -> int:
        """How often it was written, by all."""
        return sum(len(each.of(event)) for each in self.journals)

    def watch(self, seconds: float) -> None:
        """For so long; no spender ends by itself."""
        ended = wait([each.sentinel for each in self._processes], seconds)
        assert not ended, "a spender failed: see what it printed"

    def kill(self, random: Random) -> None:
        """One of them, at whatever it does; another takes its place."""
        number = random.randrange(SPENDERS)
        self._processes[number].kill()
        self._processes[number].join()
        self._processes[number] = self._started(number)
        self.kills += 1

    def end(self) -> None:
        """Each ends its job and goes; none is stuck."""
        self._stop.touch()
        until = monotonic() + PATIENCE
        for each in self._processes:
            each.join(max(until - monotonic(), 0.0))
        assert [each.exitcode for each in self._processes] == [0] * SPENDERS

    def kill_all(self) -> None:
        for each in self._processes:
            each.kill()


@contextmanager
def team(url: str, folder: Path) -> Iterator[Team]:
    """Spenders on a new ledger; nothing of them is left."""
    _CONTEXT.set_forkserver_preload(["tests.ledger.warm"])
    spender.begun(url)
    found = Team(url, folder)
    try:
        yield found
        found.end()
    finally:
        found.kill_all()
