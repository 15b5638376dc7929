"""Mechanisms as values: composition, text and JSON."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import tightrope as tr
from tests.properties.strategies import mechanisms, probability, steady

counts = st.integers(0, 10**6)


@steady
@given(mechanisms)
def test_text_both_ways(mechanism: tr.Mechanism) -> None:
    assert tr.parse(repr(mechanism)) == mechanism
    assert repr(tr.parse(repr(mechanism))) == repr(mechanism)


@steady
@given(mechanisms)
def test_json_both_ways(mechanism: tr.Mechanism) -> None:
    assert tr.load(tr.dump(mechanism)) == mechanism
    assert tr.dump(tr.load(tr.dump(mechanism))) == tr.dump(mechanism)


@steady
@given(mechanisms)
def test_equal_mechanisms_hash_alike(mechanism: tr.Mechanism) -> None:
    again = tr.parse(repr(mechanism))
    assert hash(again) == hash(mechanism)
    assert len({again, mechanism}) == 1


@steady
@given(mechanisms, mechanisms, mechanisms)
def test_sum_is_commutative_and_associative(a: tr.Mechanism, b: tr.Mechanism, c: tr.Mechanism) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c) == tr.compose((c, a, b))


@steady
@given(mechanisms, counts, counts)
def test_counts_multiply_and_add(a: tr.Mechanism, first: int, second: int) -> None:
    assert (a * first) * second == a * (first * second) == second * (first * a)
    assert a * first + a * second == a * (first + second)
    assert (a * 2) * 3 == a * 6
    assert a + a == a * 2


@steady
@given(mechanisms, mechanisms)
def test_no_use_is_the_identity(a: tr.Mechanism, b: tr.Mechanism) -> None:
    assert a * 0 == b * 0 == tr.compose(())
    assert a + b * 0 == a * 1
    nothing = (a * 0).delta(epsilon=0.0)
    assert (nothing.lower, nothing.upper) == (0.0, 0.0)


@steady
@given(mechanisms, mechanisms, counts)
def test_sum_distributes(a: tr.Mechanism, b: tr.Mechanism, count: int) -> None:
    assert (a + b) * count == a * count + b * count


@steady
@given(mechanisms, probability)
def test_sampling_is_a_value(mechanism: tr.Mechanism, rate: float) -> None:
    assert mechanism.poisson(rate=rate) == mechanism.poisson(rate=rate)
    assert tr.parse(repr(mechanism.poisson(rate=rate))) == mechanism.poisson(rate=rate)
