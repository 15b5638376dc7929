"""Sweeps on a Dask cluster: the same rows as in this process, to the last bit, and lines that say what is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tightrope as tr
from tests.search import FULL
from tightrope.cli.app import run
from tightrope.sweep import cluster
from tightrope.sweep.cluster import Cluster, check_stamp, stamp
from tightrope.sweep.plan import plan_of

MAKE = "Gaussian(sigma={sigma}) * {count}"
GRID = {"sigma": [1, 2.0, "0"], "count": {"from": 1, "to": 50, "points": 50, "whole": True}}
ASK = "delta(epsilon=1)"
PATIENCE = 600.0  # seconds, to end what hangs


def of_this_test(sigma: float, count: int) -> tr.Mechanism:
    """Dies with its process at one configuration."""
    if count == 33 and sigma == 2.0:
        os._exit(1)
    return tr.Gaussian(sigma=sigma) * count


@contextmanager
def command(*words: str) -> Iterator[None]:
    """A process of Dask for as long as it is needed."""
    root = Path(__file__).resolve().parents[2]
    path = os.pathsep.join([str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def address_in(place: Path) -> str | None:
    """What a scheduler wrote once it listens: any port that was free, which is nobody else's from then on."""
    try:
        return str(json.loads(place.read_text("utf-8"))["address"])
    except (OSError, ValueError):  # it has not written, or not all
        return None


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a scheduler with two workers, all started as commands."""
    pytest.importorskip("distributed")
    place = tmp_path_factory.mktemp("scheduler") / "scheduler.json"
    with ExitStack() as running:
        running.enter_context(
            command(
                "scheduler",
                "--host",
                "127.0.0.1",
                "--port",
                "0",
                "--scheduler-file",
                str(place),
                "--dashboard-address",
                ":0",
                "--no-dashboard",
                "--no-show",
            )
        )
        ends = time.monotonic() + PATIENCE
        while (address := address_in(place)) is None:
            assert time.monotonic() < ends, "the scheduler does not listen"
            time.sleep(0.05)
        for _ in range(2):
            running.enter_context(
                command(
                    "worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny", "--dashboard-address", ":0"
                )
            )
        yield address


@pytest.mark.cluster
def test_commands_of_a_cluster_give_the_same_rows(scheduler: str, tmp_path: Path) -> None:
    here = tr.sweep(MAKE, GRID, ASK, workers=1)
    assert tr.sweep(MAKE, GRID, ASK, scheduler=scheduler) == here
    assert len(here.failed) == 50
    definition, out = tmp_path / "sweep.toml", tmp_path / "out.csv"
    definition.write_text(f'make = "{MAKE}"\nask = "{ASK}"\n[grid]\nsigma = [1, 2.0]\ncount = [1, 2, 3]\n')
    assert run(["sweep", str(definition), "--out", str(out), "--no-times", "--scheduler", scheduler]) == 0
    told = tr.sweep(MAKE, {"sigma": [1, 2.0], "count": [1, 2, 3]}, ASK, workers=1)
    assert [line.split(",")[3:5] for line in out.read_text().splitlines()[1:]] == [
        [repr(row.lower), repr(row.upper)] for row in told
    ]


@contextmanager
def local(workers: int) -> Iterator[Any]:
    """A client of a cluster of processes of this one."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as found,
        distributed.Client(found, set_as_default=False) as client,
    ):
        yield client


@pytest.mark.cluster
def test_a_local_cluster_gives_the_same_rows() -> None:
    with local(1) as client:
        assert tr.sweep(MAKE, GRID, ASK, scheduler=client) == tr.sweep(MAKE, GRID, ASK, workers=1)
        assert client.status == "running"


