"""Divergences of real answers and of Skellam noise keep to what is said of them."""

from __future__ import annotations

import math
import pickle
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy.special import logsumexp, ndtr

import tightrope as tr
from tests.oracle.precision import precision
from tests.search import cases
from tightrope.core.losses.renyi.renyi_pair import RenyiPair

SMALL = {"threshold_sigma": 2.0, "query_sigma": 3.0, "queries": 4}


def known(run: tr.Mechanism, order: float) -> float:
    """What the pair says of the divergence of an order."""
    pair = run.pair(tr.Direction.REMOVE)
    assert isinstance(pair, RenyiPair)
    above = pair.curve.above(Fraction(order) - 1)
    return math.inf if above is None else float(above) / (order - 1.0)


def answers(queries: np.ndarray, run: tr.GaussianSparseVector) -> np.ndarray:
    """The logs of all that a run may say: sums over a lattice, which converge like the Gaussian falls."""
    z = np.linspace(-14.0, 14.0, 4001) * run.threshold_sigma
    weight = np.exp(-((z / run.threshold_sigma) ** 2) / 2)
    states, found = [(0, weight / weight.sum())], []
    for query in queries:
        x = (z - query) / run.query_sigma
        after = []
        for count, alive in states:
            after.append((count, alive * ndtr(x)))
            told = alive * ndtr(-x)
            if count + 1 == run.answers:
                found.append(told.sum())
            else:
                after.append((count + 1, told))
        states = after
    return np.log(np.array(found + [alive.sum() for _, alive in states]))


@pytest.mark.parametrize("seed", range(cases(12, 2000)))
def test_true_answers_of_gaussian_noise(seed: int) -> None:
    draw = random.Random(seed)
    monotone = draw.random() < 0.5
    run = tr.GaussianSparseVector(
        threshold_sigma=math.exp(draw.uniform(-2, 2)),
        query_sigma=math.exp(draw.uniform(-1, 2)),
        queries=draw.randint(1, 6),
        answers=draw.randint(1, 6),
        monotone=monotone,
    )
    wide = run.threshold_sigma + run.query_sigma
    queries = np.array([draw.gauss(0.0, wide) for _ in range(run.queries)])
    moves = np.array([draw.choice([0.0, 1.0] if monotone else [-1.0, 1.0]) for _ in range(run.queries)])
    first, second = answers(queries + moves, run), answers(queries, run)
    for order in (1.05, 1.5, 2.0, 4.0, 16.0):
        for one, two in ((first, second), (second, first)):
            divergence = float(logsumexp(order * one + (1.0 - order) * two)) / (order - 1.0)
            assert divergence <= known(run, order) + 1e-9


def test_all_answers_tell_more_than_one_query() -> None:
    """Four sharp queries, all answered."""
    run = tr.GaussianSparseVector(threshold_sigma=0.01, query_sigma=2.0, queries=4, answers=4)
    first, second = answers(np.array([-0.5, -0.5, 0.5, 0.5]), run), answers(np.array([0.5, 0.5, -0.5, -0.5]), run)
    divergence = float(logsumexp(2.0 * first - second))
    assert 2 / 4 < divergence <= known(run, 2.0)


def skellam(variance: float, shift: int, order: float) -> float:
    """The divergence of one entry, by a sum over outputs."""
    with precision(256):
        last = int(12 * math.sqrt(variance) + 4 * shift + 40)
        logs = [arb(variance).bessel_i(arb(k)).log() - arb(variance) for k in range(last + shift + 1)]
        terms = (order * logs[abs(k - shift)] + (1 - order) * logs[abs(k)] for k in range(-last, last + 1))
        return float(sum((term.exp() for term in terms), arb(0)).log()) / (order - 1)


@pytest.mark.parametrize(("variance", "shift"), [(0.5, 1), (4.0, 2), (30.0, 1), (30.0, 6)])
def test_sums_of_skellam_noise(variance: float, shift: int) -> None:
    run = tr.SkellamVector(variance=variance, l1=shift, l2=shift)
    for order in (2, 3, 7):
        assert skellam(variance, shift, order) <= known(run, order)


