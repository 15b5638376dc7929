"""How long a sweep of DP-SGD configurations takes: Gaussian(sigma).poisson(rate) * count at a delta, drawn by a seed.

    python benchmarks/sweep_speed.py [COUNT] [--seed N] [--json]

sigma .5 to 5, rate 1e-4 to .1, count 1 to 10^5, delta 1e-10 to 1e-4, each log-uniform, at the default accuracy.
CPU seconds of this process, everything but its start included: mean, median, 99 % of them, the slowest ten with their
parameters, which engine answered how many and at what cost, and the widths relative to the upper end.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tightrope.sweep.job import Job, Rows

SIGMA, RATE, COUNT, DELTA = (0.5, 5.0), (1e-4, 0.1), (1, 10**5), (1e-10, 1e-4)


@dataclass(frozen=True)
class Configuration:
    """One run of DP-SGD, and the delta that it is asked at."""

    sigma: float
    rate: float
    count: int
    delta: float


def drawn(count: int, seed: int) -> list[Configuration]:
    """The first `count` configurations of the seed."""
    source = random.Random(seed)

    def between(ends: tuple[float, float]) -> float:
        return math.exp(source.uniform(math.log(ends[0]), math.log(ends[1])))

    return [
        Configuration(between(SIGMA), between(RATE), max(1, round(between(COUNT))), between(DELTA))
        for _ in range(count)
    ]


@dataclass(frozen=True)
class Answer:
    """What one configuration cost, and how wide its interval is relative to its upper end."""

    asked: Configuration
    seconds: float
    engine: str
    epsilon: float
    width: float

    def row(self) -> dict[str, Any]:
        return {
            **vars(self.asked), "ms": round(1e3 * self.seconds, 1), "engine": self.engine,
            "epsilon": self.epsilon, "width": self.width,
        }  # fmt: skip


def answered(asked: Configuration) -> Answer:
    """One question as a sweep asks it."""
    import tightrope as tr

    start = time.process_time()
    bound = (tr.Gaussian(sigma=asked.sigma).poisson(rate=asked.rate) * asked.count).epsilon(delta=asked.delta)
    seconds = time.process_time() - start
    width = bound.width / bound.upper if bound.upper else 0.0
    assert bound.certificate is not None
    return Answer(asked, seconds, bound.certificate.engine, bound.upper, width)


@dataclass(frozen=True, slots=True)
class CpuJob(Job):
    """A job whose rows tell CPU seconds, wherever they are answered."""

    def answer(self, index: int, configuration: Mapping[str, Any]) -> Rows:
        start = time.process_time()
        found = Job.answer(self, index, configuration)
        seconds = time.process_time() - start
        return tuple(replace(row, seconds=seconds) for row in found)


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def summary(answers: list[Answer]) -> dict[str, Any]:
    seconds = [answer.seconds for answer in answers]
    widths = [answer.width for answer in answers]
    engines: dict[str, list[float]] = defaultdict(list)
    for answer in answers:
        engines[answer.engine].append(answer.seconds)
    return {
        "configurations": len(answers),
        "cpu_seconds": round(sum(seconds), 2),
        "mean_ms": round(1e3 * statistics.fmean(seconds), 2),
        "median_ms": round(1e3 * statistics.median(seconds), 2),
        "p99_ms": round(1e3 * quantile(seconds, 0.99), 1),
        "minutes_for_10000_on_two": round(1e4 * statistics.fmean(seconds) / 120, 2),
        "engines": {
            name: {
                "asked": len(took),
                "mean_ms": round(1e3 * statistics.fmean(took), 1),
                "seconds": round(sum(took), 1),
            }
            for name, took in sorted(engines.items())
        },
        "width_median": statistics.median(widths),
        "width_p99": quantile(widths, 0.99),
        "width_most": max(widths),
        "slowest": [answer.row() for answer in sorted(answers, key=lambda one: -one.seconds)[:10]],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("count", type=int, nargs="?", default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", help="a file for all answers, one JSON document per line")
    options = parser.parse_args()
    answers = [answered(asked) for asked in drawn(options.count, options.seed)]
    print(json.dumps(summary(answers), indent=1))
    if options.rows:
        with open(options.rows, "w") as file:
            file.writelines(json.dumps(answer.row()) + "\n" for answer in answers)


if __name__ == "__main__":
    main()
