"""Workers of all kinds spend from one ledger, which goes to them as it is; together they spend what there is."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")

import tightrope.ledger as tl
from tests.search import cases
from tightrope.interop.spending import counted
from tightrope.ledger.ledger import Ledger

JOB = "Gaussian(sigma=10)"
WORKERS, ASKED = 4, 40
FITS = 25  # of these jobs


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """One job is mu^2/2 = 1/200 of rho."""
    with tl.init(f"sqlite:///{tmp_path}/budget.db") as made:
        made.create("census", kind="zcdp", rho=(FITS + 0.5) / 200, relation="add_remove", unit="one person")
        assert made.quote("census", JOB).more == FITS
        yield made
        made.verify()


def spends(ledger: Ledger, key: str) -> str:
    """One job by one worker: what became of it."""
    try:
        with ledger.spend("census", JOB, key=key) as spending:
            pass
    except tl.BudgetExhausted:
        return "refused"
    except tl.Claimed:
        return "claimed"
    return spending.state


def expect_spent(ledger: Ledger, found: Iterable[str]) -> None:
    """So many fitted, all others were refused, and the ledger says the same."""
    told = list(found)
    assert {each: told.count(each) for each in set(told)} == {"committed": FITS, "refused": len(told) - FITS}
    status = ledger.status("census", JOB)
    assert status["more"]["more"] == 0
    assert status["jobs"]["committed"] == FITS
    (axis,) = [each for each in status["axes"] if each["name"] == "rho"]
    assert axis["held"] == 0
    assert axis["spent"] <= axis["total"]


def forked() -> Executor:
    return ProcessPoolExecutor(WORKERS, mp_context=multiprocessing.get_context("fork"))


def spawned() -> Executor:
    return ProcessPoolExecutor(cases(2, WORKERS), mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize(
    "make", [lambda: ThreadPoolExecutor(WORKERS), forked, spawned], ids=["thread", "fork", "spawn"]
)
def test_a_pool_spends_what_there_is(ledger: Ledger, make: Callable[[], Executor]) -> None:
    with make() as pool:
        found = list(pool.map(spends, [ledger] * ASKED, [f"job-{number}" for number in range(ASKED)]))
    expect_spent(ledger, found)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_key_runs_in_one_worker_alone(ledger: Ledger) -> None:
    with forked() as pool:
        found = list(pool.map(spends, [ledger] * 8, ["same"] * 8))
    assert sorted(found) == ["claimed"] * 7 + ["committed"]


@pytest.mark.cluster
def test_workers_of_dask_spend_what_there_is(ledger: Ledger) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        keys = [f"job-{number}" for number in range(ASKED)]
        found = client.gather(client.map(spends, [ledger] * ASKED, keys, pure=False))
    expect_spent(ledger, found)


def test_a_pickled_ledger_is_the_same_ledger_of_another_process(ledger: Ledger) -> None:
    copy: Ledger = pickle.loads(pickle.dumps(ledger))
    with copy:
        assert copy.nonce != ledger.nonce
        assert spends(copy, "theirs") == "committed"
        assert spends(ledger, "theirs") == "claimed"


def takes(spending: Any, steps: int) -> int:
    """As many steps as are left of those that this worker wants."""
    for taken in range(steps):
        try:
            spending.step()
        except tl.BudgetExhausted:
            return taken
    return steps


def test_threads_share_one_run(ledger: Ledger) -> None:
    with counted(ledger, "census", f"{JOB} * {FITS}", "run") as spending, ThreadPoolExecutor(WORKERS) as pool:
        assert sum(pool.map(takes, [spending] * WORKERS, [FITS] * WORKERS)) == FITS
    assert spending.left == 0
    assert ledger.quote("census", JOB).more == 0
