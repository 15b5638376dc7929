"""Random questions to the default engine: each answered in time, and all engines that answer overlap.

Log-uniform: sigma 0.3 to 20, rate 1e-5 to 1, count 1 to 1e6, delta 1e-2 to 1e-60, from a fixed seed. Per case the
default answer, the proof where it comes from the contour, and the lattice where the case is drawn for it. Exits with 1
where two intervals are disjoint, or a question stays without an answer or takes more than 30 s.
Usage: contour_fuzz.py [CASES [SEED]].
"""

from __future__ import annotations

import itertools
import json
import math
import multiprocessing
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import tightrope as tr

CASES, SEED = 2000, 2021
LATTICE_SHARE = 0.05  # of the cases are asked of the lattice too
SECONDS_MOST = 30.0
WIDEST = 5


@dataclass(frozen=True)
class Case:
    """One question, and whether the lattice is asked too."""

    sigma: float
    rate: float
    count: int
    delta: float
    lattice: bool

    @property
    def mechanism(self) -> tr.Mechanism:
        return tr.Gaussian(sigma=self.sigma).poisson(rate=self.rate) * self.count

    @property
    def name(self) -> str:
        return f"{self.mechanism!r} at {self.delta!r}"


@dataclass(frozen=True)
class Outcome:
    """What the default engine said, and whether the others agree."""

    name: str
    engine: str
    seconds: float
    width: float
    agrees: bool


def log_uniform(source: random.Random, low: float, high: float) -> float:
    """Uniform on a log scale."""
    return math.exp(source.uniform(math.log(low), math.log(high)))


def drawn(seed: int) -> Iterator[Case]:
    """The cases of a seed, one after the other."""
    source = random.Random(seed)
    while True:
        sigma, rate = log_uniform(source, 0.3, 20.0), log_uniform(source, 1e-5, 1.0)
        count, delta = round(log_uniform(source, 1.0, 1e6)), log_uniform(source, 1e-60, 1e-2)
        yield Case(sigma, rate, count, delta, source.random() < LATTICE_SHARE)


def overlapping(bounds: list[tr.Bound]) -> bool:
    """Whether all intervals have a point in common, pair by pair."""
    return all(
        one.lower <= other.upper and other.lower <= one.upper for one, other in itertools.combinations(bounds, 2)
    )


def attempt(case: Case, engine: str = "auto", proof: bool = False) -> tr.Bound | None:
    """The answer, or None where the engine refuses."""
    try:
        return case.mechanism.epsilon(case.delta, engine=engine, proof=proof)
    except tr.UnsupportedMechanism:
        return None


def judge(case: Case) -> Outcome:
    """Asks the default engine, then the others."""
    began = time.perf_counter()
    bound = attempt(case)
    seconds = time.perf_counter() - began
    if bound is None or bound.certificate is None:
        return Outcome(case.name, "none", seconds, math.inf, False)
    engine, arithmetic = bound.certificate.engine, bound.certificate.arithmetic
    others = []
    if engine == "contour" and arithmetic == "float64":
        others.append(attempt(case, proof=True, engine="contour"))
    if case.lattice:
        others.append(attempt(case, engine="lattice"))
    agrees = overlapping([bound, *(other for other in others if other is not None)])
    width = (bound.upper - bound.lower) / bound.upper if bound.upper else 0.0
    return Outcome(case.name, f"{engine} {arithmetic}", seconds, width, agrees)


def main() -> None:
    """Runs the cases, two or more at a time, and sums them up as JSON."""
    cases, seed = (int(text) for text in (*sys.argv[1:3], *map(str, (CASES, SEED)[len(sys.argv) - 1 :])))
    outcomes: list[Outcome] = []
    with multiprocessing.Pool(os.cpu_count()) as pool:
        for outcome in pool.imap_unordered(judge, itertools.islice(drawn(seed), cases)):
            outcomes.append(outcome)
            if len(outcomes) % 50 == 0:
                print(f"{len(outcomes)} of {cases}", file=sys.stderr, flush=True)
    bad = [outcome.name for outcome in outcomes if not outcome.agrees]
    slow = [outcome.name for outcome in outcomes if outcome.seconds > SECONDS_MOST]
    seconds = sorted(outcome.seconds for outcome in outcomes)
    widths = sorted((outcome.width, outcome.name) for outcome in outcomes)
    summary = {
        "cases": cases,
        "seed": seed,
        "answered_by": dict(Counter(outcome.engine for outcome in outcomes)),
        "widest": widths[::-1][:WIDEST],
        "wider_than_1e-6": sum(width > 1e-6 for width, _ in widths),
        "median_seconds": seconds[len(seconds) // 2],
        "slowest": sorted(((outcome.seconds, outcome.name) for outcome in outcomes), reverse=True)[:WIDEST],
        "without_an_answer_or_disjoint": bad,
        "over_30_seconds": slow,
    }
    json.dump(summary, sys.stdout, indent=1)
    print()
    sys.exit(1 if bad or slow else 0)


if __name__ == "__main__":
    main()
