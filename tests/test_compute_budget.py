"""Work as part of a question: units, shares of them, the clock, and bytes."""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
import time

import pytest

import tightrope as tr
from tightrope.core.values import compute_budget
from tightrope.core.values.errors import WorkExhausted


def test_units_are_taken_before_the_work_and_end() -> None:
    second = (1.0 - compute_budget.GRACE) * compute_budget.UNITS_PER_SECOND
    with compute_budget.allowance(1.0) as whole:
        compute_budget.spend(0.9 * second)
        assert compute_budget.left() == pytest.approx(0.1 * second)
        assert whole.exhausted is None
        with pytest.raises(WorkExhausted, match="time ran out"):
            compute_budget.spend(0.2 * second)
        compute_budget.spend(0.05 * second)  # what was refused was not spent
        assert whole.exhausted == "time"
        assert not whole.late


def test_a_part_ends_and_the_whole_goes_on() -> None:
    second = (1.0 - compute_budget.GRACE) * compute_budget.UNITS_PER_SECOND
    with compute_budget.allowance(1.0) as whole:
        with compute_budget.part(0.25), pytest.raises(WorkExhausted):
            for _ in range(10):
                compute_budget.spend(0.1 * second)
        assert whole.left == pytest.approx(0.8 * second)
        with compute_budget.part(0.5) as later:
            compute_budget.spend(0.1 * second)
        assert later.exhausted is None
        assert whole.exhausted == "time"
        assert not whole.late


def test_something_is_kept_for_the_answer() -> None:
    with compute_budget.allowance(1.0), compute_budget.part(0.5):
        with pytest.raises(WorkExhausted):
            compute_budget.spend(compute_budget.UNITS_PER_SECOND)
        before = compute_budget.left()
        with compute_budget.grace():
            assert compute_budget.left() == pytest.approx(compute_budget.GRACE * compute_budget.UNITS_PER_SECOND)
            compute_budget.spend(0.1 * compute_budget.GRACE * compute_budget.UNITS_PER_SECOND)
        assert compute_budget.left() == before
        with compute_budget.grace():
            assert compute_budget.left() == pytest.approx(0.9 * compute_budget.GRACE * compute_budget.UNITS_PER_SECOND)


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_clock_is_a_backstop_and_leaves_a_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(compute_budget, "monotonic", clock)
    with compute_budget.allowance(0.01) as whole:
        clock.now += 0.02
        with compute_budget.part(0.5), pytest.raises(WorkExhausted):
            compute_budget.spend(1.0)
        assert whole.late


