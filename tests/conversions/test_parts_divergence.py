"""Bounds on divergences from the parts of a pair, where they are next to the truth."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from flint import arb

import tightrope as tr
from tightrope.core.conversions.divergence import Divergence, _sampled
from tightrope.core.losses.pair import Sampling
from tightrope.core.numerics.balls import upper_float, working_precision
from tightrope.core.values.question import Direction

P = (Fraction(1, 1024), Fraction(1023, 1024))
Q = P[::-1]


def divergence(p: tuple[Fraction, ...], q: tuple[Fraction, ...], order: int) -> mpmath.mpf:
    """log sum p^o q^(1 - o) / (o - 1)."""
    moment = sum((a**order * b ** (1 - order) for a, b in zip(p, q, strict=True)), Fraction(0))
    with mpmath.workdps(40):
        return mpmath.log(mpmath.mpf(moment.numerator) / moment.denominator) / (order - 1)


@pytest.mark.parametrize("order", [2, 8, 64, 256])
def test_a_sample_from_its_base(order: int) -> None:
    """Minkowski's inequality above, one part of the mixture below; at high orders they meet."""
    rate = Fraction(1, 4)
    mixed = tuple((1 - rate) * b + rate * a for a, b in zip(P, Q, strict=True))
    base, truth = divergence(P, Q, order), divergence(mixed, Q, order)
    pair = tr.Finite(p=P, q=Q).pair(Direction.REMOVE)
    with working_precision(100):
        near = Divergence(float(base) * (1 - 1e-12), float(base) * (1 + 1e-12))
        found = _sampled(Sampling(pair, float(rate), Direction.REMOVE), float(order), near)
    assert found.lower <= truth <= found.upper
    assert order < 64 or found.upper < 1.005 * truth  # no room for a bound that is too low by a hundredth


@pytest.mark.parametrize("c", [3.0, 7.0])
def test_the_best_of_hardly_more_than_one_run(c: float) -> None:
    """It has at least the moment of its base, which the bound is next to where that is large."""
    base = tr.RandomizedResponse(epsilon=5.0)
    pair = base.best_of("geometric", mean=1.001).pair(Direction.REMOVE)
    with mpmath.workdps(30):
        p = mpmath.exp(5) / (1 + mpmath.exp(5))
        truth = mpmath.log(p ** (c + 1) * (1 - p) ** -c + (1 - p) ** (c + 1) * p**-c)
    with working_precision(100):
        found = pair.moments().log_moment_above(c)
        assert found is not None
        assert upper_float(found) >= truth
        assert upper_float(arb(found)) <= truth + 0.1
