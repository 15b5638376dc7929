"""A process forks only while no connection of its ledgers is in use, and the new process gets none along.

SQLite counts the locks of a process in its memory, which a fork copies, while the kernel copies none of them: a child
that opens the same file believes that it holds locks, does not take them, and what it commits is lost when its parent
removes the log that nobody seems to use. The turn of a writer (a lock of an open file) would be kept by the child for
as long as it lives. So a fork waits until no thread of this process is in a transaction, and all connections are closed
before it; both processes open new ones.
Reference: sqlite.org/howtocorrupt.html, 2.6 (Carrying an open database connection across a fork).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol
from weakref import WeakSet


class Disposable(Protocol):
    """What has connections: an engine."""

    def dispose(self) -> None:
        """Closes those that are not in use."""


class ForkGate:
    """Counts connections in use; a fork waits for them. One is nested in another without waiting."""

    def __init__(self) -> None:
        self._mine = threading.local()
        self._watched: WeakSet[Disposable] = WeakSet()
        self._renew()

    def _renew(self) -> None:
        self._changed = threading.Condition()
        self._used, self._forking = getattr(self._mine, "used", 0), False

    def watch(self, each: Disposable) -> None:
        """Closes its connections before every fork."""
        with self._changed:
            self._watched.add(each)

    @contextmanager
    def using(self) -> Iterator[None]:
        """While this thread has a connection, or a turn, no other one forks."""
        mine = getattr(self._mine, "used", 0)
        with self._changed:
            while self._forking and not mine:
                self._changed.wait()
            self._used += 1
            self._mine.used = mine + 1
        try:
            yield
        finally:
            with self._changed:
                self._used -= 1
                self._mine.used = mine
                self._changed.notify_all()

    def before(self) -> None:
        """Waits for all other threads, closes what is open, and lets nobody begin."""
        with self._changed:
            while self._forking:  # two threads fork at once
                self._changed.wait()
            self._forking = True
            while self._used > getattr(self._mine, "used", 0):
                self._changed.wait()
            for each in self._watched:
                each.dispose()

    def parent(self) -> None:
        """Goes on."""
        with self._changed:
            self._forking = False
            self._changed.notify_all()

    def child(self) -> None:
        """Begins anew: no other thread is here."""
        self._renew()


GATE = ForkGate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=GATE.before, after_in_parent=GATE.parent, after_in_child=GATE.child)
