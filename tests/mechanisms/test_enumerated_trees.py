"""Trees against real algorithms on tiny data sets, and each need of each theorem with a base that lacks it.

Such a tree is refused. With the need dropped it is answered, and the comparison with the real algorithm must notice:
the upper end lies below the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from fractions import Fraction
from itertools import product

import pytest

from benchmarks.enumerated import Outcome, judge
from tests.mechanisms.test_theorems import UNWITNESSED, without
from tests.oracle import leaves, trees
from tests.oracle.leaves import ADD_REMOVE, REPLACE, Source
from tests.oracle.profiles import Profiles
from tests.oracle.trees import Tree, composed, drawn, grouped, listed, poisson, without_replacement
from tests.search import FULL, cases
from tightrope.core.mechanisms import theorems as t
from tightrope.core.mechanisms.base import CHAIN
from tightrope.core.mechanisms.theorems import Fact, Theorem

HALF = Fraction(1, 2)
MUCH = Fraction(3, 4)
QUICK = (leaves.finite, leaves.response, leaves.channel, leaves.subset, leaves.claim, leaves.measured)
SEED = 11
EPSILONS = 6
TREES_QUICK = 150


def named(make: trees.MakeLeaf, text: str, outputs: int = 0) -> Tree:
    """The mechanism with this text, in as many outputs."""
    for seed in range(5000):
        found = make(Source(seed), True)
        if found.text == text and found.make(ADD_REMOVE).outputs in (outputs or found.make(ADD_REMOVE).outputs,):
            return trees.leaf(found)
    raise AssertionError(text)


def reply() -> Tree:
    """About replacing a value."""
    return named(leaves.response, "RandomizedResponse(p=0.75, categories=2)")


def noise() -> Tree:
    """About adding or removing a record: two steps where one is replaced."""
    return poisson(named(leaves.noise, "DiscreteLaplace(scale=1.0)", 4), MUCH)


def batch(relation: str) -> Tree:
    """From three records."""
    base = named(leaves.claim, "PureDP(epsilon=2.0)")
    return without_replacement(base, 1, 3, relation)


def histograms(others: tuple[int, ...] = (0,)) -> Tree:
    return trees.leaf(leaves.histograms([2, 8], [5, 4], others))


def abroad() -> Tree:
    """Two data sets were measured, and others have something to tell."""
    return histograms((0, 1))


def clamped() -> Tree:
    return named(leaves.clamped, "TruncatedLaplace(scale=1.0, bounds=[2.0, inf], mode='clamp')", 2)


Make = Callable[[], Tree]
TREES: Mapping[tuple[Theorem, Fact], Make] = {
    (t.COMPOSITION, Fact.ADD_REMOVE): lambda: composed([noise(), reply()], None, 2),
    (t.COMPOSITION_REPLACED, Fact.REPLACE): lambda: composed([batch(REPLACE), noise()], None, 3),
    (t.ALL_RECORDS, Fact.ADD_REMOVE): lambda: poisson(reply(), Fraction(1)),
    (t.POISSON, Fact.ADD_REMOVE): lambda: poisson(reply(), HALF),
    (t.POISSON, Fact.SIZE): lambda: poisson(batch(ADD_REMOVE), MUCH),
    (t.POISSON_REPLACED, Fact.ADD_REMOVE): lambda: poisson(reply(), Fraction(1, 4), REPLACE),
    (t.POISSON_REPLACED, Fact.SIZE): lambda: poisson(batch(ADD_REMOVE), MUCH, REPLACE),
    (t.CAPPED_POISSON, Fact.ADD_REMOVE): lambda: trees.truncated_poisson(reply(), HALF, 2, 3),
    (t.CAPPED_POISSON, Fact.SIZE): lambda: trees.truncated_poisson(batch(ADD_REMOVE), MUCH, 3, 2),
    (t.WITHOUT_REPLACEMENT, Fact.REPLACE): lambda: without_replacement(noise(), 1, 1),
    (t.WITHOUT_REPLACEMENT, Fact.SIZE): lambda: without_replacement(batch(REPLACE), 1, 2),
    (t.ONE_DRAW, Fact.REPLACE): lambda: trees.with_replacement(noise(), 1, 1),
    (t.ONE_DRAW, Fact.SIZE): lambda: trees.with_replacement(batch(REPLACE), 1, 2),
    (t.WITH_REPLACEMENT, Fact.REPLACE): lambda: trees.with_replacement(noise(), 2, 3),
    (t.WITH_REPLACEMENT, Fact.SIZE): lambda: trees.with_replacement(batch(REPLACE), 2, 2),
    (t.WITH_REPLACEMENT, Fact.GROUPS): lambda: trees.with_replacement(histograms(), 2, 1),
    (t.POISSON, Fact.OTHERS): lambda: poisson(abroad(), HALF),
    (t.POISSON_REPLACED, Fact.OTHERS): lambda: poisson(abroad(), HALF, REPLACE),
    (t.CAPPED_POISSON, Fact.OTHERS): lambda: trees.truncated_poisson(abroad(), HALF, 2, 2),
    (t.WITHOUT_REPLACEMENT, Fact.OTHERS): lambda: without_replacement(abroad(), 2, 3),
    (t.ONE_DRAW, Fact.OTHERS): lambda: trees.with_replacement(histograms((0, 1, 2)), 1, 2),
    (t.WITH_REPLACEMENT, Fact.OTHERS): lambda: trees.with_replacement(abroad(), 2, 2),
    (t.ALLOCATION, Fact.OTHERS): lambda: trees.random_allocation(abroad(), 2, 1, None),
    (t.SHUFFLE, Fact.OTHERS): lambda: trees.shuffle(histograms((0, 1, 2)), 2),
    (t.SHUFFLE, Fact.REPLACE): lambda: trees.shuffle(noise(), 2),
    (t.SHUFFLE, Fact.ONE_RECORD): lambda: trees.shuffle(batch(REPLACE), 2),
    (t.SHUFFLE, Fact.BOUNDED): lambda: trees.shuffle(named(leaves.noise, "Gaussian(sigma=1.0)"), 3),
    (t.ONE_USER, Fact.REPLACE): lambda: trees.shuffle(noise(), 1),
    (t.ONE_USER, Fact.ONE_RECORD): lambda: trees.shuffle(batch(REPLACE), 1),
    (t.ONE_USER, Fact.BOUNDED): lambda: trees.shuffle(named(leaves.noise, "Gaussian(sigma=1.0)"), 1),
    (t.PARALLEL, Fact.ADD_REMOVE): lambda: trees.parallel([reply(), noise()]),
    (t.ALLOCATION, Fact.ADD_REMOVE): lambda: trees.random_allocation(reply(), 2, 1, None),
    (t.ALLOCATION, Fact.SIZE): lambda: trees.random_allocation(batch(ADD_REMOVE), 2, 1, None),
    (t.EVERY_STEP, Fact.ADD_REMOVE): lambda: trees.random_allocation(reply(), 2, 2, None),
    (t.SHUFFLED_BATCHES, Fact.GAUSSIAN): lambda: grouped(
        trees.shuffled_batches(named(leaves.noise, "Laplace(scale=2.0)", 2), 1, 2, None), 2
    ),
    (t.GROUP, Fact.GROUPS): lambda: grouped(histograms(), 2),
    (t.GROUP_IN_SAMPLE, Fact.EVERYWHERE): lambda: grouped(poisson(clamped(), MUCH), 2),
    (t.GROUP_SCATTERED, Fact.GAUSSIAN): lambda: grouped(
        trees.random_allocation(named(leaves.noise, "DiscreteLaplace(scale=1.0)"), 2, 1, None), 2
    ),
    (t.ALLOCATED_SETS, Fact.GAUSSIAN): lambda: trees.random_allocation(noise(), 3, 2, None),
    (t.GROUP_IN_BATCH, Fact.GROUPS): lambda: grouped(without_replacement(histograms(), 2, 2), 2),
    (CHAIN, Fact.EVERYWHERE): lambda: grouped(histograms(), 2),
}
# Needs of others that ask for the same.
ALSO: Mapping[tuple[Theorem, Fact], tuple[tuple[Theorem, Fact], ...]] = {
    (t.GROUP, Fact.GROUPS): ((CHAIN, Fact.EVERYWHERE),),
    (CHAIN, Fact.EVERYWHERE): ((t.GROUP, Fact.GROUPS),),
    (t.WITH_REPLACEMENT, Fact.GROUPS): ((t.WITH_REPLACEMENT, Fact.OTHERS), (CHAIN, Fact.EVERYWHERE)),
    (t.ONE_DRAW, Fact.OTHERS): ((CHAIN, Fact.EVERYWHERE),),
    (t.WITH_REPLACEMENT, Fact.OTHERS): ((t.WITH_REPLACEMENT, Fact.GROUPS), (CHAIN, Fact.EVERYWHERE)),
    (t.GROUP_IN_BATCH, Fact.GROUPS): (
        (t.WITHOUT_REPLACEMENT, Fact.OTHERS),
        (t.GROUP, Fact.GROUPS),
        (CHAIN, Fact.EVERYWHERE),
    ),
}
# Here the need guards the rarest ways to divide large groups, which count by the sum of squares: of two records none.
# And what is not normal noise has no pair of sets of steps, so that its blocks are what is left.
HARMLESS = {(t.GROUP_SCATTERED, Fact.GAUSSIAN), (t.ALLOCATED_SETS, Fact.GAUSSIAN)}
# What has no version with finitely many outputs, or is about lower ends; test_theorems.py has a base for each.
ELSEWHERE = {(t.BEST_OF, Fact.TAILS), (t.GROUP_CONCENTRATED, Fact.EVERYWHERE), *UNWITNESSED}


def seen(tree: Tree, epsilons: int) -> Outcome:
    """What the comparison finds."""
    case = listed(tree, Source(SEED), plain=True)
    assert case is not None
    return judge(case, Outcome(0), most=epsilons)


def test_every_need_of_every_theorem_has_a_tree() -> None:
    needs = {(theorem, fact) for theorem in (*t.THEOREMS, CHAIN) for fact in theorem.needs}
    assert {*TREES, *ELSEWHERE} == needs


@pytest.mark.parametrize(("theorem", "fact"), TREES, ids=lambda each: getattr(each, "name", str(each)))
def test_a_need_that_is_dropped_is_noticed(theorem: Theorem, fact: Fact) -> None:
    tree = TREES[theorem, fact]()
    harmless = (theorem, fact) in HARMLESS
    before = seen(tree, EPSILONS)
    assert bool(before.refused) != harmless
    assert not before.violations
    with ExitStack() as dropped:
        for need in ((theorem, fact), *ALSO.get((theorem, fact), ())):
            dropped.enter_context(without(*need))
        after = seen(tree, EPSILONS)
    assert bool(after.violations) != harmless, after


def test_orders_that_differ_from_part_to_part_are_seen() -> None:
    """A largest loss per direction would say 0 where 0.0468 is true: shuffled users meet either order of each part."""
    one, other = leaves.laws([8, 8], [15, 1]), leaves.laws([15, 1], [8, 8])
    true = 0.0
    for seed, how in product("123456", ("rising", "falling")):
        both = composed([trees.leaf(one), trees.leaf(other)], seed, 2)
        case = listed(trees.shuffle(trees.best_of(both, "geometric", 2.0, None, how, 0.0), 2), Source(SEED))
        assert case is not None
        assert judge(case, Outcome(0), most=10 * EPSILONS).violations == []
        true = max(true, float(Profiles(case.algorithm, case.neighbours, True, True).largest(3.59)[0]))
    assert true > 0.0468


def test_random_trees_are_bounded_by_the_truth() -> None:
    cased = (drawn(SEED, index, QUICK, deep=2) for index in range(cases(TREES_QUICK, 2000)))
    quick = [case for case in cased if case is not None and (FULL or "best_of" not in case.tree.calls)]
    outcomes = [judge(case, Outcome(0), most=EPSILONS) for case in quick]
    assert [text for outcome in outcomes for text in outcome.violations] == []
    assert sum(outcome.checks for outcome in outcomes) > len(quick) * EPSILONS * 3 // 4  # the rest is refused
