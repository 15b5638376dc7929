"""The smallest rho by formula: beside divergences in mpmath, attained where it says so, at every size."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import mpmath
import pytest
from flint import arb

import tightrope as tr
from tests.search import cases
from tightrope.core.losses.capabilities import rho_of_laplace, rho_of_range
from tightrope.core.numerics.balls import lower_float, upper_float, working_precision
from tightrope.core.values.question import Direction

ORDERS = (1e-6, 0.01, 0.3, 1.0, 2.5, 10.0, 1e3, 1e5)
SIZES = (1e-300, 1e-12, 1e-3, 0.4, 1.0, 5.0, 60.0)


def two_points(a: float, b: float, c: float) -> mpmath.mpf:
    """K(c)/(c (c + 1)) of the pair whose losses are -a and b."""
    with mpmath.workdps(700 if min(a, b) < 1e-100 else 60):
        low, high, order = mpmath.exp(-mpmath.mpf(a)), mpmath.exp(mpmath.mpf(b)), mpmath.mpf(c)
        q = (1 - low) / (high - low)
        moment = q * high ** (order + 1) + (1 - q) * low ** (order + 1)
        return mpmath.log(moment) / (order * (order + 1))


def laplace(edge: float, c: float) -> mpmath.mpf:
    with mpmath.workdps(2000 if edge < 1e-100 else 60):
        e, order = mpmath.mpf(edge), mpmath.mpf(c)
        moment = ((order + 1) * mpmath.exp(order * e) + order * mpmath.exp(-(order + 1) * e)) / (2 * order + 1)
        return mpmath.log(moment) / (order * (order + 1))


def of_range(a: float, b: float) -> tuple[float, float]:
    with working_precision(128):
        found = rho_of_range(arb(-a), arb(b))
        assert found is not None
        return lower_float(found), upper_float(found)


@pytest.mark.parametrize("a", SIZES)
def test_two_points_stay_below(a: float) -> None:
    for b in (*SIZES, a):
        low, high = of_range(a, b)
        assert all(two_points(a, b, c) <= high * (1 + mpmath.mpf(2) ** -50) + mpmath.mpf(10) ** -320 for c in ORDERS)
        if a == b:
            assert low == pytest.approx(a * math.tanh(a / 2), rel=1e-14)
            assert float(two_points(a, b, 1e-9)) == pytest.approx(high, rel=1e-7, abs=1e-320)  # attained


def test_skewed_ranges_gain() -> None:
    assert of_range(0.01, 5.0)[1] < 0.3 * 5.0
    assert of_range(1.0, 1.0 + 1e-9) == pytest.approx(2 * [math.tanh(0.5)], rel=1e-8)
    assert of_range(3.0, 1e-5)[1] <= 1e-5
    with working_precision(128):
        assert rho_of_range(None, arb(2)) == 2
        assert rho_of_range(arb(-1), arb.pos_inf()) is None
        for width in (1e-30, 1.0):  # next to 0, and without a sign
            ball = rho_of_range(arb(0, width), arb(0, width))
            assert ball is not None
            assert width * math.tanh(width / 2) <= upper_float(ball) <= width * (1 + 1e-8)


@pytest.mark.parametrize("edge", [5e-324, 1e-200, 1e-9, 1e-3, 0.3, 1.0, 1.0000001, 7.0, 300.0, 1e9, 1e308])
def test_laplace(edge: float) -> None:
    with working_precision(128), mpmath.workdps(2000):
        found = rho_of_laplace(arb(edge))
        e = mpmath.mpf(edge)
        exact = e - 1 + mpmath.exp(-e)
        scale = arb(mpmath.nstr(exact, 60))
        assert abs(found / scale - 1) < 1e-30
        if edge < 1e5:
            assert all(laplace(edge, c) <= exact for c in ORDERS)
            assert laplace(edge, 1e-9) >= exact * (1 - mpmath.mpf(1e-7) * (1 + e))


def test_random_laws_stay_below() -> None:
    """Pairs of random vectors, whose losses fill their range somehow."""
    random = Random(14)
    for _ in range(cases(40, 2000)):
        size = random.randrange(2, 6)
        p, q = ([random.randrange(1, 1000) for _ in range(size)] for _ in range(2))
        law = [[Fraction(each, sum(side)) for each in side] for side in (p, q)]
        pair = tr.Finite(*law).pair(Direction.REMOVE)
        with working_precision(128):
            known = pair.moments().zcdp_rho()
            assert known is not None
            high = upper_float(known)
        for c in (1e-4, 0.1, 1.0, 4.0, 40.0):
            terms = [float(x) * mpmath.mpf(float(x / y)) ** c for x, y in zip(*law, strict=True)]
            assert mpmath.log(mpmath.fsum(terms)) / (c * (c + 1)) <= high * (1 + 1e-9)
