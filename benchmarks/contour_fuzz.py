"""Random questions to the default engine: each answered, and every engine that answers overlaps with every other.

Log-uniform: sigma 0.3 to 20, rate 1e-5 to 1, count 1 to 1e6, delta 1e-2 to 1e-60, from a fixed seed. Per case the
default answer, the proof where it comes from the contour, and the lattice where the case is drawn for it. Exits with 1
where two intervals are disjoint or a question stays without an answer. Usage: contour_fuzz.py [CASES [SEED]].
"""

from __future__ import annotations

import itertools
import json
import math
import random
import sys
import time
from collections import Counter

import tightrope as tr

CASES, SEED = 2000, 2021
LATTICE_SHARE = 0.05  # of the cases are asked of the lattice too
SECONDS_MOST = 30.0


def log_uniform(source: random.Random, low: float, high: float) -> float:
    """Uniform on a log scale."""
    return math.exp(source.uniform(math.log(low), math.log(high)))


def overlapping(bounds: list[tr.Bound]) -> bool:
    """Whether all intervals have a point in common, pair by pair."""
    return all(
        one.lower <= other.upper and other.lower <= one.upper for one, other in itertools.combinations(bounds, 2)
    )


def attempt(mechanism: tr.Mechanism, delta: float, **options: object) -> tr.Bound | None:
    """The answer, or None where the engine refuses."""
    try:
        return mechanism.epsilon(delta, **options)  # type: ignore[call-overload,no-any-return]
    except tr.UnsupportedMechanism:
        return None


def main() -> None:
    """Runs the cases and sums them up as JSON."""
    cases, seed = (int(text) for text in (*sys.argv[1:3], *map(str, (CASES, SEED)[len(sys.argv) - 1 :])))
    source = random.Random(seed)
    engines: Counter[str] = Counter()
    failures: list[str] = []
    slow = 0
    widest, slowest = (0.0, ""), (0.0, "")
    for index in range(cases):
        sigma, rate = log_uniform(source, 0.3, 20.0), log_uniform(source, 1e-5, 1.0)
        count, delta = round(log_uniform(source, 1.0, 1e6)), log_uniform(source, 1e-60, 1e-2)
        cross_check = source.random() < LATTICE_SHARE
        mechanism = tr.Gaussian(sigma=sigma).poisson(rate=rate) * count
        name = f"{mechanism!r} at {delta!r}"
        began = time.perf_counter()
        bound = attempt(mechanism, delta)
        seconds = time.perf_counter() - began
        if bound is None or bound.certificate is None:
            failures.append(f"no answer: {name}")
            continue
        engine, arithmetic = bound.certificate.engine, bound.certificate.arithmetic
        engines[f"{engine} {arithmetic}"] += 1
        width = (bound.upper - bound.lower) / bound.upper if bound.upper else 0.0
        widest, slowest = max(widest, (width, name)), max(slowest, (seconds, name))
        slow += seconds > SECONDS_MOST
        others = []
        if engine == "contour" and arithmetic == "float64":
            others.append(attempt(mechanism, delta, proof=True, engine="contour"))
        if cross_check:
            others.append(attempt(mechanism, delta, engine="lattice"))
        if not overlapping([bound, *(other for other in others if other is not None)]):
            failures.append(f"disjoint: {name}")
        if index % 50 == 49:
            print(f"{index + 1} of {cases}: {dict(engines)}, {len(failures)} failures", file=sys.stderr)
    summary = {
        "cases": cases,
        "seed": seed,
        "answered_by": dict(engines),
        "widest": widest,
        "slowest": slowest,
        "over_30_seconds": slow,
        "failures": failures,
    }
    json.dump(summary, sys.stdout, indent=1)
    print()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
