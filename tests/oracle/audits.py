"""What audits rest on, by brute force: mechanisms, tests and their probabilities in fractions.

A mechanism of m coins is a table of fractions, rows by the coins and columns by what it publishes. Slopes are triples
(a, remove, add) of fractions with sum (P - a Q)_+ <= remove and sum (Q - a P)_+ <= add for each coin, whatever the
others are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

Law = Sequence[Fraction]


class Bounded(NamedTuple):
    """H(a) in both directions at most so much."""

    a: Fraction
    remove: Fraction
    add: Fraction


def excess(p: Law, q: Law, a: Fraction) -> Fraction:
    """H(a) = sum (p - a q)_+."""
    return sum((max(x - a * y, Fraction(0)) for x, y in zip(p, q, strict=True)), Fraction(0))


def power(p: Law, q: Law, rate: Fraction) -> Fraction:
    """The most true positives at a rate of false ones: outputs by their ratio, the last one in part."""
    order = sorted(range(len(p)), key=lambda i: (q[i] == 0, p[i] / q[i] if q[i] else p[i]), reverse=True)
    found, left = Fraction(0), rate
    for i in order:
        share = Fraction(1) if q[i] <= left else left / q[i]
        found, left = found + share * p[i], left - share * q[i]
        if share < 1:
            break
    return found


def coins(m: int) -> list[tuple[int, ...]]:
    """All ways in which the coins fall."""
    return list(product((0, 1), repeat=m))


def flips(m: int) -> Iterator[tuple[int, int]]:
    """Rows that differ in one coin: with it in, and out."""
    rows = {row: place for place, row in enumerate(coins(m))}
    for row, place in rows.items():
        for i in range(m):
            if row[i]:
                yield place, rows[(*row[:i], 0, *row[i + 1 :])]


def satisfied(table: Sequence[Law], m: int, slopes: Sequence[Bounded]) -> bool:
    """Whether a mechanism obeys the slopes, exactly."""
    return all(
        excess(table[inside], table[outside], slope.a) <= slope.remove
        and excess(table[outside], table[inside], slope.a) <= slope.add
        for inside, outside in flips(m)
        for slope in slopes
    )


def hits(guess: Sequence[int], row: Sequence[int]) -> int:
    """How many guesses are right; -1 stands for none made."""
    return sum(one == other for one, other in zip(guess, row, strict=True) if one >= 0)


def chance(table: Sequence[Law], m: int, guesses: Sequence[Sequence[int]], least: int, coin: Fraction) -> Fraction:
    """P(v >= least): coins fall by themselves, each in with this chance; an output makes its guesses."""
    total = Fraction(0)
    for row, law in zip(coins(m), table, strict=True):
        weight = coin ** sum(row) * (1 - coin) ** (m - sum(row))
        total += weight * sum(
            (mass for mass, guess in zip(law, guesses, strict=True) if hits(guess, row) >= least), Fraction(0)
        )
    return total


def strongest(m: int, least: int, slopes: Sequence[Bounded], guesses: Sequence[Sequence[int]]) -> list[list[Fraction]]:
    """A mechanism that obeys the slopes exactly, and of which v >= least is about as likely as it can be.

    Found by a linear program over all mechanisms in floats, then mixed with noise until it obeys in fractions.
    """
    rows, width = coins(m), len(guesses)
    pairs = list(flips(m))
    variables = len(rows) * width + 2 * len(pairs) * len(slopes) * width
    goal = np.zeros(variables)
    for place, row in enumerate(rows):
        for column, guess in enumerate(guesses):
            goal[place * width + column] = -float(hits(guess, row) >= least)
    above, limits, start = [], [], len(rows) * width
    for inside, outside in pairs:
        for slope in slopes:
            for one, two, most in ((inside, outside, slope.remove), (outside, inside, slope.add)):
                total = np.zeros(variables)
                for column in range(width):
                    line = np.zeros(variables)
                    line[one * width + column], line[two * width + column] = 1.0, -float(slope.a)
                    line[start + column], total[start + column] = -1.0, 1.0
                    above.append(line)
                    limits.append(0.0)
                above.append(total)
                limits.append(float(most))
                start += width
    sums = np.zeros((len(rows), variables))
    for place in range(len(rows)):
        sums[place, place * width : (place + 1) * width] = 1.0
    found = linprog(goal, A_ub=np.array(above), b_ub=limits, A_eq=sums, b_eq=np.ones(len(rows)), method="highs")
    assert found.status == 0
    raw = found.x[: len(rows) * width].reshape(len(rows), width)
    table = []
    for masses in raw:
        law = [max(Fraction(float(mass)), Fraction(0)) for mass in masses]
        table.append([mass / sum(law) for mass in law])
    noise = Fraction(1, 10**13)
    while True:
        mixed = [[(1 - noise) * mass + noise / width for mass in law] for law in table]
        if satisfied(mixed, m, slopes):
            return mixed
        noise *= 4
        assert noise < Fraction(1, 100)


def binomial(n: int, rate: Fraction, least: int) -> Fraction:
    """P(Bin(n, rate) >= least)."""
    return sum((comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(max(least, 0), n + 1)), Fraction(0))


def rank_chance(p: Law, q: Law, n1: int, n0: int, rank: int, least: int) -> Fraction:
    """P(at least so many of n1 scores by p are above the rank-th largest of n0 by q); scores are 0, 1, ..., and tie."""
    total = Fraction(0)
    for scores in product(range(len(q)), repeat=n0):
        mass = Fraction(1)
        for score in scores:
            mass *= q[score]
        threshold = sorted(scores, reverse=True)[rank - 1]
        total += mass * binomial(n1, sum(p[threshold + 1 :], Fraction(0)), least)
    return total


def count_laws(p: Fraction, q: Fraction, n1: int, n0: int) -> Iterator[tuple[int, int, Fraction]]:
    """True positives, false positives and how likely they are together."""
    for tp in range(n1 + 1):
        for fp in range(n0 + 1):
            mass = comb(n1, tp) * p**tp * (1 - p) ** (n1 - tp) * comb(n0, fp) * q**fp * (1 - q) ** (n0 - fp)
            yield tp, fp, mass


def rejections(
    table: Sequence[Law], m: int, guesses: Sequence[Sequence[int]], rejects: Callable[[list[bool]], bool]
) -> Fraction:
    """How likely it is that a rule rejects, given which guesses were right, in order; fair coins."""
    total = Fraction(0)
    for row, law in zip(coins(m), table, strict=True):
        for mass, guess in zip(law, guesses, strict=True):
            if mass and rejects([one == other for one, other in zip(guess, row, strict=True) if one >= 0]):
                total += mass
    return total / 2**m
