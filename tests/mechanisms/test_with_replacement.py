"""Draws with replacement: weights, identities, blocks of rare multiplicities, errors; brute force is beside."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from flint import arb, fmpq
from mpmath import mp

import tightrope as tr
from tests.oracle import amplified
from tightrope.core.losses.operators.fixed_size import FixedSizeSubsampledPair
from tightrope.core.losses.operators.public_mixture import PublicMixturePair
from tightrope.core.losses.operators.registered import shifted_pair
from tightrope.core.mechanisms.fixed_size import Multiplicities
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.question import Direction, Relation

GAUSSIAN = tr.Gaussian(sigma=1.0)


@pytest.mark.parametrize(("batch", "records", "tops"), [(1, 7, (1,)), (6, 3, (1, 2, 4, 6)), (9, 50, (1, 2, 3))])
def test_weights_against_fractions(batch: int, records: int, tops: tuple[int, ...]) -> None:
    rate = Fraction(1, records)
    masses = [comb(batch, k) * rate**k * (1 - rate) ** (batch - k) for k in range(batch + 1)]
    found = Multiplicities(batch, records, tops).listed()
    blocks = [sum(masses[low + 1 : top + 1]) for low, top in zip((0, *tops), (*tops, batch), strict=False)]
    exact = [block / (1 - masses[0]) for block in blocks if block]
    assert len(found) == len(exact)
    with working_precision(256):
        for ball, value in zip(found, exact, strict=True):
            assert ball.overlaps(arb(fmpq(value.numerator, value.denominator)))
            assert ball.rel_accuracy_bits() > 180


@pytest.mark.parametrize(("batch", "records"), [(5, 50), (3, 2), (40, 40)])
def test_the_formula(batch: int, records: int) -> None:
    run = GAUSSIAN.with_replacement(batch=batch, records=records)
    with mp.workdps(40):
        truth = amplified.with_replacement(lambda k: amplified.mixture(1, {k: 1}), batch, records)
        for epsilon in (0.0, 0.3, 1.0) if batch < 40 else (0.5,):
            value = truth(mp.exp(epsilon))
            assert run.delta(epsilon).lower <= value
            assert abs(run.delta(epsilon).upper - value) <= 1e-9 * value


def test_one_draw_is_a_batch_of_one_and_one_record_a_group() -> None:
    for base in (GAUSSIAN, tr.RandomizedResponse(p=0.7), tr.Laplace(scale=1.0)):
        one = base.with_replacement(batch=1, records=5).delta(0.2)
        other = base.without_replacement(batch=1, records=5).delta(0.2)
        assert one.upper == pytest.approx(other.upper, rel=1e-12)
    alone = GAUSSIAN.with_replacement(batch=3, records=1).delta(1.0)
    assert alone.upper == pytest.approx(tr.Gaussian(sigma=1.0, sensitivity=3.0).delta(1.0).upper, rel=1e-12)
    assert GAUSSIAN.with_replacement(batch=0, records=3).delta(0.0).upper == 0.0


def test_its_pair_and_its_floors() -> None:
    run = GAUSSIAN.with_replacement(batch=5, records=50)
    pair = run.pair(Direction.REMOVE)
    assert isinstance(pair, FixedSizeSubsampledPair)
    assert isinstance(pair.base, PublicMixturePair)
    assert pair.base.pairs == tuple(shifted_pair(GAUSSIAN.pair(Direction.REMOVE), k) for k in range(1, 6))
    assert run.relation is Relation.REPLACE
    assert not run.tight
    assert run.attained
    many = GAUSSIAN.with_replacement(batch=10**6, records=10**6).pair(Direction.REMOVE)
    assert isinstance(many, FixedSizeSubsampledPair)
    assert isinstance(many.base, PublicMixturePair)
    assert 20 < len(many.base.pairs) < 60
    bound = (tr.RandomizedResponse(p=0.7).with_replacement(batch=3, records=9) * 2).delta(0.1)
    assert 0.0 < bound.lower < bound.upper < 1.0


def test_large_numbers_and_errors() -> None:
    rare = GAUSSIAN.with_replacement(batch=1000, records=10**12)
    poisson = GAUSSIAN.without_replacement(batch=1000, records=10**12)
    assert rare.delta(0.1).upper == pytest.approx(poisson.delta(0.1).upper, rel=1e-5)
    with pytest.raises(tr.InvalidParameter, match="drawn more than 256 times"):
        GAUSSIAN.with_replacement(batch=10**6, records=1000)
    with pytest.raises(tr.InvalidParameter, match="the sensitivity under replacing a record"):
        GAUSSIAN.poisson(rate=0.5).with_replacement(batch=1, records=2)
    run = GAUSSIAN.with_replacement(batch=5, records=50) * 2
    assert tr.parse(repr(run)) == run
    assert tr.load(tr.dump(run)) == run
