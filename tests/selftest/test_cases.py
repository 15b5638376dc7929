"""Cases: the same wherever they are drawn, and what is enumerated is what is asked."""

from __future__ import annotations

from fractions import Fraction

import tightrope as tr
from tightrope.selftest.cases import CASE_OUTCOMES_MAX, drawn


def test_a_case_is_the_same_alone_and_elsewhere() -> None:
    """Pinned: a line that was printed by one machine must mean the same on another."""
    assert drawn(1, 4).expression == "Gaussian(sigma=6.37).poisson(rate=0.00205) * 2"
    assert (drawn(1, 4).quantity, drawn(1, 4).given) == ("epsilon", 2.04e-10)
    assert drawn(1, 4) == drawn(1, 4) != drawn(2, 4)
    assert drawn(1, 4).replay == "tightrope selftest --seed 1 --case 4"


def test_every_case_parses_and_one_in_three_is_enumerated() -> None:
    for number in range(60):
        case = drawn(7, number)
        mechanism = tr.parse(case.expression)
        assert bool(case.uses) == (number % 3 == 0)
        if case.uses:
            sizes = 1
            for use in case.uses:
                sizes *= use.size
                assert sum(use.with_record) == sum(use.without) == Fraction(1)
            assert sizes <= CASE_OUTCOMES_MAX
            assert sum(count for _, count in mechanism.parts) == sum(use.count for use in case.uses)
