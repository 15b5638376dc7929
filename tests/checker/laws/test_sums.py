"""Sums of Laplace losses and of responses by formulas, against what engines enclose."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest
from flint import arb

import tightrope as tr
from tests.oracle.precision import precision
from tightrope.checker.law import exact
from tightrope.checker.laws import listed
from tightrope.checker.laws.discrete import DiscreteGaussianLaw
from tightrope.checker.laws.finite import response
from tightrope.checker.laws.laplace import LaplaceLaw
from tightrope.checker.laws.sampled import SampledTailsLaw, sampled


@dataclass(frozen=True)
class TellingLaw:
    """Tells all with this chance."""

    chance: Fraction

    def infinite(self) -> arb:
        return exact(self.chance)


@pytest.mark.parametrize("uses", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 2.0])
def test_laplace(uses: int, epsilon: float) -> None:
    truth = (tr.Laplace(scale=2.0) * uses).delta(epsilon, proof=True)
    with precision(200):
        found = listed.enclosed([(LaplaceLaw(Fraction(1, 2)), uses)], arb(epsilon))
        assert found is not None
        assert truth.lower <= found
        assert found <= truth.upper


@pytest.mark.parametrize("uses", [1, 4])
def test_responses_with_laplace(uses: int) -> None:
    truth = (tr.Laplace(scale=2.0) * uses + tr.RandomizedResponse(p=0.75) * 3).delta(1.0)
    with precision(200):
        found = listed.enclosed([(LaplaceLaw(Fraction(1, 2)), uses), (response(Fraction(3, 4), 2), 3)], arb(1))
        assert found is not None
        assert truth.lower <= found
        assert found <= truth.upper


def test_samples_of_what_tells_all() -> None:
    """Below every loss lies all mass but that of infinite loss, and no sample at all loses nothing."""
    base, rate = TellingLaw(Fraction(1, 8)), Fraction(1, 4)
    with precision(100):
        law = SampledTailsLaw(base, base, rate, False)
        found = law.tails(arb(-5))
        assert found is not None
        assert found[0].overlaps(1 - exact(Fraction(1, 32)))
        assert found[1].overlaps(arb(1))
        none = sampled(LaplaceLaw(Fraction(1, 2)), Fraction(0), False)
        assert none is None or not any(each > 0 for each in none.tails(arb("0.1")) or ())


def test_tails_of_discrete_noise_beyond_the_table() -> None:
    law = DiscreteGaussianLaw(Fraction(2), 1)
    with precision(300):
        sums = law._above()
        assert sums is not None
        whole = sum(((-arb(x * x) / 4).exp() for x in range(-400, 401)), arb(0))
        for n in (-len(sums) - 2, 1 - len(sums), 2 - len(sums), -3, 0, 4, len(sums) - 2, len(sums) - 1, len(sums) + 3):
            truth = sum(((-arb(x * x) / 4).exp() for x in range(n, 401)), arb(0)) / whole
            assert law._from(sums, arb(n)).overlaps(truth)
