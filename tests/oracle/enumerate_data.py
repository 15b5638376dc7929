"""Tiny data sets, all their neighbours and all samples of them: the exact laws of what a mechanism answers.

A data set is a sorted tuple of records, mostly small integers; so is a sample. A scheme lists (probability, sample);
a mechanism answers a sum with integer noise, or a randomized response to a predicate. Probabilities of samples are
fractions, masses of noise are numbers of 64 bits rounded from 40 digits, cut where less than 1e-25 is left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from math import comb
from typing import Any

import numpy as np
from mpmath import mp, mpf

from .adaptive import Neighbours, largest
from .adaptive import neighbours as pair_of

Data = tuple[Any, ...]
Scheme = Callable[[Data], Iterator[tuple[Fraction, Data]]]
Answer = Callable[[Data], Mapping[Any, np.longdouble]]
Both = tuple[Data, Data]
Noise = Mapping[int, np.longdouble]
VALUES = (-1, 0, 1)
DIGITS = 40
LEFT_OUT = mpf(10) ** -25


def data_sets(size: int, values: Sequence[Any] = VALUES) -> Iterator[Data]:
    """All of this size, the order of records left out."""
    return combinations_with_replacement(sorted(values), size)


def lacking(size: int, group: int = 1, values: Sequence[Any] = VALUES) -> Iterator[Both]:
    """All (with, without): data sets of this size, and the same without `group` of their records."""
    for rest in data_sets(size - group, values):
        for more in data_sets(group, values):
            yield tuple(sorted(rest + more)), rest


def replacing(size: int, values: Sequence[Any] = VALUES) -> Iterator[Both]:
    """All data sets of this size with one record replaced, in both orders."""
    for rest in data_sets(size - 1, values):
        for one, other in product(values, repeat=2):
            if one != other:
                yield tuple(sorted((*rest, one))), tuple(sorted((*rest, other)))


def replacing_many(size: int, group: int, values: Sequence[Any] = VALUES) -> Iterator[Both]:
    """All data sets of this size with so many records replaced, in both orders."""
    for rest in data_sets(size - group, values):
        for one, other in product(data_sets(group, values), repeat=2):
            if one != other:
                yield tuple(sorted((*rest, *one))), tuple(sorted((*rest, *other)))


def everything(data: Data) -> Iterator[tuple[Fraction, Data]]:
    """No sampling."""
    yield Fraction(1), data


def poisson(rate: Fraction) -> Scheme:
    """Each record by itself."""

    def scheme(data: Data) -> Iterator[tuple[Fraction, Data]]:
        for size in range(len(data) + 1):
            weight = rate**size * (1 - rate) ** (len(data) - size)
            for sample in combinations(data, size):
                yield weight, sample

    return scheme


def without_replacement(batch: int) -> Scheme:
    """All batches of this size alike."""

    def scheme(data: Data) -> Iterator[tuple[Fraction, Data]]:
        for sample in combinations(data, batch):
            yield Fraction(1, comb(len(data), batch)), sample

    return scheme


def with_replacement(batch: int) -> Scheme:
    """So many draws, each of any record."""

    def scheme(data: Data) -> Iterator[tuple[Fraction, Data]]:
        for sample in product(data, repeat=batch):
            yield Fraction(1, len(data) ** batch), tuple(sorted(sample))

    return scheme


def truncated_poisson(rate: Fraction, cap: int) -> Scheme:
    """A Poisson sample; of one above the cap, so many of its records, all choices alike."""
    whole = poisson(rate)

    def scheme(data: Data) -> Iterator[tuple[Fraction, Data]]:
        for weight, sample in whole(data):
            if len(sample) <= cap:
                yield weight, sample
            else:
                for kept in combinations(sample, cap):
                    yield weight / comb(len(sample), cap), kept

    return scheme


@cache
def law_of_samples(scheme: Scheme, data: Data) -> Mapping[Data, Fraction]:
    """How probable each sample is."""
    found: dict[Data, Fraction] = defaultdict(Fraction)
    for weight, sample in scheme(data):
        found[sample] += weight
    assert sum(found.values()) == 1
    return found


def number(value: mpf | Fraction | int) -> np.longdouble:
    """Rounded to 64 bits."""
    with mp.workdps(DIGITS):
        exact = mpf(value.numerator) / value.denominator if isinstance(value, (Fraction, int)) else mpf(value)
        return np.longdouble(mp.nstr(exact, 25))


@cache
def discrete_gaussian(sigma: Fraction) -> Noise:
    """Masses proportional to e^(-x^2 / (2 sigma^2))."""
    with mp.workdps(DIGITS):
        rate = mpf(sigma.denominator**2) / (2 * mpf(sigma.numerator) ** 2)
        return _normalised(lambda x: mp.exp(-rate * x * x))


@cache
def geometric(odds: Fraction) -> Noise:
    """Masses proportional to odds^|x|."""
    with mp.workdps(DIGITS):
        return _normalised(lambda x: (mpf(odds.numerator) / odds.denominator) ** abs(x))


def laplace_on_integers(rate: Fraction) -> Noise:
    """Masses proportional to e^(-rate |x|)."""
    with mp.workdps(DIGITS):
        return _normalised(lambda x: mp.exp(-mpf(rate.numerator) / rate.denominator * abs(x)))


def _normalised(weight: Callable[[int], mpf]) -> Noise:
    weights = [weight(0)]
    while weights[-1] > LEFT_OUT:  # falls at least geometrically, and what is beyond is not worth a digit
        weights.append(weight(len(weights)))
    reach = len(weights) + len(weights) // 2
    total = weights[0] + 2 * mp.fsum(weight(x) for x in range(1, 8 * reach))
    return {x: number(weights[abs(x)] / total) for x in range(1 - len(weights), len(weights))}


def mixture(noise: Noise, first: Mapping[int, Fraction], second: Mapping[int, Fraction]) -> Neighbours:
    """Noise around a random shift against noise around another."""
    laws: list[dict[int, np.longdouble]] = []
    for shifts in (first, second):
        found: dict[int, np.longdouble] = defaultdict(lambda: np.longdouble(0))
        for (shift, weight), (x, mass) in product(shifts.items(), noise.items()):
            found[shift + x] += number(weight) * mass
        laws.append(found)
    outputs = sorted({*laws[0], *laws[1]})
    return pair_of(*([law[y] for y in outputs] for law in laws))


def noisy_sum(scheme: Scheme, noise: Noise) -> Answer:
    """The law of the sum of a sample with noise added."""

    @cache
    def law(data: Data) -> dict[int, np.longdouble]:
        sums: dict[int, Fraction] = defaultdict(Fraction)
        for sample, weight in law_of_samples(scheme, data).items():
            sums[sum(sample)] += weight
        found: dict[int, np.longdouble] = defaultdict(lambda: np.longdouble(0))
        for total, weight in sums.items():
            share = number(weight)
            for x, mass in noise.items():
                found[total + x] += share * mass
        return dict(found)

    return law


def noisy_sums(scheme: Scheme, noise: Noise) -> Answer:
    """The sum of one sample told twice, each time with noise of its own; masses below 1e-15 are left out."""
    near = {x: mass for x, mass in noise.items() if mass > 1e-15}
    once = noisy_sum(everything, near)

    @cache
    def law(data: Data) -> dict[Any, np.longdouble]:
        found: dict[Any, np.longdouble] = defaultdict(lambda: np.longdouble(0))
        for sample, weight in law_of_samples(scheme, data).items():
            told, share = once((sum(sample),)), number(weight)
            for (x, first), (y, second) in product(told.items(), repeat=2):
                found[x, y] += share * first * second
        return dict(found)

    return law


def response(scheme: Scheme, holds: Callable[[Data], bool], truth: mpf) -> Answer:
    """Whether something holds for the sample, answered truly with this probability."""

    @cache
    def law(data: Data) -> dict[int, np.longdouble]:
        share = sum((weight for sample, weight in law_of_samples(scheme, data).items() if holds(sample)), Fraction(0))
        with mp.workdps(DIGITS):
            yes = mpf(share.numerator) / share.denominator
            told = yes * truth + (1 - yes) * (1 - truth)
            return {1: number(told), 0: number(1 - told)}

    return law


def pairs(law: Answer, relation: Iterator[Both]) -> list[Neighbours]:
    """What neighbours show, without pairs that tell less than another one."""
    found: dict[bytes, Neighbours] = {}
    for one, other in relation:
        first, second = law(one), law(other)
        outputs = sorted({*first, *second}, key=repr)
        pair = pair_of((first.get(y, 0.0) for y in outputs), (second.get(y, 0.0) for y in outputs))
        found[np.round(np.concatenate([pair.p, pair.q]).astype(float), 14).tobytes()] = pair
    return largest(list(found.values()))


def of_sums(scheme: Scheme, noise: Noise, relation: Iterator[Both]) -> list[Neighbours]:
    """The pairs of a noisy sum."""
    return pairs(noisy_sum(scheme, noise), relation)


def reports(randomizer: Sequence[Sequence[mpf]]) -> Answer:
    """The counts of what users report, each through this randomizer: row x has the law of the reports on x."""

    @cache
    def law(data: Data) -> dict[tuple[int, ...], np.longdouble]:
        with mp.workdps(DIGITS):
            found = {(0,) * len(randomizer[0]): mpf(1)}
            for record in data:
                more: dict[tuple[int, ...], mpf] = defaultdict(mpf)
                for (counts, mass), (report, share) in product(found.items(), enumerate(randomizer[record])):
                    more[tuple(count + (i == report) for i, count in enumerate(counts))] += mass * share
                found = more
            return {counts: number(mass) for counts, mass in found.items()}

    return law


def told_apart(categories: int, epsilon: Fraction) -> list[list[mpf]]:
    """The truth with odds e^epsilon against each of the others."""
    with mp.workdps(DIGITS):
        odds = mp.exp(mpf(epsilon.numerator) / epsilon.denominator)
        return [
            [(odds if x == y else 1) / (odds + categories - 1) for y in range(categories)] for x in range(categories)
        ]


def cells(laws: Sequence[Answer]) -> Answer:
    """Records are (cell, value), and every cell answers by itself about its own."""

    @cache
    def law(data: Data) -> dict[Any, np.longdouble]:
        found: dict[Any, np.longdouble] = {(): np.longdouble(1)}
        for index, answer in enumerate(laws):
            own = answer(tuple(value for cell, value in data if cell == index))
            found = {(*y, z): mass * share for y, mass in found.items() for z, share in own.items()}
        return found

    return law
