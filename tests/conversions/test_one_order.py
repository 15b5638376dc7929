"""One Renyi divergence, converted exactly: beside a search over two-point laws, and above the truth."""

from __future__ import annotations

import math

import pytest

import tightrope as tr
from tightrope.core.conversions.renyi_accountant import one_order_delta, one_order_epsilon, renyi_delta, renyi_epsilon


def worst_delta(order: float, divergence: float, epsilon: float) -> float:
    """The largest p - e^epsilon q of two-point laws with D of this order at most so much, in both directions."""

    def spread(p: float, q: float) -> float:
        return math.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)

    best = 0.0
    for step in range(1, 1000):
        q = 10 ** (-8 * step / 1000)
        low, high = q, 1.0
        for _ in range(50):  # the largest p for this q
            middle = (low + high) / 2
            fits = middle < 1 and max(spread(middle, q), spread(q, middle)) <= divergence
            low, high = (middle, high) if fits else (low, middle)
        best = max(best, low - math.exp(epsilon) * q)
    return best


@pytest.mark.parametrize("order, divergence, epsilon", [(4.0, 0.3, 1.0), (2.0, 1.0, 0.5), (20.0, 2.0, 2.5)])
def test_one_order_is_exact(order: float, divergence: float, epsilon: float) -> None:
    run = tr.RenyiCurve(orders=[order], divergences=[divergence])
    found = one_order_delta(run, epsilon)
    searched = worst_delta(order, divergence, epsilon)
    assert searched * (1 - 1e-9) <= found <= searched * 1.002
    assert run.delta(epsilon).lower <= found <= renyi_delta(run, epsilon) * (1 + 1e-9)
    assert one_order_epsilon(run, found) == pytest.approx(epsilon, rel=1e-3)


def test_one_order_is_above_the_truth_and_below_the_classical_factor() -> None:
    for run in (tr.Gaussian(sigma=1.0).poisson(rate=0.1) * 10, tr.RandomizedResponse(p=0.6) * 20):
        assert run.delta(0.7).lower <= one_order_delta(run, 0.7) <= renyi_delta(run, 0.7) * (1 + 1e-6)
    run = tr.PureDP(epsilon=0.1) * 20
    assert run.epsilon(1e-3).lower <= one_order_epsilon(run, 1e-3) <= renyi_epsilon(run, 1e-3) * (1 + 1e-6)


def test_what_one_order_cannot_say() -> None:
    leaky = tr.ApproximateDP(epsilon=0.1, delta=1e-6)
    assert one_order_delta(leaky, 1.0) == 1.0
    assert one_order_epsilon(leaky, 1e-3) == math.inf
    assert one_order_epsilon(tr.Gaussian(sigma=1.0), 0.0) == math.inf
    assert one_order_epsilon(tr.Gaussian(sigma=1.0), 1.0) == 0.0