@pytest.mark.cluster
@pytest.mark.skipif(not FULL, reason="workers that die and are started again take a while")
def test_what_kills_its_workers() -> None:
    """Processes that a nanny starts again: one row is lost, and all others are there."""
    grid = {"sigma": [1.0, 2.0], "count": {"from": 1, "to": 60, "points": 60, "whole": True}}
    with local(2) as client:
        client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
        found = tr.sweep(of_this_test, grid, ASK, scheduler=client)
    (bad,) = found.failed
    assert (bad.configuration, bad.ended) == ({"sigma": 2.0, "count": 33}, "killed")
    assert "died" in str(bad.error)
    assert [row.bound for row in found if row.error is None] == [
        row.bound for row in tr.sweep(MAKE, grid, ASK, workers=1) if row.index != bad.index
    ]


class Pool:
    """A cluster of two workers in this process, which dies of a configuration, and blames all that is with it."""

    loop = None

    def __init__(self, deadly: int | None = None) -> None:
        self.deadly, self.waiting, self.most = deadly, 0, 0

    def submit(self, function: Any, job: Any, chunk: Any, pure: bool) -> Any:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        if any(index == self.deadly for index, _ in chunk):
            return Later("error", None)
        return Later("finished", function(job, chunk))

    def nthreads(self) -> dict[str, int]:
        return {"a": 1, "b": 1}

    def cancel(self, futures: list[Any], force: bool) -> None:
        assert futures == []


class Later:
    def __init__(self, status: str, found: Any) -> None:
        self.status, self._found = status, found

    def result(self) -> Any:
        return self._found

    def exception(self) -> Exception:
        return distributed_killed()("it", "died", 0)


def distributed_killed() -> Any:
    return pytest.importorskip("distributed").KilledWorker


@pytest.mark.parametrize("deadly", [None, 7])
def test_few_tasks_no_more_than_a_window_of_them_and_suspects_alone(
    deadly: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = distributed_killed()
    assert Cluster("tcp://x:1").rows_per_task(10) == 50
    assert -(-(10**8) // Cluster("tcp://x:1").rows_per_task(10**8)) < 10**6
    pool = Pool(deadly)

    class Done:
        def __init__(self, *_: Any, **__: Any) -> None:
            self.futures: list[Any] = []

        def add(self, future: Any) -> None:
            self.futures.append(future)

        def __next__(self) -> Any:
            pool.waiting -= 1
            return self.futures.pop(0)

    monkeypatch.setattr(cluster, "_distributed", lambda: SimpleNamespace(as_completed=Done, KilledWorker=killed))
    grid = {"sigma": [1, 2.0], "count": [1, 2, 3, 4, 5, 6, 7]}
    plan, chunks = plan_of(MAKE, grid, ASK, 10.0), 3
    found = sorted(cluster._Window(pool, plan.job, plan.chunks(chunks)).rows(), key=lambda rows: rows[0].index)
    rows, wanted = [row for rows in found for row in rows], tr.sweep(MAKE, grid, ASK, workers=1).rows
    assert [row.index for row in rows] == list(range(14))
    assert [row.index for row in rows if row.error is not None] == ([] if deadly is None else [deadly])
    assert all(one == other for one, other in zip(rows, wanted, strict=True) if one.index != deadly)
    assert pool.most == 4


def test_refusals_take_a_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    theirs = tuple((name, "0.0" if name == "numpy" else here) for name, here in stamp())
    with pytest.raises(tr.InvalidParameter, match=r"a worker has numpy 0.0, and this process .*: install the same"):
        check_stamp(theirs)
    check_stamp(stamp())
    with pytest.raises(tr.InvalidParameter, match="one of the two"):
        tr.sweep(MAKE, GRID, ASK, workers=2, scheduler="tcp://127.0.0.1:1")
    for wrong in ("127.0.0.1:8786", 8786):
        with pytest.raises(tr.InvalidParameter, match="an address such as tcp://"):
            tr.sweep(MAKE, GRID, ASK, scheduler=wrong)


def test_nothing_of_dask_is_imported_unless_asked() -> None:
    code = (
        "import sys, tightrope as tr; tr.sweep('Gaussian(sigma={s})', {'s': [1]}, 'advantage()', workers=1);"
        "assert not {'dask', 'distributed', 'tornado'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": "src"})
