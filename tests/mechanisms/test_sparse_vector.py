"""The sparse vector technique against the true answers of real queries, by quadrature, and the steps of its proof."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from flint import arb

import tightrope as tr
from tests.oracle.precision import precision
from tests.oracle.sparse_vector import answers
from tests.search import cases

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
ALPHAS = np.exp(np.linspace(-3.0, 3.0, 25))


def laws(queries: np.ndarray, threshold_scale: float, query_scale: float, above: int) -> np.ndarray:
    """All that a run may say, in floats, piece by piece between the kinks."""
    kinks = np.sort(np.append(queries, 0.0))
    reach = 40.0 * threshold_scale
    cells = np.concatenate([np.linspace(a, b, 9) for a, b in itertools.pairwise([-reach, *kinks, reach]) if a < b])
    low, high = cells[:-1, None], cells[1:, None]
    z = ((low + high) / 2 + (high - low) / 2 * NODES).ravel()
    mass = ((high - low) / 2 * WEIGHTS).ravel() * np.exp(-abs(z) / threshold_scale) / (2 * threshold_scale)
    states, found = [(0, mass)], []
    for query in queries:
        x = (z - query) / query_scale
        below = np.where(x < 0, np.exp(np.minimum(x, 0.0)) / 2, 1.0 - np.exp(-np.maximum(x, 0.0)) / 2)
        after = []
        for count, alive in states:
            after.append((count, alive * below))
            if count + 1 == above:
                found.append(float((alive * (1.0 - below)).sum()))
            else:
                after.append((count + 1, alive * (1.0 - below)))
        states = after
    return np.array(found + [float(alive.sum()) for _, alive in states])


def excess(run: tr.SparseVector, queries: np.ndarray, moves: np.ndarray) -> float:
    """How much delta of these neighbours is above that of the pair, at most; in floats."""
    first, second = (
        laws(each, run.threshold_scale, run.query_scale, run.answers) for each in (queries + moves, queries)
    )
    worst = -math.inf
    for one, two, direction in ((first, second, tr.Direction.REMOVE), (second, first, tr.Direction.ADD)):
        told = np.maximum(one[:, None] - ALPHAS * two[:, None], 0.0).sum(axis=0)
        worst = max(worst, float((told - known(run, direction)).max()))
    return worst


def known(run: tr.SparseVector, direction: tr.Direction, kept: dict[object, np.ndarray] = {}) -> np.ndarray:  # noqa: B006
    key = (run, direction)
    if key not in kept:
        from tightrope.core.numerics.enclosures import exact

        kept[key] = run.pair(direction).hockey_stick(exact(np.log(ALPHAS))).upper
    return kept[key]


def drawn(seed: int) -> tuple[tr.SparseVector, np.ndarray, np.ndarray]:
    draw = random.Random(seed)
    monotone, count = draw.random() < 0.5, draw.randint(1, 6)
    run = tr.SparseVector(
        threshold_scale=math.exp(draw.uniform(-2, 2)),
        query_scale=math.exp(draw.uniform(-1.5, 2)),
        answers=draw.randint(1, 3),
        monotone=monotone,
    )
    wide = 2.0 * max(run.threshold_scale, run.query_scale)
    queries = np.array([draw.gauss(-run.query_scale, wide) for _ in range(count)])
    moves = np.array([draw.choice([0.0, 1.0] if monotone else [-1.0, 1.0]) for _ in range(count)])
    return run, queries, moves


@pytest.mark.parametrize("seed", range(cases(24, 4000)))
def test_no_queries_lose_more(seed: int) -> None:
    """From random queries uphill, towards more than the pair has."""
    run, queries, moves = drawn(seed)
    draw, most = random.Random(seed), excess(run, queries, moves)
    for step in range(cases(10, 300)):
        moved = queries + np.array([draw.gauss(0.0, run.query_scale / (1 + step / 10)) for _ in queries])
        value = excess(run, moved, moves)
        if value > most:
            most, queries = value, moved
    assert most < 1e-9


SHARP = tr.SparseVector(threshold_scale=0.0625, query_scale=1.5)
USUAL = tr.SparseVector(threshold_scale=2.0, query_scale=1.5)
TWICE = tr.SparseVector(threshold_scale=2.0, query_scale=1.5, answers=2)
RISING = tr.SparseVector(threshold_scale=2.0, query_scale=1.5, monotone=True)


@pytest.mark.parametrize(
    ("run", "queries", "moves"),
    [
        (SHARP, (-0.5,), (1,)),
        (USUAL, (-5.0, -5.0, -5.0, 6.0), (1, 1, 1, -1)),
        (USUAL, (20.0, 20.0, 0.0), (-1, -1, 1)),
        (TWICE, (1.0, -1.0, 0.0), (1, -1, 1)),
        (RISING, (-2.0, 3.0, 1.0), (1, 1, 1)),
        (RISING, (20.0, 20.0, 0.0), (1, 1, 0)),
    ],
)
def test_true_answers(run: tr.SparseVector, queries: tuple[float, ...], moves: tuple[int, ...]) -> None:
    """In balls, at every ratio that there is: P[l > t] - e^t Q[l > t] is largest there."""
    scales = run.threshold_scale, run.query_scale, run.answers
    with precision(100):
        second = answers(queries, *scales)
        first = answers([q + move for q, move in zip(queries, moves, strict=True)], *scales)
        for one, two, direction in ((first, second, tr.Direction.REMOVE), (second, first, tr.Direction.ADD)):
            for p, q in zip(one, two, strict=True):
                loss = (p / q).log()
                if loss.rad() > 1e-6:
                    continue
                for epsilon in (float(loss.mid()), float(loss.mid()) * 0.9, 0.0):
                    told = sum(
                        ((a - arb(epsilon).exp() * b).max(arb(0)) for a, b in zip(one, two, strict=True)), arb(0)
                    )
                    assert not told > run.pair(direction).ball_hockey_stick(arb(epsilon))


def test_the_largest_loss_is_approached() -> None:
    """Queries far above and one far below: below each time, then above."""
    run = tr.SparseVector(threshold_scale=4.0, query_scale=1.0)
    with precision(200):
        loss = max(
            float((p / q).log())
            for p, q in zip(answers((20.0, 20.0, 0.0), 4, 1, 1), answers((21.0, 21.0, -1.0), 4, 1, 1), strict=True)
            if p > 1e-20
        )
    assert 2.2 < loss < float(run.pair(tr.Direction.ADD).loss_range().highest) == 2.25


def entropy(v: float) -> float:
    """B of the proof, times log 2."""
    v = min(v, 1.0 - v)
    return v * (1.0 - math.log(2.0 * v)) if v > 0.0 else 0.0


def one_sided(v: float) -> float:
    """B_+ of the proof, times log 2."""
    return -(1.0 - v) * math.log(1.0 - v) if v < 1.0 else 0.0


def test_the_step_of_the_proof() -> None:
    draw = random.Random(5)
    for _ in range(cases(4000, 400_000)):
        fall, above, below = (draw.choice((draw.random(), draw.random() ** 8, 0.5, 1.0)) for _ in range(3))
        v, share = (1.0 - fall) * above + fall * below, min(fall, 1.0 - fall) * math.log(2.0)
        assert entropy(v) >= share * abs(above - below) + fall * entropy(below) - 1e-14
        assert one_sided(v) >= share * max(above - below, 0.0) + fall * one_sided(below) - 1e-14


def test_a_group_moves_queries_as_far() -> None:
    run = tr.SparseVector(threshold_scale=3.0, query_scale=5.0, answers=2, monotone=True)
    wide = tr.SparseVector(threshold_scale=3.0, query_scale=5.0, answers=2, sensitivity=4.0, monotone=True)
    assert run.group(size=4).epsilon(1e-3) == wide.epsilon(1e-3)
    assert run.group(size=1).delta(0.1) == run.delta(0.1)


def test_less_than_its_largest_loss_says() -> None:
    run = tr.SparseVector(threshold_scale=2.0, query_scale=4.0)
    assert (run * 100).epsilon(1e-6).upper < 0.6 * (tr.Laplace(scale=1.0) * 100).epsilon(1e-6).lower
    assert run.delta(0.0).upper == pytest.approx(0.125 / math.log(2.0))
    assert not run.tight
    assert run.renyi(2).upper < tr.PureDP(epsilon=1.0).renyi(2).lower


def test_monotone_is_about_adding_or_removing_a_record() -> None:
    run = tr.SparseVector(threshold_scale=2.0, query_scale=4.0, monotone=True)
    assert run.relation is tr.Relation.ADD_REMOVE
    assert tr.SparseVector(threshold_scale=2.0, query_scale=4.0).relation is None
    for wrong in (
        lambda: run.shuffle(users=10),
        lambda: run.without_replacement(batch=1, records=10) + run.poisson(rate=0.1),
        lambda: run + tr.PureDP(epsilon=1.0).shuffle(users=10),
    ):
        with pytest.raises(tr.InvalidParameter):
            wrong()
    remove, add = (run.pair(direction).loss_range() for direction in tr.Direction)
    assert (float(remove.lowest), float(remove.highest)) == (-0.75, 0.25)
    assert (float(add.lowest), float(add.highest)) == (-0.25, 0.75)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"answers": 0}, "answers must be"),
        ({"monotone": 1}, "monotone must be True or False"),
        ({"threshold_scale": 0.0}, "threshold_scale must be"),
        ({"sensitivity": math.inf}, "sensitivity must be"),
    ],
)
def test_refusals(given: dict[str, object], message: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=message):
        tr.SparseVector(**{"threshold_scale": 1.0, "query_scale": 1.0, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("threshold_scale", "query_scale", "count"),
    [(1e-300, 1.0, 1), (1e300, 1e300, 10**9), (1e6, 1e-6, 2), (1e-3, 1e6, 10**9)],
)
@pytest.mark.parametrize("monotone", [False, True])
def test_extremes(threshold_scale: float, query_scale: float, count: int, monotone: bool) -> None:
    run = tr.SparseVector(threshold_scale=threshold_scale, query_scale=query_scale, monotone=monotone)
    bound = (run * count).delta(0.5)
    assert 0.0 <= bound.lower <= bound.upper <= 1.0


@pytest.mark.parametrize("tilt", [0.0, 3.0])
def test_transforms_fall(tilt: float) -> None:
    run = tr.SparseVector(threshold_scale=0.25, query_scale=2.0, monotone=True)
    known = run.pair(tr.Direction.ADD).cgf()
    assert known is not None
    decay, law = known.ball_cf_decay(tilt), known.ball_tilted(tilt, 60.0, 42.0)
    with precision(128):
        sizes = [float(abs(value)) for value in law.phi(0.25, 240)]
    for index in range(0, 200, 7):
        assert math.log(max(sizes[index:])) <= decay.log_bound(0.25 * index) + 1e-12


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_a_top_without_width_has_a_contour(direction: str) -> None:
    # One piece alone: its distance from the mean of all is a ball around 0.
    run = tr.SparseVector(5, 0.2, monotone=True) * 100
    fast = run.delta(300.0, engine="contour", direction=direction)
    slow = run.delta(300.0, engine="lattice", direction=direction)
    assert fast.upper - fast.lower <= 1e-8 * fast.upper
    assert fast.lower <= slow.upper
    assert slow.lower <= fast.upper
