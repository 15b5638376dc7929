"""A process forks only while no connection of its ledgers is in use, and the new process gets none along.

SQLite counts the locks of a process in its memory, which a fork copies, while the kernel copies none of them: a child
that opens the same file believes that it holds locks, does not take them, and what it commits is lost when its parent
removes the log that nobody seems to use. The turn of a writer (a lock of an open file) would be kept by the child for
as long as it lives. So a fork waits until no thread of this process is in a transaction, and all connections are closed
before it; both processes open new ones. Locks of other kinds that a thread holds would stay locked in the child, where
that thread is not: they are made anew there.

An interrupt (a signal's handler that raises) may come between any two steps of Python's, also between the end of a
`with` and the first step of its __exit__. So a use is a stream, whose __exit__ is the interpreter's own and leaves no
gap, nothing is counted, and every step of a fork can be taken again.
Reference: sqlite.org/howtocorrupt.html, 2.6 (Carrying an open database connection across a fork).
"""

from __future__ import annotations

import _thread
import os
import signal
import threading
from collections.abc import Iterable
from io import BytesIO
from secrets import token_hex
from time import sleep
from typing import Protocol
from weakref import WeakSet, ref

GATE_SECONDS = 0.001  # between two looks


class Disposable(Protocol):
    """What has connections: an engine."""

    def dispose(self) -> None:
        """Closes those that are not in use."""


class Renewable(Protocol):
    """What has locks."""

    def renew(self) -> None:
        """Makes them anew: whoever held them is not here."""


class ForkGate:
    """Knows the connections in use; a fork waits for them. One is nested in another without waiting.

    process is a name of this process that no other one has or had: numbers of processes come again.
    """

    def __init__(self) -> None:
        self._watched: WeakSet[Disposable] = WeakSet()
        self._renewed: WeakSet[Renewable] = WeakSet()
        self._mine = threading.local()
        self._begin()

    def _begin(self) -> None:
        self.process = token_hex(16)
        self._guard = threading.Lock()
        self._uses = list(map(ref, self._own()))  # no function is called when one is gone: an interrupt would be lost
        self._forking = 0  # the thread that does
        self._interrupted: BaseException | None = None

    def watch(self, disposable: Disposable) -> None:
        """Closes its connections before every fork."""
        with self._guard:
            self._watched.add(disposable)

    def renew(self, renewable: Renewable) -> None:
        """Makes its locks anew in every process that is forked from this one."""
        with self._guard:
            self._renewed.add(renewable)

    def _own(self) -> list[BytesIO]:
        return _open(getattr(self._mine, "uses", ()))

    def using(self) -> BytesIO:
        """Until it is closed, as `with` does, this thread has a connection, or a turn, and no other one forks."""
        use = BytesIO()
        try:
            while not self._began(use):
                sleep(GATE_SECONDS)
            return use  # an interrupt may come here too
        except BaseException:
            use.close()  # whoever keeps the traceback keeps no fork waiting
            raise

    def _began(self, use: BytesIO) -> bool:
        own = self._own()
        with self._guard:
            if self._forking not in (0, threading.get_ident()) and not own:
                return False
            self._uses = list(map(ref, [*_open(self._uses), use]))
        self._mine.uses = list(map(ref, [*own, use]))
        return True

    def before(self) -> None:
        """Waits for all other threads, closes what is open, and lets nobody begin."""
        while True:
            try:
                if self._closed():
                    return
                sleep(GATE_SECONDS)
            except BaseException as error:  # a hook that raises is passed over, and the fork would not have waited
                self._interrupted = error.with_traceback(None)  # its frames would keep connections open

    def _closed(self) -> bool:
        with self._guard:
            if self._forking not in (0, threading.get_ident()):  # two threads fork at once
                return False
            self._forking = threading.get_ident()
            used = _open(self._uses)
            watched = list(self._watched)
        if len(used) > len(self._own()):
            return False
        for disposable in watched:
            disposable.dispose()
        return True

    def parent(self) -> None:
        """Goes on; an interrupt that came while the fork waited comes now."""
        interrupted, self._interrupted = self._interrupted, None
        self._forking = 0
        if isinstance(interrupted, KeyboardInterrupt):  # in a hook it would be passed over again
            _thread.start_new_thread(_interrupt, ())
        elif interrupted is not None:
            raise interrupted  # the interpreter says that it was ignored

    def child(self) -> None:
        """Begins anew: no other thread is here."""
        self._begin()
        for renewable in list(self._renewed):
            renewable.renew()


def _open(uses: Iterable[ref[BytesIO]]) -> list[BytesIO]:
    return [use for each in uses if (use := each()) is not None and not use.closed]


def _interrupt() -> None:
    sleep(GATE_SECONDS)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


GATE = ForkGate()
if hasattr(os, "register_at_fork"):
    for _ in range(
        2
    ):  # an interrupt may come before the first step of a hook: what it passes over is done by the other
        os.register_at_fork(before=GATE.before, after_in_parent=GATE.parent, after_in_child=GATE.child)
