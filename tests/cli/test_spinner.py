"""The spinner shows on a terminal, late, and nowhere else."""

from __future__ import annotations

import io
import sys
import threading

import pytest
from rich.status import Status

from tightrope.cli import output

HANG = 600.0  # seconds, to end what hangs


class Terminal(io.StringIO):
    """What says that it is a terminal, and keeps what is written."""

    def isatty(self) -> bool:
        return True


def written(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, patience: float, wait: bool) -> str:
    """What the spinner writes to this standard error; the work may last until it shows."""
    showing, start = threading.Event(), Status.start

    def told(status: Status) -> None:
        start(status)
        showing.set()

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(output, "PATIENCE", patience)
    monkeypatch.setattr(Status, "start", told)
    with output.spinner("working on it") as change:
        change("still working on it")
        assert not wait or showing.wait(HANG)
    return stream.getvalue()


def test_it_appears_on_a_terminal_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "working on it" in written(Terminal(), monkeypatch, patience=0.01, wait=True)


def test_it_does_not_appear_for_what_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    assert written(Terminal(), monkeypatch, patience=HANG, wait=False) == ""


def test_it_does_not_appear_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "Timer", lambda *_: pytest.fail("nobody would see it"))
    assert written(io.StringIO(), monkeypatch, patience=0.0, wait=False) == ""
