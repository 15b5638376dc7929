"""One use of every standard mechanism, sampled or not, in both directions, against its output laws."""

from __future__ import annotations

import pytest
from flint import arb

import tightrope as tr
from tests.conformance.cases import DIRECTIONS, STANDARD, Row, rates_of
from tests.oracle.precision import precision
from tests.oracle.truth import Truth
from tests.search import FULL
from tightrope.core.engines.lattice import engine as lattice

ASKED = [(row, rate) for row in STANDARD for rate in rates_of(row, (1e-4, 0.3, 1.0))]


@pytest.mark.parametrize(
    ("row", "rate"),
    # Both directions of a row, and a sample of it: at one rate, in one direction, in turn.
    [(row, rate) for index, (row, rate) in enumerate(ASKED) if FULL or rate == 1.0 or index % 2],
    ids=lambda each: getattr(each, "name", each),
)
def test_single_use_is_contained(row: Row, rate: float) -> None:
    mechanism = row.mechanism if rate == 1.0 else row.mechanism.poisson(rate=rate)
    turn = STANDARD.index(row) // 2 % 2
    for direction in DIRECTIONS if FULL or rate == 1.0 else DIRECTIONS[turn : turn + 1]:
        truth = Truth(row.law, rate, direction)
        terms = [(part.pair(tr.Direction(direction)), count) for part, count in mechanism.terms]
        supremum = truth.supremum()
        reach = 3.0 if supremum is None else abs(float(supremum))
        # Far out it is the unbounded losses of a rare sample that take long.
        shares = (0.0, 0.9) if supremum is not None or rate > 1e-3 else (0.0, 0.3)
        shares = (0.0, 0.5, 0.9) if FULL else shares
        for epsilon in (share * reach for share in shares):
            evaluator = lattice.prepare(terms, epsilon=epsilon, accuracy=3e-2)
            for asked in (epsilon, 1.3 * epsilon):
                value, exact = evaluator.delta(asked), truth.delta(asked)
                with precision(300):
                    assert not arb(value.lower) > exact, (direction, asked)
                    assert not arb(value.upper) < exact, (direction, asked)
