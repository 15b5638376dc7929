"""Trees of mechanisms and transformations, drawn by what they are about: as text, and as a real algorithm.

Most trees are as their theorems want them. Some have a base that is about the other relation, that samples from data of
another size, or that is known next to one data set alone: these are to be refused, and what such a base really does on
the data is computed all the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from mpmath import mpf

from . import enumerate_data as data
from .algorithms import (
    DATA_MOST,
    DIGITS,
    ONE,
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
from .leaves import ADD_REMOVE, LEAVES, REPLACE, Source
from .selection import Runs

F = Fraction
DEPTH_MOST = 4
ODD = 0.07  # of the bases are about another relation or another size
PAIRS_MOST = 60
RATES = (F(1, 4), F(1, 2), F(3, 4), F(1), F(0))
RATE_WEIGHTS = (5, 6, 5, 1, 0.5)
Make = Callable[[str], Algorithm]


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


@dataclass(frozen=True)
class Drawn:
    """A tree, the relation that it is asked for, and the laws of neighbours."""

    tree: Tree
    relation: str
    algorithm: Algorithm
    neighbours: tuple[Both, ...]
    plain: bool = False


class Drawer:
    """Draws one tree; plain: parts and steps look at the data in the same way whatever was seen."""

    def __init__(self, source: Source, plain: bool) -> None:
        self.source, self.plain = source, plain

    def seed(self) -> str | None:
        """Of choices that depend on what was seen."""
        return None if self.plain else str(self.source.random())

    def leaf(self) -> Tree:
        found = self.source.choice(LEAVES)(self.source, self.plain)
        return Tree(found.text, found.relation, None, found.make, found.shown, (found.text.split("(")[0],))

    def tree(self, depth: int, relation: str, size: int | None) -> Tree:
        """About this relation, on data of this size; None: a size that no part may name."""
        source = self.source
        if depth == 0:
            while True:
                found = self.leaf()
                if found.relation in ("", relation) or source.random() < ODD:
                    return found
        kinds = [self.composed, self.composed, self.counted, self.best, self.grouped]
        if relation == ADD_REMOVE:
            kinds += [self.poisson] * 3 + [self.allocated, self.allocated, self.parallel]
            if size is not None:
                kinds += [self.truncated] * 2 + ([self.batch] * 2 if size > 1 else [])
        else:
            kinds += [self.poisson] * 2
            if size is not None:
                kinds += [self.batch, self.batch, self.drawn, self.drawn, self.shuffled, self.shuffled, self.epoch]
        return source.choice(kinds)(depth - 1, relation, size)

    def base(self, depth: int, relation: str, size: int | None) -> Tree:
        """Of a transformation: seldom about the other relation, or of another size."""
        odd = self.source.random()
        if odd < ODD:
            relation = ADD_REMOVE if relation == REPLACE else REPLACE
        elif odd < 2 * ODD:
            size = self.source.randint(1, 3) if size is None else size % 3 + 1
        return self.tree(depth, relation, size)

    def composed(self, depth: int, relation: str, size: int | None) -> Tree:
        one = self.base(depth, relation, size)
        other = self.base(self.source.randint(0, min(depth, 1)), relation, size)
        seed, width = self.seed(), self.source.choice((2, 2, 3))
        kind = one.relation or other.relation
        sizes = [part.size for part in (one, other) if part.size is not None]
        return Tree(
            f"({one.text} + {other.text})",
            kind,
            max(sizes, default=None),
            lambda asked: Composed([one.run(asked), other.run(asked)], seed, width),
            one.shown and other.shown,
            ("+", *one.calls, *other.calls),
        )

    def counted(self, depth: int, relation: str, size: int | None) -> Tree:
        base = self.base(depth, relation, size)
        count, seed, width = self.source.choice((2, 2, 3)), self.seed(), self.source.choice((2, 2, 3))
        return replace(
            base,
            text=f"({base.text} * {count})",
            make=lambda asked: Composed([base.run(asked)] * count, seed, width),
            calls=("*", *base.calls),
        )

    def best(self, depth: int, relation: str, size: int | None) -> Tree:
        base = self.base(depth, relation, size)
        law, mean, shape = self.source.choice(RUNS)
        more = "" if shape is None else f", shape={shape}"
        runs = Runs(law, mpf(mean), None if shape is None else mpf(shape))
        how, seed = self.source.choice(("rising", "falling", "any", "none")), self.source.random()

        def make(asked: str) -> Algorithm:
            made = base.run(asked)
            outputs = list(range(made.outputs))
            if how == "none":
                classes = [outputs]
            elif how == "any":
                Source(seed).shuffle(outputs)
                classes = [[output] for output in outputs]
            else:
                full = (base.size or 1) if asked == REPLACE else max(base.size or 1, made.least + 1)
                rest = (made.others[0],) * (full - 1)
                one = tuple(sorted((*rest, made.values[-1])))
                other = tuple(sorted((*rest, made.values[0]))) if asked == REPLACE else rest
                classes = by_loss(made, one, other, how == "rising")
            return Best(made, runs, classes)

        return Tree(
            f"{base.text}.best_of(law='{law}', mean={mean}{more})", base.relation, base.size, make, False,
            ("best_of", *base.calls),
        )

    def grouped(self, depth: int, relation: str, size: int | None) -> Tree:
        count = self.source.choice((2, 2, 3))
        inner = None if size is None else size * count
        if inner is not None and inner > DATA_MOST:
            inner = None
        base = self.base(depth, relation, inner)
        return Tree(
            f"{base.text}.group(size={count})",
            base.relation,
            None if base.size is None else -(-base.size // count),
            lambda asked: Grouped(base.run(asked), count),
            base.shown,
            ("group", *base.calls),
        )

    def rate(self) -> Fraction:
        return self.source.choices(RATES, RATE_WEIGHTS)[0]

    def poisson(self, depth: int, relation: str, size: int | None) -> Tree:
        base, rate = self.base(depth, ADD_REMOVE, None), self.rate()
        more = ", neighbours='replace'" if relation == REPLACE else ""
        return Tree(
            f"{base.text}.poisson(rate={float(rate)}{more})",
            relation,
            None,
            lambda asked: Sampled(base.run(ADD_REMOVE), data.poisson(rate)),
            base.shown and relation == ADD_REMOVE,
            ("poisson" + more[-9:-1], *base.calls),
        )

    def batch(self, depth: int, relation: str, size: int | None) -> Tree:
        assert size is not None
        batch = self.source.randint(1, size if relation == REPLACE else size - 1)
        base = self.base(depth, REPLACE, batch)
        more = ", neighbours='add_remove'" if relation == ADD_REMOVE else ""
        return Tree(
            f"{base.text}.without_replacement(batch={batch}, records={size}{more})",
            relation,
            size,
            lambda asked: Sampled(base.run(REPLACE), batch_of(batch), batch),
            base.shown and relation == ADD_REMOVE,
            ("without_replacement" + more[-11:-1], *base.calls),
        )

    def drawn(self, depth: int, relation: str, size: int | None) -> Tree:
        batch = self.source.choice((1, 2, 2, 3))
        base = self.base(depth, REPLACE, batch)
        return Tree(
            f"{base.text}.with_replacement(batch={batch}, records={size})",
            REPLACE,
            size,
            lambda asked: Sampled(base.run(REPLACE), draws(batch)),
            False,
            ("with_replacement", *base.calls),
        )

    def truncated(self, depth: int, relation: str, size: int | None) -> Tree:
        assert size is not None
        base, rate, cap = self.base(depth, ADD_REMOVE, None), self.rate(), self.source.randint(1, size + 1)
        return Tree(
            f"{base.text}.truncated_poisson(rate={float(rate)}, cap={cap}, records={size})",
            ADD_REMOVE,
            size,
            lambda asked: Sampled(base.run(ADD_REMOVE), data.truncated_poisson(rate, cap)),
            False,
            ("truncated_poisson", *base.calls),
        )

    def allocated(self, depth: int, relation: str, size: int | None) -> Tree:
        base, steps, seed = self.base(depth, ADD_REMOVE, None), self.source.choice((1, 2, 2, 3)), self.seed()
        uses = self.source.choice((1, 1, 1, self.source.randint(1, steps)))
        more = "" if uses == 1 else f", uses={uses}"
        return Tree(
            f"{base.text}.random_allocation(steps={steps}{more})",
            ADD_REMOVE,
            None,
            lambda asked: Allocated(base.run(ADD_REMOVE), steps, uses, seed),
            base.shown,
            ("random_allocation", *base.calls),
        )

    def parallel(self, depth: int, relation: str, size: int | None) -> Tree:
        one = self.base(depth, ADD_REMOVE, None)
        other = self.base(self.source.randint(0, min(depth, 1)), ADD_REMOVE, None)
        return Tree(
            f"parallel({one.text}, {other.text})",
            ADD_REMOVE,
            None,
            lambda asked: Cells([one.run(ADD_REMOVE), other.run(ADD_REMOVE)]),
            False,
            ("parallel", *one.calls, *other.calls),
        )

    def shuffled(self, depth: int, relation: str, size: int | None) -> Tree:
        assert size is not None
        base = self.base(depth, REPLACE, 1)
        return Tree(
            f"{base.text}.shuffle(users={size})",
            REPLACE,
            size,
            lambda asked: Shuffled(base.run(REPLACE), size, base.size or 1),
            False,
            ("shuffle", *base.calls),
        )

    def epoch(self, depth: int, relation: str, size: int | None) -> Tree:
        assert size is not None
        steps = self.source.choice([steps for steps in (1, 2, 3) if size % steps == 0])
        odd = self.source.random() < ODD
        while True:
            base = self.base(0, ADD_REMOVE, None)
            if odd or base.calls[-1] in ("Gaussian", "GDP"):
                break
        if self.source.random() < 0.3:
            base = replace(base, text=f"{base.text}.group(size=2)", make=_pairs(base), calls=("group", *base.calls))
        seed = self.seed()
        return Tree(
            f"{base.text}.shuffled_batches(steps={steps})",
            REPLACE,
            size,
            lambda asked: Epoch(base.run(ADD_REMOVE), steps, seed),
            False,
            ("shuffled_batches", *base.calls),
        )


def _pairs(base: Tree) -> Make:
    return lambda asked: Grouped(base.run(asked), 2)


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


def drawn(seed: int, index: int) -> Drawn | None:
    """The tree of this number, with its laws on the data sets of neighbours; None where there are too many."""
    source = random.Random(f"{seed}/{index}")
    plain = source.random() < 0.4
    relation = source.choice((ADD_REMOVE, REPLACE))
    records = source.choice((1, 2, 2, 3))
    depth = source.choices(range(DEPTH_MOST + 1), (1, 3, 5, 4, 2))[0]
    try:
        return asked(Drawer(source, plain).tree(depth, relation, records), source, plain)
    except (TooLarge, RecursionError):
        return None


def asked(tree: Tree, source: Source, plain: bool = False) -> Drawn | None:
    """A tree beside its neighbours; what is about one relation is asked for that."""
    relation = tree.relation or ADD_REMOVE
    algorithm = tree.run(relation)
    found = list(neighbours(algorithm, relation, tree.size))
    if len(found) > PAIRS_MOST + 2 * len(algorithm.values):
        first = 2 * len(algorithm.values)  # the smallest data sets, where a record tells the most
        found = [*found[:first], *source.sample(found[first:], max(PAIRS_MOST - first, 1))]
    for pair in found:
        for one in pair:
            algorithm.law(one)
    return Drawn(tree, relation, algorithm, tuple(found), plain) if found else None


def neighbours(algorithm: Algorithm, relation: str, size: int | None) -> Iterator[Both]:
    """Of data of so many records, or of a few sizes."""
    few = len(algorithm.values) <= 3
    if relation == REPLACE:
        for records in (1, 2, 3) if size is None and few else (1, 2) if size is None else (size,):
            yield from replaced(algorithm, records)
    else:
        least = algorithm.least
        sizes = range(least + 1, least + (4 if few else 3)) if size is None else (size, size + 1)
        for records in sizes:
            yield from lacking(algorithm, records)


