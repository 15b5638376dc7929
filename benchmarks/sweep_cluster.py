"""What a cluster costs: the same configurations on two processes of this machine and on two workers of Dask.

    python -m benchmarks.sweep_cluster [COUNT]

Configurations of sweep_speed.py in chunks of 50. `questions` is CPU time as counted around each question, `workers`
that of the worker processes, their start apart, and `here` that of this one, which sends and collects, and for Dask
holds the scheduler too. overhead is what all of it takes beyond the questions; wall are seconds by the clock, which
tell little where the machine has other work.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.sweep_speed import CpuJob, drawn

MAKE, ASK = "Gaussian(sigma={sigma}).poisson(rate={rate}) * {count}", "epsilon(delta={delta})"
WORKERS = 2


def cpu_of(process: int) -> float:
    """CPU seconds of a process, as the kernel counts them."""
    words = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def children() -> list[int]:
    """All processes below this one."""
    found, waiting = [], [os.getpid()]
    while waiting:
        for task in Path(f"/proc/{waiting.pop()}/task").iterdir():
            below = [int(word) for word in (task / "children").read_text().split()]
            found += below
            waiting += below
    return found


def grid_of(count: int) -> list[dict[str, Any]]:
    return [dict(vars(each)) for each in drawn(count, seed=3)]


def run(executor: Any, grid: list[dict[str, Any]]) -> tuple[dict[str, float], list[Any]]:
    """What a sweep took but for its workers, and its rows in the order of the grid."""
    from tightrope.sweep.plan import plan_of

    plan = plan_of(MAKE, grid, ASK, 30.0)
    job = CpuJob(plan.job.make, plan.job.ask, plan.job.seconds)
    wall, here = time.perf_counter(), time.process_time()
    rows = sorted(executor.run(job, plan.chunks(50)), key=lambda found: found[0].index)
    told = {"wall": time.perf_counter() - wall, "here": time.process_time() - here}
    return {**told, "questions": sum(row.seconds for found in rows for row in found)}, rows


def told(found: dict[str, float], workers: float) -> dict[str, float]:
    """The figures, with the overhead that they make."""
    overhead = (workers + found["here"]) / found["questions"] - 1.0
    return {name: round(value, 3) for name, value in {**found, "workers": workers, "overhead": overhead}.items()}


def ended() -> float:
    """CPU seconds of the processes that this one waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def local(grid: list[dict[str, Any]]) -> tuple[dict[str, float], list[Any]]:
    """Processes of this machine; what two of them take for next to nothing is their start."""
    from tightrope.sweep.local import LocalProcesses

    before = ended()
    trivial, _ = run(LocalProcesses(WORKERS), [{"sigma": 1.0, "rate": 1.0, "count": 1, "delta": 0.1}] * 100)
    start = ended() - before - trivial["questions"]
    found, rows = run(LocalProcesses(WORKERS), grid)
    workers = ended() - before - start - trivial["questions"] - start
    return {**told(found, workers), "start": round(start, 2)}, rows


@contextmanager
def cluster() -> Iterator[str]:
    """Two workers with one thread each; the scheduler is in this process."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as found:
        yield found.scheduler_address


def dask(grid: list[dict[str, Any]]) -> tuple[dict[str, float], list[Any]]:
    """A cluster that was used before."""
    from tightrope.sweep.cluster import Cluster

    with cluster() as address:
        run(Cluster(address), grid[:100])
        below = {each: cpu_of(each) for each in children()}
        found, rows = run(Cluster(address), grid)
        return told(found, sum(cpu_of(each) - before for each, before in below.items())), rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("count", type=int, nargs="?", default=1000)
    grid = grid_of(parser.parse_args().count)
    (processes, one), (of_dask, other) = local(grid), dask(grid)
    both = [(mine[0], theirs[0]) for mine, theirs in zip(one, other, strict=True)]
    late = sum(not (mine.repeatable and theirs.repeatable) for mine, theirs in both)
    differ = sum(mine.repeatable and theirs.repeatable and mine != theirs for mine, theirs in both)
    print(json.dumps({"processes": processes, "dask": of_dask, "rows_that_differ": differ, "late": late}, indent=1))


if __name__ == "__main__":
    main()
