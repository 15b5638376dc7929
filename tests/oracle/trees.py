"""Trees of mechanisms and transformations, each as text beside a real algorithm; and trees drawn at random.

Most that are drawn are as their theorems want them. Some have a base that is about the other relation, that samples
from data of another size, or that is known next to one data set alone: these are to be refused, and what such a base
really does on the data is computed all the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mpmath import mpf

from . import enumerate_data as data
from .algorithms import (
    DATA_MAX,
    Algorithm,
    Allocated,
    Best,
    Both,
    Cells,
    Composed,
    Epoch,
    Grouped,
    Sampled,
    Shuffled,
    Sized,
    TooLarge,
    batch_of,
    by_loss,
    draws,
    lacking,
    replaced,
)
from .enumerate_data import Scheme
from .leaves import ADD_REMOVE, LEAVES, REPLACE, Leaf, Source
from .selection import Runs

F = Fraction
DEPTH_MAX = 4
ODD = 0.07  # of the bases are about another relation, as many of another size
PAIRS_MAX = 60
RATES = (F(1, 4), F(1, 2), F(3, 4), F(1), F(0))
RATE_WEIGHTS = (5, 6, 5, 1, 0.5)
Make = Callable[[str], Algorithm]
MakeLeaf = Callable[[Source, bool], Leaf]


@dataclass(frozen=True)
class Tree:
    """text, the relation that it is about (empty where open), how many records it runs on (None: any number).

    shown: among the data sets are some whose laws are the pair, if the package calls its pair tight.
    calls: the transformations, from the outermost inwards, and the leaves.
    """

    text: str
    relation: str
    size: int | None
    make: Make
    shown: bool
    calls: tuple[str, ...]

    def run(self, relation: str) -> Algorithm:
        """The algorithm where neighbours are these; one about replacing may tell the number of records."""
        made = self.make(self.relation or relation)
        return Sized(made) if self.relation == REPLACE and relation == ADD_REMOVE else made


def leaf(found: Leaf) -> Tree:
    """A mechanism by itself."""
    return Tree(found.text, found.relation, None, found.make, found.shown, (found.text.split("(")[0],))


def composed(parts: Sequence[Tree], seed: str | None, width: int) -> Tree:
    """One after the other, on records of so many values; seed: of choices by what was seen."""
    parts = tuple(parts)
    alike = len(set(map(id, parts))) == 1
    inside = f"{parts[0].text} * {len(parts)}" if alike else " + ".join(part.text for part in parts)
    return Tree(
        f"({inside})",
        next((part.relation for part in parts if part.relation), ""),
        max((part.size for part in parts if part.size is not None), default=None),
        lambda asked: Composed([part.run(asked) for part in parts], seed, width),
        all(part.shown for part in parts),
        ("*", *parts[0].calls) if alike else ("+", *(call for part in parts for call in part.calls)),
    )


def best_of(base: Tree, law: str, mean: float, shape: float | None, how: str, seed: float) -> Tree:
    """how: the score rises or falls with the loss, is any, or none."""
    runs = Runs(law, mpf(mean), None if shape is None else mpf(shape))

    def make(asked: str) -> Algorithm:
        made = base.run(asked)
        outputs = list(range(made.outputs))
        if how == "none":
            return Best(made, runs, [outputs])
        if how == "any":
            Source(seed).shuffle(outputs)
            return Best(made, runs, [[output] for output in outputs])
        records = max(base.size or 1, made.least + (asked == ADD_REMOVE))
        rest = (made.others[0],) * (records - 1)
        one = tuple(sorted((*rest, made.values[-1])))
        other = tuple(sorted((*rest, made.values[0]))) if asked == REPLACE else rest
        return Best(made, runs, by_loss(made, one, other, how == "rising"))

    more = "" if shape is None else f", shape={shape}"
    text = f"{base.text}.best_of(law='{law}', mean={mean}{more})"
    return Tree(text, base.relation, base.size, make, False, ("best_of", *base.calls))


def grouped(base: Tree, size: int) -> Tree:
    """So many records in the place of one."""
    return Tree(
        f"{base.text}.group(size={size})",
        base.relation,
        None if base.size is None else -(-base.size // size),
        lambda asked: Grouped(base.run(asked), size),
        False,  # groups attain a claim by noise with more outputs than are listed here
        ("group", *base.calls),
    )


def sampled(
    base: Tree, call: str, relation: str, usual: str, size: int | None, scheme: Scheme, inside: str, least: int = 0
) -> Tree:
    """The base on a sample, itself about the relation `inside`; usual: the relation that its call need not name."""
    more = "" if relation == usual else f", neighbours='{relation}'"
    return Tree(
        f"{base.text}.{call}{more})",
        relation,
        size,
        lambda asked: Sampled(base.run(inside), scheme, least),
        base.shown and relation == ADD_REMOVE and not call.startswith("truncated"),
        (f"{call.split('(')[0]} {relation}", *base.calls),
    )


def poisson(base: Tree, rate: Fraction, relation: str = ADD_REMOVE) -> Tree:
    """Each record by itself; nobody or everybody is a sample of the data's own size."""
    size = base.size if rate in (0, 1) else None
    return sampled(base, f"poisson(rate={float(rate)}", relation, ADD_REMOVE, size, data.poisson(rate), ADD_REMOVE)


