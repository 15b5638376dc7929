"""Directed words hold what they claim, against exact fractions."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

from tightrope.core.numerics.rounding import BILLION, FEW, MILLIONS, THOUSANDS, next_down, next_up, round_down, round_up

RANDOM = random.Random(20181116)


def doubles(count: int) -> list[float]:
    return [RANDOM.uniform(1.0, 2.0) * 2.0 ** RANDOM.randint(-40, 40) for _ in range(count)]


@pytest.mark.parametrize("units", [8.0, 9.5, FEW, 24.0, 64.0, 2101.0, THOUSANDS])
def test_half_as_many_roundings_as_units(units: float) -> None:
    for _ in range(200):
        terms = doubles(min(int(units / 2.0), 40) + 1)
        total = list(itertools.accumulate(terms))[-1]
        exact = sum(map(Fraction, terms))
        assert Fraction(round_down(total, units)) <= exact <= Fraction(round_up(total, units))
        product, whole = 1.0, Fraction(1)
        for term in terms[: int(units / 2.0)]:
            product, whole = product * term, whole * Fraction(term)
        assert Fraction(round_down(product, units)) <= whole <= Fraction(round_up(product, units))


def test_four_units_pay_for_one_rounding() -> None:
    for one, other in zip(doubles(2000), doubles(2000), strict=True):
        for rounded, exact in (
            (one + other, Fraction(one) + Fraction(other)),
            (one * other, Fraction(one) * Fraction(other)),
            (one / other, Fraction(one) / Fraction(other)),
        ):
            assert Fraction(round_down(rounded, 4.0)) <= exact <= Fraction(round_up(rounded, 4.0))
            assert Fraction(next_down(rounded)) <= exact <= Fraction(next_up(rounded))


def test_the_next_double_holds_below_the_normal_numbers_too() -> None:
    for factor in doubles(500):
        tiny = factor * 2.0**-1050
        third = tiny / 3.0
        assert Fraction(next_down(third)) <= Fraction(tiny) / 3 <= Fraction(next_up(third))


def test_long_sums_in_any_order() -> None:
    values = np.array(doubles(1 << 14))
    exact = sum(map(Fraction, values.tolist()))
    for total in (float(np.sum(values)), float(np.cumsum(values)[-1])):
        for units in (THOUSANDS * 2.0, MILLIONS, BILLION):
            assert Fraction(round_down(total, units)) <= exact <= Fraction(round_up(total, units))


@pytest.mark.parametrize(
    ("units", "size"), [(FEW, 1e-15), (THOUSANDS, 1e-12), (MILLIONS, 1e-9), (BILLION, 1e-7)], ids=str
)
def test_each_slack_is_as_large_as_its_name_says(units: float, size: float) -> None:
    assert round_up(1.0, units) >= 1.0 + size
    assert round_down(1.0, units) <= 1.0 - size
    assert round_down(-1.0, units) == -round_down(1.0, units)
