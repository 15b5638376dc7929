"""Processes that die, hang or cannot start: what is lost is one row, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

import tightrope as tr
from tightrope.sweep import local
from tightrope.sweep.job import Rows
from tightrope.sweep.local import LocalProcesses
from tightrope.sweep.plan import plan_of


def trouble(kind: str, sigma: float) -> tr.Mechanism:
    """A mechanism, unless the grid asks for trouble."""
    print("what a function prints disturbs nothing")
    if kind == "dies":
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind == "hangs":
        threading.Event().wait()
    if kind == "raises":
        raise RuntimeError("not\ntoday")
    return tr.Gaussian(sigma=sigma) if kind == "answers" else 3  # type: ignore[return-value]


def answered(workers: int, grid: object) -> Generator[Rows, None, None]:
    plan = plan_of(trouble, grid, "delta(epsilon=1)", 60.0, draws=None, seed=None)
    return plan.run(LocalProcesses(workers))


class Clock:
    """It stands still until it is let go, and then each look at it is a second later."""

    def __init__(self) -> None:
        self.now, self.goes = 0.0, False

    def __call__(self) -> float:
        self.now += self.goes
        return self.now


@pytest.mark.clock
def test_a_process_that_dies_or_hangs_costs_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(local, "monotonic", clock)
    monkeypatch.setattr(local, "LOOKED_EVERY", 0.01)
    monkeypatch.setattr(local, "KILLED_FACTOR", 0.0)
    monkeypatch.setattr(local, "KILLED_SECONDS", 2.0)
    monkeypatch.setattr(local, "CHUNKS_PER_WORKER", 2)
    kinds = ["answers", "answers", "raises", "dies", "nothing", "hangs"]  # asked in the order 0 2 3 1 4 5
    grid = [{"kind": kind, "sigma": place + 1.0} for place, kind in enumerate(kinds)]
    rows = {}
    for found in answered(1, grid):
        rows[found[0].index] = found[0]
        clock.goes = len(rows) == 5  # none but the one that hangs is waited for
    assert [rows[place].error for place in range(6)] == [
        None,
        None,
        "RuntimeError: not today",
        "its process died (SIGSEGV)",
        "make gives int, and a mechanism is needed",
        "did not come to an end by itself within 2 s, and was killed",
    ]
    assert [rows[place].repeatable for place in range(6)] == [True, True, True, False, True, False]
    assert rows[1].bound == tr.Gaussian(sigma=2.0).delta(1.0)


def test_whoever_stops_listening_leaves_no_process_behind() -> None:
    before = children()
    found = answered(1, [{"kind": "answers", "sigma": 1.0} for _ in range(9)])
    assert next(found)[0].error is None
    assert children() > before
    found.close()
    assert children() <= before


def children() -> set[int]:
    """The processes that this one started and that are still there, dead ones too."""
    if sys.platform != "linux":
        pytest.skip("no list of children")
    tasks = Path(f"/proc/{os.getpid()}/task").iterdir()
    return {int(word) for task in tasks for word in (task / "children").read_text().split()}


def test_what_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(local.INSIDE, "1")
    with pytest.raises(tr.InvalidParameter, match="beneath if __name__"):
        list(answered(1, [{"kind": "answers", "sigma": 1.0}]))
    monkeypatch.delenv(local.INSIDE)
    monkeypatch.setattr(local, "START", "raise SystemExit(7)")
    with pytest.raises(OSError, match=r"before it was ready \(exit code 7\)"):
        list(answered(1, [{"kind": "answers", "sigma": 1.0}]))