def truncated_poisson(base: Tree, rate: Fraction, cap: int, records: int) -> Tree:
    """A Poisson sample of at most so many."""
    call = f"truncated_poisson(rate={float(rate)}, cap={cap}, records={records}"
    return sampled(base, call, ADD_REMOVE, ADD_REMOVE, records, data.truncated_poisson(rate, cap), ADD_REMOVE)


def without_replacement(base: Tree, batch: int, records: int, relation: str = REPLACE) -> Tree:
    """A batch of the records."""
    call = f"without_replacement(batch={batch}, records={records}"
    return sampled(base, call, relation, REPLACE, records, batch_of(batch), REPLACE, batch)


def with_replacement(base: Tree, batch: int, records: int) -> Tree:
    """So many draws."""
    call = f"with_replacement(batch={batch}, records={records}"
    return sampled(base, call, REPLACE, REPLACE, records, draws(batch), REPLACE)


def random_allocation(base: Tree, steps: int, uses: int, seed: str | None) -> Tree:
    """Some of the steps, drawn by each record."""
    more = "" if uses == 1 else f", uses={uses}"
    return Tree(
        f"{base.text}.random_allocation(steps={steps}{more})",
        ADD_REMOVE,
        base.size if uses == steps else None,  # all records at every step
        lambda asked: Allocated(base.run(ADD_REMOVE), steps, uses, seed),
        base.shown,
        ("random_allocation" if uses == 1 else "random_allocation uses", *base.calls),
    )


def parallel(cells: Sequence[Tree]) -> Tree:
    """Each on a cell."""
    return Tree(
        f"parallel({', '.join(cell.text for cell in cells)})",
        ADD_REMOVE,
        None,
        lambda asked: Cells([cell.run(ADD_REMOVE) for cell in cells]),
        False,
        ("parallel", *(call for cell in cells for call in cell.calls)),
    )


def shuffle(base: Tree, users: int) -> Tree:
    """One report of each user, in random order; a base of several records runs on all that a user holds."""
    return Tree(
        f"{base.text}.shuffle(users={users})",
        REPLACE,
        users,
        lambda asked: Shuffled(base.run(REPLACE), users, base.size or 1),
        False,
        ("shuffle", *base.calls),
    )


def shuffled_batches(base: Tree, steps: int, records: int, seed: str | None) -> Tree:
    """An epoch over batches of this many records, a multiple of the steps, in random order."""
    return Tree(
        f"{base.text}.shuffled_batches(steps={steps})",
        REPLACE,
        records,
        lambda asked: Epoch(base.run(ADD_REMOVE), steps, seed),
        False,
        ("shuffled_batches", *base.calls),
    )


