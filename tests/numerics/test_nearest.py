"""Correctly rounded functions, against mpmath at 2,000 bits."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath
import pytest

from tightrope.core.numerics.search import nearest_exp, nearest_log, nearest_power, nearest_sqrt


def rounded(value: mpmath.mpf) -> float:
    """The nearest double, by a division of whole numbers."""
    mantissa, exponent = mpmath.frexp(value)
    whole = int(mpmath.nint(mpmath.ldexp(mantissa, 1900)))
    return float(Fraction(whole) * Fraction(2) ** (int(exponent) - 1900))


def test_every_function_gives_the_nearest_double() -> None:
    draw = random.Random(3)
    with mpmath.workprec(2000):
        for _ in range(300):
            x = draw.uniform(-745, 709)
            assert nearest_exp(x) == rounded(mpmath.exp(x))
            y = math.exp(x) or 5e-324
            assert nearest_log(y) == rounded(mpmath.log(y))
            assert nearest_sqrt(y) == rounded(mpmath.sqrt(y)) == math.sqrt(y)
            base, power = draw.uniform(0, 1e6), draw.uniform(-40, 40)
            assert nearest_power(base, power) == rounded(mpmath.power(base, power))


@pytest.mark.parametrize(("base", "power"), [(3.0, 34), (3, -2), (-2.0, 3), (-3, -3), (0.0, 2), (5, 0), (0.25, 1.5)])
def test_exact_powers_and_ties_round_to_even(base: float, power: float) -> None:
    exact = Fraction(base) ** int(power) if power == int(power) else Fraction(1, 8)
    assert nearest_power(base, power) == float(exact)


def test_ends() -> None:
    assert nearest_exp(0) == 1.0
    assert nearest_log(1) == 0.0
    assert nearest_exp(-1e300) == 0.0
    assert nearest_exp(-745.0) == 5e-324
    assert nearest_power(1e-300, 1e300) == 0.0
    for call in (lambda: nearest_exp(710), lambda: nearest_power(10.0, 309), lambda: nearest_exp(math.inf)):
        with pytest.raises(OverflowError):
            call()
    for wrong in (lambda: nearest_sqrt(-1), lambda: nearest_log(0), lambda: nearest_power(-8.0, 0.5)):
        with pytest.raises(ValueError, match=r"^no real value$"):
            wrong()
    with pytest.raises(ZeroDivisionError):
        nearest_power(0, -1)
