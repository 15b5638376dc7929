"""A process that answers the page's questions: lines of JSON in, lines of JSON out, one question at a time.

    [nice, files, ledger]             at first
    {"id": 7, "question": {...}}  ->  {"id": 7, "answer": {...}, "held": bytes}
    {"cancel": 7}                     the question is not wanted any more: it ends at its next look at its allowance
When the input ends, whoever asked is gone, and so is this process, whatever it is doing.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

from ..extend import processes, work
from .answers import answer
from .ledger import LedgerReader

WARM = {"kind": "curve", "text": "Gaussian(sigma=1).poisson(rate=0.01) * 100", "points": 3}
FAULT = "this question met a fault in the explorer itself; the terminal says more"
NO_MEMORY = "this takes more memory than the explorer gives a question"


class Worker:
    """Reads orders in one thread and answers in another, so that an order to stop is heard."""

    def __init__(self, files: str | None, ledger: LedgerReader | None = None) -> None:
        self._files, self._ledger = files, ledger
        self._waiting: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self._current: tuple[int, work.Meter] | None = None
        self._cancelled: int | None = None

    def serve(self) -> None:
        """Until the input ends."""
        out = processes.answers()
        self.answered(0, WARM)
        threading.Thread(target=self._listen, daemon=True).start()
        processes.write(out, {"ready": True})
        while True:
            order = self._waiting.get()
            found = self.answered(order["id"], order["question"])
            processes.write(out, {"id": order["id"], "answer": found, "held": processes.held()})

    def answered(self, number: int, question: dict[str, Any]) -> dict[str, Any]:
        """The answer, in allowances that can be taken away."""

        @contextmanager
        def allowing(seconds: float) -> Iterator[None]:
            with work.allowance(seconds) as meter:
                self._current = number, meter
                if self._cancelled == number:  # it was heard before this began
                    meter.cancel()
                try:
                    yield
                finally:
                    self._current = None

        try:
            return answer(question, self._files, allowing, self._ledger)
        except MemoryError:
            return {"error": NO_MEMORY, "column": None}
        except Exception:  # whatever one question meets, the next one is answered
            traceback.print_exc()
            return {"error": FAULT, "column": None}

    def _listen(self) -> None:
        for line in sys.stdin.buffer:
            order = json.loads(line)
            if "cancel" in order:
                self._cancelled = order["cancel"]
                current = self._current
                if current is not None and current[0] == order["cancel"]:
                    current[1].cancel()
            else:
                self._waiting.put(order)
        os._exit(0)


def main() -> None:
    """Entry point of the process; its first line: how nice it is to others, whose files may be named, which ledger."""
    nice, files, ledger = json.loads(sys.stdin.buffer.readline())
    processes.limited(nice)
    Worker(files, None if ledger is None else LedgerReader(*ledger)).serve()


if __name__ == "__main__":
    main()
