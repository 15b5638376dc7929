"""A fork takes no connection along: what a child commits is there, whatever its parent does with its own."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")

import tightrope.ledger as tl
from tightrope.ledger.forking import ForkGate
from tightrope.ledger.ledger import Ledger

FORK = multiprocessing.get_context("fork")
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
PATIENCE = 60.0


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with tl.init(f"sqlite:///{tmp_path}/budget.db") as made:
        made.create("census", kind="zcdp", rho=100.0, relation="add_remove", unit="one person")
        yield made
        made.verify()


def spends(ledger: Ledger, name: str, times: int) -> None:
    for number in range(times):
        with ledger.spend("census", "Gaussian(sigma=10)", key=f"{name}-{number}"):
            pass


def child(work: Callable[[Connection], None]) -> tuple[Any, Connection]:
    """A process that was forked here, with all that this one has open."""
    ours, theirs = FORK.Pipe()
    process = FORK.Process(target=work, args=(theirs,))
    process.start()
    theirs.close()
    return process, ours


def test_what_a_child_commits_after_its_parent_closed_is_kept(ledger: Ledger) -> None:
    def work(pipe: Connection) -> None:
        spends(ledger, "first", 3)
        pipe.send("some")
        pipe.recv()
        spends(ledger, "second", 3)
        pipe.send("all")
        pipe.recv()  # its own connections are open until somebody else has looked

    ledger.status("census")  # so that a connection is open
    process, pipe = child(work)
    with pipe:
        assert pipe.recv() == "some"
        ledger.close()
        pipe.send("go on")
        assert pipe.recv() == "all"
        assert ledger.status("census")["jobs"] == {"committed": 6}
        pipe.send("end")
        process.join(PATIENCE)
    assert process.exitcode == 0
    assert ledger.status("census")["jobs"] == {"committed": 6}


def test_a_fork_in_the_middle_of_what_other_threads_write(ledger: Ledger) -> None:
    """The child has neither their turn nor their locks: it writes, and they go on."""
    ended = threading.Event()

    def busy(number: int) -> None:
        count = 0
        while not ended.is_set():
            spends(ledger, f"thread-{number}-{count}", 1)
            count += 1
        made.append(count)

    made: list[int] = []
    threads = [threading.Thread(target=busy, args=(number,)) for number in range(3)]
    for each in threads:
        each.start()
    try:
        for number in range(5):
            process, pipe = child(lambda pipe, number=number: spends(ledger, f"child-{number}", 2))  # type: ignore[misc]
            process.join(PATIENCE)
            pipe.close()
            assert process.exitcode == 0
    finally:
        ended.set()
        for each in threads:
            each.join()
    assert ledger.status("census")["jobs"] == {"committed": sum(made) + 10}


def test_nobody_begins_while_a_fork_waits() -> None:
    """A thread that uses a connection may use another one inside; all others wait until the fork is over."""
    gate, order = ForkGate(), []
    inside, closing = threading.Event(), threading.Event()

    class Engine:
        def dispose(self) -> None:
            order.append("closed")

    engine = Engine()
    gate.watch(engine)

    def user() -> None:
        with gate.using():
            inside.set()
            closing.wait()
            with gate.using():
                order.append("nested")

    def forker() -> None:
        gate.before()
        order.append("forked")
        gate.parent()

    one, two = threading.Thread(target=user), threading.Thread(target=forker)
    one.start()
    inside.wait()
    two.start()
    while not gate._forking:
        pass
    closing.set()
    one.join()
    two.join()
    with gate.using():
        order.append("after")
    assert order == ["nested", "closed", "forked", "after"]
