"""A search comes to an end, also where no comparison ever holds."""

from __future__ import annotations

import math

from tightrope.core.numerics.rounding import TINIEST
from tightrope.core.numerics.search import Compared, compare, invert

MOST = 250  # evaluations


def test_a_level_that_no_interval_meets() -> None:
    """Nothing rounded upwards is at or below the smallest double."""
    asked = []

    def falling(epsilon: float) -> Compared[float]:
        asked.append(epsilon)
        value = math.exp(-epsilon)
        return compare(value, value + 2 * TINIEST, TINIEST, epsilon)

    found = invert(falling, math.inf, 1e-12)
    assert math.exp(-found.lower) > TINIEST
    assert found.upper == math.inf
    assert len(asked) < MOST
    assert max(asked) > 1e290, "given up too early"


def test_a_point_far_out_that_tells_nothing() -> None:
    """Beyond 27 the value is known up to 1e-290 only: steps as long as that noise leave the near side as it was."""

    def falling(epsilon: float) -> Compared[float]:
        if epsilon > 27.0:
            return compare(0.0, 1e-290, 1e-300, epsilon)
        value = math.exp(-(epsilon**2))
        return compare(value, value, 1e-300, epsilon)

    found = invert(falling, math.inf, 1e-12)
    root = math.sqrt(300.0 * math.log(10.0))
    assert 0.9 * root < found.lower <= root <= found.upper


def test_a_root_next_to_zero_that_noise_hides() -> None:
    """Halving what lies below ends, though 0 itself is the only point that is told."""
    asked = []

    def falling(epsilon: float) -> Compared[float]:
        asked.append(epsilon)
        value, noise = 0.5 - epsilon, 1e-3 if epsilon else 0.0
        return compare(value - noise, value + noise, 0.5 - 1e-9, epsilon)

    found = invert(falling, math.inf, 1e-12)
    assert found.lower <= 1e-9 <= found.upper
    assert len(asked) < MOST
