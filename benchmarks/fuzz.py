"""Random questions to the default engine: each answered in time, narrowly, and all engines that answer overlap.

From a fixed seed, log-uniform: two in ten are DP-SGD as it is run (sigma 0.3 to 20, rate 1e-5 to 1), five in ten
sampled Gaussians of any kind (sigma 1e-3 to 1e6, rates from 1e-12 up to 1 - 1e-12), three in ten mixes of up to six
mechanisms; counts 1 to 1e6, delta 1e-2 to 1e-60. Then a fifth as many trees of mechanisms and transformations
(benchmarks/trees.py). Every one has 5 seconds. Per case the default answer, then the proof where it comes from the
contour, and other engines where the case is drawn for it. Exits with 1 where two intervals are disjoint, a question
stays without an answer, one takes more than its time, or a mechanism is not what its text and its JSON say.
Usage: python -m benchmarks.fuzz [CASES [SEED]].
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
from benchmarks.trees import any_rate, both_ways, log_uniform, tree

CASES, SEED = 2000, 2021
SECONDS = 5.0
OTHERS_SHARE = 0.05  # of the cases are asked of the lattice too
TREES_SHARE = 0.2  # as many trees as cases of the other kinds
TREES_OTHERS_SHARE = 0.3  # of the trees are asked of other engines too
LATE = 1.5  # times the seconds, and a second to start: a machine with other work to do
LISTED = 40


@dataclass(frozen=True)
class Case:
    """One question, and which engines are asked too."""

    mechanism: tr.Mechanism
    delta: float
    others: tuple[str, ...]

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
    why: str | None


def training(source: random.Random) -> tr.Mechanism:
    """DP-SGD as it is run."""
    sigma, batch = log_uniform(source, 0.3, 20.0), round(log_uniform(source, 10.0, 1e6))
    return tr.training(records=10**6, batch=batch, steps=round(log_uniform(source, 1.0, 1e6)), sigma=sigma)


def sampled(source: random.Random) -> tr.Mechanism:
    """A sampled Gaussian of any kind."""
    sigma = log_uniform(source, 1e-3, 1e6)
    return tr.Gaussian(sigma=sigma).poisson(rate=any_rate(source)) * round(log_uniform(source, 1.0, 1e6))


def part(source: random.Random) -> tr.Mechanism:
    """One part of a mix."""
    size = log_uniform(source, 0.5, 50.0)
    match source.randrange(8):
        case 0:
            return tr.Gaussian(sigma=size)
        case 1:
            return tr.Laplace(scale=size)
        case 2:
            return tr.Gaussian(sigma=size).poisson(rate=any_rate(source))
        case 3:
            return tr.Laplace(scale=size).poisson(rate=log_uniform(source, 1e-4, 1.0))
        case 4:
            return tr.DiscreteGaussian(sigma=size)
        case 5:
            return tr.RandomizedResponse(p=0.5 + 0.2 / size, neighbours="add_remove")
        case 6:
            return tr.ApproximateDP(epsilon=1.0 / size, delta=log_uniform(source, 1e-80, 1e-65))
        case _:
            return tr.Exponential(epsilon=1.0 / size)


def mix(source: random.Random) -> tr.Mechanism:
    """Two to six parts, each some times."""
    return tr.compose([part(source) * round(log_uniform(source, 1.0, 1e3)) for _ in range(source.randint(2, 6))])


def drawn(seed: int) -> Iterator[Case]:
    """The cases of a seed, one after the other."""
    source = random.Random(seed)
    while True:
        kind = source.choices((training, sampled, mix), (2, 5, 3))[0]
        mechanism, delta = kind(source), log_uniform(source, 1e-60, 1e-2)
        yield Case(mechanism, delta, ("lattice",) if source.random() < OTHERS_SHARE else ())


def planted(seed: int) -> Iterator[Case]:
    """The trees of a seed, one after the other."""
    source = random.Random(seed)
    while True:
        mechanism, delta = tr.parse(tree(source)), log_uniform(source, 1e-30, 1e-2)
        yield Case(mechanism, delta, ("lattice", "joint") if source.random() < TREES_OTHERS_SHARE else ())


def overlapping(bounds: list[tr.Bound]) -> bool:
    """Whether all intervals have a point in common, pair by pair."""
    return all(
        one.lower <= other.upper and other.lower <= one.upper for one, other in itertools.combinations(bounds, 2)
    )


def attempt(case: Case, engine: str = "auto", proof: bool = False) -> tr.Bound | None:
    """The answer, or None where the engine refuses."""
    try:
        return case.mechanism.epsilon(case.delta, engine=engine, proof=proof, seconds=SECONDS)
    except tr.UnsupportedMechanism:
        return None


def relative_width(bound: tr.Bound) -> float:
    """As `accuracy` counts it: next to epsilon 0 a width of 1e-12 will do."""
    if bound.upper <= 1e-3 and bound.width <= 1e-12:
        return 0.0
    if bound.width == math.inf:
        return math.inf
    return bound.width / bound.upper if bound.width else 0.0


def judge(case: Case) -> Outcome:
    """Asks the default engine, then the others."""
    began = time.perf_counter()
    bound = attempt(case)
    seconds = time.perf_counter() - began
    if bound is None or bound.certificate is None:
        return Outcome(case.name, "none", seconds, math.inf, False, "refused")
    engine, arithmetic = bound.certificate.engine, bound.certificate.arithmetic
    others = []
    if engine == "contour" and arithmetic == "float64":
        others.append(attempt(case, proof=True, engine="contour"))
    others += [attempt(case, engine=other) for other in case.others]
    agrees = overlapping([bound, *(other for other in others if other is not None)]) and both_ways(case.mechanism)
    return Outcome(case.name, f"{engine} {arithmetic}", seconds, relative_width(bound), agrees, bound.wide)


def main() -> None:
    """Runs the cases, one per core at a time, and sums them up as JSON."""
    cases, seed = (int(text) for text in (*sys.argv[1:3], *map(str, (CASES, SEED)[len(sys.argv) - 1 :])))
    outcomes: list[Outcome] = []
    with multiprocessing.Pool(os.cpu_count()) as pool:
        trees = round(cases * TREES_SHARE)
        questions = itertools.chain(itertools.islice(drawn(seed), cases), itertools.islice(planted(seed), trees))
        for outcome in pool.imap_unordered(judge, questions):
            outcomes.append(outcome)
            if len(outcomes) % 50 == 0:
                print(f"{len(outcomes)} of {cases + trees}", file=sys.stderr, flush=True)
    bad = [outcome.name for outcome in outcomes if not outcome.agrees]
    late = [outcome.name for outcome in outcomes if outcome.seconds > LATE * SECONDS + 1.0]
    seconds = sorted(outcome.seconds for outcome in outcomes)
    wide = sorted(((each.width, each.name, each.why) for each in outcomes if each.width > 1e-6), reverse=True)
    summary = {
        "cases": cases,
        "trees": trees,
        "seed": seed,
        "answered_by": dict(Counter(outcome.engine for outcome in outcomes)),
        "mean_seconds": sum(seconds) / len(seconds),
        "median_seconds": seconds[len(seconds) // 2],
        "99_in_100_below": seconds[-(-99 * len(seconds) // 100) - 1],
        "slowest": sorted(((each.seconds, each.name) for each in outcomes), reverse=True)[:LISTED],
        "wider_than_1e-6": len(wide),
        "widest": wide[:LISTED],
        "without_an_answer_or_disjoint": bad,
        "late": late,
    }
    json.dump(summary, sys.stdout, indent=1)
    print()
    sys.exit(1 if bad or late else 0)


if __name__ == "__main__":
    main()
