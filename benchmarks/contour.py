"""The contour engine: time, width and nodes per case; benchmarks/peers has the times of others.

Each time is the median of REPEATS answers to "epsilon at this delta", both directions.
JSON on standard output, progress on standard error.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable

import tightrope as tr

REPEATS = 7
SLOW = 5.0  # seconds; what is slower than this runs once

# (sigma, rate, count), delta
SAMPLED: tuple[tuple[float, float, int, float], ...] = (
    (1.0, 0.01, 1000, 1e-6),
    (4.0, 0.01, 10000, 1e-5),
    (1.0, 0.001, 100000, 1e-10),
    (0.6, 0.0001, 1000000, 1e-8),
    (2.0, 0.01, 1500, 1e-15),
    (2.0, 0.01, 10000, 1e-6),
    (0.8, 0.004, 3000, 1e-5),
    (8.0, 0.1, 20000, 1e-7),
    (1.0, 0.5, 100, 1e-6),
    (3.0, 0.02, 5000, 1e-30),
    (1.0, 0.01, 10000, 1e-6),
    (1.0, 0.01, 1000000, 1e-6),
)
DISTINCT = 100


def distinct_steps() -> list[tuple[float, float, int]]:
    """DP-SGD whose noise and rate change at every step."""
    share = [index / (DISTINCT - 1) for index in range(DISTINCT)]
    return [(0.8 + 1.2 * part, 0.001 + 0.019 * part, 1) for part in share]


def median_time(question: Callable[[], object]) -> float:
    """Median seconds of REPEATS calls after a first one; a slow first call counts alone."""
    began = time.perf_counter()
    question()
    first = time.perf_counter() - began
    if first > SLOW:
        return first
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        question()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def measure(steps: list[tuple[float, float, int]], delta: float) -> dict[str, object]:
    """One case."""
    mechanism = tr.compose(tr.Gaussian(sigma=sigma).poisson(rate=rate) * count for sigma, rate, count in steps)
    bound = mechanism.epsilon(delta)
    proven = mechanism.epsilon(delta, proof=True) if len(steps) == 1 else None
    seconds = median_time(lambda: mechanism.epsilon(delta))
    certificate = bound.certificate
    return {
        "steps": steps if len(steps) == 1 else f"{len(steps)} distinct",
        "delta": delta,
        "lower": bound.lower,
        "upper": bound.upper,
        "relative_width": (bound.upper - bound.lower) / bound.upper,
        "engine": certificate.engine if certificate else None,
        "nodes": certificate.parameters.get("nodes") if certificate else None,
        "milliseconds": 1e3 * seconds,
        "proof_relative_width": (proven.upper - proven.lower) / proven.upper if proven else None,
        "proof_milliseconds": 1e3 * median_time(lambda: mechanism.epsilon(delta, proof=True)) if proven else None,
    }


def main() -> None:
    """All cases."""
    results = []
    for sigma, rate, count, delta in SAMPLED:
        results.append(measure([(sigma, rate, count)], delta))
        print(results[-1], file=sys.stderr)
    results.append(measure(distinct_steps(), 1e-6))
    print(results[-1], file=sys.stderr)
    json.dump({"repeats": REPEATS, "results": results}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
