"""Rows of a table share the time of one call."""

from __future__ import annotations

from dataclasses import dataclass

from tightrope.core.planning.unknown import in_turn
from tightrope.core.values import compute_budget


@dataclass(frozen=True)
class Answer:
    """What a row may be."""

    late: bool
    width: float


class Clock:
    """A clock that only answers move."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_what_a_row_leaves_goes_to_those_after_it(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    clock = Clock()
    monkeypatch.setattr(compute_budget, "monotonic", clock)
    asked: list[tuple[int, float]] = []

    def ask(index: int, seconds: float) -> Answer:
        asked.append((index, round(seconds, 9)))
        clock.now += 1.0
        return Answer(index == 0, 10.0 * len(asked))

    rows = in_turn(3, 12.0, ask, order=(0, 2, 1))
    # Of 12 seconds: a third, half of 11, all of 10; and the late one has the 9 that are left.
    assert asked == [(0, 4.0), (2, 5.5), (1, 10.0), (0, 9.0)]
    assert [row.width for row in rows] == [10.0, 30.0, 20.0]  # the wider answer of the second round is not taken


def test_rows_after_a_slow_one_have_a_little_all_the_same(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    clock = Clock()
    monkeypatch.setattr(compute_budget, "monotonic", clock)
    asked: list[float] = []

    def ask(index: int, seconds: float) -> Answer:
        asked.append(seconds)
        clock.now += 100.0
        return Answer(True, 1.0)

    in_turn(2, 8.0, ask)
    assert asked == [4.0, 1.0]


def test_without_a_clock_work_is_what_takes_time() -> None:
    asked: list[float] = []

    def ask(index: int, seconds: float) -> Answer:
        asked.append(round(seconds, 6))
        with compute_budget.allowance(seconds):
            compute_budget.spend(compute_budget.UNITS_PER_SECOND)
        return Answer(False, 1.0)

    in_turn(3, 12.0, ask)
    assert asked == [4.0, 5.5, 10.0]
