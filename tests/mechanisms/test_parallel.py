"""Cells side by side: a record in one of them, against all data sets of few records, in exact fractions."""

from __future__ import annotations

import itertools
import pickle
import random
from fractions import Fraction

import pytest

import tightrope as tr
from tests.engines.joint.test_engine import dyadic
from tests.oracle.enumeration import Outcomes, composed, delta, power
from tightrope.core.values.question import Direction

GAUSSIAN, LAPLACE = tr.Gaussian(sigma=1.0), tr.Laplace(scale=0.8)
EPSILONS = (0.0, 0.25, 0.8, 2.0)


def finite(law: Outcomes) -> tr.Mechanism:
    return tr.Finite(p=[float(p) for p, _ in law], q=[float(q) for _, q in law])


def swapped(law: Outcomes) -> Outcomes:
    return tuple((q, p) for p, q in law)


def holds(bound: tr.Bound, truth: Fraction) -> bool:
    return Fraction(bound.lower) <= truth <= Fraction(bound.upper)


def adaptive(laws: list[Outcomes], count: int, epsilon: float) -> Fraction:
    """The best choice of a cell at each step, after the outputs before it."""
    alpha = power(epsilon)[0]

    def value(p: Fraction, q: Fraction, left: int) -> Fraction:
        if not left:
            return max(p - alpha * q, Fraction(0))
        return max(sum((value(p * a, q * b, left - 1) for a, b in law), Fraction(0)) for law in laws)

    return value(Fraction(1), Fraction(1), count)


@pytest.mark.parametrize("seed", range(4))
def test_one_step_is_the_worst_cell(seed: int) -> None:
    """All neighbours: a record with one of the cells, with any other records; outputs of all cells are seen."""
    rng = random.Random(seed)
    laws = [dyadic(rng, rng.choice([2, 3])) for _ in range(2)]
    run = tr.parallel(finite(law) for law in laws)
    for direction in Direction:
        for epsilon in EPSILONS:
            # The cell of the record shows P or Q, the other one Q, or P where another record is in it.
            worst = Fraction(0)
            for cell, other in itertools.product(range(2), (0, 1)):
                own = laws[cell] if direction is Direction.REMOVE else swapped(laws[cell])
                beside = tuple((row[other], row[other]) for row in laws[1 - cell])
                seen = tuple((p * a, q * b) for p, q in own for a, b in beside)
                worst = max(worst, delta(seen, epsilon)[0])
            assert holds(run.delta(epsilon, direction=direction.value), worst)


@pytest.mark.parametrize("seed", range(3))
def test_cells_that_stay_are_the_largest_of_their_runs(seed: int) -> None:
    rng = random.Random(seed)
    laws = [dyadic(rng, 2), dyadic(rng, 3)]
    counts = rng.choice([2, 5]), rng.choice([1, 3])
    run = tr.parallel(*(finite(law) * count for law, count in zip(laws, counts, strict=True)))
    for epsilon in EPSILONS:
        for direction in Direction:
            ways = laws if direction is Direction.REMOVE else [swapped(law) for law in laws]
            truth = max(delta(composed([(law, count)]), epsilon)[0] for law, count in zip(ways, counts, strict=True))
            bound = run.delta(epsilon, direction=direction.value)
            assert holds(bound, truth)
            assert bound.width <= 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_cells_that_change_contain_the_best_choice_of_a_cell_at_each_step(seed: int) -> None:
    rng = random.Random(seed)
    laws, count = [dyadic(rng, 2), dyadic(rng, 2)], 3
    run = tr.parallel(finite(law) for law in laws) * count
    for epsilon in (0.0, 0.7):
        for direction in Direction:
            ways = laws if direction is Direction.REMOVE else [swapped(law) for law in laws]
            truth = adaptive(ways, count, epsilon)
            fixed = max(
                delta(composed([(law, k) for law, k in ((ways[0], first), (ways[1], count - first)) if k]), epsilon)[0]
                for first in range(count + 1)
            )
            bound = run.delta(epsilon, direction=direction.value)
            assert fixed <= truth
            assert holds(bound, truth)


def test_equal_cells_and_one_cell_are_the_mechanism() -> None:
    for run in (tr.parallel(GAUSSIAN), tr.parallel(GAUSSIAN, GAUSSIAN), tr.parallel(GAUSSIAN, GAUSSIAN.named("a"))):
        assert (run * 10).epsilon(1e-5) == (GAUSSIAN * 10).epsilon(1e-5)
        assert run.tight
        assert run.relation is tr.Relation.ADD_REMOVE


