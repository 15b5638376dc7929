"""Privacy buckets converge: widths with n = 2,000 and n = 50,000 over random skewed finite laws, as JSON lines.

From a fixed seed: laws of 2 to 6 outcomes whose masses span up to six orders of magnitude, every fourth with outcomes
that only one of the two laws has, every third sampled at a rate from 1e-3 to 0.5, counts 2 to 10^5, both directions;
delta at an epsilon where it is neither 0 nor 1, or epsilon at a delta. A case fails where the width with n = 50,000 is
above 1e-6 (of an epsilon above 1: relatively) and above a tenth of that with n = 2,000, or where the two intervals are
disjoint. Exits with 1 if any does. `relatively` counts what an absolute 1e-6 would fail as well.
Usage: bucket_widths.py [CASES [SEED [FIRST]]].
"""

from __future__ import annotations

import json
import math
import random
import sys
import time
from dataclasses import dataclass

import tightrope as tr
from tightrope.core.engines.buckets.engine import prepare
from tightrope.core.engines.selection import Term
from tightrope.core.values.question import Direction

CASES, SEED = 200, 2018
FEW, MANY = 2_000, 50_000
NARROW, FALL = 1e-6, 0.1


@dataclass(frozen=True)
class Case:
    """One question about one direction: delta at epsilon, or epsilon at delta."""

    run: tr.Mechanism
    direction: Direction
    epsilon: float | None
    delta: float | None

    @property
    def name(self) -> str:
        asked = f"epsilon={self.epsilon!r}" if self.delta is None else f"delta={self.delta!r}"
        return f"{self.run!r} {self.direction.value} {asked}"

    @property
    def terms(self) -> list[Term]:
        return [(part.pair(self.direction), count) for part, count in self.run.terms]

    def interval(self, n: int) -> tuple[float, float]:
        """The answer with lists of 2 n + 1 buckets."""
        evaluator = prepare(self.terms, epsilon=self.epsilon, delta=self.delta, n=n)
        if self.epsilon is not None:
            found = evaluator.delta(self.epsilon)
            return found.lower, found.upper
        return evaluator.epsilon(self.delta or 0.0)


def skewed(source: random.Random) -> tr.Mechanism:
    """A law whose masses span up to six orders, and one that is near to it or far from it."""
    size = source.randint(2, 6)
    first = [round(10.0 ** source.uniform(0.0, 6.0)) for _ in range(size)]
    near = source.choice((0.02, 0.2, 1.0))
    second = [max(round(mass * math.exp(source.gauss(0.0, near))), 1) for mass in first]
    if source.random() < 0.25:
        side, place = source.choice((first, second)), source.randrange(size)
        largest = max(range(size), key=lambda index: side[index])
        if place != largest:  # a rare outcome that one law has not
            side[place] = 0
    one: tr.Mechanism = tr.Histograms(a=first, b=second)
    if source.random() < 0.33:
        one = one.poisson(rate=round(10.0 ** source.uniform(-3.0, -0.3), 6))
    return one


def case(source: random.Random) -> Case:
    """A law, a count, a direction, and a question whose answer is neither 0 nor 1."""
    one = skewed(source)
    count = round(10.0 ** source.uniform(math.log10(2.0), 5.0))
    direction = source.choice((Direction.REMOVE, Direction.ADD))
    level = 10.0 ** source.uniform(-8.0, -0.3)
    # About where delta is `level`; the engine that is asked has no part in it.
    found = (one * count).epsilon(level, direction=direction.value, accuracy=1e-3, seconds=60.0)
    if not found.upper < math.inf:
        return case(source)
    if source.random() < 0.5:
        return Case(one * count, direction, None, level)
    return Case(one * count, direction, found.upper, None)


def measured(each: Case) -> dict[str, object]:
    """Both intervals and the verdict."""
    began = time.process_time()
    few, many = each.interval(FEW), each.interval(MANY)
    widths = [0.0 if high == low else high - low for low, high in (few, many)]
    absolutely = widths[1] <= max(NARROW, FALL * widths[0])
    narrow = absolutely or widths[1] <= NARROW * many[1]
    return {
        "name": each.name,
        "few": few,
        "many": many,
        "widths": widths,
        "ratio": widths[1] / widths[0] if widths[0] > 0.0 else 0.0,
        "converges": narrow,
        "relatively": narrow and not absolutely,
        "meets": few[0] <= many[1] and many[0] <= few[1],
        "seconds": time.process_time() - began,
    }


def main(cases: int = CASES, seed: int = SEED, first: int = 0) -> int:
    """Prints a line for each case that fails and one for all."""
    failed = relatively = 0
    for index in range(first, first + cases):
        found = measured(case(random.Random(f"{seed} {index}")))
        relatively += bool(found["relatively"])
        if not found["converges"] or not found["meets"]:
            failed += 1
            print(json.dumps({"case": index, **found}), flush=True)
    print(json.dumps({"schema": 1, "cases": cases, "seed": seed, "failed": failed, "relatively": relatively}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
