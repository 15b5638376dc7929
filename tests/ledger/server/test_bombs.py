"""Jobs that are meant to hurt: each is answered in one line, and others go on being answered meanwhile."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ledger.server.serving import JOB, PATIENCE, Answer, House, housed
from tightrope import child
from tightrope.core.values import compute_budget
from tightrope.core.values.errors import UnsupportedMechanism
from tightrope.ledger import pricing_worker, process_pricing
from tightrope.ledger.errors import Unavailable
from tightrope.ledger.process_pricing import ProcessPricer

MINUTES = "Laplace(scale=0.001).poisson(rate=0.5) * 10**9"  # what it costs a gdp budget
SHORT = 0.5  # seconds that a price may take here


class Shop:
    """A server whose prices come from one process."""

    def __init__(self, house: House, pricer: ProcessPricer) -> None:
        self.house, self.pricer = house, pricer
        self.analyst, self.other = (house.client("analyst", "whole") for _ in range(2))

    @property
    def process(self) -> int:
        found = self.pricer._all[0]._process
        assert found is not None
        return found.pid

    def quote(self, job: str) -> Answer:
        return self.analyst.post("/v1/quotes", {"budget": "whole", "job": job})


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    pricer = ProcessPricer(1)
    pricer.start()
    with housed(f"sqlite:///{tmp_path_factory.mktemp('bombs')}/ledger.db", pricer=pricer) as house:
        house.ledger.create("whole", kind="gdp", epsilon=4.0, delta=1e-6, relation="add_remove", unit="one person")
        yield Shop(house, pricer)
        house.ledger.verify()


BOMBS = {
    "power": "Gaussian(sigma=1) * 10**10000",
    "tower": "Gaussian(sigma=1) * 9**9**9**9",
    "count": "Gaussian(sigma=1) * 10**300",
    "digits": f"Gaussian(sigma={'9' * 19_000})",
    "brackets": "(" * 9_000 + "Gaussian(sigma=1)" + ")" * 9_000,
    "open brackets": "(" * 19_000,
    "functions": "Gaussian(sigma=" + "sqrt(" * 3_000 + "2" + ")" * 3_000 + ")",
    "chain": "Gaussian(sigma=1)" + ".poisson(rate=0.5)" * 1_000,
    "signs": f"Gaussian(sigma={'-' * 19_000}1)",
    "sums": f"Gaussian(sigma={'1+' * 9_000}'1')",  # too long a chain for Python 3.11; 3.13 adds it up
    "factors": "Gaussian(sigma=1)" + "*2" * 9_000,
    "list": f"Gaussian(sigma=[{'1,' * 9_000}1])",
    "long": "Gaussian(sigma=1)" + " " * 20_000,
    "file": "Histograms(file='/etc/passwd')",
    "first file": "Histograms('/etc/passwd', '/etc/shadow')",
    "code": "__import__('os').system('true')",
    "attribute": "Gaussian(sigma=1).__class__",
    "lambda": "(lambda: Gaussian(sigma=1))()",
    "tiny": "Gaussian(sigma=1e-320)",
    "nan": "Gaussian(sigma=nan)",
    "nothing": "",
    "nul": "Gaussian(sigma=1)\0",
}


def test_each_is_refused_in_one_line(shop: Shop) -> None:
    process = shop.process
    for name, job in BOMBS.items():
        answer = shop.quote(job)
        assert answer.status in (400, 422), (name, answer.text)
        assert len(answer.document["detail"].splitlines()) == 1
        assert len(answer.text) < 3_000
        assert shop.analyst.reserve(name, "whole", job).status == answer.status
        assert shop.other.get("/v1/budgets/whole").status == 200
    assert "root:" not in shop.quote(BOMBS["file"]).text
    assert shop.process == process  # none of them ended it
    assert shop.house.ledger.status("whole")["jobs"] == {}


def test_a_job_of_minutes_is_ended_and_others_do_not_wait(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """What needs no price is answered all the while, and so is what has been priced before; its time ends by hand."""
    assert shop.quote(JOB).status == 200
    process = shop.process
    timers: queue.SimpleQueue[threading.Timer] = queue.SimpleQueue()

    class Told(threading.Timer):
        def start(self) -> None:
            super().start()
            timers.put(self)

    monkeypatch.setattr(threading, "Timer", Told)
    answers: list[Answer] = []
    thread = threading.Thread(target=lambda: answers.append(shop.quote(MINUTES)))
    thread.start()
    timer = timers.get(timeout=PATIENCE)
    for asked in range(3):
        assert shop.other.get("/v1/budgets/whole").status == 200
        assert shop.other.reserve(f"meanwhile-{asked}", "whole", JOB).status in (201, 409)
    assert timer.interval == compute_budget.PATIENCE_MAX
    assert thread.is_alive()
    with monkeypatch.context() as idle:  # where the machine gave it no time it goes on
        idle.setattr(process_pricing, "used_seconds", lambda process: 0.0)
        timer.function(2.0)
    timer = timers.get(timeout=PATIENCE)
    monkeypatch.setattr(process_pricing, "used_seconds", lambda process: 1e9)
    timer.function(0.0)
    thread.join()
    assert (answers[0].status, answers[0].urn) == (422, "unsupported-mechanism")
    assert "simpler" in answers[0].document["detail"]
    monkeypatch.undo()
    assert shop.quote("Gaussian(sigma=11.0)").status == 200  # by another process
    assert shop.process != process


@pytest.mark.clock
def test_a_job_has_its_time_by_the_clock(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_pricing, "PRICE_PATIENCE", SHORT)
    answer = shop.quote(MINUTES)
    assert (answer.status, answer.urn) == (422, "unsupported-mechanism")
    assert "the attempt was ended" in answer.document["detail"]


def test_a_job_whose_process_dies_is_refused(shop: Shop) -> None:
    """As one does that takes more memory than there is."""
    assert shop.quote("Gaussian(sigma=12.0)").status == 200
    process, answers, asked = shop.process, [], shop.pricer._all[0]._number
    thread = threading.Thread(target=lambda: answers.append(shop.quote(MINUTES)))
    thread.start()
    while shop.pricer._all[0]._number == asked:  # until it is about to be told
        assert thread.is_alive()
    os.kill(process, signal.SIGKILL)
    thread.join()
    assert (answers[0].status, answers[0].urn) == (422, "unsupported-mechanism")
    assert "memory" in answers[0].document["detail"]
    assert shop.quote("Gaussian(sigma=13.0)").status == 200


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_process_has_so_much_memory_and_no_more(shop: Shop) -> None:
    assert shop.quote("Gaussian(sigma=14.0)").status == 200
    limits = Path(f"/proc/{shop.process}/limits").read_text("utf-8")
    [line] = [each for each in limits.splitlines() if each.startswith("Max address space")]
    assert line.split()[3:5] == [str(child.ADDRESSES_MAX)] * 2


def test_what_takes_too_much_memory_is_refused_and_the_next_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    def large(*_: object) -> None:
        raise MemoryError

    order = {"price": ["basic", {"relation": "replace", "slack": 0.0}, "PureDP(epsilon=1.0)", None]}
    monkeypatch.setattr(pricing_worker, "priced", large)
    assert pricing_worker.answered(order)["refused"]["message"] == pricing_worker.LARGE
    monkeypatch.undo()
    assert "found" in pricing_worker.answered(order)


def test_a_process_that_held_much_is_replaced(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shop.quote("Gaussian(sigma=15.0)").status == 200
    process = shop.process
    monkeypatch.setattr(process_pricing, "PRICING_HELD_MAX", 1)
    assert shop.quote("Gaussian(sigma=16.0)").status == 200
    monkeypatch.undo()
    assert shop.quote("Gaussian(sigma=17.0)").status == 200
    assert shop.process != process


@pytest.mark.clock
def test_who_waits_too_long_for_a_process_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_pricing, "TURN_SECONDS", 0.01)
    pricer = ProcessPricer(1)
    taken = pricer._turn()
    with pytest.raises(Unavailable):
        pricer._turn()
    monkeypatch.setattr(process_pricing, "TURN_SECONDS", PATIENCE)
    most = process_pricing.PRICES_WAITING_MAX
    waiting = [threading.Thread(target=lambda: pricer._free.put(pricer._turn())) for _ in range(most)]
    for each in waiting:
        each.start()
    while pricer._waiting.acquire(blocking=False):  # until all of them wait
        pricer._waiting.release()
    with pytest.raises(Unavailable):
        pricer._turn()  # nobody waits behind so many
    pricer._free.put(taken)
    for each in waiting:
        each.join()


def test_errors_of_a_process_are_the_same_here(shop: Shop) -> None:
    shared = dict(shop.house.ledger.status("whole")["shared"])
    with pytest.raises(UnsupportedMechanism, match="no engine can answer"):
        shop.pricer.price("gdp", shared, "Gaussian(sigma=1.0) * 10**300", None)