def test_whoever_asks_the_clock_leaves_a_mark_too(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(compute_budget, "monotonic", clock)
    with compute_budget.allowance(0.01) as whole:
        assert not compute_budget.over()
        assert not whole.late
        clock.now += 0.02
        assert compute_budget.over()
        assert whole.late
        assert whole.exhausted is None


@pytest.mark.parametrize(("said", "moves"), [("off", False), ("", True), (None, True)])
def test_the_environment_leaves_the_clock_out(said: str | None, moves: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(compute_budget.CLOCK)
    if said is not None:
        monkeypatch.setenv(compute_budget.CLOCK, said)
    code = (
        "import time; from tightrope.core.values import compute_budget as work; print(work.monotonic is "
        "time.monotonic, work.patience(2.0))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.split() == (["True", "2.0"] if moves else ["False", str(compute_budget.PATIENCE_MAX)])


@pytest.mark.clock
def test_what_is_marked_has_a_clock_and_so_have_its_processes() -> None:
    assert compute_budget.monotonic is time.monotonic
    assert compute_budget.CLOCK not in os.environ


def test_what_is_spent_is_counted_over_many_calls() -> None:
    with compute_budget.tally() as whole:
        for _ in range(2):
            with compute_budget.allowance(1.0), compute_budget.part(0.5), compute_budget.tally() as one:
                compute_budget.spend(1e6)
            assert one.units == 1e6
        assert whole.units == 2e6
        assert whole.seconds == 2e6 / compute_budget.UNITS_PER_SECOND
    with compute_budget.allowance(1.0):
        compute_budget.spend(1e6)
    assert whole.units == 2e6


def test_an_allowance_inside_another_is_the_outer_one() -> None:
    with compute_budget.allowance(1.0) as outer, compute_budget.allowance(100.0) as inner:
        assert inner is outer


def test_threads_have_their_own() -> None:
    seen = []
    with compute_budget.allowance(1.0):
        thread = threading.Thread(target=lambda: seen.append(compute_budget.left()))
        thread.start()
        thread.join()
    assert seen == [float("inf")]


def test_memory_is_asked_for_before_it_grows() -> None:
    compute_budget.hold(1 << 20)
    for size in (float(1 << 31), float("nan"), float("inf")):
        with pytest.raises(WorkExhausted, match="memory"):
            compute_budget.hold(size)


def test_what_is_cancelled_ends_at_its_next_look() -> None:
    with compute_budget.allowance(1.0) as whole, compute_budget.part(0.5) as before:
        whole.cancel()
        assert whole.left > 0.0  # units are for the working thread to write
        for made in (before, whole):
            assert made.over()
            with pytest.raises(WorkExhausted, match="time ran out"):
                made.spend(0.0)
        for later in (compute_budget.part(0.5), compute_budget.grace(), compute_budget.allowance(1.0)):
            with later:
                assert compute_budget.over()
                assert compute_budget.left() == 0.0
                with pytest.raises(WorkExhausted, match="time ran out"):
                    compute_budget.spend(0.0)
        assert whole.exhausted == "time"
        assert whole.late


def test_a_part_that_is_cancelled_has_no_grace_and_the_whole_goes_on() -> None:
    with compute_budget.allowance(1.0) as whole:
        with compute_budget.part(0.5) as part, compute_budget.grace():
            compute_budget.spend(1.0)
            part.cancel()
            assert compute_budget.over()
            with compute_budget.part(0.5), pytest.raises(WorkExhausted):
                compute_budget.spend(1.0)
        assert not whole.over()
        compute_budget.spend(1.0)
        with compute_budget.grace():
            compute_budget.spend(1.0)


def test_another_thread_ends_a_long_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends with most of its minute left, and gives what it has."""
    run = tr.training(records=60000, batch=256, epochs=15, sigma=1.1, sampling="allocated")
    minute = (1.0 - compute_budget.GRACE) * 60.0 * compute_budget.UNITS_PER_SECOND
    begun: queue.SimpleQueue[compute_budget.Meter] = queue.SimpleQueue()
    cancelled = threading.Event()
    answers: list[tr.Bound] = []
    spend = compute_budget.Meter.spend

    def in_the_midst(meter: compute_budget.Meter, units: float) -> None:
        """Work that waits, once a part of it is done, until the other thread has spoken."""
        spend(meter, units)
        *_, whole = meter.chain()
        if whole.left < 0.99 * minute and not cancelled.is_set():
            begun.put(whole)
            assert cancelled.wait(600.0)

    monkeypatch.setattr(compute_budget.Meter, "spend", in_the_midst)

    def call() -> None:
        with compute_budget.allowance(60.0):
            answers.append(run.epsilon(1e-5))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    meter = begun.get(timeout=600.0)
    meter.cancel()
    cancelled.set()
    thread.join()
    (bound,) = answers
    assert bound.lower <= 1.092225
    assert bound.upper >= 1.092223
    assert bound.certificate is not None
    assert bound.certificate.exhausted == "time"
    assert meter.left > 0.5 * minute


class Rushing:
    """A clock on a machine so busy that every look is an hour after the one before."""

    def __init__(self) -> None:
        self.hours = 0

    def __call__(self) -> float:
        self.hours += 1
        return 3600.0 * self.hours


@pytest.mark.parametrize(
    "expression",
    ["Laplace(scale=10) * 10 + Gaussian(sigma=10)", "Gaussian(sigma=1).poisson(rate=0.01) * 1000"],
)
def test_no_clock_ends_what_nobody_limited(expression: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each digit of an answer without seconds is the same however busy the machine is."""
    quiet = tr.parse(expression).epsilon(1e-6)
    monkeypatch.setattr(compute_budget, "monotonic", Rushing())
    busy = tr.parse(expression).epsilon(1e-6)
    assert busy == quiet
    assert busy.certificate.parameters == quiet.certificate.parameters
    assert busy.certificate.exhausted == quiet.certificate.exhausted


def test_seconds_that_were_asked_for_are_by_the_clock_and_the_answer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute_budget, "monotonic", Rushing())
    run = tr.Gaussian(sigma=1).poisson(rate=0.01) * 1000
    bound = run.epsilon(1e-6, seconds=10.0)
    assert bound.certificate.exhausted == "time"
    assert bound.certificate.beside == " (add/remove; ended by the clock after 10.0 seconds)"
    assert bound.lower <= 2.1245151 <= bound.upper
    with compute_budget.allowance(compute_budget.Rating(1.0)) as whole:
        compute_budget.spend(0.5 * compute_budget.UNITS_PER_SECOND)
        assert not whole.late
        with pytest.raises(WorkExhausted):
            compute_budget.spend(compute_budget.UNITS_PER_SECOND)


def test_a_share_of_a_rating_is_a_rating() -> None:
    assert isinstance(compute_budget.share_of(compute_budget.Rating(4.0), 2.0), compute_budget.Rating)
    assert not isinstance(compute_budget.share_of(4.0, 2.0), compute_budget.Rating)
    assert pickle.loads(pickle.dumps(compute_budget.Rating(4.0))) == 4.0
    assert isinstance(pickle.loads(pickle.dumps(compute_budget.Rating(4.0))), compute_budget.Rating)


def test_what_a_call_has_made_is_kept_for_it_alone() -> None:
    made: list[int] = []

    def make(number: int) -> int:
        made.append(number)
        return number + 1

    assert [compute_budget.kept(make, 1) for _ in range(2)] == [2, 2]
    assert made == [1, 1]  # without an allowance
    for _ in range(2):
        made.clear()
        with compute_budget.allowance(1.0):
            with compute_budget.part(0.5):
                assert compute_budget.kept(make, 1) == 2
            with compute_budget.grace():
                assert [compute_budget.kept(make, number) for number in (1, 2, 2)] == [2, 3, 3]
        assert made == [1, 2]
