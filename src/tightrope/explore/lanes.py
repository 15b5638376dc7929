"""Questions on their way to processes: the newest of a spot wins, everybody gets a turn, nobody waits for the slow.

A spot is one place of one page: a newer question there takes the turn of the one that waits, and ends the one that
is being answered. First pictures have processes of their own (the quick lane), so that no long question stands before
them; long ones run in the other lane, less urgently. One page never has all processes of a lane.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

from .asked import PageQuestion
from .process import CANCELLED, CANCELLED_SECONDS, TOO_LONG, Address, Answering

WAITING_MAX = 400  # questions in a lane: then it is busy
CLIENTS_MAX = 1000  # whose last turn is remembered
SLACK_FACTOR, SLACK_SECONDS = 2.0, 1.5  # of its seconds, and so many more: then a process is ended
FAULT = "the process that answers this could not be asked; it is started again"
LEDGER_PROCESSES = 2  # of one page too: a price takes seconds, and the counters move on meanwhile
LEDGER_LATE = "the ledger did not answer in time; it is asked again"
QUICK = ("read", "menu")  # what takes no time worth mentioning
OF_LEDGER = ("ledger", "ledger-past", "ledger-more")


class Busy(Exception):
    """There are too many questions already."""


class Spot(NamedTuple):
    """One place of one page, by the names that the page gives both."""

    client: str
    spot: str


@dataclass(eq=False)
class Turn:
    """A question that waits or is being answered."""

    spot: Spot
    question: dict[str, Any]
    order: int
    reply: asyncio.Future[dict[str, Any]] = field(repr=False)
    by: Answering | None = None

    def settle(self, answer: dict[str, Any]) -> None:
        """Tells whoever waits, unless that was done before."""
        if not self.reply.done():
            self.reply.set_result(answer)


class Lane:
    """Processes, and the questions that wait for them."""

    def __init__(self, make: Callable[[], Answering], processes: int, most_of_one: int) -> None:
        self._answering = [make() for _ in range(processes)]
        self._most_of_one = most_of_one
        self._waiting: dict[Spot, Turn] = {}
        self._running: dict[Spot, Turn] = {}
        self._served: dict[str, int] = {}  # clients, by when their last turn was
        self._numbers = count(1)
        self._changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def open(self) -> None:
        """Begins to answer."""
        self._tasks = [asyncio.create_task(self._work(answering)) for answering in self._answering]

    async def warm(self) -> None:
        """Starts the processes before anybody asks."""
        await asyncio.gather(*(answering.start() for answering in self._answering))

    async def close(self) -> None:
        """Ends every process."""
        for task in self._tasks:
            task.cancel()
        for turn in (*self._waiting.values(), *self._running.values()):
            turn.settle(CANCELLED)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(answering.end() for answering in self._answering))

    async def ask(self, spot: Spot, question: dict[str, Any]) -> dict[str, Any]:
        """The answer, or that a newer question came."""
        turn = Turn(spot, question, next(self._numbers), asyncio.get_running_loop().create_future())
        older = self._waiting.get(spot)
        if older is not None:
            turn.order = older.order
        self.drop(spot)
        if len(self._waiting) >= WAITING_MAX:
            raise Busy
        self._waiting[spot] = turn
        self._changed.set()
        try:
            return await turn.reply
        except asyncio.CancelledError:  # whoever asked has gone; a newer question of the spot stays
            if self._waiting.get(spot) is turn:
                del self._waiting[spot]
            elif turn.by is not None:
                turn.by.cancel()
            raise

    def drop(self, spot: Spot) -> None:
        """What was asked there is not wanted any more."""
        waiting, running = self._waiting.pop(spot, None), self._running.get(spot)
        if waiting is not None:
            waiting.settle(CANCELLED)
        if running is not None and running.by is not None:
            running.settle(CANCELLED)
            running.by.cancel()

    async def _work(self, answering: Answering) -> None:
        """One process: turn by turn."""
        while True:
            turn = self._next()
            if turn is None:
                self._changed.clear()
                await self._changed.wait()
                continue
            try:
                turn.settle(await self._answer(turn, answering))
            except Exception as error:  # this loop must not end: nobody else would take a turn of this process
                turn.settle({"error": f"{FAULT} ({type(error).__name__})", "column": None})
                await answering.end()
            finally:
                turn.by = None
                if self._running.get(turn.spot) is turn:
                    del self._running[turn.spot]
                self._changed.set()

    async def _answer(self, turn: Turn, answering: Answering) -> dict[str, Any]:
        """What the process says; where it is not wanted any more and goes on all the same, the process is ended."""
        turn.by = answering
        patience = SLACK_FACTOR * PageQuestion(turn.question).seconds + SLACK_SECONDS
        asking = asyncio.ensure_future(answering.ask(turn.question, patience))
        try:
            await asyncio.wait({asking, turn.reply}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                await asyncio.wait({asking}, timeout=CANCELLED_SECONDS)
            if asking.done():
                return asking.result()
            return CANCELLED
        finally:
            if not asking.done():
                asking.cancel()
                with suppress(asyncio.CancelledError):
                    await asking
                await answering.end()

    def _next(self) -> Turn | None:
        """The turn of whoever has waited longest since the last one, and has not all that one page may have."""
        busy: dict[str, int] = {}
        for spot in self._running:
            busy[spot.client] = busy.get(spot.client, 0) + 1
        free = [
            turn
            for turn in self._waiting.values()
            if busy.get(turn.spot.client, 0) < self._most_of_one and turn.spot not in self._running
        ]
        if not free:
            return None
        turn = min(free, key=lambda each: (self._served.get(each.spot.client, 0), each.order))
        del self._waiting[turn.spot]
        self._running[turn.spot] = turn
        self._served.pop(turn.spot.client, None)
        self._served[turn.spot.client] = next(self._numbers)
        while len(self._served) > CLIENTS_MAX:
            del self._served[next(iter(self._served))]
        return turn


class Lanes:
    """The quick lane, the other one, and that of the ledger, whose database may be away: nobody else waits for it."""

    def __init__(self, processes: int, files: str | None = None, ledger: Address | None = None) -> None:
        def lane(nice: int, count: int, most_of_one: int, late: str = TOO_LONG) -> Lane:
            return Lane(lambda: Answering(nice, files, ledger, late), count, most_of_one)

        self._quick, self._long = lane(0, processes + 1, processes), lane(5, processes + 1, processes)
        self._ledger = lane(0, LEDGER_PROCESSES, LEDGER_PROCESSES, LEDGER_LATE)

    async def open(self) -> None:
        """Begins to answer; the quick lane is warm when the first page comes."""
        self._quick.open()
        self._long.open()
        self._ledger.open()
        await self._quick.warm()

    async def close(self) -> None:
        """Ends every process."""
        await asyncio.gather(self._quick.close(), self._long.close(), self._ledger.close())

    async def ask(self, spot: Spot, question: dict[str, Any]) -> dict[str, Any]:
        """The answer, or that a newer question came; raises Busy."""
        if question.get("kind") in OF_LEDGER:
            return await self._ledger.ask(spot, question)
        quick = question.get("kind") in QUICK or PageQuestion(question).rough
        lane, other = (self._quick, self._long) if quick else (self._long, self._quick)
        other.drop(spot)
        return await lane.ask(spot, question)
