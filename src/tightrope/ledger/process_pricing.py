"""Prices worked out in processes of their own, so that no job that somebody sends can hurt the server.

A process is started by a command, not forked, with one thread of numpy and a limit of memory; it ends by itself when
the server does. Work units end a price, whatever the load of the machine. A process that worked for much longer than
these are rated at is ended, and its job refused; one that a busy machine gave no time is ended later, and its job may
be asked for again. A job whose process died is refused in one line.
Threads that ask wait for a free process, so many and so long; others are told that the ledger is busy.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from queue import Empty, LifoQueue
from time import monotonic
from typing import Any

from .. import InvalidParameter, UnsupportedMechanism
from ..extend import processes, work
from .errors import Unavailable
from .filters.base import BudgetAxis, Design, Price, Wanted
from .pricing import PRICE_SECONDS, Pricer
from .service import again

PRICE_PATIENCE = 2.0 * PRICE_SECONDS  # by the clock, of a process that the machine gave its time
DESIGN_SECONDS = 60.0
BUSY_FACTOR = 8.0  # so many times as long, where the machine gave it less than this share of it
BUSY_SHARE = 0.5
PRICING_READY_SECONDS = 60.0
PRICING_HELD_MAX = 700 << 20  # bytes: a process that held more is replaced by a new one
TURN_SECONDS = 30.0  # for which a job waits for a process
PRICES_WAITING_MAX = 32  # jobs that wait, in threads that nothing else needs
PROCESS_DIED = "the process that worked out what it costs ended (too much memory, perhaps): a simpler job may do"
PROCESS_LATE = (
    f"what it costs was not found in {PRICE_PATIENCE:g} seconds, and the attempt was ended: a simpler job may do"
)
DESIGN_LATE = f"the budget could not be worked out in {DESIGN_SECONDS:g} seconds: a simpler plan may do"
MACHINE_BUSY = "the machine is too busy to work out what it costs: ask again in a moment, with the same key"
PRICES_BUSY = "all processes that work out prices are busy: ask again in a moment"


class ProcessPricer(Pricer):
    """Prices from so many processes, each started when it is first needed and again when it is gone."""

    def __init__(self, processes: int) -> None:
        super().__init__()
        self._all = tuple(_Pricing() for _ in range(processes))
        self._free: LifoQueue[_Pricing] = LifoQueue()
        for pricing in self._all:
            self._free.put(pricing)
        self._waiting = threading.BoundedSemaphore(PRICES_WAITING_MAX)

    def start(self) -> None:
        """Starts all processes now, so that the first jobs need not wait for them."""
        threads = [threading.Thread(target=pricing.start) for pricing in self._all]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def close(self) -> None:
        for pricing in self._all:
            pricing.end()

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (len(self._all),)

    def _found(self, kind: str, shared: Mapping[str, Any], expression: str, slack: float | None) -> Price:
        late = UnsupportedMechanism(PROCESS_LATE, mechanism=f"{expression:.200}")
        found = self._asked({"price": [kind, dict(shared), expression, slack]}, PRICE_PATIENCE, late)
        return Price(**found)

    def design(self, kind: str, wanted: Wanted, inherited: Mapping[str, Any] | None) -> Design:
        asked = {**asdict(wanted), "relation": wanted.relation.value}
        above = None if inherited is None else dict(inherited)
        found = self._asked({"design": [kind, asked, above]}, DESIGN_SECONDS, InvalidParameter(DESIGN_LATE))
        axes = tuple(BudgetAxis(**each) for each in found["axes"])
        return Design(found["kind"], found["shared"], found["promise"], axes)

    def _asked(self, order: Mapping[str, Any], patience: float, late: Exception) -> dict[str, Any]:
        process = self._turn()
        try:
            reply = process.ask(order, patience, late)
        finally:
            self._free.put(process)
        if "refused" in reply:
            raise again(reply["refused"])
        found: dict[str, Any] = reply["found"]
        return found

    def _turn(self) -> _Pricing:
        """A process that nobody uses."""
        with suppress(Empty):
            return self._free.get_nowait()
        if not self._waiting.acquire(blocking=False):
            raise Unavailable(PRICES_BUSY)
        try:
            return self._free.get(timeout=work.patience(TURN_SECONDS))
        except Empty:
            raise Unavailable(PRICES_BUSY) from None
        finally:
            self._waiting.release()


class _Pricing:
    """One process; used by one thread at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._number = 0
        self._closing = threading.Lock()

    def start(self) -> subprocess.Popen[bytes]:
        """The process, ready to answer."""
        process = self._process
        if process is not None and process.poll() is None:
            return process
        self.end()
        process = subprocess.Popen(
            processes.command("tightrope.ledger.pricing_worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=processes.environment(),
            start_new_session=True,  # an interrupt from the keyboard is for the server alone
        )
        self._process = process
        if _Watched(process, PRICING_READY_SECONDS).line() is None:
            self.end()
            raise Unavailable("a process that works out prices ended before it was ready: ask again in a moment")
        return process

    def ask(self, order: Mapping[str, Any], patience: float, late: Exception) -> dict[str, Any]:
        """Its answer; late where there is none in time, and then another process answers the next."""
        process = self.start()
        self._number += 1
        watched = _Watched(process, patience)
        reply = watched.line({"id": self._number, **order})
        if reply is None or reply["id"] != self._number:  # no answer is ever taken for that of another job
            self.end()
            if watched.starved:
                raise Unavailable(MACHINE_BUSY)
            raise late if watched.late else UnsupportedMechanism(PROCESS_DIED, mechanism="this job")
        if watched.late or reply["held"] > PRICING_HELD_MAX:
            self.end()
        return reply

    def end(self) -> None:
        """Ends the process, whatever it is doing."""
        with self._closing:
            process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what could not be sent any more
                    pipe.close()


def used_seconds(process: int) -> float:
    """What a processor has given to it; where that is not told, it is taken to have had all that it wanted."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class _Watched:
    """One exchange with a process that is killed when its time is over: then its output ends, and so the waiting."""

    def __init__(self, process: subprocess.Popen[bytes], patience: float) -> None:
        self._process = process
        self._patience = patience
        self.late = self.starved = self._over = False
        self._arming = threading.Lock()
        self._before = used_seconds(process.pid)

    def line(self, order: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """The answer to an order, or the next line; None where the process ended first."""
        self._arm(BUSY_FACTOR)
        try:
            return self._exchanged(order)
        except OSError:
            return None
        finally:
            with self._arming:
                self._over = True
                self._timer.cancel()
            self._timer.join()  # after this, late is true or never will be

    def _arm(self, times: float) -> None:
        with self._arming:
            if not self._over:
                self._timer = threading.Timer(work.patience(self._patience), self._look, (times - 1.0,))
                self._timer.daemon = True
                self._timer.start()

    def _look(self, times: float = 0.0) -> None:
        """Its time is over, unless the machine gave it little of it: then once more, so many times."""
        took = used_seconds(self._process.pid) - self._before
        if took >= BUSY_SHARE * self._patience:
            self.late = True
        elif times <= 0.0:
            self.late = self.starved = True
        if self.late:
            self._process.kill()
        else:
            self._arm(times)

    def _exchanged(self, order: Mapping[str, Any] | None) -> dict[str, Any] | None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if order is not None:
            self._process.stdin.write(json.dumps(order, allow_nan=False).encode() + b"\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):  # it ended, perhaps in the middle of a line
            return None
        document: dict[str, Any] = json.loads(line)
        return document
