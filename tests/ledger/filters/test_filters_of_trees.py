"""Promises of trees against the truth: the recursion over all strategies, what is accepted being decided by the book.

States are the counters of several budgets, and the rule is transactions/fit.py itself; the laws of jobs are what one
record sees, so that a job of another partition shows nothing. What must hold is docs/proofs/ledger.md, sections 9, 10
and 16.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.oracle.adaptive import Neighbours, Rule, Shelf, State, filtered, neighbours
from tightrope.ledger.transactions.fit import fit, spread
from tightrope.ledger.transactions.tree import BudgetNode, Counter, Path

EPSILON, DELTA = 20.0, 1e-6
WEIGHTS = {2: 0.5, 64: 0.5}
UNIT = 2**40


def budget(name: str, parent: str | None = None, parallel: bool = False) -> BudgetNode:
    return BudgetNode(name, "r", parent, "rdp", "add_remove", "one person", {}, {}, "open", parallel, 0)


def kappa(order: float) -> float:
    return float((1 - 1 / order) ** (order - 1) / order)


def threshold(order: int, epsilon: float = EPSILON) -> float:
    return epsilon + math.log(WEIGHTS[order] * DELTA / kappa(order)) / (order - 1)


def divergence(order: int, p: Sequence[float], q: Sequence[float]) -> float:
    """By logarithms: powers are large."""
    logs = [order * math.log(a) + (1 - order) * math.log(b) for a, b in zip(p, q, strict=True)]
    top = max(logs)
    return (top + math.log(sum(math.exp(each - top) for each in logs))) / (order - 1)


@dataclass(frozen=True)
class Spike:
    """A loss with some probability, and next to none else."""

    chance: float
    loss: float

    @property
    def pair(self) -> Neighbours:
        q = self.chance * math.exp(-self.loss)
        return neighbours((self.chance, 1 - self.chance), (q, 1 - q))

    @property
    def worse(self) -> dict[int, float]:
        """The divergence of each order, of the worse direction."""
        q = self.chance * math.exp(-self.loss)
        p, other = (self.chance, 1 - self.chance), (q, 1 - q)
        return {a: max(divergence(a, p, other), divergence(a, other, p)) for a in WEIGHTS}

    @property
    def cost(self) -> dict[str, int | None]:
        return {f"order {a}": math.ceil(each * UNIT) for a, each in self.worse.items()}


LIKELY = Spike(0.18, 8.7)  # little at order 2, more than the block has at order 64
SURE = Spike(1 / (1 + math.exp(-12)), 12.0)  # randomized response: as much at each order
FIRST = Spike(1 / (1 + math.exp(-0.05)), 0.05)  # what the others are chosen by


def tight(epsilon: float = EPSILON) -> tuple[Spike, ...]:
    """Of each order nearly all that it allows, at the loss that attains its bound: alone, and after FIRST."""
    found = []
    for order in WEIGHTS:
        for before in (0.0, 0.05, -0.05):
            loss = epsilon - before + math.log(order / (order - 1))
            room = threshold(order, epsilon) - (FIRST.worse[order] if before else 0.0)
            found.append(Spike(0.99 * math.exp((order - 1) * (room - loss)), loss))
    return tuple(found)


JOBS = (LIKELY, SURE, FIRST, *tight())


def menu(of: str, limits: Mapping[int, float], used: Mapping[int, float] | None = None) -> list[Counter]:
    found = []
    for order, most in limits.items():
        had = math.ceil((used or {}).get(order, 0.0) * UNIT)
        total = math.floor(most * UNIT)
        found.append(Counter(of, f"order {order}", "any", UNIT, total, total, 0, had, False))
    return found


def by_the_book(ways: Sequence[Path], axes: Mapping[str, list[Counter]], jobs: Sequence[Spike]) -> tuple[Rule, State]:
    """Each job may be charged on each way; a state holds what each axis has used, -1 where it is dead."""
    places = [(name, at) for name, counters in axes.items() for at in range(len(counters))]

    def rule(state: State) -> Iterator[tuple[int, State]]:
        now: dict[str, list[Counter]] = {name: [] for name in axes}
        for (name, at), units in zip(places, state, strict=True):
            now[name].append(replace(axes[name][at], held=max(units, 0), spent=0, dead=units < 0))
        for way in ways:
            for index, job in enumerate(jobs):
                found = fit([way], now, spread([way], {way.charged[0].id: job.cost}))
                if not found.why:
                    more = {(name, axis): units for name, axis, units in found.charges}
                    kills = set(found.kills)
                    yield (
                        index,
                        tuple(
                            -1
                            if counter.dead or (name, counter.name) in kills
                            else counter.used + more.get((name, counter.name), 0)
                            for name, counters in now.items()
                            for counter in counters
                        ),
                    )

    return rule, tuple(axes[name][at].used for name, at in places)


def truth(rule: Rule, start: State, jobs: Sequence[Spike], rounds: int, epsilon: float = EPSILON) -> float:
    """Of both directions."""
    alpha = np.exp(np.longdouble(epsilon))
    shelves = Shelf([each.pair for each in jobs]), Shelf([each.pair.swapped for each in jobs])
    return max(float(filtered(shelf, rule, start, alpha, rounds)) for shelf in shelves)


LIMITS = {order: threshold(order) for order in WEIGHTS}
BLOCK = {2: 7.0, 64: 7.0}  # what the block was charged, at each order


def tree(crossing: bool) -> tuple[Rule, State]:
    """A record that a partition's jobs see, and those beside the block."""
    root, block, part = budget("r"), budget("b", "r", True), budget("p", "b")
    axes = {"r": menu("r", LIMITS, BLOCK), "b": menu("b", BLOCK), "p": menu("p", BLOCK)}
    ways = [Path((part,), (block, root) if crossing else ()), Path((root,), ())]
    return by_the_book(ways, axes, JOBS)


