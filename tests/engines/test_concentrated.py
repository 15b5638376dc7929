"""What zCDP says lies above the truth, and is there for proofs that time ends."""

from __future__ import annotations

import math

import pytest

import tightrope as tr
from tightrope.core.engines.planner import Point, above_by_rho
from tightrope.core.mechanisms.composition import terms_of
from tightrope.core.values.question import Direction

RUNS = (
    tr.Gaussian(sigma=2.0) * 3,
    tr.Gaussian(sigma=1.0).poisson(rate=0.3, neighbours="replace") * 2,
    tr.Gaussian(sigma=1.0).without_replacement(batch=10, records=100) * 2,
    tr.Laplace(scale=1.0) * 2 + tr.DiscreteGaussian(sigma=2.0),
)


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_what_moments_tell_lies_above_the_truth(run: tr.Mechanism) -> None:
    terms = [terms_of(run, direction) for direction in Direction]
    for delta in (1e-12, 1e-3, 0.4):
        lost = run.epsilon(delta, accuracy=0.5).lower
        for each in terms:
            assert above_by_rho(each, Point("epsilon", delta), 0.0) >= lost
            assert above_by_rho(each, Point("epsilon", delta), delta) == math.inf
    for epsilon in (0.0, 1.0, 9.0):
        lost = run.delta(epsilon, accuracy=0.5).lower
        assert all(above_by_rho(each, Point("delta", epsilon), 0.0) >= lost for each in terms)
    assert above_by_rho(terms_of(tr.ApproximateDP(epsilon=1.0, delta=0.1), Direction.ADD), Point("delta", 1.0), 0.2) > 1


def test_a_gaussian_is_as_the_formula_says() -> None:
    terms = terms_of(tr.Gaussian(sigma=1.0), Direction.ADD)
    assert above_by_rho(terms, Point("epsilon", 1e-5), 0.0) == pytest.approx(0.5 + math.sqrt(2.0 * math.log(1e5)))
    assert above_by_rho(terms, Point("delta", 3.0), 0.01) == pytest.approx(0.01 + math.exp(-6.25 / 2.0))


def test_a_proof_that_time_ends_has_an_upper_end() -> None:
    found = (tr.Gaussian(sigma=1.0).poisson(rate=0.3, neighbours="replace") * 100).epsilon(
        1e-5, proof=True, seconds=0.2
    )
    assert 39.28 <= found.upper < 300.0
