"""One process that answers, and what is done when it dies or does not come to an end.

A process is started by a command of its own, not forked, with one thread of numpy; it ends when its input does, so that
none is left behind, whatever happens to this one. Its orders come on that input, which nobody else sees.
"""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from typing import Any

from ..extend import processes, work

REPLY_MAX = 1 << 26  # bytes of a line: a report with its pictures is the longest
HELD_MAX = 700 << 20  # bytes: a process that held more is replaced by a new one
READY_SECONDS = 120.0
CANCELLED_SECONDS = 2.0  # after which a question that is not wanted any more is ended with its process
ENDED_SECONDS = 5.0
TOO_LONG = "this took longer than its time and was ended; a simpler run or fewer points may do"
DIED = "the process that answered this ended unexpectedly; it was started again"
Address = tuple[str, str | None]  # of a ledger: its url, and the token for it
CANCELLED: dict[str, Any] = {"superseded": True}


class Answering:
    """A process, started when it is first needed and again when it is gone."""

    def __init__(self, nice: int, files: str | None, ledger: Address | None = None, late: str = TOO_LONG) -> None:
        self._order = [nice, files, ledger]
        self._late = late
        self._process: Process | None = None
        self._number = 0

    async def start(self) -> Process:
        """The process, ready to answer."""
        if self._process is not None and self._process.returncode is None:
            return self._process
        self._process = process = await asyncio.create_subprocess_exec(
            *processes.command("tightrope.explore.worker"),
            stdin=PIPE,
            stdout=PIPE,
            limit=REPLY_MAX,
            env=processes.environment(),
            start_new_session=True,  # an interrupt from the keyboard is for the server alone
        )
        self._send(process, self._order)
        ready = await self._line(process, READY_SECONDS)
        if ready is None:
            await self.end()
            raise OSError("a process of the explorer ended before it was ready")
        return process

    async def ask(self, question: dict[str, Any], patience: float) -> dict[str, Any]:
        """The answer; after so many seconds the process is ended, and another one started for the next question."""
        self._number += 1  # before it starts: who cancels meanwhile means this question
        process = await self.start()
        self._send(process, {"id": self._number, "question": question})
        reply = await self._line(process, patience)
        if reply is None or reply["id"] != self._number:  # no answer is ever taken for that of another question
            died = process.returncode is not None
            await self.end()
            return {"error": DIED if died else self._late, "column": None}
        if reply["held"] > HELD_MAX:
            await self.end()
        answer: dict[str, Any] = reply["answer"]
        return answer

    def cancel(self) -> None:
        """What is being asked is not wanted any more."""
        if self._process is not None and self._process.returncode is None:
            self._send(self._process, {"cancel": self._number})

    async def end(self) -> None:
        """Ends the process, whatever it is doing."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.kill()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), ENDED_SECONDS)

    @staticmethod
    def _send(process: Process, item: object) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(item).encode() + b"\n")

    @staticmethod
    async def _line(process: Process, patience: float) -> dict[str, Any] | None:
        """The next line; None where there is none in time, or ever."""
        assert process.stdout is not None
        try:
            line = await asyncio.wait_for(process.stdout.readline(), work.patience(patience))
        except (TimeoutError, ValueError):
            return None
        if not line.endswith(b"\n"):  # it ended, perhaps in the middle of a line
            await process.wait()
            return None
        document: dict[str, Any] = json.loads(line)
        return document
