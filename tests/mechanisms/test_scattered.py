"""The divisions of a group among steps: nothing of their law is lost, whatever is told together."""

from __future__ import annotations

from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.core.losses.operators.public_mixture import ExactWeights, PublicMixturePair
from tightrope.core.mechanisms.allocation import CLASS_SHARES, scattered_pair


@pytest.mark.parametrize(("size", "steps"), [(2, 2), (3, 7), (6, 50), (9, 4), (12, 1000)])
def test_shares_add_up_to_one(size: int, steps: int) -> None:
    pair = scattered_pair(tr.Gaussian(sigma=1.0), size, steps, tr.Direction.REMOVE)
    assert isinstance(pair, PublicMixturePair)
    assert isinstance(pair.weights, ExactWeights)
    assert sum(pair.weights.shares, Fraction(0)) == 1
    assert min(pair.weights.shares) > 0
    assert len(pair.pairs) == len(pair.weights.shares)
    if steps == 1000:
        assert len(pair.pairs) > len(CLASS_SHARES), "what is rare is told by sums of squares"
