"""Sums of laws on graded grids against all pairs of points, in exact fractions."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from tightrope.core.losses.operators.allocation import composed_law as laws
from tightrope.core.losses.operators.allocation.composed_law import Fine, GradedRow, Light, MergedLaw, SplitLaw
from tightrope.core.numerics.rounding import UNIT
from tightrope.core.values import compute_budget
from tightrope.core.values.errors import WorkExhausted

Masses = dict[Fraction, Fraction]
FINE, LIGHT = Fine(near=6.0, far=3.0, reach=2.0, left=False), Light(1e-6, 1e-3)


def rows(random_numbers: random.Random, columns: int) -> tuple[GradedRow, ...]:
    """Of spacings 1/4, 1/2, 2 and 4; values rise with the place."""
    found = []
    for exponent, start, size in ((-2, 3, 5), (-1, 4, 8), (1, 3, 5), (2, 4, 3)):
        points = np.ldexp(np.arange(start, start + size) + 0.0, exponent)
        masses = np.array([random_numbers.random() * 0.03 for _ in points])
        found.append(GradedRow(exponent, start, np.stack([masses, masses * points * 0.9])[:columns]))
    return tuple(found)


def listed(law: SplitLaw) -> Masses:
    pairs = zip(law.points.tolist(), law.columns[0].tolist(), strict=True)
    return {Fraction(0): Fraction(float(law.zero[0])), **{Fraction(x): Fraction(m) for x, m in pairs}}


def totals(law: MergedLaw) -> list[Fraction]:
    """Of masses and of values."""
    return [sum(map(Fraction, law.columns[k].tolist()), Fraction(float(law.zero[k]))) for k in (0, 1)]


def call(law: Masses, c: Fraction) -> Fraction:
    return sum((m * (x - c) for x, m in law.items() if x > c), Fraction(0))


def put(law: Masses, c: Fraction) -> Fraction:
    return sum((m * (c - x) for x, m in law.items() if x < c), Fraction(0))


def test_a_sum_lies_above_that_of_all_pairs() -> None:
    numbers = random.Random(1)
    one, other = (SplitLaw(rows(numbers, 1), np.array([zero]), 0.01, 0.0) for zero in (0.2, 0.0))
    for first, second in ((one, other), (one, one)):
        total = first.plus(second, FINE, LIGHT)
        pairs: Masses = {}
        for x, m in listed(first).items():
            for y, n in listed(second).items():
                pairs[x + y] = pairs.get(x + y, Fraction(0)) + m * n
        rest = sum(m for m in listed(first).values()) + sum(m for m in listed(second).values())
        up = 1 + 2 * Fraction(total.units) * Fraction(UNIT)
        found = {x: m * up for x, m in listed(total).items()}
        for c in (Fraction(k, 7) for k in range(-7, 350, 3)):
            assert call(pairs, c) + Fraction(0.01) * rest <= call(found, c) + Fraction(total.beyond) * up
            assert put(pairs, c) <= put(found, c)


def test_a_sum_of_cells_has_the_masses_and_values_of_all_pairs() -> None:
    numbers = random.Random(2)
    one, other = (MergedLaw(rows(numbers, 2), np.array([zero, 0.0]), 0.0, 0.0) for zero in (0.2, 0.0))
    for first, second in ((one, other), (one, one)):
        total = first.plus(second, FINE, LIGHT)
        (m, v), (n, w), (mass, value) = totals(first), totals(second), totals(total)
        slack = 2 * Fraction(total.units) * Fraction(UNIT)
        assert abs(mass - m * n) <= slack * m * n
        assert abs(value - (m * w + v * n)) <= slack * (m * w + v * n)
        assert total.zero[1] == 0.0  # what has a value is in no cell of the value 0


def test_a_value_that_underflows_is_not_none() -> None:
    """m = 1e-220 and v = 2e-329: a cell without a value would be one of infinite loss for the order of add."""
    small = MergedLaw((GradedRow(0, 8, np.array([[1e-110, 0.5], [1e-219, 0.5]])),), np.array([0.25, 0.0]), 0.0, 0.0)
    found = small.plus(small, FINE, Light(1e-260, 1e-3))
    mass, value = found.columns
    assert not np.any((mass > 0.0) & (value == 0.0))
    assert found.zero.tolist() == [0.0625, 0.0]  # nothing is hidden where no factor has a value


@pytest.mark.parametrize(("size", "other"), [(7, 5), (5, 7), (1, 9), (9, 1), (8, 8)])
@pytest.mark.parametrize("at_once", [1.0, 10.0, 16.0, 1e3])
def test_a_long_sum_is_made_in_blocks(size: int, other: int, at_once: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "PRODUCTS_AT_ONCE", at_once)
    first, second = np.arange(1.0, size + 1.0), np.arange(1.0, other + 1.0) ** 2
    assert laws._convolved(first, second).tolist() == np.convolve(first, second).tolist()


def test_a_long_sum_looks_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "PRODUCTS_AT_ONCE", 4.0)
    with compute_budget.allowance(1.0) as meter:
        meter.cancel()
        with pytest.raises(WorkExhausted):
            laws._convolved(np.ones(4), np.ones(4))
