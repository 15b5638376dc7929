"""Balls in bins: known noise, what it reduces to, how it composes, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import tightrope as tr
from tests.oracle import bins as oracle
from tests.search import FULL
from tightrope.core.losses.correlated.correlated_pair import BinsPair
from tightrope.core.losses.gaussian import GaussianPair
from tightrope.core.losses.operators.allocation.allocated import AllocatedPair
from tightrope.core.losses.operators.registered import hockey_stick_bounds
from tightrope.core.numerics.columns import bin_gram
from tightrope.core.values.question import Direction


def normalised(coefficients: list[float]) -> tuple[float, ...]:
    return tuple(each / math.hypot(*coefficients) for each in coefficients)


ROOT = [math.comb(2 * k, k) / 4**k for k in range(16)]
JAX4 = normalised([1, 0.5, 0.25, 0.125]), 100, 10
TWO = normalised([1, 0.5]), 100, 10
SQ16 = normalised(ROOT), 2048, 64
# (case, epsilon, delta, noise that is too little, noise that is enough)
TABLE = [
    (JAX4, 1.0, 1e-2, 3.339, 3.344),
    (JAX4, 1.0, 1e-5, 6.24685, 6.2470),
    (JAX4, 4.0, 1e-5, 2.288, 2.401),
    (TWO, 1.0, 1e-2, 3.0206, 3.0635),
    (TWO, 1.0, 1e-5, 5.4275, 5.4297),
    (TWO, 4.0, 1e-5, 2.206, 2.398),
    (SQ16, 1.0, 1e-2, 4.8200, 4.8457),
    (SQ16, 1.0, 1e-5, 8.8737, 8.8783),
    (SQ16, 4.0, 1e-5, 3.312, 3.625),
]
Case = tuple[tuple[float, ...], int, int]


def binned(case: Case, sigma: float, **more: Any) -> tr.Mechanism:
    coefficients, steps, bins = case
    return tr.MatrixMechanism(sigma=sigma, toeplitz=coefficients, steps=steps, bins=bins, **more)


@pytest.mark.parametrize(("case", "epsilon", "delta", "few", "enough"), TABLE)
def test_measured_noise(case: Case, epsilon: float, delta: float, few: float, enough: float) -> None:
    """Adding a record shows less than removing one in all of them."""
    for sigma, side in ((few, "lower"), (enough, "upper")):
        law = binned(case, sigma)
        worst, other = (hockey_stick_bounds(law.pair(each), proof=False) for each in Direction)
        assert worst is not None
        assert other is not None
        if side == "lower":
            assert worst.lower(epsilon) > delta
        else:
            assert worst.upper(epsilon) <= delta
            assert other.upper(epsilon) <= delta


def test_questions_are_answered_in_both_directions() -> None:
    found = binned(JAX4, 6.25).delta(epsilon=1.0)
    assert found.upper <= 1.001 * found.lower
    assert found.certificate is not None
    assert found.certificate.tight
    assert found.certificate.direction is Direction.REMOVE
    assert found.certificate.arithmetic == "ball"
    back = binned(JAX4, 6.25).epsilon(delta=found.upper)
    assert back.lower <= 1.0 + 1e-9
    assert back.upper >= 0.999
    assert back.upper <= 1.0001


def test_a_million_draws() -> None:
    """E f(L') by Monte Carlo, the common factor integrated out."""
    coefficients, steps, bins = JAX4
    sigma, epsilon = 3.3398, 1.0
    sums = oracle.bin_sums(oracle.lower_toeplitz(list(coefficients), steps), bins) / sigma
    products = sums @ sums.T
    shared = 1 / np.linalg.inv(products).sum()
    values, vectors = np.linalg.eigh(products - shared)
    rng, root, found = np.random.default_rng(11), math.sqrt(shared), []
    for _ in range(10):
        h = (rng.normal(size=(100_000, bins)) * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        ratios = np.exp(h - np.diag(products - shared) / 2).mean(axis=1)
        d = (np.log(ratios) - epsilon) / root + root / 2
        found.append(ratios * ndtr(d) - math.exp(epsilon) * ndtr(d - root))
    draws = np.concatenate(found)
    error = 5 * draws.std() / 1000
    answer = binned(JAX4, sigma).delta(epsilon=epsilon, direction="remove")
    assert answer.lower - error <= draws.mean() <= answer.upper + error


def test_one_bin_is_a_pattern_that_all_records_have() -> None:
    for more in ({"toeplitz": [1, 0.5, 0.25], "steps": 6}, {"matrix": np.tril(np.ones((5, 5))).tolist()}):
        steps = 6 if "steps" in more else 5
        one = tr.MatrixMechanism(sigma=3, bins=1, **more)
        known = tr.MatrixMechanism(sigma=3, patterns=[list(range(steps))], **more)
        for direction in Direction:
            assert one.pair(direction) == known.pair(direction)
        assert one.total_sensitivity == known.total_sensitivity


def test_without_correlation_it_is_random_allocation() -> None:
    for epochs in (1, 3):
        run = tr.MatrixMechanism(sigma=2, toeplitz=[1.0], steps=5 * epochs, bins=5)
        known = (tr.Gaussian(sigma=2) * epochs).random_allocation(steps=5)
        for direction in Direction:
            pair = run.pair(direction)
            assert isinstance(pair, AllocatedPair)
            assert isinstance(pair.base, GaussianPair)
        for delta in (1e-5,):
            mine, theirs = run.epsilon(delta=delta), known.epsilon(delta=delta)
            assert mine.lower <= theirs.upper
            assert theirs.lower <= mine.upper
            assert mine.upper <= 1.001 * theirs.upper


def test_polynomials_contain_random_allocation() -> None:
    gram = bin_gram("toeplitz", (1.0,), 10, 10, 10)
    known = (tr.Gaussian(sigma=2)).random_allocation(steps=10)
    for direction in Direction:
        bounds = hockey_stick_bounds(BinsPair(((gram, Fraction(1, 4), 1),), (), direction), proof=False)
        for epsilon in (0.2, 1.0) if FULL else (1.0,):
            truth = known.delta(epsilon=epsilon, direction=direction.value)
            assert bounds.lower(epsilon) <= truth.upper
            assert truth.lower <= bounds.upper(epsilon)


def test_bins_alike_with_a_common_part_are_a_product() -> None:
    """All ones in the last row: what is shared is Gaussian, the rest is allocated."""
    run = tr.MatrixMechanism(sigma=2, matrix=[[1, 0], [0, 1], [1, 1]], bins=2)
    truths = oracle.deltas(oracle.bin_sums(np.array([[1.0, 0], [0, 1], [1, 1]]), 2) / 2, 0.5)
    for direction, truth in zip(("remove", "add"), truths, strict=True):
        found = run.delta(epsilon=0.5, direction=direction)
        assert found.lower <= truth * (1 + 1e-9)
        assert truth * (1 - 1e-9) <= found.upper
        assert found.upper <= 1.01 * found.lower


@pytest.mark.parametrize(
    ("more", "rows"),
    [
        ({"matrix": [[1, 0, 0], [0.5, 1, 0], [0.25, 0.5, 2]]}, None),
        ({"toeplitz": [1, 0.5], "steps": 5, "restart": 3}, oracle.lower_toeplitz([1, 0.5], 5, 3)),
        ({"inverse": [1, -0.5], "steps": 4}, oracle.lower_toeplitz([1, 0.5, 0.25, 0.125], 4)),
    ],
)
def test_every_way_to_write_c(more: dict[str, Any], rows: np.ndarray | None) -> None:
    written = np.array(more["matrix"], dtype=float) if rows is None else rows
    truth = oracle.deltas(1.5 * oracle.bin_sums(written, 2) / 4, 0.3)[0]
    found = tr.MatrixMechanism(sigma=4, bins=2, sensitivity=1.5, **more).delta(epsilon=0.3, direction="remove")
    assert found.lower <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= found.upper


def test_more_noise_is_never_worse() -> None:
    way = None if FULL else "remove"
    found = [binned(JAX4, sigma).delta(epsilon=1.0, direction=way) for sigma in (1.0, 2.5, 6.0, 100.0)]
    for one, two in pairwise(found):
        assert two.lower <= one.upper


def test_runs_compose() -> None:
    """With runs of its own, with Gaussians, in millions, and with anything."""
    case: Case = ((1.0, 0.5), 8, 4)
    one = binned(case, 8.0)
    twice = (one * 2).epsilon(delta=1e-5)
    assert one.epsilon(delta=1e-5).upper < twice.lower
    assert twice.upper <= 1.01 * twice.lower
    many = (binned(case, 4e3) * 10**6).epsilon(delta=1e-5)
    gaussian = (tr.Gaussian(sigma=4e3, sensitivity=math.sqrt(2.5)) * 10**6).epsilon(delta=1e-5)
    assert many.upper <= gaussian.upper
    assert many.upper <= 1.02 * many.lower
    with_noise = (one + tr.Gaussian(sigma=8.0)).epsilon(delta=1e-5)
    assert with_noise.lower >= one.epsilon(delta=1e-5).lower
    assert with_noise.upper <= 1.01 * with_noise.lower


def test_it_composes_with_a_law_that_is_no_gaussian() -> None:
    """One use of randomized response: delta is a sum over its two outputs."""
    sums = oracle.bin_sums(oracle.lower_toeplitz([1.0, 0.5], 4), 2) / 6.0
    run = tr.MatrixMechanism(sigma=6, toeplitz=[1, 0.5], steps=4, bins=2) + tr.PureDP(epsilon=0.5)
    p = 1 / (1 + math.exp(-0.5))
    truth = p * oracle.deltas(sums, 0.5)[0] + (1 - p) * oracle.deltas(sums, 1.5)[0]
    found = run.delta(epsilon=1.0, direction="remove")
    assert found.lower <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= found.upper
    assert found.upper <= 1.1 * found.lower


def test_facts_decide_what_may_be_made_of_it() -> None:
    run = binned(((1.0, 0.5), 8, 4), 4.0)
    assert run.relation is tr.Relation.ADD_REMOVE
    sampled = run.poisson(rate=0.1).epsilon(delta=1e-6)
    assert sampled.upper < run.epsilon(delta=1e-6).lower
    with pytest.raises(tr.InvalidParameter, match="replacing"):
        run.without_replacement(records=100, batch=10, neighbours="replace")
    with pytest.raises(tr.InvalidParameter, match="disagree"):
        run + tr.RandomizedResponse(epsilon=1.0)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"toeplitz": [1, -0.5], "steps": 6, "bins": 2}, r"toeplitz\[1\] must be at least 0 with bins"),
        ({"matrix": [[1, 0.5], [0, 1]], "bins": 2}, r"matrix\[0\]\[1\] must be 0 with bins"),
        ({"matrix": [[1, 0], [-0.5, 1]], "bins": 2}, r"matrix\[1\]\[0\] must be at least 0 with bins"),
        ({"inverse": [1, 0.5], "steps": 4, "bins": 2}, "no other one above 0 with bins"),
        ({"toeplitz": [1, 0.5], "steps": 6, "bins": 7}, "bins must be at most steps"),
        ({"toeplitz": [1, 0.5], "steps": 6, "bins": 0}, "bins"),
        ({"toeplitz": [1, 0.5], "steps": 6, "bins": 2, "epochs": 3}, "leave out epochs"),
        ({"toeplitz": [1, 0.5], "steps": 6, "bins": 2, "separation": 3}, "b-min-sep"),
        ({"toeplitz": [1, 0.5], "steps": 6, "bins": 2, "rate": 0.1, "groups": 2}, "leave out rate and groups"),
        ({"toeplitz": [1, 0.5], "steps": 6000, "bins": 1000}, "bins must be at most"),
    ],
)
def test_refusals_say_what_to_change(more: dict[str, Any], words: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=words):
        tr.MatrixMechanism(sigma=2, **more)


def test_text_and_json() -> None:
    run = binned(((1.0, 0.5), 8, 4), 4.0)
    assert tr.load(tr.dump(run)) == run
    assert "bins=4" in repr(run)
    assert tr.parse(repr(run)) == run
