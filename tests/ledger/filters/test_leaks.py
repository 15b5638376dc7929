"""Jobs with infinite losses: slack and divergences bound both directions, which sampling makes different."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tightrope.core.values.question import Direction
from tightrope.ledger import units
from tightrope.ledger.filters import kind_of
from tightrope.ledger.pricing import read_job

Law = tuple[float, ...]


def sampled(epsilon: float, delta: float, rate: float) -> tuple[Law, Law]:
    """The worst pair that is (epsilon, delta)-DP, of which a record takes part with this probability."""
    high, low = (1 - delta) / (1 + math.exp(-epsilon)), (1 - delta) / (1 + math.exp(epsilon))
    one, other = (delta, high, low, 0.0), (0.0, low, high, delta)
    return tuple(rate * p + (1 - rate) * q for p, q in zip(one, other, strict=True)), other


def divergence(first: Law, second: Law, order: float) -> tuple[float, float]:
    """Of what is left of both laws without what only one of them gives; and how likely that is."""
    both = [(p, q) for p, q in zip(first, second, strict=True) if p > 0 and q > 0]
    kept = [sum(each) for each in zip(*both, strict=True)]
    total = sum((p / kept[0]) ** order * (q / kept[1]) ** (1 - order) for p, q in both)
    return math.log(total) / (order - 1), max(1 - each for each in kept)


@pytest.mark.parametrize(("epsilon", "delta", "rate"), [(3.0, 1e-3, 0.01), (1.0, 1e-2, 0.3), (6.0, 1e-4, 0.001)])
@pytest.mark.parametrize("order", [1.5, 4.0, 32.0])
def test_a_price_bounds_both_directions(epsilon: float, delta: float, rate: float, order: float) -> None:
    shared = {"relation": "add_remove", "orders": {repr(order): 1.0}}
    job = read_job(f"ApproximateDP(epsilon={epsilon}, delta={delta}).poisson(rate={rate})")
    found = kind_of("rdp").price(shared, job, None).units
    cost, slack = found[f"order {order!r}".removesuffix(".0")], found["slack"]
    assert cost is not None
    assert slack is not None
    laws = sampled(epsilon, delta, rate)
    truths = [divergence(*pair, order) for pair in (laws, laws[::-1])]
    assert len(truths) == len(Direction)
    rounding = 1 - 1e-9  # of the truth, which is worked out in floats
    for lost, leaked in truths:
        assert Fraction(cost, units.LOSS_UNIT) >= Fraction(lost * rounding)
        assert Fraction(slack, units.DELTA_UNIT) >= Fraction(leaked * (1 - 1e-6))
    assert Fraction(cost, units.LOSS_UNIT) <= Fraction(max(lost for lost, _ in truths) * 1.01)
