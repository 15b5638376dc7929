"""Binomial masses and tails against sums of fractions, and for as many trials as there may be."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from flint import arb, fmpq

from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.counting import binomial_mass, binomial_tails


def fraction(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


@pytest.mark.parametrize("rate", [Fraction(1, 50), Fraction(1, 2), Fraction(15, 16)])
@pytest.mark.parametrize("trials", [1, 7, 60])
def test_against_fractions(trials: int, rate: Fraction) -> None:
    masses = [comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(trials + 1)]
    with working_precision(256):
        for k in range(-1, trials + 3):
            exact = fraction(sum(masses[max(k, 0) :], Fraction(0)))
            tails = binomial_tails(trials, fraction(rate), k)
            assert tails.above.overlaps(exact)
            assert tails.below.overlaps(1 - exact)
            mass = binomial_mass(trials, fraction(rate), k)
            assert mass.overlaps(fraction(masses[k]) if 0 <= k <= trials else arb(0))
            for each in (*tails, mass):
                assert each.is_exact() or each.rel_accuracy_bits() > 200


@pytest.mark.parametrize(
    ("trials", "rate", "least"), [(10**9, 1e-9, 40), (10**15, 1e-3, 10**12 + 10**8), (10**9, 0.5, 4 * 10**8)]
)
def test_digits_of_both_tails_far_out(trials: int, rate: float, least: int) -> None:
    with working_precision(128):
        above, below = binomial_tails(trials, arb(rate), least)
        assert above.rel_accuracy_bits() > 100
        assert below.rel_accuracy_bits() > 100
        assert (above + below).overlaps(arb(1))
        step = binomial_tails(trials, arb(rate), least + 1)
        mass = binomial_mass(trials, arb(rate), least)
        assert (step.above + mass).overlaps(above)
        assert (step.below - mass).overlaps(below)
