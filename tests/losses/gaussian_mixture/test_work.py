"""Mixtures of many shifts end when their allowance does, and their weights are exact."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from flint import arb, fmpq

from tightrope.core.losses.gaussian import GaussianPair
from tightrope.core.losses.gaussian_mixture.mixture_pair import GaussianMixturePair
from tightrope.core.losses.participation_law import BinomialParticipation
from tightrope.core.values import compute_budget
from tightrope.core.values.errors import WorkExhausted
from tightrope.core.values.question import Direction


@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_weights_are_those_of_the_binomial_law(size: int) -> None:
    rate = Fraction(0.375)
    for j, weight in enumerate(BinomialParticipation(size, 0.375).weights()):
        exact = comb(size, j) * rate**j * (1 - rate) ** (size - j)
        assert weight.overlaps(arb(fmpq(exact.numerator, exact.denominator)))


def test_many_shifts_are_counted_before_they_are_summed() -> None:
    pair = GaussianMixturePair(GaussianPair(((1.0, 1.0, 1),)), BinomialParticipation(1000, 0.01), Direction.REMOVE)
    with compute_budget.allowance(0.01), pytest.raises(WorkExhausted):
        pair.ball_tails(arb(1))
