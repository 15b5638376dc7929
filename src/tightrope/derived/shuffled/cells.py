"""A binomial count in cells: how many users report another value.

Given the count d the pair of k-ary randomized response is one of clones, and a smaller d tells more: the least d of
each cell makes a pair that dominates. Few enough counts are cells of their own.
Guarantee: the cells cover 0, ..., n; masses are exact. Proof: docs/proofs/shuffle.md, section 2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from flint import arb

from ... import compute_budget
from .binomial import BINOMIAL_TERM, at_least, at_most, mass

CELLS_FINE, CELLS_COARSE = 5.0, 2.0  # steps to a deviation
REACH = 8.0, 5.0  # deviations below and above the mean that have fine cells
CELLS_WIDER = 1.6  # times as wide as the cell above, further down
ALL_MAX = 64  # users whose counts are all cells of their own


class Cell(NamedTuple):
    """least <= d <= greatest, and the probability of that."""

    mass: arb
    least: int
    greatest: int


def cells(users: int, chance: arb, steps: float) -> list[Cell]:
    """At the working precision; where the cells end is the same at every precision."""
    starts = _starts(users, float(chance.mid()), steps)
    ends = [*(start - 1 for start in starts[1:]), users]
    near = users * float(chance.mid()) - REACH[0] * _deviation(users, float(chance.mid()))
    odds = chance / (1 - chance)
    found, before = [], arb(0)
    at: arb | None = None
    for start, end in zip(starts, ends, strict=True):
        if end == users and start > 0:
            share = at_least(users, start, chance, 1 - chance)
        elif start < near:  # few and wide
            upto = at_most(users, end, chance, 1 - chance)
            share, before = (upto - before).max(arb(0)), upto
        else:
            compute_budget.spend(BINOMIAL_TERM * (end - start + 1))
            share = arb(0)
            for d in range(start, end + 1):
                at = mass(users, d, chance, 1 - chance) if at is None else at * (users - d + 1) / d * odds
                share += at
        found.append(Cell(share, start, end))
    return found


def _starts(users: int, chance: float, steps: float) -> list[int]:
    """Steps around the mean, growing below, and 0."""
    if users <= ALL_MAX:
        return list(range(users + 1))
    mean, deviation = users * chance, _deviation(users, chance)
    step = max(deviation / steps, 1.0)
    place, values = min(mean + REACH[1] * deviation, float(users)), {0}
    while place > 0.0:
        values.add(math.floor(place))
        step *= 1.0 if place > mean - REACH[0] * deviation else CELLS_WIDER
        place -= step
    return sorted(values)


def _deviation(users: int, chance: float) -> float:
    return math.sqrt(users * chance * (1.0 - chance))