def test_a_menu_by_the_book() -> None:
    rule, start = by_the_book([Path((budget("r"),), ())], {"r": menu("r", LIMITS)}, JOBS)
    assert 0.6 * DELTA < truth(rule, start, JOBS, 3) <= DELTA * (1 + 1e-9)


def test_an_order_that_dies_in_a_partition_is_dead_above_it() -> None:
    assert truth(*tree(crossing=True), JOBS, 3) <= DELTA * (1 + 1e-9)


def test_if_it_lived_on_the_promise_above_would_be_exceeded() -> None:
    """LIKELY in the partition, whose order 64 dies; SURE beside the block, where order 2 dies: the sum is above 20."""
    assert truth(*tree(crossing=False), JOBS, 2) == pytest.approx(0.18 * (1 - math.exp(20 - 20.7)), rel=1e-4)


def test_a_dead_order_does_not_come_back() -> None:
    """A rule that forgets deaths: what is dead stands at what it had, and SURE fits order 64 after LIKELY."""
    few = {2: 9.0, 64: 12.1}
    rule, start = by_the_book([Path((budget("r"),), ())], {"r": menu("r", few)}, (LIKELY, SURE))

    def forgetful(state: State) -> Iterator[tuple[int, State]]:
        for index, after in rule(tuple(max(each, 0) for each in state)):
            yield index, tuple(now if then < 0 else then for then, now in zip(after, state, strict=True))

    assert truth(rule, start, (LIKELY, SURE), 2) < 1e-9
    assert truth(forgetful, start, (LIKELY, SURE), 2) > DELTA


def test_until_a_renewal_the_smaller_promise_holds() -> None:
    """Totals of epsilon 19, ceilings of 20: runs without a renewal keep to (19, delta)."""
    axes = [
        replace(each, total=math.floor(threshold(order, 19.0) * UNIT))
        for each, order in zip(menu("r", LIMITS), WEIGHTS, strict=True)
    ]
    jobs = (*JOBS, *tight(19.0))
    rule, start = by_the_book([Path((budget("r"),), ())], {"r": axes}, jobs)
    assert 0.6 * DELTA < truth(rule, start, jobs, 2, 19.0) <= DELTA * (1 + 1e-9)


def test_a_child_and_its_parent_both_keep_their_promise() -> None:
    child, root = budget("c", "r"), budget("r")
    small = {order: threshold(order, 19.0) for order in WEIGHTS}
    axes = {"r": menu("r", LIMITS), "c": menu("c", small)}
    jobs = (*JOBS, *tight(19.0))
    ways = [Path((child, root), ()), Path((root,), ())]
    assert 0.6 * DELTA < truth(*by_the_book(ways, axes, jobs), jobs, 2) <= DELTA * (1 + 1e-9)
    assert truth(*by_the_book(ways[:1], axes, jobs), jobs, 2, 19.0) <= DELTA * (1 + 1e-9)
