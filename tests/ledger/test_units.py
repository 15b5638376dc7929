"""Units round costs up and totals down, exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightrope.ledger import units

UNITS = (units.LOSS_UNIT, units.DELTA_UNIT, units.SLOT_UNIT)


@given(st.floats(0.0, 4096.0), st.sampled_from(UNITS))
def test_costs_are_at_or_above_and_totals_at_or_below(number: float, unit: int) -> None:
    up, down = units.cost(number, unit), units.total(number, unit)
    if up is not None:
        assert Fraction(up - 1, unit) < Fraction(number) <= Fraction(up, unit) or number == 0.0 == up
    assert Fraction(down, unit) <= Fraction(number)
    assert down == units.UNITS_MAX or Fraction(number) < Fraction(down + 1, unit)


@pytest.mark.parametrize("number", [math.inf, math.nan, 4096.000000000001, 1e300])
def test_what_no_axis_holds_has_no_cost(number: float) -> None:
    assert units.cost(number, units.LOSS_UNIT) is None


def test_ends() -> None:
    assert units.cost(4096.0, units.LOSS_UNIT) == 2**62 == units.total(1e300, units.LOSS_UNIT)
    assert units.cost(5e-324, units.LOSS_UNIT) == 1
    assert units.total(5e-324, units.DELTA_UNIT) == 0
    assert units.cost(-1.0, units.LOSS_UNIT) == 0 == units.total(-1.0, units.LOSS_UNIT)
    assert units.total(math.nan, units.LOSS_UNIT) == 0 == units.total(-math.inf, units.LOSS_UNIT)
    assert units.total(math.inf, units.LOSS_UNIT) == units.UNITS_MAX
    assert units.value(3, 4) == Fraction(3, 4)


def test_sums_of_costs_never_fall_below_the_cost_of_the_sum() -> None:
    tenth = units.cost(0.1, units.LOSS_UNIT)
    whole = units.cost(Fraction(0.1) * 1000, units.LOSS_UNIT)
    assert tenth is not None
    assert whole is not None
    assert 1000 * tenth >= whole


def test_no_job_is_free() -> None:
    assert units.at_least_one({"a": 0, "b": 0}, "b") == {"a": 0, "b": 1}
    assert units.at_least_one({"a": 3, "b": 0}, "b") == {"a": 3, "b": 0}
