"""The law in parts: what is rare cut off, and only what has a hit summed, against integrals that share no code."""

from __future__ import annotations

import pytest
from mpmath import mpf

import tightrope as tr
from tightrope.engines.contour.engine import prepare
from tightrope.relation import Direction

from . import contour_truth

# sigma, rate, epsilon: heavy single hits below and above a loss of 1, a law that is all but normal, and mild ones.
TWO_USES = [
    (3.53, 2.1e-5, 6.5e-4),
    (0.713, 2.5e-5, 0.8),
    (0.547, 0.0015, 5.87),
    (17.9, 0.0023, 0.0032),
    (1.42, 4.4e-5, 0.0037),
    (0.9, 0.3, 0.05),
    (1.59, 2.2e-4, 0.36),
]


def evaluate(sigma: float, rate: float, count: int, epsilon: float, proof: bool) -> tuple[float, float]:
    mechanism = tr.Gaussian(sigma=sigma).poisson(rate=rate) * count
    terms = [(part.pair(Direction("remove")), uses) for part, uses in mechanism.terms]
    found = prepare(terms, epsilon=epsilon, accuracy=1e-6, proof=proof).delta(epsilon)
    return found.lower, found.upper


@pytest.mark.parametrize("proof", [False, True])
@pytest.mark.parametrize(("sigma", "rate", "epsilon"), TWO_USES)
def test_two_uses(sigma: float, rate: float, epsilon: float, proof: bool) -> None:
    lower, upper = evaluate(sigma, rate, 2, epsilon, proof)
    exact = contour_truth.two_uses(sigma, rate, epsilon)
    assert mpf(lower) <= exact <= mpf(upper)
    assert upper - lower <= 1e-3 * upper
