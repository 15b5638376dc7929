"""Thresholds and odometers of the menu, against mpmath."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest

from tightrope.core.numerics.balls import upper_float, working_precision
from tightrope.core.values.errors import InvalidParameter
from tightrope.ledger import menu

CASES = [
    (1.5, 0.9, 1.0, (1e-6, 0.0)),
    (8.0, 0.0083, 8.0, (1e-6, 1e-7)),
    (menu.MENU_ORDER_MIN, 1.0, 1.0, (0.5, 0.1)),
    (2.0**20, 0.5, 1e-3, (1e-300, 1e-301)),
    (64.0, 0.1, 4096.0, (0.999, 0.0)),
]


def exact_threshold(order: float, weight: float, epsilon: float, left: tuple[float, float]) -> mpmath.mpf:
    a = mpmath.mpf(order)
    kappa = (1 - 1 / a) ** (a - 1) / a
    return epsilon + mpmath.log(weight * (mpmath.mpf(left[0]) - left[1]) / kappa) / (a - 1)


@pytest.mark.parametrize(("order", "weight", "epsilon", "left"), CASES)
def test_thresholds_are_lower_ends(order: float, weight: float, epsilon: float, left: tuple[float, float]) -> None:
    with mpmath.workdps(60):
        truth = exact_threshold(order, weight, epsilon, left)
        found = menu.threshold(order, weight, epsilon, left)
        assert found <= truth
        assert found >= truth - 1e-14 * max(1.0, abs(truth))


@pytest.mark.parametrize(("order", "weight", "epsilon", "left"), CASES)
def test_odometers_are_upper_ends(order: float, weight: float, epsilon: float, left: tuple[float, float]) -> None:
    used = Fraction(epsilon)
    with mpmath.workdps(60), working_precision(128):
        truth = epsilon - mpmath.log(weight * (mpmath.mpf(left[0]) - left[1])) / (mpmath.mpf(order) - 1)
        found = upper_float(menu.spent_epsilon(order, weight, used, left))
        assert truth <= found <= truth + 1e-14 * max(1.0, abs(truth))


def test_kappa_is_the_largest_factor() -> None:
    """(1 - e^-x)+ <= kappa e^((a - 1) x) for every x, and kappa is attained."""
    for order in (1.5, 2.0, 8.0, 64.0):
        kappa = (1.0 - 1.0 / order) ** (order - 1.0) / order
        top = max(-math.expm1(-x) * math.exp(-(order - 1.0) * x) for x in (i / 10000.0 for i in range(1, 40000)))
        assert kappa * (1.0 - 1e-4) <= top <= kappa * (1.0 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 8.0, 100.0, 4096.0])
@pytest.mark.parametrize("delta", [1e-300, 1e-6, 0.1])
def test_default_weights_sum_to_at_most_one(epsilon: float, delta: float) -> None:
    found = menu.default_weights(epsilon, delta)
    assert sum(map(Fraction, found.values())) <= 1
    assert max(found.values()) >= menu.HEAD_WEIGHT
    assert set(menu.DEFAULT_ORDERS) <= set(found)
    assert all(menu.MENU_ORDER_MIN <= order <= menu.MENU_ORDER_MAX for order in found)
    assert sum(map(Fraction, menu.even_weights().values())) == 1


def test_the_order_of_a_gaussian_workload() -> None:
    """Of a Gaussian with this epsilon by its best order, no other order does better than by a thousandth."""
    epsilon, delta = 5.2, 1e-6

    def rho(order: float) -> float:
        return menu.threshold(order, 1.0, epsilon, (delta, 0.0)) / order

    best = rho(menu.gaussian_order(epsilon, delta))
    assert best >= max(rho(1.0 + step / 50.0) for step in range(10, 3000)) * (1.0 - 1e-5)


@pytest.mark.parametrize(
    "orders",
    [
        {},
        {"1": 0.5},
        {"1.0000000001": 0.5},
        {"nan": 0.5},
        {"inf": 0.5},
        {"two": 0.5},
        {"2": 0.0},
        {"2": -0.1},
        {"2": math.nan},
        {"2": 0.6, "3": 0.5},
        {"2": 0.5, "2.0": 0.1},
        {"1e7": 0.5},
        {str(2 + i): 0.001 for i in range(65)},
    ],
)
def test_weights_that_are_refused(orders: dict[str, float]) -> None:
    with pytest.raises(InvalidParameter):
        menu.checked_weights(orders)


def test_the_sum_of_weights_is_exact() -> None:
    """0.1 ten times sums to 1 in doubles one by one, and above 1 as fractions."""
    with pytest.raises(InvalidParameter):
        menu.checked_weights({str(2 + i): 0.1 for i in range(10)})
    assert len(menu.checked_weights({str(2 + i): 0.125 for i in range(8)})) == 8


def test_names() -> None:
    assert [menu.axis_name(order) for order in (8.0, 7.25, 1.5)] == ["order 8", "order 7.25", "order 1.5"]
