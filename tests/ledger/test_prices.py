"""What a job costs is a matter of the job alone: not of the machine, its load, or what was asked before."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")

import tightrope as tr
from tests.ledger.server.serving import housed
from tightrope import ledger as tl
from tightrope.core.values.errors import UnsupportedMechanism
from tightrope.extend import work
from tightrope.ledger import pricing
from tightrope.ledger.filters import kind_of
from tightrope.ledger.filters.base import Price, Wanted
from tightrope.ledger.filters.terms import PRICE_BITS, shortened_up
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.process_pricing import ProcessPricer
from tightrope.ledger.service import LocalService
from tightrope.ledger.units import LOSS_UNIT

SHARED: dict[str, Any] = {"relation": "add_remove", "orders": {"2.0": 0.9, "8.0": 0.1}}
HARD = "Gaussian(sigma=1.0).random_allocation(steps=1000) * 10"  # .674 or 22.17 once, as the machine was busy or not
JOBS = (
    HARD,
    "Gaussian(sigma=4.0).truncated_poisson(rate=0.01, cap=20, records=1000)",
    "Gaussian(sigma=1.0).poisson(rate=0.01) * 1000",
    "Laplace(scale=2.0).poisson(rate=0.3) * 7",
    "PureDP(epsilon=0.1).best_of(law='geometric', mean=3.0)",
)
BUSY = "while True: pass"
TERMS: dict[str, Any] = {"relation": "add_remove", "unit": "one person", "delta": 1e-5, "epsilon": 4.0}


@pytest.fixture
def short_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A price may take a quarter of its work here."""
    monkeypatch.setattr(pricing, "PRICE_SECONDS", work.Rating(5.0))


def test_a_busy_machine_a_fresh_process_and_what_was_asked_before_change_no_price() -> None:
    loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(os.cpu_count() or 1)]
    pricer = ProcessPricer(1)
    try:
        fresh = [pricer.price("rdp", SHARED, job, None) for job in JOBS]
    finally:
        pricer.close()
        for loop in loops:
            loop.kill()
            loop.wait()
    warm = [pricing.priced("rdp", SHARED, job, None) for job in reversed(JOBS)]
    assert fresh == warm[::-1]
    assert tr.parse(HARD).renyi(2.0).lower * LOSS_UNIT <= (fresh[0].units["order 2"] or 0)


def test_no_clock_has_a_part_in_a_price(monkeypatch: pytest.MonkeyPatch, short_work: None) -> None:
    """One that is an hour later at each look ends nothing."""
    once = pricing.priced("rdp", SHARED, HARD, None)
    hours = iter(range(0, 10**9, 3600))
    monkeypatch.setattr("tightrope.core.values.compute_budget.monotonic", lambda: float(next(hours)))
    assert pricing.priced("rdp", SHARED, HARD, None) == once


