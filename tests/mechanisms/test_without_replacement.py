"""Batches of fixed size: what the two relations mean, identities, errors, large numbers; brute force is beside."""

from __future__ import annotations

from fractions import Fraction

import pytest

import tightrope as tr
from tests.oracle import continuous
from tests.oracle.truth import Truth
from tightrope.core.losses.operators.fixed_size import FixedSizeSubsampledPair
from tightrope.core.values.question import Direction, Relation

GAUSSIAN = tr.Gaussian(sigma=1.0)


def test_the_whole_data_and_nothing() -> None:
    for base in (GAUSSIAN, tr.Laplace(scale=2.0) * 3, tr.RandomizedResponse(p=0.7)):
        for relation in ("replace", "add_remove"):
            whole = base.without_replacement(batch=7, records=7, neighbours=relation)
            assert [(b.lower, b.upper) for b in whole.delta([0.0, 0.5, -0.5])] == [
                (b.lower, b.upper) for b in base.delta([0.0, 0.5, -0.5])
            ]
            assert base.without_replacement(batch=0, records=7, neighbours=relation).delta(0.0).upper == 0.0


def test_one_use_is_attained_at_every_epsilon() -> None:
    """By one order or the other; the rate lies between doubles."""
    run = GAUSSIAN.without_replacement(batch=1, records=3)
    assert not run.tight
    assert run.attained
    for epsilon in (-1.0, -1e-3, 0.0, 0.4, 3.0):
        bound = run.delta(epsilon)
        truth = Truth(continuous.Gaussian(1.0), Fraction(1, 3), "remove" if epsilon >= 0.0 else "add").delta(epsilon)
        assert bound.lower <= truth <= bound.upper
        assert bound.width <= 1e-9 * bound.upper
        assert bound.certificate is not None
        assert bound.certificate.direction is None
        assert bound.certificate.relation is Relation.REPLACE


def test_one_order_alone_is_too_small() -> None:
    run = GAUSSIAN.without_replacement(batch=1, records=5) * 3
    worse = (GAUSSIAN.poisson(rate=0.2) * 3).delta(1.0)
    bound = run.delta(1.0)
    assert worse.upper < bound.upper
    assert bound.lower >= worse.lower * (1.0 - 1e-6)
    with pytest.raises(tr.InvalidParameter, match="one order of the two laws alone does not bound a composition"):
        run.delta(1.0, direction="remove")


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_adding_and_removing_is_a_poisson_sample_of_the_base(direction: str) -> None:
    """At an exact rate the same answer; else between those of the doubles next to it."""
    same = GAUSSIAN.without_replacement(batch=1, records=4, neighbours="add_remove") * 20
    assert same.tight
    one, other = (
        same.delta(0.5, direction=direction),
        (GAUSSIAN.poisson(rate=0.25) * 20).delta(0.5, direction=direction),
    )
    assert (one.lower, one.upper) == (other.lower, other.upper)
    third = GAUSSIAN.without_replacement(batch=1, records=3, neighbours="add_remove")
    assert third.pair(Direction.REMOVE) != third.witnesses(Direction.REMOVE)[0]
    truth = Truth(continuous.Gaussian(1.0), Fraction(1, 3), direction).delta(0.2)
    bound = third.delta(0.2, direction=direction)
    assert bound.lower <= truth <= bound.upper
    assert bound.width <= 1e-9 * bound.upper


def test_large_and_small_numbers() -> None:
    huge = GAUSSIAN.without_replacement(batch=1, records=10**9)
    assert 0.0 < huge.delta(1.0).lower <= huge.delta(1.0).upper < 1e-80
    assert (huge * 10**6).epsilon(1e-6).upper <= 1e-3
    almost = GAUSSIAN.without_replacement(batch=10**18 - 1, records=10**18)
    whole = GAUSSIAN.delta(1.0)
    assert whole.lower * (1.0 - 1e-9) <= almost.delta(1.0).lower <= almost.delta(1.0).upper <= whole.upper
    falling = [GAUSSIAN.without_replacement(batch=1, records=n).delta(0.5).upper for n in (1, 2, 3, 10, 10**4, 10**9)]
    assert sorted(falling, reverse=True) == falling


def test_infinite_losses_and_products() -> None:
    leaky = tr.ApproximateDP(epsilon=1.0, delta=0.05).without_replacement(batch=3, records=10)
    assert leaky.delta(float("inf")).upper == pytest.approx(0.015, rel=1e-12)
    both = (GAUSSIAN + tr.Laplace(scale=1.0)).without_replacement(batch=1, records=2)
    one, parts = both.delta(0.5), (GAUSSIAN.without_replacement(batch=1, records=2)).delta(0.5)
    assert parts.lower < one.lower <= one.upper
    assert isinstance(both.pair(Direction.REMOVE), FixedSizeSubsampledPair)


def test_text_and_errors() -> None:
    run = GAUSSIAN.without_replacement(batch=10, records=100)
    assert repr(run) == "Gaussian(sigma=1.0).without_replacement(batch=10, records=100)"
    other = GAUSSIAN.without_replacement(10, 100, "add_remove")
    assert repr(other).endswith("(batch=10, records=100, neighbours='add_remove')")
    for each in (run, other, run * 3 + tr.Laplace(scale=1.0)):
        assert tr.parse(repr(each)) == each
        assert tr.load(tr.dump(each)) == each
    for keywords, message in (
        ({"batch": 11, "records": 10}, "batch must be at most records, 10, not 11"),
        ({"batch": 1.5, "records": 10}, "batch must be a whole number"),
        ({"batch": 1, "records": 0}, "records must be a whole number from 1"),
        ({"batch": 1, "records": 2, "neighbours": "swap"}, "neighbours must be 'add_remove' or 'replace', not 'swap'"),
    ):
        with pytest.raises(tr.InvalidParameter, match=message):
            GAUSSIAN.without_replacement(**keywords)  # type: ignore[arg-type]
    with pytest.raises(tr.InvalidParameter, match="the sensitivity under replacing a record"):
        GAUSSIAN.poisson(rate=0.5).without_replacement(batch=1, records=2)
    with pytest.raises(tr.InvalidParameter, match="disagree"):
        run + other