def test_orders_of_answers() -> None:
    one, two = tr.PureDP(epsilon=0.5), tr.ApproximateDP(epsilon=0.2, delta=0.05)
    redrawn, kept = tr.parallel(one, two) * 3, tr.parallel(one * 3, two * 3)
    for epsilon in (0.1, 1.2):
        worst = max((one * 3).delta(epsilon).upper, (two * 3).delta(epsilon).upper)
        assert kept.delta(epsilon).upper == pytest.approx(worst, rel=1e-9)
        bound = redrawn.delta(epsilon)
        assert bound.upper > worst * (1 + 1e-3)  # they cross
        assert bound.lower >= worst * (1 - 1e-6)  # the record may stay in one cell
        assert bound.certificate is not None
        assert bound.certificate.attained
        assert not bound.certificate.tight
    sampled = tr.parallel(GAUSSIAN, LAPLACE).poisson(rate=0.2)
    alone = max(each.poisson(rate=0.2).delta(0.1).upper for each in (GAUSSIAN, LAPLACE))
    assert sampled.delta(0.1).upper == pytest.approx(alone, rel=1e-9)


def test_values() -> None:
    run = tr.parallel(LAPLACE, GAUSSIAN * 2 + LAPLACE, tr.parallel(GAUSSIAN, LAPLACE).poisson(rate=0.5))
    assert run == tr.parallel([LAPLACE, tr.parallel(LAPLACE, GAUSSIAN).poisson(rate=0.5)], GAUSSIAN * 2 + LAPLACE)
    assert tr.parse(repr(run)) == tr.load(tr.dump(run)) == pickle.loads(pickle.dumps(run)) == run
    assert hash(tr.parse(repr(run))) == hash(run)
    assert repr(tr.parallel(LAPLACE, GAUSSIAN)) == "parallel(Gaussian(sigma=1.0), Laplace(scale=0.8))"
    named = tr.parallel(LAPLACE.named("a"), GAUSSIAN, name="cells")
    assert named == tr.parallel(LAPLACE.named("a"), GAUSSIAN).named("cells")
    assert tr.parse(repr(named)) == tr.load(tr.dump(named)) == named
    assert tr.parse("parallel(Laplace(scale=0.8, name='a'), Gaussian(sigma=1), name='cells')") == named
    assert named.nameless == tr.parallel(LAPLACE, GAUSSIAN)
    assert named.label == "cells"
    assert tr.parallel(LAPLACE.named("a"), GAUSSIAN).label == "parallel(Gaussian(sigma=1.0), a)"
    assert named.parameters == {"Gaussian:sigma": 1.0, "a:scale": 0.8}
    assert named.delta(0.5) == named.nameless.delta(0.5)
    assert (named * 3 + GAUSSIAN).names == {"Gaussian": 1, "cells": 3}
    assert str(tr.parallel(tr.Finite(p=[0.1] * 10, q=[0.1] * 10))) == "parallel(Finite(p=[10 numbers], q=[10 numbers]))"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("parallel()", "needs at least one mechanism"),
        ("parallel(3)", "parallel takes mechanisms, as in parallel"),
        ("parallel([1, 2])", "parallel takes mechanisms"),
        ("parallel(Gaussian(sigma=1), rate=2)", "parallel takes mechanisms and a name"),
        ("parallel(Gaussian(sigma=1).without_replacement(batch=1, records=2))", "may move from a cell to another"),
    ],
)
def test_texts_that_are_refused(text: str, words: str) -> None:
    with pytest.raises(tr.ExpressionError, match=words):
        tr.parse(text)


def test_time_that_is_up_is_no_error() -> None:
    """A certificate asks for nothing that takes work."""
    bound = (tr.parallel(tr.TruncatedGaussian(sigma=1, bounds=(-2, 2)), LAPLACE) * 4).delta(0.0, seconds=0.05)
    assert 0.0 <= bound.lower <= bound.upper <= 1.0


def test_refusals() -> None:
    with pytest.raises(tr.InvalidParameter, match="a cell of parallel is a mechanism"):
        tr.parallel(3)  # type: ignore[arg-type]
    with pytest.raises(tr.InvalidParameter, match="a cell of parallel is a mechanism"):
        tr.parallel("Gaussian")  # type: ignore[arg-type]
    with pytest.raises(tr.InvalidParameter, match="the parts disagree"):
        tr.parallel(GAUSSIAN) + GAUSSIAN.without_replacement(batch=1, records=2)
    for bad in ('{"parallel": 3}', '{"parallel": []}', '{"parallel": [3]}', '{"parallel": [], "more": 1}'):
        with pytest.raises(tr.DataError):
            tr.load(f'{{"schema": 1, "run": {bad}}}')
