"""The selftest's own truth: counted by hand where that can be, and against another way to compute it elsewhere."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest

from tightrope.selftest.enumeration import (
    EnumeratedUse,
    contradiction_of_delta,
    contradiction_of_epsilon,
    delta,
    exponential,
    outcomes,
)

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
COIN = EnumeratedUse((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)), 2)
LEAKY = EnumeratedUse((HALF, HALF), (Fraction(1), Fraction(0)), 1)


@pytest.mark.parametrize("exponent", [0.0, 5e-324, 1e-9, 0.3, 1.0, -2.5, 17.25, 699.0, -745.0])
def test_fractions_around_the_exponential(exponent: float) -> None:
    with mpmath.workprec(1600):
        exact = mpmath.exp(mpmath.mpf(exponent))
        low, high = (mpmath.mpf(each.numerator) / each.denominator for each in exponential(exponent))
        assert low <= exact <= high
        assert high - low <= mpmath.mpf(10) ** -90 * exact


def test_outcomes_by_hand() -> None:
    law = outcomes([COIN])
    assert sorted(law) == [
        (Fraction(1, 16), Fraction(9, 16)),
        (Fraction(6, 16),) * 2,
        (Fraction(9, 16), Fraction(1, 16)),
    ]
    assert delta(law, 0.0) == (HALF, HALF)
    assert len(outcomes([COIN, LEAKY])) == COIN.size * LEAKY.size == 6
    assert delta(outcomes([LEAKY]), math.inf) == (HALF, HALF)


def test_the_same_as_one_use_after_the_other() -> None:
    uses = EnumeratedUse((HALF, THIRD, Fraction(1, 6)), (Fraction(1, 8), Fraction(3, 8), HALF), 7)
    low, high = delta(outcomes([uses]), 0.7)
    assert high - low < Fraction(1, 10**80)
    law, folded = list(zip(uses.with_record, uses.without, strict=True)), [(Fraction(1), Fraction(1))]
    for _ in range(uses.count):
        folded = [(p * x, q * y) for p, q in folded for x, y in law]
    with mpmath.workprec(400):
        factor = mpmath.exp(mpmath.mpf(0.7))

        def positive(pairs: list[tuple[Fraction, Fraction]]) -> mpmath.mpf:
            parts = (mpmath.mpf(p.numerator) / p.denominator - factor * q.numerator / q.denominator for p, q in pairs)
            return mpmath.fsum(max(part, 0) for part in parts)

        exact = max(positive(folded), positive([(q, p) for p, q in folded]))
        assert abs(exact - mpmath.mpf(low.numerator) / low.denominator) < mpmath.mpf(10) ** -80


def test_contradictions_of_delta() -> None:
    law = outcomes([COIN])
    assert contradiction_of_delta(law, 0.0, (0.5, 0.5)) == ""
    assert contradiction_of_delta(law, 0.0, (math.nextafter(0.5, 1.0), 1.0)) == "delta is at most 0.5"
    assert contradiction_of_delta(law, 0.0, (0.0, math.nextafter(0.5, 0.0))) == "delta is at least 0.5"


def test_contradictions_of_epsilon() -> None:
    law, top = outcomes([COIN]), 2 * math.log(3.0)  # delta falls to 0 at the largest loss
    assert contradiction_of_epsilon(law, 0.5, (0.0, 0.0)) == ""
    assert contradiction_of_epsilon(law, 0.25, (0.0, math.inf)) == ""
    assert "at least" in contradiction_of_epsilon(law, 0.0, (0.0, top - 1e-12))
    assert contradiction_of_epsilon(law, 0.0, (top - 1e-12, top + 1e-12)) == ""
    assert "at most" in contradiction_of_epsilon(law, 0.25, (2.0, math.inf))
    leaky = outcomes([LEAKY])
    assert contradiction_of_epsilon(leaky, 0.25, (math.inf, math.inf)) == ""
    assert "at most 0.5" in contradiction_of_epsilon(leaky, 0.5, (math.inf, math.inf))
