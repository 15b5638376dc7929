"""A fork takes no connection along: what a child commits is there, whatever its parent does with its own."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")

import tightrope.ledger as tl
from tightrope.ledger import forking, pricing
from tightrope.ledger.forking import GATE, ForkGate
from tightrope.ledger.ledger import Ledger

FORK = multiprocessing.get_context("fork")
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
PATIENCE = 600.0  # seconds, to end what hangs


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


def forks(gate: ForkGate) -> bool:
    """Whether a fork of another thread goes on at once."""
    found: list[bool] = []

    def fork() -> None:
        found.append(gate._closed())
        gate.parent()

    other = threading.Thread(target=fork)
    other.start()
    other.join()
    return found[0]


def interrupted_at(step: int, work: Callable[[], None]) -> BaseException | None:
    """What comes out when an interrupt comes at that place of the gate: where a function begins, or one of C's ended.

    These are the places where the interpreter looks whether there is a signal.
    """
    left = [step]

    def profile(frame: FrameType, event: str, _: object) -> None:
        left[0] -= frame.f_code.co_filename == forking.__file__ and event in ("call", "c_return")
        if not left[0]:
            left[0] = -1
            raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        work()
    except KeyboardInterrupt as error:
        return error
    finally:
        sys.setprofile(None)
    return None


def test_an_interrupt_leaves_no_use_behind_whoever_keeps_its_traceback() -> None:
    gate, kept, step = ForkGate(), [], 1

    def work() -> None:
        with gate.using(), gate.using():
            assert not forks(gate)

    while (error := interrupted_at(step, work)) is not None:
        kept.append(error)  # as a notebook does
        assert forks(gate)
        step += 1
    assert len(kept) >= 10


def test_a_fork_waits_through_an_interrupt_which_comes_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    gate, order = ForkGate(), []
    inside, leaving = threading.Event(), threading.Event()

    def user() -> None:
        with gate.using():
            inside.set()
            leaving.wait()
            order.append("used")

    def pause(_: float) -> None:
        if threading.current_thread() is threading.main_thread() and not leaving.is_set():
            leaving.set()
            raise KeyboardInterrupt

    monkeypatch.setattr(forking, "sleep", pause)
    thread = threading.Thread(target=user)
    thread.start()
    inside.wait()
    gate.before()
    order.append("forked")
    with pytest.raises(KeyboardInterrupt):  # it comes while this waits
        gate.parent()
        threading.Event().wait(PATIENCE)
    thread.join()
    assert order == ["used", "forked"]
    assert forks(gate)


def test_locks_that_another_thread_holds_are_free_in_a_child(ledger: Ledger) -> None:
    desk: Any = ledger._desk
    with desk.pricer._one, desk.pricer._guard:
        process, pipe = child(lambda pipe: pipe.send(ledger.quote("census", "Gaussian(sigma=77)").fits))
        with pipe:
            assert pipe.poll(PATIENCE)
            assert pipe.recv()
        process.join(PATIENCE)
    assert process.exitcode == 0


def test_a_fork_waits_for_what_is_priced(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the child had the modules half imported that another thread is importing."""
    order, inside, leaving, real = [], threading.Event(), threading.Event(), pricing.priced

    def slow(*asked: Any) -> Any:
        inside.set()
        leaving.wait()
        order.append("priced")
        return real(*asked)

    monkeypatch.setattr(pricing, "priced", slow)
    thread = threading.Thread(target=lambda: ledger.quote("census", "Gaussian(sigma=78)"))
    thread.start()
    inside.wait()

    def fork() -> None:
        process, pipe = child(lambda pipe: None)
        order.append("forked")
        process.join(PATIENCE)
        pipe.close()

    forker = threading.Thread(target=fork)
    forker.start()
    while not GATE._forking:
        pass
    leaving.set()
    thread.join()
    forker.join()
    assert order == ["priced", "forked"]


def test_a_process_has_a_name_of_its_own() -> None:
    process, pipe = child(lambda pipe: pipe.send(GATE.process))
    with pipe:
        assert pipe.recv() != GATE.process
    process.join(PATIENCE)
