"""Exact shuffles by enumeration, in fractions: every corner of all randomizers, any values of the others, adaptive."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

Law = tuple[Fraction, ...]
Randomizer = tuple[Law, ...]  # the law of the reports on each value
Seen = dict[tuple[int, ...], Fraction]


def corners(values: int, ratio: Fraction) -> Iterator[Randomizer]:
    """Each output has two levels over the values, in this ratio; as many outputs as values: no other is extremal."""
    kinds = list(itertools.product((Fraction(1), ratio), repeat=values))[:-1]  # the last is the first, scaled
    for columns in itertools.combinations(kinds, values):
        weights = _solved([[column[x] for column in columns] for x in range(values)])
        if weights is not None and all(weight >= 0 for weight in weights):
            yield tuple(tuple(w * c[x] for w, c in zip(weights, columns, strict=True)) for x in range(values))


def _solved(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Weights with which every row sums to 1."""
    size = len(rows)
    table = [[*row, Fraction(1)] for row in rows]
    for column in range(size):
        pivot = next((index for index in range(column, size) if table[index][column]), None)
        if pivot is None:
            return None
        table[column], table[pivot] = table[pivot], table[column]
        table[column] = [entry / table[column][column] for entry in table[column]]
        for index in range(size):
            if index != column:
                by = table[index][column]
                table[index] = [one - by * other for one, other in zip(table[index], table[column], strict=True)]
    return [row[-1] for row in table]


def counted(laws: Sequence[Law]) -> Seen:
    """How often each output is reported."""
    found: Seen = {(0,) * len(laws[0]): Fraction(1)}
    for law in laws:
        after: Seen = defaultdict(Fraction)
        for counts, chance in found.items():
            for output, share in enumerate(law):
                after[(*counts[:output], counts[output] + 1, *counts[output + 1 :])] += chance * share
        found = after
    return found


def in_turn(at: Callable[[tuple[int, ...]], Randomizer], values: Sequence[int]) -> Seen:
    """Reports one after the other, values shuffled first: the randomizer of a place looks at the reports before it."""
    outputs = len(at(())[0])
    orders = list(itertools.permutations(values))
    found: Seen = {}
    for reports in itertools.product(range(outputs), repeat=len(values)):
        total = Fraction(0)
        for order in orders:
            chance = Fraction(1)
            for place, value in enumerate(order):
                chance *= at(reports[:place])[value][reports[place]]
            total += chance
        found[reports] = total / len(orders)
    return found


def excess(p: Seen, q: Seen, alpha: Fraction) -> Fraction:
    """The sum of (P - alpha Q)_+."""
    return sum((max(p[each] - alpha * q[each], Fraction(0)) for each in p), Fraction(0))


def of_counts(
    draws: int, chances: Sequence[Fraction], u: Sequence[Fraction], v: Sequence[Fraction], alpha: Fraction
) -> Fraction:
    """E (mean of u - alpha v)_+ over independent symbols."""
    p, q = counted([tuple(chances)] * draws), Fraction(0)
    for counts, chance in p.items():
        score = sum(((one - alpha * two) * n for one, two, n in zip(u, v, counts, strict=True)), Fraction(0))
        q += chance * max(score, Fraction(0))
    return q / draws