def test_the_same_price_in_python_on_the_command_line_and_behind_a_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tightrope.cli.app import run

    job, url = JOBS[1], f"sqlite:///{tmp_path / 'x.db'}"
    pricer = ProcessPricer(1)
    with housed(url, pricer=pricer) as house:
        house.ledger.create("all", **TERMS)
        here = house.ledger.quote("all", job).units
        answer = house.client("analyst", "all").post("/v1/quotes", {"budget": "all", "job": job})
        assert answer.document["units"] == here
        assert run(["ledger", "quote", "all", job, "--ledger", url, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["units"] == here


@pytest.mark.parametrize("value", [0.1, 1.0, 1e-300, 5e-324, 1.7e308, 3.0000000001, 0.0])
def test_prices_are_shortened_upwards(value: float) -> None:
    found = shortened_up(value)
    assert value <= found <= value * (1.0 + 2.0 ** (1 - PRICE_BITS))
    assert shortened_up(found) == found


# Where work ends a price.


@pytest.fixture
def ledger(tmp_path: Path, short_work: None) -> Iterator[Ledger]:
    with tl.init(f"sqlite:///{tmp_path / 'ledger.db'}", principal="me") as found:
        found.create("b", **TERMS)
        yield found


def test_a_price_that_work_ended_needs_consent(ledger: Ledger) -> None:
    quote = ledger.quote("b", HARD)
    assert quote.fits
    assert quote.unsettled
    with pytest.raises(UnsupportedMechanism, match=r"work of one price ended .* between .*--worse"):
        ledger.reserve({"b": HARD}, "a")
    assert ledger.status("b")["jobs"] == {}
    reserved = ledger.reserve({"b": HARD}, "a", worse=True)  # the key is free: nothing was answered
    assert reserved.state == "reserved"
    assert ledger.reserve({"b": HARD}, "a", worse=True).replayed
    assert ledger.verify_prices() == {"priced": 1, "cheaper": 0, "unknown": 0}


def test_what_would_be_exceeded_anyway_needs_no_consent(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """An axis loses nothing by an upper end where the lower end ends it too."""
    axes = ledger.status("b")["axes"]
    head = max((axis for axis in axes if axis["need"] == "any"), key=lambda axis: int(axis["total"]))["name"]
    others = [axis["name"] for axis in axes if axis["name"] not in (head, "slack")]
    beyond = 1 << 60

    def made(self: object, kind: str, shared: Any, expression: str, slack: Any) -> Price:
        low = beyond if expression == "PureDP(epsilon=1.0)" else 1
        units: dict[str, int | None] = {head: 1, "slack": 0, **dict.fromkeys(others)}
        return Price(units, True, {}, dict.fromkeys(others, low))

    monkeypatch.setattr(pricing.PriceHere, "_found", made)
    with pytest.raises(UnsupportedMechanism, match="infinity"):
        ledger.reserve({"b": "PureDP(epsilon=2.0)"}, "wide")
    assert ledger.reserve({"b": "PureDP(epsilon=1.0)"}, "anyway").state == "reserved"


def test_a_job_of_many_transformations_is_refused_at_once() -> None:
    """Twelve of these took over a minute, of which work was not counted."""
    job = "Gaussian(sigma=1.0)" + ".best_of(law='geometric', mean=10.0)" * 12
    with work.allowance(1e-9), pytest.raises(UnsupportedMechanism, match="at most 6 transformations"):
        pricing.priced("rdp", SHARED, job, None)


# The chain priced again.


def test_the_chain_is_priced_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    with tl.init(url) as ledger:
        ledger.create("b", **TERMS)
        ledger.create("b/part", parent="b", epsilon=2.0, delta=1e-5)
        ledger.create("add", kind="basic", relation="add_remove", unit="one person", epsilon=4.0, delta=1e-5)
        ledger.reserve({"b/part": "Gaussian(sigma=20) * 10", "add": "Gaussian(sigma=20)"}, "two", slack=None)
        ledger.reserve({"add": "Gaussian(sigma=20)"}, "slack", slack=1e-8)
        run = ledger.reserve({"b/part": "Gaussian(sigma=20) * 10"}, "early", start=True)
        run.commit("Gaussian(sigma=20) * 3")
        found = ledger.verify_prices()
    assert found == {"priced": 5, "cheaper": 0, "unknown": 0}  # one of two roots stands in two chains


def test_a_job_that_was_charged_too_little_is_named(tmp_path: Path) -> None:
    """Every counter agrees with the chain, so that nothing else notices."""
    place = tmp_path / "ledger.db"
    with tl.init(f"sqlite:///{place}") as ledger:
        ledger.create("b", kind="zcdp", relation="add_remove", unit="one person", rho=1.0)
        shared = {"relation": "add_remove"}
        cheap = kind_of("zcdp").price(shared, tr.Gaussian(100.0), None)
        desk = ledger._desk
        assert isinstance(desk, LocalService)
        desk.pricer._kept[pricing.kept_name("zcdp", shared, "Gaussian(sigma=1.0)", None)] = cheap
        ledger.reserve({"b": "Gaussian(sigma=1)"}, "a")
        ledger.verify()
    with closing(sqlite3.connect(place)) as file:
        assert file.execute("SELECT held FROM axis WHERE name = 'rho'").fetchone()[0] == cheap.units["rho"]
    with tl.open(f"sqlite:///{place}") as ledger, pytest.raises(tl.VerificationFailed, match="the job costs"):
        ledger.verify_prices()


def test_designs_of_a_kind_are_the_same_wherever_they_are_made() -> None:
    wanted = Wanted(tr.Relation.ADD_REMOVE, epsilon=4.0, delta=1e-6)
    pricer = ProcessPricer(1)
    try:
        assert all(kind_of(kind).design(wanted, None) == pricer.design(kind, wanted, None) for kind in ("rdp", "gdp"))
    finally:
        pricer.close()