class Drawer:
    """Draws one tree; plain: parts and steps look at the data in the same way whatever was seen."""

    def __init__(self, source: Source, plain: bool, leaves: Sequence[MakeLeaf]) -> None:
        self.source, self.plain, self.leaves = source, plain, leaves

    def seed(self) -> str | None:
        """Of choices that depend on what was seen."""
        return None if self.plain else str(self.source.random())

    def tree(self, depth: int, relation: str, size: int | None) -> Tree:
        """About this relation, on data of this size; None: a size that no part may name."""
        source = self.source
        if depth == 0:
            while True:
                found = leaf(source.choice(self.leaves)(source, self.plain))
                if found.relation in ("", relation) or source.random() < ODD:
                    return found
        kinds = [self.sum, self.sum, self.count, self.best, self.group, self.poisson, self.poisson]
        if relation == ADD_REMOVE:
            kinds += [self.poisson, self.allocation, self.allocation, self.cells]
            if size is not None:
                kinds += [self.truncated] * 2 + ([self.batch] * 2 if size > 1 else [])
        elif size is not None:
            kinds += [self.batch, self.batch, self.draws, self.draws, self.shuffle, self.shuffle, self.epoch]
        return source.choice(kinds)(depth - 1, relation, size)

    def base(self, depth: int, relation: str, size: int | None) -> Tree:
        """Of a transformation: seldom about the other relation, or of another size."""
        odd = self.source.random()
        if odd < ODD:
            relation = ADD_REMOVE if relation == REPLACE else REPLACE
        elif odd < 2 * ODD:
            size = self.source.randint(1, 3) if size is None else size % 3 + 1
        return self.tree(depth, relation, size)

    def sum(self, depth: int, relation: str, size: int | None) -> Tree:
        """Of parts that run on the same data."""
        while True:
            one = self.base(depth, relation, size)
            other = self.base(self.source.randint(0, min(depth, 1)), relation, size)
            if None in (one.size, other.size) or one.size == other.size:
                return composed([one, other], self.seed(), self.source.choice((2, 2, 3)))

    def count(self, depth: int, relation: str, size: int | None) -> Tree:
        base, count = self.base(depth, relation, size), self.source.choice((2, 2, 3))
        return composed([base] * count, self.seed(), self.source.choice((2, 2, 3)))

    def best(self, depth: int, relation: str, size: int | None) -> Tree:
        base, (law, mean, shape) = self.base(depth, relation, size), self.source.choice(RUNS)
        how = self.source.choice(("rising", "falling", "any", "none"))
        return best_of(base, law, mean, shape, how, self.source.random())

    def group(self, depth: int, relation: str, size: int | None) -> Tree:
        """Of data that are made of whole groups."""
        count = self.source.choice((2, 2, 3))
        inner = None if size is None or size * count > DATA_MAX else size * count
        while True:
            base = self.base(depth, relation, inner)
            if base.size is None or base.size % count == 0:
                return grouped(base, count)

    def rate(self) -> Fraction:
        return self.source.choices(RATES, RATE_WEIGHTS)[0]

    def poisson(self, depth: int, relation: str, size: int | None) -> Tree:
        return poisson(self.base(depth, ADD_REMOVE, None), self.rate(), relation)

    def batch(self, depth: int, relation: str, size: int | None) -> Tree:
        assert size is not None
        batch = self.source.randint(1, size if relation == REPLACE else size - 1)
        return without_replacement(self.base(depth, REPLACE, batch), batch, size, relation)

    def draws(self, depth: int, relation: str, size: int | None) -> Tree:
        assert size is not None
        batch = self.source.choice((1, 2, 2, 3))
        return with_replacement(self.base(depth, REPLACE, batch), batch, size)

    def truncated(self, depth: int, relation: str, size: int | None) -> Tree:
        assert size is not None
        base = self.base(depth, ADD_REMOVE, None)
        return truncated_poisson(base, self.rate(), self.source.randint(1, size + 1), size)

    def allocation(self, depth: int, relation: str, size: int | None) -> Tree:
        base, steps = self.base(depth, ADD_REMOVE, None), self.source.choice((1, 2, 2, 3))
        uses = self.source.choice((1, 1, 1, self.source.randint(1, steps)))
        return random_allocation(base, steps, uses, self.seed())

    def cells(self, depth: int, relation: str, size: int | None) -> Tree:
        """Of any number of records each."""
        while True:
            depths = (depth, self.source.randint(0, min(depth, 1)))
            cells = [self.base(each, ADD_REMOVE, None) for each in depths]
            if all(cell.size is None for cell in cells):
                return parallel(cells)

    def shuffle(self, depth: int, relation: str, size: int | None) -> Tree:
        assert size is not None
        return shuffle(self.base(depth, REPLACE, 1), size)

    def epoch(self, depth: int, relation: str, size: int | None) -> Tree:
        """Of Gaussian noise, but for a few."""
        assert size is not None
        steps = self.source.choice([steps for steps in (1, 2, 3) if size % steps == 0])
        base = self.base(0, ADD_REMOVE, None)
        while base.calls[-1] not in ("Gaussian", "GDP") and self.source.random() > ODD / 3:
            base = self.base(0, ADD_REMOVE, None)
        if self.source.random() < 0.3:
            base = grouped(base, 2)
        return shuffled_batches(base, steps, size, self.seed())