@pytest.mark.parametrize("order", [2, 3, 16])
def test_what_the_theorem_says(order: int) -> None:
    """In fractions, at orders of the table."""
    run = tr.SkellamVector(variance=4.0, l1=9.0, l2=3.0)
    said = Fraction(order * 9, 8) + min(Fraction((2 * order - 1) * 9 + 54, 64), Fraction(27, 8))
    assert float(said) <= known(run, order) <= 1.000001 * float(said)


def test_what_the_proof_says() -> None:
    """At an order beyond those that the chord from the origin bounds."""
    order = 16
    many = tr.GaussianSparseVector(threshold_sigma=1.0, query_sigma=2.0, queries=10**6, answers=2, sensitivity=0.5)
    outcomes = 1 + 10**6 + math.comb(10**6, 2)
    said = order / 2 * (0.25 + 2 * 4 * 0.0625) + math.log(outcomes) / (order - 1)
    assert said * (1 - 1e-12) <= known(many, order) <= 1.02 * said
    assert known(many, 2.0) < said
    assert many.pair(tr.Direction.ADD) == many.pair(tr.Direction.REMOVE)


def test_a_line_holds_beyond_the_table() -> None:
    """Four queries that are all released have 4 a/(2 9); the divergences of one entry lie below whatever the order."""
    few = tr.GaussianSparseVector(**SMALL)
    assert known(few, 1e9) == pytest.approx(1e9 * 4 / 18)
    rho = few.zcdp()
    assert rho.lower <= 4 / 18 <= rho.upper <= 4 / 18 + 1e-9
    twice = (few * 2 + tr.ZCDP(rho=0.5)).zcdp()
    assert 8 / 18 + 0.5 <= twice.upper <= 8 / 18 + 0.5 + 1e-9
    vector = tr.SkellamVector(variance=30.0, l1=6.0, l2=6.0)
    rise, level = 36 / 60, (36 + 18) / 60
    for order in (1.001, 1.25, 1.75, 2.5, 30.5):
        assert skellam(30.0, 6, order) <= known(vector, order) <= rise * order + level
    assert known(vector, 1e6) == pytest.approx(rise * 1e6 + level, rel=1e-12)
    assert vector.zcdp().upper <= rise + level + 1e-9
    assert (vector + tr.RenyiCurve(orders=[2.0], divergences=[0.1])).zcdp().upper == math.inf


def test_many_answers_are_bounded_by_a_formula() -> None:
    listed, bounded = (
        tr.GaussianSparseVector(threshold_sigma=9.0, query_sigma=9.0, queries=10**9, answers=count)
        for count in (64, 65)
    )
    assert known(listed, 2.0) < known(bounded, 2.0) < 1.1 * known(listed, 2.0)
    every = tr.GaussianSparseVector(threshold_sigma=9.0, query_sigma=9.0, queries=80, answers=10**12)
    assert known(every, 2.0) <= 80 / 81 * 1.001


def test_what_they_are() -> None:
    for run in (tr.GaussianSparseVector(**SMALL), tr.SkellamVector(variance=100.0, l1=5.0, l2=3.0)):
        assert not run.tight
        assert run.relation is None
        assert tr.parse(repr(run)) == pickle.loads(pickle.dumps(run)) == tr.load(tr.dump(run)) == run
        found = run.epsilon(1e-6)
        assert "Renyi divergences" in str(found.certificate)
        assert found.lower <= found.upper < 20.0
        assert run.group(size=2).epsilon(1e-6).lower > found.upper
    assert tr.GaussianSparseVector(**SMALL, monotone=True).relation is tr.Relation.ADD_REMOVE


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tr.GaussianSparseVector(**{**SMALL, "queries": 0}), "queries must be"),
        (lambda: tr.GaussianSparseVector(**SMALL, monotone="yes"), "monotone must be True or False"),
        (lambda: tr.GaussianSparseVector(**{**SMALL, "query_sigma": 1e-200}), "beyond"),
        (lambda: tr.SkellamVector(variance=1.0, l1=1.0, l2=2.0), "l1 must be at least l2"),
        (lambda: tr.SkellamVector(variance=0.0, l1=1.0, l2=1.0), "variance must be"),
    ],
)
def test_refusals(make: object, message: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=message):
        make()  # type: ignore[operator]
