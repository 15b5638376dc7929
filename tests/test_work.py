"""Work as part of a question: units, shares of them, the clock, and bytes."""

from __future__ import annotations

import queue
import threading
import time

import pytest

import tightrope as tr
from tightrope import work
from tightrope.errors import WorkExhausted


def test_units_are_taken_before_the_work_and_end() -> None:
    second = (1.0 - work.GRACE) * work.UNITS_PER_SECOND
    with work.allowance(1.0) as whole:
        work.spend(0.9 * second)
        assert work.left() == pytest.approx(0.1 * second)
        assert whole.exhausted is None
        with pytest.raises(WorkExhausted, match="time ran out"):
            work.spend(0.2 * second)
        work.spend(0.05 * second)  # what was refused was not spent
        assert whole.exhausted == "time"
        assert not whole.late


def test_a_part_ends_and_the_whole_goes_on() -> None:
    second = (1.0 - work.GRACE) * work.UNITS_PER_SECOND
    with work.allowance(1.0) as whole:
        with work.part(0.25), pytest.raises(WorkExhausted):
            for _ in range(10):
                work.spend(0.1 * second)
        assert whole.left == pytest.approx(0.8 * second)
        with work.part(0.5) as later:
            work.spend(0.1 * second)
        assert later.exhausted is None
        assert whole.exhausted == "time"
        assert not whole.late


def test_something_is_kept_for_the_answer() -> None:
    with work.allowance(1.0), work.part(0.5):
        with pytest.raises(WorkExhausted):
            work.spend(work.UNITS_PER_SECOND)
        before = work.left()
        with work.grace():
            assert work.left() == pytest.approx(work.GRACE * work.UNITS_PER_SECOND)
            work.spend(0.1 * work.GRACE * work.UNITS_PER_SECOND)
        assert work.left() == before
        with work.grace():
            assert work.left() == pytest.approx(0.9 * work.GRACE * work.UNITS_PER_SECOND)


@pytest.mark.clock
def test_the_clock_is_a_backstop_and_leaves_a_mark() -> None:
    with work.allowance(0.01) as whole:
        time.sleep(0.02)
        with work.part(0.5), pytest.raises(WorkExhausted):
            work.spend(1.0)
        assert whole.late


@pytest.mark.clock
def test_whoever_asks_the_clock_leaves_a_mark_too() -> None:
    with work.allowance(0.01) as whole:
        assert not work.over()
        assert not whole.late
        time.sleep(0.02)
        assert work.over()
        assert whole.late
        assert whole.exhausted is None


def test_an_allowance_inside_another_is_the_outer_one() -> None:
    with work.allowance(1.0) as outer, work.allowance(100.0) as inner:
        assert inner is outer


def test_threads_have_their_own() -> None:
    seen = []
    with work.allowance(1.0):
        thread = threading.Thread(target=lambda: seen.append(work.left()))
        thread.start()
        thread.join()
    assert seen == [float("inf")]


def test_memory_is_asked_for_before_it_grows() -> None:
    work.hold(1 << 20)
    for size in (float(1 << 31), float("nan"), float("inf")):
        with pytest.raises(WorkExhausted, match="memory"):
            work.hold(size)


def test_what_is_cancelled_ends_at_its_next_look() -> None:
    with work.allowance(1.0) as whole, work.part(0.5) as before:
        whole.cancel()
        assert whole.left > 0.0  # units are for the working thread to write
        for made in (before, whole):
            assert made.over()
            with pytest.raises(WorkExhausted, match="time ran out"):
                made.spend(0.0)
        for later in (work.part(0.5), work.grace(), work.allowance(1.0)):
            with later:
                assert work.over()
                assert work.left() == 0.0
                with pytest.raises(WorkExhausted, match="time ran out"):
                    work.spend(0.0)
        assert whole.exhausted == "time"
        assert whole.late


def test_a_part_that_is_cancelled_has_no_grace_and_the_whole_goes_on() -> None:
    with work.allowance(1.0) as whole:
        with work.part(0.5) as part, work.grace():
            work.spend(1.0)
            part.cancel()
            assert work.over()
            with work.part(0.5), pytest.raises(WorkExhausted):
                work.spend(1.0)
        assert not whole.over()
        work.spend(1.0)
        with work.grace():
            work.spend(1.0)


def test_another_thread_ends_a_long_call() -> None:
    """It ends with most of its minute left, and gives what it has."""
    run = tr.training(records=60000, batch=256, epochs=15, sigma=1.1, sampling="allocated")
    minute = (1.0 - work.GRACE) * 60.0 * work.UNITS_PER_SECOND
    meters: queue.SimpleQueue[work.Meter] = queue.SimpleQueue()
    answers: list[tr.Bound] = []

    def call() -> None:
        with work.allowance(60.0) as meter:
            meters.put(meter)
            answers.append(run.epsilon(1e-5))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    meter = meters.get()
    while meter.left > 0.99 * minute and thread.is_alive():
        time.sleep(0.001)
    meter.cancel()
    thread.join()
    (bound,) = answers
    assert bound.lower <= 1.092225
    assert bound.upper >= 1.092223
    assert bound.certificate is not None
    assert bound.certificate.exhausted == "time"
    assert meter.left > 0.5 * minute
