"""Divergences between two finite pairs, with so much mass beyond the last point that its bound decides."""

from __future__ import annotations

import pytest

import tightrope as tr
from tightrope.core.conversions.divergence import Between
from tightrope.core.losses.capabilities import Resolution
from tightrope.core.values.question import Direction

POINTS = 1 << 12  # the width that they leave is far below what lies beyond


@pytest.mark.parametrize("tail", [1e-2, 1e-4])
@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 4.0])
def test_what_is_given_up_comes_back_as_a_bound(order: float, tail: float) -> None:
    """Gaussian noise of the size of the sensitivity: D = order/2."""
    pair = tr.Gaussian(sigma=1).pair(Direction.REMOVE)
    found = Between.of(pair, order)._at(Resolution(POINTS, tail, proof=False))
    assert found.lower <= order / 2 <= found.upper
    assert found.upper <= 1.3 * order / 2
