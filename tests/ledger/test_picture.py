"""A budget over time: what the picture shows is what the counters say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from tightrope.ledger import maintenance
from tightrope.ledger.database import Database
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.picture import draw_history, odometers, tracks
from tightrope.ledger.service import LocalService
from tightrope.ledger.transactions.entry import Actor

HOUR = 3_600_000
START = 1_770_000_000_000
WHO: dict[str, Any] = {"relation": "add_remove", "unit": "one person"}


class Times:
    """A clock that moves when it is told to."""

    now = START

    def __call__(self, _: int) -> int:
        return self.now


@pytest.fixture
def times() -> Times:
    return Times()


@pytest.fixture
def ledger(sqlite_url: str, times: Times) -> Iterator[Ledger]:
    desk = LocalService(Database(sqlite_url, clock=times), Actor("ana"))
    maintenance.begin(desk)
    with Ledger(desk) as found:
        yield found


def spent(ledger: Ledger, times: Times, name: str, job: str, count: int) -> None:
    """Jobs an hour apart, each held for half of it."""
    for index in range(count):
        times.now += HOUR // 2
        reserved = ledger.reserve({name: job}, f"{name}-{index}", start=True)
        times.now += HOUR // 2
        reserved.commit()


def drawn(ledger: Ledger, name: str, job: str | None = None, **options: Any) -> Figure:
    return draw_history(ledger.status(name, job), ledger.history(name), **options)


def texts(figure: Figure) -> str:
    """All words that it has."""
    figure.canvas.draw()
    axes = figure.axes[0]
    legend = axes.get_legend()
    named = [] if legend is None else [each.get_text() for each in legend.get_texts()]
    inside = [each.get_text() for each in axes.texts]
    return "\n".join([axes.get_title(loc="left"), axes.get_ylabel(), figure.get_supxlabel(), *named, *inside])


def across(line: Any) -> list[float]:
    """The times of a line, in days."""
    return list(map(float, line.get_xdata()))


def test_a_fresh_budget_has_no_jobs(ledger: Ledger, times: Times, tmp_path: Path) -> None:
    ledger.create("fresh", epsilon=1.0, delta=1e-6, kind="basic", **WHO)
    said = texts(drawn(ledger, "fresh", path=tmp_path / "fresh.png", now=times.now))
    assert "fresh: (1, 1e-06)-DP for one person" in said
    assert "no jobs yet" in said
    assert (tmp_path / "fresh.png").stat().st_size > 0


def test_tracks_hold_what_was_spent_and_held(ledger: Ledger, times: Times) -> None:
    ledger.create("a", epsilon=1.0, delta=1e-6, kind="basic", **WHO)
    spent(ledger, times, "a", "PureDP(epsilon=0.25)", 2)
    status, history = ledger.status("a"), ledger.history("a")
    epsilon, delta = tracks(status, history["moments"])
    assert epsilon.label == "epsilon"
    assert epsilon.spent == (0.0, 0.0, 0.25, 0.25, 0.5)
    assert epsilon.used == (0.0, 0.25, 0.25, 0.5, 0.5)
    assert set(delta.used) == {0.0}
    assert [each["at"] for each in history["moments"]] == [START + at * HOUR // 2 for at in range(5)]


def test_the_line_ends_now_and_never_before_the_last_move(ledger: Ledger, times: Times) -> None:
    ledger.create("a", epsilon=1.0, delta=1e-6, kind="basic", **WHO)
    spent(ledger, times, "a", "PureDP(epsilon=0.25)", 2)
    for now, end in ((times.now + 24 * HOUR, times.now + 24 * HOUR), (START - HOUR, times.now)):
        ends = [across(line)[-1] for line in drawn(ledger, "a", now=now).axes[0].get_lines()]
        assert end / 86_400_000 in ends


def test_renewals_are_marked(ledger: Ledger, times: Times) -> None:
    ledger.create("a", epsilon=0.5, ceiling=1.0, delta=1e-6, kind="basic", **WHO)
    spent(ledger, times, "a", "PureDP(epsilon=0.25)", 2)
    assert "renewed" not in texts(drawn(ledger, "a", now=times.now))
    times.now += HOUR
    ledger.renew("a", epsilon=0.75)
    figure = drawn(ledger, "a", now=times.now)
    assert "total so far" in texts(figure)
    assert "the promise" in texts(figure)
    marks = [line for line in figure.axes[0].get_lines() if line.get_label() == "renewed"]
    assert [across(line)[0] for line in marks] == [times.now / 86_400_000]


def test_an_odometer_rises_without_a_total(ledger: Ledger, times: Times) -> None:
    ledger.create("a", kind="odometer", delta=1e-6, **WHO)
    spent(ledger, times, "a", "Gaussian(sigma=5)", 3)
    status, history = ledger.status("a"), ledger.history("a")
    told = odometers(status, history["moments"])
    assert told == sorted(told)
    assert told[-1] == status["odometer"]["epsilon"]
    said = texts(drawn(ledger, "a", now=times.now))
    assert "epsilon used, at most, at delta 1e-06" in said
    assert "the promise" not in said


def test_how_many_more_and_the_odometer_stand_beneath(ledger: Ledger, times: Times) -> None:
    ledger.create("a", epsilon=1.0, delta=1e-6, kind="basic", **WHO)
    said = texts(drawn(ledger, "a", "PureDP(epsilon=0.25)", now=times.now))
    assert "odometer: epsilon at most 0 at delta 0, whenever one stops" in said
    assert "how many more like this: 4 (PureDP(epsilon=0.25))" in said
    assert "times in UTC" in said


def test_slots_are_named_by_their_jobs(ledger: Ledger, times: Times) -> None:
    plan = {"Gaussian(sigma=4)": 3, "Laplace(scale=10)": 7}
    ledger.create("a", kind="plan", plan=plan, delta=1e-6, **WHO)
    said = texts(drawn(ledger, "a", now=times.now))
    assert "slot 1: Gaussian(sigma=4.0)" in said
    assert "slot 2: Laplace(scale=10.0)" in said


def test_orders_that_died_are_named(ledger: Ledger, times: Times) -> None:
    ledger.create("a", epsilon=1.0, delta=1e-6, **WHO)
    spent(ledger, times, "a", "Gaussian(sigma=40)", 1)
    assert "orders that are dead: 16;" in texts(drawn(ledger, "a", now=times.now))


def test_texts_of_others_are_shown_as_they_are(ledger: Ledger, times: Times, tmp_path: Path) -> None:
    """No formula between two dollars, and a name as long as names may be."""
    name = "a-long-name/" + "x" * 88
    ledger.create(name, epsilon=1.0, delta=1e-6, kind="basic", relation="replace", unit="one $\\alpha$ _unit_ " * 5)
    drawn(ledger, name, path=tmp_path / "long.svg", now=times.now)
    assert "a-long-name/" in (tmp_path / "long.svg").read_text("utf-8")


def test_a_block_says_where_its_jobs_are(ledger: Ledger, times: Times) -> None:
    ledger.create("a", epsilon=1.0, delta=1e-6, kind="basic", parallel=True, **WHO)
    assert "jobs are those of its partitions" in texts(drawn(ledger, "a", now=times.now))


def test_a_recovered_odometer_is_not_drawn(ledger: Ledger, times: Times) -> None:
    ledger.create("endless", kind="odometer", delta=1e-6, **WHO)
    spent(ledger, times, "endless", "Gaussian(sigma=10)", 2)
    ledger.freeze("endless", "a test")
    ledger.recover("endless", "a test")
    figure = drawn(ledger, "endless")
    assert "not known" in texts(figure)
    assert not figure.axes[0].lines
