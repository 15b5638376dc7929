"""Poisson samples with a cap: weights, sizes, identities, groups, errors; brute force is beside."""

from __future__ import annotations

import pytest
from mpmath import mp, mpf

import tightrope as tr
from tests.oracle import amplified
from tightrope.core.losses.operators.public_mixture import PublicMixturePair
from tightrope.core.mechanisms.poisson import Filled
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.question import Direction, Relation

GAUSSIAN = tr.Gaussian(sigma=1.0)


@pytest.mark.parametrize(
    ("rate", "cap", "records"), [(0.02, 30, 1000), (0.5, 3, 8), (0.9, 2, 9), (0.5, 9, 8), (0.5, 8, 8)]
)
def test_weights_and_rates(rate: float, cap: int, records: int) -> None:
    with mp.workdps(60):
        (small, kept), (large, _) = (amplified.truncation(mpf(rate), cap, size) for size in (records, records + 1))
        weights = Filled(rate, cap, records, records + 1)
        exact = [1 - large, *([small] if small else []), large - small]
        for ball, value in zip(weights.listed(), exact, strict=True):
            assert float(ball.mid()) == pytest.approx(float(value), rel=1e-14)
        if small:
            with working_precision(128):
                assert float(weights.kept().mid()) == pytest.approx(float(kept), rel=1e-14)
        wide = Filled(rate, cap, max(records - 2, 1), records + 3).listed()
        assert float(sum(each.mid() for each in wide)) == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(("rate", "cap", "records"), [(0.05, 15, 99), (0.5, 10, 30), (0.3, 2, 2)])
def test_both_sizes_are_covered(direction: str, rate: float, cap: int, records: int) -> None:
    run = GAUSSIAN.truncated_poisson(rate=rate, cap=cap, records=records)
    for epsilon in (0.01, 0.3):
        bound = run.delta(epsilon, direction=direction)
        with mp.workdps(40):
            found = []
            for size in (records, records + 1):
                full, kept = amplified.truncation(mpf(rate), cap, size)
                parts = [(1 - full, amplified.mixture(1, {0: 1 - mpf(rate), 1: mpf(rate)}))]
                parts += [(full, amplified.mixture(1, {0: 1 - kept, 2: kept}))] if full else []
                profiles = [(w, each if direction == "remove" else amplified.mirror(each)) for w, each in parts]
                found.append(sum(w * profile(mp.exp(mpf(epsilon))) for w, profile in profiles))
        exact = max(*found, mpf(0)) if abs(max(found)) < mpf(10) ** -30 else max(found)
        assert bound.lower <= exact <= bound.upper * (1.0 + 1e-12)
        # What the pair for both sizes gives away is the less, the more records there are.
        assert bound.upper <= exact * (1.1 if records > 20 else 3.0) + 1e-15
    assert run.relation is Relation.ADD_REMOVE
    assert run.attained


def test_a_cap_that_is_never_met_and_one_that_is_rarely() -> None:
    plain = GAUSSIAN.poisson(rate=0.1)
    never = GAUSSIAN.truncated_poisson(rate=0.1, cap=11, records=10)
    assert never.tight
    assert never.pair(Direction.ADD) == plain.pair(Direction.ADD)
    rarely = GAUSSIAN.truncated_poisson(rate=0.1, cap=600, records=3000)
    assert not rarely.tight
    assert (rarely * 10).delta(0.5).upper == pytest.approx((plain * 10).delta(0.5).upper, rel=1e-5)
    assert GAUSSIAN.truncated_poisson(rate=0.0, cap=1, records=5).delta(0.0).upper == 0.0
    whole = GAUSSIAN.truncated_poisson(rate=1.0, cap=5, records=5)
    assert whole.delta(1.0).lower == GAUSSIAN.delta(1.0).lower
    assert whole.delta(1.0).upper == pytest.approx(tr.Gaussian(sigma=0.5).delta(1.0).upper)


def test_other_bases_and_groups() -> None:
    response = tr.RandomizedResponse(p=0.7, neighbours="add_remove").truncated_poisson(rate=0.2, cap=3, records=10)
    bound = (response * 3).delta(0.1)
    assert 0.0 < bound.lower < bound.upper < 1.0
    one, two = GAUSSIAN.truncated_poisson(rate=0.2, cap=3, records=10), GAUSSIAN.poisson(rate=0.2)
    assert isinstance(one.pair(Direction.REMOVE), PublicMixturePair)
    assert one.group(2).delta(0.5).upper > one.delta(0.5).upper > two.delta(0.5).lower


def test_large_numbers_and_errors() -> None:
    huge = GAUSSIAN.truncated_poisson(rate=1e-3, cap=1_005_000, records=10**9).delta(1.0)
    assert 0.0 < huge.lower <= huge.upper < 1e-6
    assert GAUSSIAN.truncated_poisson(rate=1e-12, cap=1, records=10**9).delta(1.0).upper < 1e-12
    for keywords, message in (
        ({"rate": 0.1, "cap": 0, "records": 10}, "cap must be a whole number from 1"),
        ({"rate": 1.1, "cap": 1, "records": 10}, "rate must lie in"),
        ({"rate": 0.1, "cap": 1, "records": 0}, "records must be a whole number from 1"),
    ):
        with pytest.raises(tr.InvalidParameter, match=message):
            GAUSSIAN.truncated_poisson(**keywords)  # type: ignore[arg-type]
    with pytest.raises(
        tr.InvalidParameter, match="under adding or removing a record, and this base is about replacing"
    ):
        GAUSSIAN.without_replacement(batch=1, records=2).truncated_poisson(rate=0.1, cap=1, records=3)
    run = GAUSSIAN.truncated_poisson(rate=0.1, cap=3, records=10) * 2
    assert tr.parse(repr(run)) == run
    assert tr.load(tr.dump(run)) == run
