"""Real algorithms on tiny data sets: the law of the output, on every data set, of every mechanism and transformation.

A data set is a sorted tuple of records; an algorithm has the records that a user may hold (`values`) and those that
everybody else may hold (`others`, fewer where a mechanism is known next to one data set alone). Its law on a data set
is a list of masses of its outputs, in units of 2^-256. Sums and products are rounded down, numbers that are no
fractions come from 90 digits: a profile that is read off such laws is within ERROR (1 + alpha) of the true one.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, permutations, product
from math import comb, lcm
from typing import Any

from mpmath import mp, mpf

from .enumerate_data import Data, Scheme
from .selection import Runs

BITS = 256
ONE = 1 << BITS
DIGITS = 90
ERROR = Fraction(1, 2**80)  # of a law of at most OUTPUTS_MAX outputs, each a sum of products of roundings of 2^-100
OUTPUTS_MAX = 400
DATA_MAX = 4  # records of a data set
Masses = list[int]
Record = Any


class TooLarge(Exception):
    """More outputs or data sets than can be listed quickly."""


def masses(numbers: Sequence[Fraction | mpf]) -> Masses:
    """Numbers as masses, rounded down."""
    with mp.workdps(DIGITS):
        return [
            number.numerator * ONE // number.denominator
            if isinstance(number, Fraction)
            else int(mp.floor(number * ONE))
            for number in numbers
        ]


class Algorithm(ABC):
    """What is answered on each data set."""

    values: tuple[Record, ...]
    others: tuple[Record, ...]
    outputs: int
    least = 0  # records without which it cannot run as it is meant

    def __init__(self) -> None:
        self.known: dict[Data, Masses] = {}
        if self.outputs > OUTPUTS_MAX:
            raise TooLarge

    def law(self, data: Data) -> Masses:
        """The masses of the outputs on a sorted data set."""
        found = self.known.get(data)
        if found is None:
            found = self.known[data] = self.answer(data)
        return found

    @abstractmethod
    def answer(self, data: Data) -> Masses:
        """The same, worked out."""


def told(values: Sequence[Record], others: Sequence[Record]) -> tuple[Record, ...]:
    """All values, one that others may hold first and the one that tells the most last."""
    return (*others, *(value for value in values if value not in others))


class Counting(Algorithm):
    """The law depends on the sum of the records: a noisy sum, a chain of laws, a clamp."""

    def __init__(
        self, law_of: Callable[[int], Masses], outputs: int, values: tuple[int, ...], others: tuple[int, ...] = ()
    ) -> None:
        self.law_of, self.outputs, self.values = law_of, outputs, values
        self.others = others or values
        super().__init__()

    def answer(self, data: Data) -> Masses:
        return self.law_of(sum(data))


class Choosing(Algorithm):
    """One of a few laws, chosen by the data in any way: by a table drawn at random, or by the sum of the records."""

    def __init__(self, rows: Sequence[Masses], seed: str | None, values: tuple[int, ...]) -> None:
        self.rows, self.seed, self.values = rows, seed, values
        self.others, self.outputs = values, len(rows[0])
        super().__init__()

    def answer(self, data: Data) -> Masses:
        if self.seed is None:
            return self.rows[sum(data) % len(self.rows)]
        return self.rows[random.Random(f"{self.seed}{data}").randrange(len(self.rows))]


class Scoring(Algorithm):
    """Scores of a few candidates, each a sum over the records; what is told depends on the scores."""

    def __init__(
        self, law_of: Callable[[tuple[int, ...]], Masses], candidates: int, moves: dict[int, tuple[int, ...]]
    ) -> None:
        self.law_of, self.moves, self.outputs = law_of, moves, candidates
        self.values = self.others = tuple(moves)
        super().__init__()

    def answer(self, data: Data) -> Masses:
        return self.law_of(tuple(sum(self.moves[record][r] for record in data) for r in range(self.outputs)))


class OfKeys(Algorithm):
    """Every key is counted, and each count has an answer of its own."""

    def __init__(self, law_of: Callable[[int], Masses], keys: int) -> None:
        self.law_of, self.values = law_of, tuple(range(keys))
        self.others = self.values
        self.outputs = len(law_of(0)) ** keys
        super().__init__()

    def answer(self, data: Data) -> Masses:
        return outer([self.law_of(data.count(key)) for key in self.values])


def outer(laws: Sequence[Masses]) -> Masses:
    """Independent answers."""
    found = [ONE]
    for law in laws:
        found = [a * b >> BITS for a in found for b in law]
    return found


def mixed(parts: Sequence[tuple[Fraction, Masses]]) -> Masses:
    """A mixture; the weights sum to 1."""
    bottom = lcm(*(weight.denominator for weight, _ in parts))
    found = [0] * len(parts[0][1])
    for weight, law in parts:
        top = weight.numerator * (bottom // weight.denominator)
        found = [total + top * mass for total, mass in zip(found, law, strict=True)]
    return [total // bottom for total in found]


class Sized(Algorithm):
    """What is about replacing a record may also tell how many records there are, which are as many then."""

    def __init__(self, base: Algorithm) -> None:
        self.base, self.values, self.others, self.least = base, base.values, base.others, base.least
        self.outputs = (2 * DATA_MAX + 1) * base.outputs
        super().__init__()

    def answer(self, data: Data) -> Masses:
        if len(data) > 2 * DATA_MAX:
            raise TooLarge
        found = [0] * self.outputs
        start = len(data) * self.base.outputs
        found[start : start + self.base.outputs] = self.base.law(data)
        return found


class Sampled(Algorithm):
    """The base on a sample."""

    def __init__(self, base: Algorithm, scheme: Scheme, least: int = 0) -> None:
        self.base, self.scheme, self.values, self.others = base, scheme, base.values, base.others
        self.outputs, self.least = base.outputs, least
        super().__init__()

    def answer(self, data: Data) -> Masses:
        weights: dict[Data, Fraction] = {}
        for weight, sample in self.scheme(data):
            weights[sample] = weights.get(sample, Fraction(0)) + weight
        return mixed([(weight, self.base.law(sample)) for sample, weight in weights.items()])


def batch_of(most: int) -> Scheme:
    """Batches of this size without replacement, all of the data where there are fewer records."""

    def scheme(data: Data) -> Iterator[tuple[Fraction, Data]]:
        size = min(most, len(data))
        for sample in combinations(data, size):
            yield Fraction(1, comb(len(data), size)), sample

    return scheme


def draws(count: int) -> Scheme:
    """Draws with replacement, none where there are no records."""

    def scheme(data: Data) -> Iterator[tuple[Fraction, Data]]:
        for sample in product(data, repeat=count if data else 0):
            yield Fraction(1, max(len(data), 1) ** len(sample)), tuple(sorted(sample))

    return scheme


class Views:
    """What a part of a run sees of each record: the record itself, or one that was chosen after earlier outputs."""

    def __init__(self, part: Algorithm, values: Sequence[Record], others: Sequence[Record], seed: str | None) -> None:
        self.part = part
        ranked = told(part.values, part.others)
        plain = dict(zip(told(values, others), ranked, strict=False))
        plain |= dict.fromkeys(told(values, others)[len(ranked) :], ranked[-1])
        plain[told(values, others)[-1]] = ranked[-1]
        self.maps = [plain]
        if seed is not None:
            source = random.Random(seed)
            self.maps = [self._any(source, values, others), plain, self._any(source, values, others)]

    def _any(self, source: random.Random, values: Sequence[Record], others: Sequence[Record]) -> dict[Record, Record]:
        """A view that tells two records apart, in most cases."""
        for _ in range(4):
            seen = {value: source.choice(self.part.others if value in others else self.part.values) for value in values}
            if len(set(seen.values())) > 1:
                break
        return seen

    def law(self, data: Data, history: int) -> Masses:
        """Of this part after the outputs with this number."""
        seen = self.maps[history % len(self.maps)]
        return self.part.law(tuple(sorted(seen[record] for record in data)))


class Composed(Algorithm):
    """One part after the other, each chosen by what was seen."""

    def __init__(self, parts: Sequence[Algorithm], seed: str | None, width: int) -> None:
        self.values = tuple(range(width))
        self.others = self.values if all(part.others == part.values for part in parts) else (0,)
        self.least = max(part.least for part in parts)
        self.parts = [
            Views(part, self.values, self.others, None if seed is None else f"{seed}/{index}")
            for index, part in enumerate(parts)
        ]
        self.outputs = 1
        for part in parts:
            self.outputs *= part.outputs
        super().__init__()

    def answer(self, data: Data) -> Masses:
        return in_turn(data, self.parts)


def in_turn(data: Data, parts: Sequence[Views]) -> Masses:
    """All parts on the same data."""
    return in_turn_each([data] * len(parts), parts)


def in_turn_each(data: Sequence[Data], parts: Sequence[Views]) -> Masses:
    """Each part on its own data, chosen by what was seen before it."""
    found = [ONE]
    for own, part in zip(data, parts, strict=True):
        found = [mass * next_mass >> BITS for history, mass in enumerate(found) for next_mass in part.law(own, history)]
    return found


class Stepped(Algorithm):
    """The base at each of several steps, on the records of that step."""

    def __init__(self, base: Algorithm, steps: int, seed: str | None) -> None:
        self.values, self.others = base.values, base.others
        self.steps = steps
        same = [Views(base, base.values, base.others, None) for _ in range(steps)]
        for index, view in enumerate(same):
            view.maps = [{value: value for value in base.values}]
            if seed is not None:
                view.maps += Views(base, base.values, base.others, f"{seed}/{index}").maps[::2]
        self.views = same
        self.outputs = base.outputs**steps
        super().__init__()

    def mean(self, ways: Counter[tuple[Data, ...]]) -> Masses:
        """Over ways to fill the batches, each so many times."""
        total = sum(ways.values())
        return mixed([(Fraction(times, total), in_turn_each(batches, self.views)) for batches, times in ways.items()])


class Allocated(Stepped):
    """Every record is in so many of the steps, all choices alike."""

    def __init__(self, base: Algorithm, steps: int, uses: int, seed: str | None) -> None:
        self.uses = uses
        super().__init__(base, steps, seed)

    def answer(self, data: Data) -> Masses:
        choices = list(combinations(range(self.steps), self.uses))
        if len(choices) ** len(data) > 300:
            raise TooLarge
        ways: Counter[tuple[Data, ...]] = Counter()
        for chosen in product(choices, repeat=len(data)):
            batches = tuple(
                tuple(record for record, steps in zip(data, chosen, strict=True) if step in steps)
                for step in range(self.steps)
            )
            ways[batches] += 1
        return self.mean(ways)


class Epoch(Stepped):
    """Consecutive batches of the records in random order."""

    def answer(self, data: Data) -> Masses:
        size = -(-len(data) // self.steps)
        ways: Counter[tuple[Data, ...]] = Counter()
        for order in permutations(data):
            ways[tuple(tuple(sorted(order[i * size : (i + 1) * size])) for i in range(self.steps))] += 1
        return self.mean(ways)


class Grouped(Algorithm):
    """Records that come, go and change together, so many at a time."""

    def __init__(self, base: Algorithm, size: int, most: int = 4) -> None:
        self.base = base
        ranked = told(base.values, base.others)
        special = (ranked[-1],) * size
        lone = tuple(sorted((ranked[-1], *(base.others[0],) * (size - 1))))
        kinds = dict.fromkeys(((base.others[0],) * size, lone, (ranked[len(ranked) // 2],) * size, special))
        self.values = tuple(kinds)[:most] if special in tuple(kinds)[:most] else (*tuple(kinds)[: most - 1], special)
        self.others = tuple(kind for kind in self.values if all(record in base.others for record in kind))
        self.outputs, self.least = base.outputs, -(-base.least // size)
        super().__init__()

    def answer(self, data: Data) -> Masses:
        return self.base.law(tuple(sorted(record for group in data for record in group)))


class Shuffled(Algorithm):
    """How many users report each output of the base."""

    def __init__(self, base: Algorithm, users: int, held: int) -> None:
        self.base = base if held == 1 else Grouped(base, held)
        self.wrap = held == 1
        self.values, self.others = self.base.values, told(self.base.values, self.base.others)
        self.users = users
        reports = combinations_with_replacement(range(base.outputs), users)
        if comb(base.outputs + users - 1, users) > OUTPUTS_MAX:
            raise TooLarge
        self.places = {counts: index for index, counts in enumerate(reports)}
        self.outputs = len(self.places)
        super().__init__()

    def answer(self, data: Data) -> Masses:
        if len(data) != self.users:
            raise TooLarge
        found: dict[tuple[int, ...], int] = {(): ONE}
        for record in data:
            law = self.base.law((record,))
            more: Counter[tuple[int, ...]] = Counter()
            for seen, mass in found.items():
                for report, share in enumerate(law):
                    if share:
                        more[tuple(sorted((*seen, report)))] += mass * share >> BITS
            found = more
        masses_of = [0] * self.outputs
        for counts, mass in found.items():
            masses_of[self.places[counts]] = mass
        return masses_of


class Cells(Algorithm):
    """Each algorithm on its own cell; records are (cell, value)."""

    def __init__(self, cells: Sequence[Algorithm]) -> None:
        self.cells = cells
        self.values = tuple((index, value) for index, cell in enumerate(cells) for value in cell.values)
        self.others = tuple((index, value) for index, cell in enumerate(cells) for value in cell.others)
        self.outputs = 1
        for cell in cells:
            self.outputs *= cell.outputs
        super().__init__()

    def answer(self, data: Data) -> Masses:
        return outer(
            [cell.law(tuple(value for place, value in data if place == index)) for index, cell in enumerate(self.cells)]
        )


class Best(Algorithm):
    """The best of K runs by a score of the output; the last output is that there was no run."""

    def __init__(self, base: Algorithm, runs: Runs, classes: Sequence[Sequence[int]]) -> None:
        self.base, self.classes, self.values, self.others = base, classes, base.values, base.others
        self.phi = generating(runs)
        self.outputs, self.least = base.outputs + 1, base.least
        super().__init__()

    def answer(self, data: Data) -> Masses:
        law = self.base.law(data)
        none = self.phi(0)
        found = [0] * len(law) + [none]
        below, low = 0, none
        for kind in self.classes:  # from the worst score to the best; of equal ones any, all alike
            own = sum(law[output] for output in kind)
            below += own
            high = self.phi(min(below, ONE))
            for output in kind:
                found[output] = max(high - low, 0) * law[output] // own if own else 0
            low = high
        return found


def generating(runs: Runs) -> Callable[[int], int]:
    """E z^K, masses to masses."""
    mean = Fraction(str(runs.mean)) if runs.law in ("geometric", "binomial") else Fraction(0)
    if runs.law == "geometric":
        stop = 1 / mean
        return lambda z: int(stop * z / (1 - (1 - stop) * Fraction(z, ONE)))
    if runs.law == "binomial":
        assert runs.shape is not None
        trials = int(runs.shape)
        share = mean / trials
        return lambda z: int((1 - share + share * Fraction(z, ONE)) ** trials * ONE)
    with mp.workdps(DIGITS):
        phi = runs.generating()

    @cache
    def value(z: int) -> int:
        with mp.workdps(DIGITS):
            return int(mp.floor(phi(mpf(z) / ONE) * ONE))

    return value


def by_loss(base: Algorithm, one: Data, other: Data, rising: bool) -> list[list[int]]:
    """Outputs in classes of equal ratios between two data sets."""
    first, second = base.law(one), base.law(other)
    kinds: dict[float, list[int]] = {}
    for output in range(base.outputs):
        ratio = first[output] / second[output] if second[output] else float("inf")
        kinds.setdefault(round(ratio, 9), []).append(output)
    return [kinds[ratio] for ratio in sorted(kinds, reverse=not rising)]


Both = tuple[Data, Data]


def replaced(algorithm: Algorithm, records: int) -> Iterator[Both]:
    """All data sets of this size with one record replaced, in one order."""
    for rest in combinations_with_replacement(sorted(algorithm.others), records - 1):
        for one, other in combinations(algorithm.values, 2):
            yield tuple(sorted((*rest, one))), tuple(sorted((*rest, other)))


def lacking(algorithm: Algorithm, records: int) -> Iterator[Both]:
    """All data sets of this size, and the same without one record."""
    if records - 1 >= algorithm.least:
        for rest in combinations_with_replacement(sorted(algorithm.others), records - 1):
            for one in algorithm.values:
                yield tuple(sorted((*rest, one))), rest
