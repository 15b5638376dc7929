"""The spinner shows on a terminal, late, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

WAIT = """
import sys, time
import tightrope.cli.output as module
module.PATIENCE = float(sys.argv[1])
with module.spinner("working on it"):
    time.sleep(0.6)
print("done")
"""

pty = pytest.importorskip("pty", reason="pseudo-terminals exist on POSIX only")


def on_a_terminal(patience: float) -> bytes:
    """What a process with a terminal as standard error writes there."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    command = [sys.executable, "-c", WAIT, str(patience)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env=environment, check=True)
    os.close(theirs)
    assert done.stdout == b"done\n"
    written = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        written += chunk
    os.close(ours)
    return written


def test_it_appears_on_a_terminal_after_a_while() -> None:
    assert b"working on it" in on_a_terminal(patience=0.05)


def test_it_does_not_appear_for_what_is_quick() -> None:
    assert on_a_terminal(patience=30.0) == b""


def test_it_does_not_appear_in_a_pipe() -> None:
    done = subprocess.run([sys.executable, "-c", WAIT, "0.05"], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"done\n", b"")