RUNS: tuple[tuple[str, float, float | None], ...] = (
    ("geometric", 2.0, None),
    ("geometric", 1.25, None),
    ("geometric", 4.0, None),
    ("negative_binomial", 1.5, -0.5),
    ("negative_binomial", 3.0, 2.0),
    ("logarithmic", 2.0, None),
    ("poisson", 0.5, None),
    ("poisson", 2.0, None),
    ("binomial", 1.5, 2),
    ("binomial", 1.0, 4),
)


@dataclass(frozen=True)
class Drawn:
    """A tree, the relation that it is asked for, and the laws of neighbours.

    plain: nothing looks at the data in another way by what was seen, so that the data sets may show the pair.
    """

    tree: Tree
    relation: str
    algorithm: Algorithm
    neighbours: tuple[Both, ...]
    plain: bool


def drawn(seed: int, index: int, leaves: Sequence[MakeLeaf] = LEAVES, deep: int = DEPTH_MAX) -> Drawn | None:
    """The tree of this number, with its laws on the data sets of neighbours; None where there are too many."""
    source = random.Random(f"{seed}/{index}")
    plain = source.random() < 0.4
    relation, records = source.choice((ADD_REMOVE, REPLACE)), source.choice((1, 2, 2, 3))
    depth = min(source.choices(range(DEPTH_MAX + 1), (1, 3, 5, 4, 2))[0], deep)
    try:
        return listed(Drawer(source, plain, leaves).tree(depth, relation, records), source, plain)
    except TooLarge:
        return None


def listed(tree: Tree, source: Source, plain: bool = False) -> Drawn | None:
    """A tree beside its neighbours; what leaves the relation open is asked for adding and removing a record."""
    relation = tree.relation or ADD_REMOVE
    algorithm = tree.run(relation)
    found = list(neighbours(algorithm, relation, tree.size))
    first = 2 * len(algorithm.values)  # the smallest data sets, where a record tells the most
    if len(found) > first + PAIRS_MAX:
        found = [*found[:first], *source.sample(found[first:], PAIRS_MAX)]
    for pair in found:
        for one in pair:
            algorithm.law(one)
    return Drawn(tree, relation, algorithm, tuple(found), plain) if found else None


def neighbours(algorithm: Algorithm, relation: str, size: int | None) -> Iterator[Both]:
    """Of data of so many records, or of a few sizes."""
    more = 4 if len(algorithm.values) <= 3 else 3
    if relation == REPLACE:
        for records in range(1, more) if size is None else (size,):
            yield from replaced(algorithm, records)
    else:
        least = algorithm.least
        for records in range(least + 1, least + more) if size is None else (size, size + 1):
            yield from lacking(algorithm, records)
