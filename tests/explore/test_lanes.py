"""The newest question of a spot wins, everybody gets a turn, and what is slow stands before nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tightrope.explore import lanes as module
from tightrope.explore.asked import PageQuestion
from tightrope.explore.lanes import Busy, Lane, Spot
from tightrope.explore.process import CANCELLED


class Told:
    """Stands for a process: answers when it is let, in the order in which it was asked."""

    def __init__(self, deaf: bool = False) -> None:
        self.asked: list[dict[str, Any]] = []
        self.gates: list[asyncio.Event] = []
        self.cancelled = 0
        self.ended = 0
        self.deaf = deaf

    async def start(self) -> None:
        return None

    async def ask(self, question: dict[str, Any], patience: float) -> dict[str, Any]:
        gate = asyncio.Event()
        self.asked.append(question)
        self.gates.append(gate)
        await gate.wait()
        return {"answer": question["n"]}

    def cancel(self) -> None:
        self.cancelled += 1
        if not self.deaf:
            self.gates[-1].set()

    async def end(self) -> None:
        self.ended += 1


def in_lane(
    scene: Callable[[Lane, list[Told]], Awaitable[None]], processes: int = 1, most: int = 1, deaf: bool = False
) -> None:
    """Plays a scene in a lane of so many processes."""

    async def play() -> None:
        made: list[Told] = []

        def make() -> Any:
            made.append(Told(deaf))
            return made[-1]

        lane = Lane(make, processes, most)
        lane.open()
        await lane.warm()
        try:
            await asyncio.wait_for(scene(lane, made), 600)
        finally:
            await lane.close()

    asyncio.run(play())


def question(n: int) -> dict[str, Any]:
    return {"kind": "curve", "stage": "first", "n": n}


async def begun(told: Told, count: int) -> None:
    while len(told.asked) < count:
        await asyncio.sleep(0)


async def settled() -> None:
    """Until nobody has anything to do: each step of a lane is one turn of the loop."""
    for _ in range(100):
        await asyncio.sleep(0)


def ask(lane: Lane, client: str, spot: str, n: int) -> asyncio.Task[dict[str, Any]]:
    return asyncio.ensure_future(lane.ask(Spot(client, spot), question(n)))


def test_the_newest_question_of_a_spot_takes_the_turn_of_the_older() -> None:
    async def scene(lane: Lane, made: list[Told]) -> None:
        (told,) = made
        first = ask(lane, "other", "x", 0)
        await begun(told, 1)
        older = [ask(lane, "a", "x", n) for n in range(1, 5)]
        await asyncio.sleep(0)
        told.gates[0].set()
        await begun(told, 2)
        told.gates[1].set()
        assert await first == {"answer": 0}
        assert [await each for each in older] == [CANCELLED] * 3 + [{"answer": 4}]
        assert [each["n"] for each in told.asked] == [0, 4]

    in_lane(scene)


def test_a_question_that_is_being_answered_is_ended_by_a_newer_one() -> None:
    async def scene(lane: Lane, made: list[Told]) -> None:
        (told,) = made
        first = ask(lane, "a", "x", 1)
        await begun(told, 1)
        second = ask(lane, "a", "x", 2)
        assert await first == CANCELLED
        await begun(told, 2)
        assert told.cancelled == 1
        told.gates[1].set()
        assert await second == {"answer": 2}

    in_lane(scene)


def test_a_process_that_does_not_hear_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CANCELLED_SECONDS", 0.01)

    async def scene(lane: Lane, made: list[Told]) -> None:
        (told,) = made
        first = ask(lane, "a", "x", 1)
        await begun(told, 1)
        second = ask(lane, "a", "x", 2)
        assert await first == CANCELLED
        await begun(told, 2)
        assert told.ended == 1
        told.gates[1].set()
        assert await second == {"answer": 2}

    in_lane(scene, deaf=True)


def test_pages_take_turns() -> None:
    """One that asks at many spots does not stand before one that asks once."""

    async def scene(lane: Lane, made: list[Told]) -> None:
        (told,) = made
        many = [ask(lane, "greedy", f"spot {n}", n) for n in range(20)]
        await begun(told, 1)
        once = ask(lane, "modest", "x", 99)
        await asyncio.sleep(0)
        told.gates[0].set()
        await begun(told, 2)
        assert told.asked[1]["n"] == 99
        for place in range(1, 21):
            await begun(told, place + 1)
            told.gates[place].set()
        assert await once == {"answer": 99}
        assert [await each for each in many] == [{"answer": n} for n in range(20)]

    in_lane(scene)


def test_one_page_never_has_all_processes() -> None:
    async def scene(lane: Lane, made: list[Told]) -> None:
        one, two = made
        slow = [ask(lane, "greedy", f"spot {n}", n) for n in range(3)]
        await settled()
        assert len(one.asked) + len(two.asked) == 1
        other = ask(lane, "modest", "x", 9)
        await begun(two if one.asked else one, 1)
        free = two if one.asked else one
        free.gates[0].set()
        assert await other == {"answer": 9}
        for each in slow:
            each.cancel()

    in_lane(scene, processes=2, most=1)


def test_what_nobody_waits_for_is_dropped() -> None:
    async def scene(lane: Lane, made: list[Told]) -> None:
        (told,) = made
        running, waiting = ask(lane, "a", "x", 1), ask(lane, "b", "x", 2)
        await begun(told, 1)
        running.cancel()
        waiting.cancel()
        await settled()
        assert told.cancelled == 1
        after = ask(lane, "c", "x", 3)
        await begun(told, 2)
        assert [each["n"] for each in told.asked] == [1, 3]
        told.gates[1].set()
        assert await after == {"answer": 3}

    in_lane(scene)


def test_a_lane_outlives_whatever_its_process_does() -> None:
    """One question that ends in an exception costs its own answer, and nobody else's."""

    class Faulty(Told):
        async def ask(self, question: dict[str, Any], patience: float) -> dict[str, Any]:
            if question["n"] == 1:
                raise RuntimeError("a fault")
            return {"answer": question["n"]}

    async def play() -> None:
        told = Faulty()
        lane = Lane(lambda: told, 1, 1)  # type: ignore[arg-type,return-value]
        lane.open()
        assert "RuntimeError" in (await ask(lane, "a", "x", 1))["error"]
        assert told.ended == 1
        assert await ask(lane, "a", "x", 2) == {"answer": 2}
        await lane.close()

    asyncio.run(asyncio.wait_for(play(), 600))


@pytest.mark.parametrize(
    "given", [{}, {"kind": 7}, {"kind": "document", "questions": 5}, {"kind": "document", "questions": [5, None]}]
)
def test_anything_has_a_time(given: dict[str, Any]) -> None:
    assert 0.0 < PageQuestion(given).seconds <= 90.0


def test_too_many_questions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAITING_MAX", 3)

    async def scene(lane: Lane, made: list[Told]) -> None:
        first = ask(lane, "a", "x", 0)
        await begun(made[0], 1)
        waiting = [ask(lane, "b", f"spot {n}", n) for n in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await lane.ask(Spot("c", "x"), question(9))
        for each in (first, *waiting):
            each.cancel()

    in_lane(scene)


def test_a_closed_lane_leaves_nobody_waiting() -> None:
    async def play() -> None:
        told = Told()
        lane = Lane(lambda: told, 1, 1)  # type: ignore[arg-type,return-value]
        lane.open()
        asked = [ask(lane, "a", f"spot {n}", n) for n in range(3)]
        await begun(told, 1)
        await lane.close()
        assert [await each for each in asked] == [CANCELLED] * 3

    asyncio.run(play())
