from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

import tightrope as tr
from tests.oracle.precision import ball, precision
from tests.oracle.subsets import told

LOG_TWO = 0.6931471805599453  # up to rounding


@pytest.mark.parametrize("categories", range(2, 9))
def test_masses_count_all_subsets(categories: int) -> None:
    for size in range(1, categories):
        counts, odds = told(categories, size), Fraction(2)
        total = sum(number * (odds if first else 1) for (first, _), number in counts.items())
        # The total variation: what the sets tell that hold one of the two categories.
        variation = float(counts[True, False] * (odds - 1) / total)
        bound = tr.SubsetSelection(epsilon=LOG_TWO, categories=categories, size=size).delta(0.0)
        assert bound.lower * (1 - 1e-14) <= variation <= bound.upper * (1 + 1e-14)


@pytest.mark.parametrize("categories", [2, 3, 40])
def test_one_category_is_randomized_response(categories: int) -> None:
    run = tr.SubsetSelection(epsilon=0.7, categories=categories, size=1) * 5
    response = tr.RandomizedResponse(epsilon=0.7, categories=categories) * 5
    for epsilon in (0.0, 0.7, 2.5):
        one, two = run.delta(epsilon), response.delta(epsilon)
        assert one.lower <= two.upper
        assert two.lower <= one.upper
        assert two.upper - one.lower <= 1e-12 * two.upper


@pytest.mark.parametrize(("categories", "size"), [(10**6, 3), (10**6, 500_000), (10**30, 10**20)])
def test_many_categories_need_no_list(categories: int, size: int) -> None:
    bound = tr.SubsetSelection(epsilon=1.0, categories=categories, size=size).delta(0.25)
    with precision(200):
        if size < 10:  # by the numbers of subsets
            alone = Fraction(comb(categories - 2, size - 1), comb(categories, size))
            holds = Fraction(comb(categories - 1, size - 1), comb(categories, size))
        else:
            holds = Fraction(size, categories)
            alone = holds * Fraction(categories - size, categories - 1)
        odds = ball(Fraction(1)).exp()
        truth = ball(alone) * (odds - ball(Fraction(1, 4)).exp()) / (ball(holds) * odds + ball(1 - holds))
        assert bound.lower <= float(truth) * (1 + 1e-15)
        assert bound.upper >= float(truth) * (1 - 1e-15)
        assert bound.upper - bound.lower < 1e-12 * bound.upper


def test_a_set_of_all_or_none_is_refused() -> None:
    for size in (0, 4, 5):
        with pytest.raises(tr.InvalidParameter, match="size"):
            tr.SubsetSelection(epsilon=1.0, categories=4, size=size)
