"""A server that ends itself at the worst moment, again and again.

    python -m tests.ledger.server.dying URL PORT      reads lines: POINT COUNT, or stop
For each line it forks a server at this port, which kills itself (SIGKILL) when it comes to this point for the COUNT-th
time: before-commit, after-commit or before-reply; "never 0" lives until the next line. It says "up" when it answers,
"down" when it is gone.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
from collections.abc import Callable

from tests.ledger.server.serving import SECRET
from tightrope.ledger.database import Database
from tightrope.ledger.server.app import application
from tightrope.ledger.server.serve import LedgerServer
from tightrope.ledger.service import LocalService
from tightrope.ledger.transactions.entry import Actor
from tightrope.listening import listening_at


def say(word: str) -> None:
    os.write(1, f"{word}\n".encode())


def live(url: str, port: int, until: Callable[[str], None]) -> None:
    """One life of the server."""
    desk = LocalService(Database(url, fault=until), Actor("server"), secret=SECRET)
    with listening_at("127.0.0.1", port) as sock:
        asyncio.run(LedgerServer(application(desk, fault=until), lambda: say("up")).serve([sock]))


def main() -> None:
    url, port = sys.argv[1], int(sys.argv[2])
    for line in iter(sys.stdin.readline, ""):
        point, count = line.split()
        passed = itertools.count(1)

        def fault(at: str, point: str = point, last: int = int(count), passed: itertools.count[int] = passed) -> None:
            if at == point and next(passed) >= last:
                os.kill(os.getpid(), signal.SIGKILL)

        child = os.fork()
        if not child:
            try:
                live(url, port, fault)
            finally:
                os._exit(1)
        if point == "never":
            sys.stdin.readline()
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        say("down")


if __name__ == "__main__":
    main()
